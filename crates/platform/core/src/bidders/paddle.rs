//! Paddles: a change of one, possible until a bid names the old or the new one, and registered ones that look like another.

use platform_rules::{Auction, Rejection};
use uuid::Uuid;

use crate::error::PlatformResult;
use crate::port::{Registration, RegistrationChange};
use crate::{Caller, Platform, Scope};

/// A registered paddle that a clerk may have meant.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SimilarPaddle {
    /// The registered paddle.
    pub paddle: String,
    /// The bidder's name, for a caller with `bidders:read`.
    pub name: Option<String>,
}

impl Platform {
    /// For a paddle without a registration: a registered one that differs from it only in the case of letters or in
    /// leading zeros, such as 101 for 0101. Pages propose it before they take the paddle as a new one.
    ///
    /// Errors: `not_found`, `clerk_not_assigned`.
    pub async fn similar_paddle(
        &self,
        caller: &Caller,
        auction: Uuid,
        paddle: &str,
    ) -> PlatformResult<Option<SimilarPaddle>> {
        caller.require_one_of(&[Scope::BiddersRead, Scope::BiddersWrite, Scope::AuctionsWrite, Scope::RingWrite])?;
        let auction = self.visible_bidders(caller, auction).await?.uuid;
        if self.store().registration_by_paddle(auction, paddle).await?.is_some() {
            return Ok(None);
        }
        let similar = self.store().similar_registration(auction, paddle).await?;
        let may_see_names = caller.require(Scope::BiddersRead).is_ok();
        Ok(similar.map(|found| SimilarPaddle { paddle: found.paddle, name: found.name.filter(|_| may_see_names) }))
    }

    /// Rejects another paddle when a bid names one of the two, because a bid names its bidder by paddle only.
    ///
    /// Errors: `paddle_has_bid`.
    pub(super) async fn check_paddles(
        &self,
        auction: &Auction,
        before: &Registration,
        change: &RegistrationChange,
    ) -> PlatformResult<()> {
        let RegistrationChange::Edited { paddle: Some(paddle), .. } = change else { return Ok(()) };
        for paddle in [&before.paddle, paddle] {
            if self.store().has_bid(auction.uuid, paddle).await? || self.has_pending_bid(auction, paddle).await? {
                return Err(Rejection::PaddleHasBid { paddle: paddle.clone() }.into());
            }
        }
        Ok(())
    }

    /// True when an internet bid of this paddle is pending in the ring.
    async fn has_pending_bid(&self, auction: &Auction, paddle: &str) -> PlatformResult<bool> {
        let Some(item) = auction.in_ring else { return Ok(false) };
        let item = self.store().item(item).await?;
        Ok(item.is_some_and(|item| item.pending.iter().any(|pending| pending.bidder == paddle)))
    }
}
