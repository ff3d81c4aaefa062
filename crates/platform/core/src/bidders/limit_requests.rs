//! Requests of bidders for a higher spending limit: staff read them, and grant or decline each.
//!
//! A registration has one open request at most. A granted request and the limit are one commit, so the log of the registration
//! has the limit with the member of staff who set it.

use platform_rules::item::REASON_CHARS_MAX;
use platform_rules::{AMOUNT_MAX, Auction, Rejection, SaleMode};
use uuid::Uuid;

use crate::error::{PlatformError, PlatformResult};
use crate::port::{
    CauseOfNotice, DecidedLimit, LimitDecision, LimitRequest, NoticeCause, Registration, RegistrationChange, StoreError,
};
use crate::steps::input::check_text;
use crate::{Caller, Platform, Scope};

/// How staff answer a request for a higher limit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum LimitAnswer {
    /// The limit becomes this, minor units.
    Grant(i64),
    /// The limit stays, for this reason, which the bidder reads.
    Decline(String),
}

impl Platform {
    /// Open requests for a higher limit in an auction, the oldest first, with their registrations.
    ///
    /// Errors: `not_found`, `clerk_not_assigned`.
    pub async fn limit_requests(
        &self,
        caller: &Caller,
        auction: Uuid,
        limit: usize,
    ) -> PlatformResult<Vec<(LimitRequest, Registration)>> {
        caller.require(Scope::BiddersRead)?;
        let auction = self.visible_bidders(caller, auction).await?.uuid;
        let mut found = Vec::new();
        for request in self.store().open_limit_requests(auction, limit).await? {
            let registration = self.store().registration(request.registration).await?;
            found.extend(registration.map(|registration| (request, registration)));
        }
        Ok(found)
    }

    /// The open request of a registration.
    ///
    /// Errors: `not_found`.
    pub async fn limit_request(
        &self,
        caller: &Caller,
        (auction, registration): (Uuid, Uuid),
    ) -> PlatformResult<Option<LimitRequest>> {
        let registration = self.registration(caller, (auction, registration)).await?;
        let found = self.store().limit_request(registration.uuid).await?;
        Ok(found.filter(|request| request.decision.is_none()))
    }

    /// Grants or declines the request that a page showed. The bidder receives a notice.
    ///
    /// Errors: `not_found` (also when the request was decided meanwhile), `auction_closed` (it is archived), `invalid`,
    /// `reason_required`, `bidder_blocked`, `person_erased`, `busy`.
    pub async fn answer_limit_request(
        &self,
        caller: &Caller,
        (auction, registration): (Uuid, Uuid),
        seen: &LimitRequest,
        answer: &LimitAnswer,
    ) -> PlatformResult<()> {
        caller.require(Scope::BiddersWrite)?;
        let auction = self.visible_auction(caller, auction).await?;
        auction.require_unarchived()?;
        let registration = self.registration_in(caller, auction.uuid, registration).await?;
        let open = self.store().limit_request(registration.uuid).await?;
        let is_seen = |open: &LimitRequest| open.decision.is_none() && open.asked_at == seen.asked_at;
        let request = open.filter(is_seen).ok_or(PlatformError::NotFound("limit request"))?;
        let decision = LimitDecision {
            granted: granted(answer)?,
            reason: declined_because(answer)?,
            actor: caller.actor.clone(),
            at: self.now(),
        };
        let (limit, uuid) = (decision.granted, registration.uuid);
        let decided = DecidedLimit { registration: uuid, asked_at: request.asked_at, decision };
        if limit.is_some() {
            let change = |state: &Registration| {
                Ok(RegistrationChange::Edited {
                    paddle: None,
                    party: state.party,
                    name: state.name.clone(),
                    email: state.email.clone(),
                    limit,
                    note: state.note.clone(),
                })
            };
            self.rewrite(caller, &auction, uuid, change, (None, Some(decided)), None).await?;
            return Ok(());
        }
        let cause = self.limit_cause(&auction, &decided);
        match self.store().decline_limit(decided, cause).await {
            Ok(()) => {
                self.notices_caused().notify();
                Ok(())
            }
            Err(StoreError::Conflict) => Err(PlatformError::NotFound("limit request")),
            Err(error) => Err(error.into()),
        }
    }

    /// The cause of the notice about the decision, to be committed with it.
    pub(super) fn limit_cause(&self, auction: &Auction, decided: &DecidedLimit) -> Option<NoticeCause> {
        let is_told = auction.sale_mode() == SaleMode::Real && self.config().saleroom_url.is_some();
        let LimitDecision { granted, reason, .. } = &decided.decision;
        is_told.then(|| NoticeCause {
            auction: auction.uuid,
            what: CauseOfNotice::LimitDecided {
                registration: decided.registration,
                granted: *granted,
                reason: reason.clone(),
            },
            at: self.now(),
        })
    }
}

fn declined_because(answer: &LimitAnswer) -> PlatformResult<Option<String>> {
    let LimitAnswer::Decline(reason) = answer else { return Ok(None) };
    let reason = reason.trim();
    if reason.is_empty() {
        return Err(PlatformError::Rejected(Rejection::ReasonRequired));
    }
    check_text(reason, REASON_CHARS_MAX).map_err(|message| PlatformError::invalid("/reason", message))?;
    Ok(Some(reason.to_owned()))
}

fn granted(answer: &LimitAnswer) -> PlatformResult<Option<i64>> {
    match answer {
        LimitAnswer::Grant(limit) if (0..=AMOUNT_MAX).contains(limit) => Ok(Some(*limit)),
        LimitAnswer::Grant(_) => {
            Err(PlatformError::invalid("/limit", format!("must be from 0 to {AMOUNT_MAX} minor units")))
        }
        LimitAnswer::Decline(_) => Ok(None),
    }
}
