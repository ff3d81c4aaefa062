//! Bids over the internet that arrived after the end of their lot: kept for staff, with bids that no longer count.
//!
//! A refused bid changes nothing. It is kept so that the house can answer a bidder who says that they bid in time.

use contract::ItemStatus;
use jiff::Timestamp;
use platform_rules::{Admission, Auction, AuctionKind, Item, Rejection, SaleMode, known_paddle};
use uuid::Uuid;

use crate::access::access_log::AccessEvent;
use crate::error::PlatformResult;
use crate::port::{KeptLateBid, StoreResult, WithdrawnBid};
use crate::{Caller, Platform, Scope};

/// Late bids of one lot that are kept: the first ones.
const LATE_BIDS_OF_LOT_MAX: usize = 500;
/// Of these, those of one bidder, so that the bids of others have room.
pub const LATE_BIDS_OF_PADDLE_MAX: usize = 5;
/// A bid that arrives later than this is refused as one on a lot that ended long ago, and is not kept.
const LATE_MS_MAX: i64 = 60 * 60 * 1_000;
/// Late bids, and withdrawn bids, that are listed.
const LISTED_MAX: usize = 500;

/// The late and the withdrawn bids of a sale, each with its lot number; the latest first.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct LateAndWithdrawn {
    /// Bids that arrived after the end of their lot.
    pub late: Vec<(String, KeptLateBid)>,
    /// Bids that no longer count.
    pub withdrawn: Vec<(String, WithdrawnBid)>,
}

impl Platform {
    /// The late and the withdrawn bids of a sale, at most 500 of each. The access log gets an entry.
    ///
    /// Errors: `not_found`, `clerk_not_assigned`.
    pub async fn late_and_withdrawn_bids(&self, caller: &Caller, auction: Uuid) -> PlatformResult<LateAndWithdrawn> {
        caller.require(Scope::BiddersRead)?;
        let auction = self.visible_bidders(caller, auction).await?.uuid;
        let mut found = LateAndWithdrawn::default();
        for bid in self.store().late_bids_of(auction, None, LISTED_MAX).await? {
            found.late.push((self.lot_number_of(bid.item).await?, bid));
        }
        for bid in self.store().struck_bids_of(auction, LISTED_MAX).await? {
            found.withdrawn.push((self.lot_number_of(bid.item).await?, bid));
        }
        let records = u64::try_from(found.late.len() + found.withdrawn.len()).unwrap_or(u64::MAX);
        self.note_alone(self.note(caller, AccessEvent::LateBidsListed { auction, records })?).await?;
        Ok(found)
    }

    async fn lot_number_of(&self, item: Uuid) -> PlatformResult<String> {
        Ok(self.store().item(item).await?.map(|item| item.lot_number).unwrap_or_default())
    }

    /// Keeps a refused bid on a lot of a timed auction, if the refusal says that the lot had ended.
    pub(crate) async fn keep_late_bid_of(
        &self,
        (item, paddle, amount): (Uuid, &str, i64),
        received_at: Timestamp,
        refusal: &Rejection,
    ) {
        if !matches!(refusal, Rejection::ItemEnded { .. } | Rejection::ItemNotLive { .. }) {
            return;
        }
        let Ok(Some((item, auction))) = self.store().item_with_auction(item).await else { return };
        let is_over = matches!(refusal, Rejection::ItemEnded { .. })
            || matches!(item.status, ItemStatus::Sold | ItemStatus::Unsold);
        if auction.kind != AuctionKind::Timed || !is_over {
            return;
        }
        if let Some(ended_at) = item.effective_end_time {
            self.keep_late_bid((&auction, &item), (paddle, amount), received_at, ended_at).await;
        }
    }

    /// Keeps a bid that arrived after the end of its lot, by a bidder whom the sale admits. A bid that can't be stored is logged: its refusal stands.
    pub(crate) async fn keep_late_bid(
        &self,
        (auction, item): (&Auction, &Item),
        (paddle, amount): (&str, i64),
        received_at: Timestamp,
        ended_at: Timestamp,
    ) {
        let late_ms = i64::try_from(received_at.duration_since(ended_at).as_millis()).unwrap_or(i64::MAX);
        if auction.sale_mode() != SaleMode::Real
            || known_paddle(paddle).is_none()
            || !(0..LATE_MS_MAX).contains(&late_ms)
        {
            return;
        }
        let bid = KeptLateBid {
            uuid: self.ids().uuid_v7(),
            auction: auction.uuid,
            item: item.uuid,
            paddle: paddle.to_owned(),
            amount,
            received_at,
            late_ms,
        };
        let kept = async {
            // Paddles that the sale does not have would take the room of its bidders.
            let is_known = auction.registration == Admission::Open
                || self.store().registration_by_paddle(auction.uuid, paddle).await?.is_some();
            if is_known {
                self.store().keep_late_bid(bid, (LATE_BIDS_OF_LOT_MAX, LATE_BIDS_OF_PADDLE_MAX)).await?;
            }
            StoreResult::Ok(())
        };
        if let Err(error) = kept.await {
            tracing::warn!(%error, lot = %item.uuid, "a late bid can't be kept");
        }
    }
}
