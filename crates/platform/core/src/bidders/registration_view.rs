//! A registration with what the bidder sent: the account, the accepted conditions, and contact details that others share.

use uuid::Uuid;

use super::shared_contacts::SharedContact;
use crate::access::access_log::AccessEvent;
use crate::error::PlatformResult;
use crate::port::{AcceptedConditions, BidderAccount, LimitRequest, Party, Registration};
use crate::{Caller, Platform, Scope};

/// What staff see of a registration.
#[derive(Debug, Clone)]
pub struct RegistrationView {
    /// The registration.
    pub registration: Registration,
    /// What of the limit is used, minor units; none without a limit.
    pub used: Option<i64>,
    /// The record in the register.
    pub party: Option<Party>,
    /// The account with which the bidder registered; none for one whom staff registered.
    pub account: Option<BidderAccount>,
    /// The version of the conditions that the bidder accepted for this sale.
    pub accepted: Option<AcceptedConditions>,
    /// What the bidder shares with a consignor of the house, or with another bidder of the sale.
    pub shared: Vec<SharedContact>,
    /// The open request for a higher limit.
    pub request: Option<LimitRequest>,
}

impl Platform {
    /// A registration with what the bidder sent. The access log gets an entry.
    ///
    /// Errors: `not_found`.
    pub async fn registration_view(
        &self,
        caller: &Caller,
        (auction, registration): (Uuid, Uuid),
    ) -> PlatformResult<RegistrationView> {
        caller.require(Scope::PartiesRead)?;
        let registration = self.registration(caller, (auction, registration)).await?;
        let party = self.record_of(&registration).await?;
        let account = match registration.party {
            Some(party) => {
                let records = self.store().records_of_person(party).await?;
                self.store().bidder_accounts_of(&records).await?.into_iter().next()
            }
            None => None,
        };
        let accepted = match &account {
            Some(account) => self.store().accepted_conditions(account.id, auction).await?,
            None => None,
        };
        let mut shared = self.shared_contacts_of(auction, registration.customer).await?.shared;
        let is_own = |shared: &SharedContact| {
            shared.people.iter().any(|person| {
                person.registration.as_ref().is_some_and(|registered| registered.uuid == registration.uuid)
            })
        };
        shared.retain(is_own);
        let used = match registration.limit {
            Some(_) => Some(self.store().committed_amount(auction, &registration.paddle, None).await?),
            None => None,
        };
        let request = self.store().limit_request(registration.uuid).await?;
        let event = AccessEvent::RegistrationViewed { registration: registration.uuid };
        self.note_alone(self.note(caller, event)?).await?;
        Ok(RegistrationView {
            used,
            party,
            account,
            accepted,
            shared,
            request: request.filter(|request| request.decision.is_none()),
            registration,
        })
    }
}
