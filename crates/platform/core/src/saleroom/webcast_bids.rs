//! Bids of signed-in bidders in a webcast: on the lot in the ring, and commission bids before it comes there.

use platform_rules::ring::commissions;
use platform_rules::{Auction, BidRecord, BidSource, Item, PublicItem};
use uuid::Uuid;

use super::{BidForm, OwnStanding, Saleroom, SaleroomBid, SaleroomBidResult, SaleroomRefusal, SignedInBidder};
use crate::bidding::absentee_bids::NewAbsenteeBid;
use crate::bidding::bids::PlacedBid;
use crate::error::{PlatformError, PlatformResult};
use crate::live::desk_link;
use crate::ring::{InternetBidResult, NewInternetBid};
use crate::steps::idempotency::{IdempotentRequest, Outcome};
use crate::{Caller, Platform};

/// Tries of a bid in the ring after others were faster.
const RING_TRIES_MAX: usize = 5;

impl Platform {
    /// A bid on a lot of a webcast.
    pub(super) async fn bid_in_webcast(
        &self,
        bidder: &SignedInBidder,
        paddle: &str,
        (item, auction): (Item, Auction),
        bid: SaleroomBid,
        form: BidForm<'_>,
    ) -> PlatformResult<SaleroomBidResult> {
        let caller = bidder.caller();
        let request = format!("{} {bid:?}", item.uuid);
        let uuid = item.uuid;
        let outcome = match bid {
            SaleroomBid::UpTo(maximum) => {
                let render = |_: &PlacedBid| maximum.to_string();
                let answering = bidder.answering(form.key, &request, &render);
                let expected = |auction: &Auction, _: &Item| form.expect_rates(auction);
                // The bidder has confirmed the amount already, which the form shows.
                let new = NewAbsenteeBid { bidder: paddle.to_owned(), maximum, unusual_amount: true };
                match self.place_absentee_bid_if(&caller, uuid, &new, &expected, Some(answering)).await? {
                    Outcome::Fresh(placed) => Some((placed.item, placed.auction)),
                    Outcome::Replayed(_) => None,
                }
            }
            SaleroomBid::Next(amount) => {
                let render = |_: &InternetBidResult| amount.to_string();
                let answering = bidder.answering(form.key, &request, &render);
                self.bid_at_asking_price(&caller, paddle, (item, auction), (amount, form), answering).await?
            }
        };
        let Some((item, auction)) = outcome else { return self.repeated_bid(bidder, paddle, uuid).await };
        let own = self.own_in_webcast(&item, paddle).await?;
        Ok(SaleroomBidResult { sale: PublicItem::of(&auction, &item), own, is_repeated: false })
    }

    /// Bids on the lot in the ring while its asking price is the one that the bidder saw. None for a repeated request.
    async fn bid_at_asking_price(
        &self,
        caller: &Caller,
        paddle: &str,
        (mut item, mut auction): (Item, Auction),
        (amount, form): (i64, BidForm<'_>),
        answering: IdempotentRequest<'_, InternetBidResult>,
    ) -> PlatformResult<Option<(Item, Auction)>> {
        let new = NewInternetBid { bidder: paddle.to_owned(), amount };
        for _ in 0..RING_TRIES_MAX {
            if let Some(ring) = item.in_ring().filter(|ring| ring.asking_price != amount)
                && self.replay(Some(&answering)).await?.is_none()
            {
                let is_equal = item.standing.as_ref().is_some_and(|standing| standing.amount == amount);
                return Err(SaleroomRefusal::PriceMoved { minimum: ring.asking_price, is_equal }.into());
            }
            if let Err(moved) = form.expect_rates(&auction)
                && self.replay(Some(&answering)).await?.is_none()
            {
                return Err(moved);
            }
            if desk_link::is_lost(self.store(), &auction, self.now()).await?
                && self.replay(Some(&answering)).await?.is_none()
            {
                return Err(SaleroomRefusal::LinkLost.into());
            }
            match self.bid_in_ring(caller, item.uuid, &new, Some(item.version), Some(answering)).await {
                Ok(Outcome::Fresh(placed)) => return Ok(Some((placed.item, placed.auction))),
                Ok(Outcome::Replayed(_)) => return Ok(None),
                // The clerk or another bidder was faster: what the bidder saw is compared again.
                Err(PlatformError::PreconditionFailed { .. }) => {
                    (item, auction) = self.item(caller, item.uuid).await?;
                }
                Err(error) => return Err(error),
            }
        }
        Err(PlatformError::Busy)
    }

    /// Withdraws the bidder's commission bid while the lot waits for the ring.
    ///
    /// Errors: as [`Platform::bid_in_saleroom`], and `no_commission`, `item_in_ring`.
    pub async fn withdraw_commission_bid(
        &self,
        saleroom: &Saleroom,
        bidder: &SignedInBidder,
        lot: (Uuid, Uuid),
    ) -> PlatformResult<()> {
        let (registration, ..) = self.admitted_to_lot(saleroom, bidder, lot).await?;
        let withdrawal = (registration.paddle.as_str(), None);
        self.withdraw_absentee_bid(&bidder.caller(), lot.1, withdrawal, None, None).await.map(drop)
    }

    /// How a bidder stands on a lot, with the commission bid that only they and the clerk know.
    pub(super) async fn own_in_webcast(&self, item: &Item, paddle: &str) -> PlatformResult<OwnStanding> {
        let own = OwnStanding::of(item, paddle, false);
        if item.bid_count == 0 {
            return Ok(own);
        }
        let log = self.bid_log(item).await?;
        let commissions = commissions(item, &log)?;
        let commission = commissions.iter().find(|commission| commission.bidder == paddle);
        let is_own = |bid: &&BidRecord| bid.bidder == paddle && bid.source != BidSource::Absentee;
        let has_bid = own.has_bid || log.bids().iter().any(|bid| is_own(&bid));
        Ok(OwnStanding { commission: commission.map(|commission| commission.maximum.reveal()), has_bid, ..own })
    }
}
