//! Changes of a paddle: possible until a bid names the old or the new one.

use platform_rules::{Auction, Rejection};

use crate::Platform;
use crate::error::PlatformResult;
use crate::port::{Registration, RegistrationChange};

impl Platform {
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
