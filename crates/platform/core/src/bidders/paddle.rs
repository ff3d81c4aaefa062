//! A bidder gets another paddle, as long as no bid was made with the present one.

use platform_rules::{Auction, Rejection};

use super::RegistrationChange;
use crate::Platform;
use crate::error::PlatformResult;
use crate::port::Registration;

impl Platform {
    /// Refuses another paddle when a bid names one of the two: bids say by their paddle alone who made them.
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
            if self.store().has_bid(auction.uuid, paddle).await? || self.waits_in_ring(auction, paddle).await? {
                return Err(Rejection::PaddleHasBid { paddle: paddle.clone() }.into());
            }
        }
        Ok(())
    }

    /// If a bid of this paddle waits for the clerk.
    async fn waits_in_ring(&self, auction: &Auction, paddle: &str) -> PlatformResult<bool> {
        let Some(item) = auction.in_ring else { return Ok(false) };
        let item = self.store().item(item).await?;
        Ok(item.is_some_and(|item| item.pending.iter().any(|pending| pending.bidder == paddle)))
    }
}
