//! The spending limit of a bidder in a sale: how much of it is used, and the request for a higher one.

use std::time::Duration;

use kit_identity::throttle::Limit;
use platform_rules::AMOUNT_MAX;
use uuid::Uuid;

use super::accounts::require_accounts;
use super::{Saleroom, SignedInBidder};
use crate::Platform;
use crate::error::saleroom_refusal::SaleroomRefusal;
use crate::error::{PlatformError, PlatformResult};
use crate::port::{LimitRequest, Registration, RegistrationStatus, StoreError};
use crate::steps::input::check_text;

/// Characters of what a bidder writes with the request.
pub const LIMIT_WORDS_CHARS_MAX: usize = 300;
/// Requests of one bidder within a day, in all sales.
const REQUESTS: Limit = Limit { attempts_max: 5, window: Duration::from_secs(24 * 60 * 60) };
/// The name that keeps requests apart from other attempts.
const REQUEST_REALM: &str = "bidder-limit";

/// The limit of a bidder in a sale.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OwnLimit {
    /// The limit, minor units.
    pub limit: i64,
    /// What of it is taken by lots that the bidder leads or won.
    pub used: i64,
    /// The latest request for a higher one, with the decision if staff made one.
    pub request: Option<LimitRequest>,
    /// The bidder can ask for a higher one now.
    pub can_ask: bool,
}

impl Platform {
    /// The limit of the bidder with this registration; none without a limit, or before the registration is approved.
    pub async fn own_limit(&self, registration: &Registration) -> PlatformResult<Option<OwnLimit>> {
        let Some(limit) = registration.limit.filter(|_| registration.status == RegistrationStatus::Approved) else {
            return Ok(None);
        };
        let used = self.store().committed_amount(registration.auction, &registration.paddle, None).await?;
        let request = self.store().limit_request(registration.uuid).await?;
        let can_ask = request.as_ref().is_none_or(|request| request.decision.is_some());
        Ok(Some(OwnLimit { limit, used, request, can_ask }))
    }

    /// Asks the house for a higher limit in a sale.
    ///
    /// Errors: `accounts_closed`, `not_found`, `sale_over`, `registration_required` (not approved, or without a limit), `invalid`,
    /// `taken` (a request waits already), `too_many_attempts`.
    pub async fn ask_for_limit(
        &self,
        saleroom: &Saleroom,
        bidder: &SignedInBidder,
        auction: Uuid,
        (amount, words): (i64, &str),
    ) -> PlatformResult<()> {
        require_accounts(saleroom)?;
        let sale = self.saleroom_sale(saleroom, auction).await?;
        if !matches!(sale.auction.status, contract::AuctionStatus::Preview | contract::AuctionStatus::Live) {
            return Err(SaleroomRefusal::SaleOver.into());
        }
        let registration = self.own_registration(bidder, auction).await?;
        let registration = registration.ok_or(SaleroomRefusal::RegistrationRequired)?;
        let own = self.own_limit(&registration).await?.ok_or(SaleroomRefusal::RegistrationRequired)?;
        if !own.can_ask {
            return Err(PlatformError::Taken("limit_request"));
        }
        if !(own.limit + 1..=AMOUNT_MAX).contains(&amount) {
            return Err(PlatformError::invalid("/amount", "must be more than the limit"));
        }
        let words = words.trim();
        if !words.is_empty() {
            check_text(words, LIMIT_WORDS_CHARS_MAX).map_err(|message| PlatformError::invalid("/words", message))?;
        }
        let taken = REQUESTS.at_account_of(REQUEST_REALM, &bidder.account.id.to_string(), None, None);
        self.take_attempts(&taken, None).await?;
        let request = LimitRequest {
            registration: registration.uuid,
            auction,
            amount,
            words: words.to_owned(),
            asked_at: self.now(),
            decision: None,
        };
        match self.store().ask_limit(request).await {
            Ok(()) => Ok(()),
            // Another press of the same bidder was faster.
            Err(StoreError::Taken(field)) => Err(PlatformError::Taken(field)),
            Err(error) => Err(error.into()),
        }
    }
}
