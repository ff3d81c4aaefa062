//! Registrations of bidders.

use platform_core::port::Registration;
use serde::Serialize;
use utoipa::ToSchema;
use uuid::Uuid;

use super::time;

/// A bidder's registration for an auction. Other callers see only the paddle.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = Registration)]
pub(crate) struct RegistrationView {
    /// UUID of the registration.
    pub(crate) uuid: Uuid,
    /// UUID of the auction.
    pub(crate) auction: Uuid,
    /// Paddle: the name of the bidder in bids, and all that other bidders see.
    pub(crate) paddle: String,
    /// UUID of the person or firm that bids, assigned by the caller.
    pub(crate) party: Option<Uuid>,
    /// Name of the bidder; null for a paddle that was registered at the desk, until the name is entered.
    pub(crate) name: Option<String>,
    /// E-mail address.
    pub(crate) email: Option<String>,
    /// Spending limit in this auction, in minor units. Leading maxima and hammer prices count towards it. Null: no
    /// limit.
    pub(crate) limit: Option<i64>,
    /// Note for the staff of the sale.
    pub(crate) note: Option<String>,
    /// `pending`, `approved`, `refused` or `suspended`.
    pub(crate) status: &'static str,
    /// Statuses to which it may be changed; empty if the auction is ARCHIVED.
    pub(crate) legal_next_statuses: Vec<&'static str>,
    /// Why it was declined or suspended.
    pub(crate) reason: Option<String>,
    /// Increases with each change; the `ETag`.
    pub(crate) version: i64,
    /// When the bidder was registered.
    #[schema(format = DateTime)]
    pub(crate) created_at: String,
    /// When the registration last changed.
    #[schema(format = DateTime)]
    pub(crate) updated_at: String,
}

impl RegistrationView {
    /// A registration of an ARCHIVED auction: its status is final.
    pub(crate) fn of_archived(registration: &Registration) -> Self {
        Self { legal_next_statuses: Vec::new(), ..Self::from(registration) }
    }
}

impl From<&Registration> for RegistrationView {
    fn from(registration: &Registration) -> Self {
        let next = platform_core::bidders::next_statuses(registration.status);
        Self {
            uuid: registration.uuid,
            auction: registration.auction,
            paddle: registration.paddle.clone(),
            party: registration.party,
            name: registration.name.clone(),
            email: registration.email.clone(),
            limit: registration.limit,
            note: registration.note.clone(),
            status: registration.status.as_str(),
            legal_next_statuses: next.iter().map(|status| status.as_str()).collect(),
            reason: registration.reason.clone(),
            version: registration.version,
            created_at: time(registration.created_at),
            updated_at: time(registration.updated_at),
        }
    }
}
