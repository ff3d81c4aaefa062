//! RegistrationStore of bidders.

use platform_core::port::Registration;
use serde::Serialize;
use utoipa::ToSchema;
use uuid::Uuid;

use super::time;

/// A bidder's registration for an auction. Others see the paddle, nothing else.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = Registration)]
pub(crate) struct RegistrationView {
    pub(crate) uuid: Uuid,
    pub(crate) auction: Uuid,
    /// All that others see; what bids name as their bidder.
    pub(crate) paddle: String,
    /// The person or firm behind it, as you know them.
    pub(crate) party: Option<Uuid>,
    pub(crate) name: String,
    pub(crate) email: Option<String>,
    /// What the bidder may spend in this auction, minor units: maxima that lead and hammer prices. Null: no limit.
    pub(crate) limit: Option<i64>,
    /// For whoever runs the sale.
    pub(crate) note: Option<String>,
    /// `pending`, `approved`, `refused` or `suspended`.
    pub(crate) status: &'static str,
    /// Statuses that it may be changed to; none when the auction is ARCHIVED.
    pub(crate) legal_next_statuses: Vec<&'static str>,
    /// Why it was refused or suspended.
    pub(crate) reason: Option<String>,
    /// Rises with each change; the `ETag`.
    pub(crate) version: i64,
    #[schema(format = DateTime)]
    pub(crate) created_at: String,
    #[schema(format = DateTime)]
    pub(crate) updated_at: String,
}

impl RegistrationView {
    /// As it is in the end, when the auction is ARCHIVED.
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
