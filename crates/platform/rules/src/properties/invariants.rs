//! The invariants of every change and of every state.

use contract::ItemStatus;
use serde_json::Value;

use super::sale::Sale;
use crate::proxy::Pricing;
use crate::{
    AuctionKind, BidRecord, BidSource, Cause, Item, ItemChange, LostBid, PublicBid, PublicItem, RingStatus, minimum_bid,
};

impl Sale {
    /// Checks a change against the state before it.
    pub(super) fn check_change(&self, change: &ItemChange) {
        let item = &self.item;
        match change {
            ItemChange::StatusChanged { from, to, cause, announced, .. } => {
                assert_eq!(*from, (item.sequence > 0).then_some(item.status));
                assert!(*announced || !item.announced, "after an announcement every change is announced");
                if *cause == Cause::EndReached {
                    let reserve = item.reserve.map_or(0, |reserve| reserve.reveal());
                    let sells = item.price().is_some_and(|price| price >= reserve);
                    assert_eq!(*to, if sells { ItemStatus::Sold } else { ItemStatus::Unsold });
                }
                if matches!(to, ItemStatus::Sold | ItemStatus::SoldBuyNow) {
                    let winner = item.standing.as_ref().and_then(|standing| self.log.get(standing.number)).unwrap();
                    assert!(winner.stands(), "the winning bid counts");
                    let before = match item.post_sale_offer {
                        true => &[ItemStatus::Unsold, ItemStatus::Passed][..],
                        false => &[ItemStatus::Live],
                    };
                    assert!(from.is_some_and(|from| before.contains(&from)), "a sold item is not sold again");
                }
                if matches!(to, ItemStatus::Sold | ItemStatus::SoldBuyNow | ItemStatus::Unsold | ItemStatus::Passed) {
                    assert!(*announced);
                }
            }
            ItemChange::BidAccepted { record, standing } => {
                assert_eq!(record.number, item.bid_count + 1);
                if record.source == BidSource::PostSaleOffer {
                    let is_open = matches!(item.status, ItemStatus::Unsold | ItemStatus::Passed);
                    assert!(is_open && item.standing.is_none(), "an offer replaces all bids");
                    return;
                }
                assert_eq!(item.status, ItemStatus::Live);
                let price = standing.as_ref().map(|standing| standing.amount);
                assert!(price >= item.price(), "a bid never lowers the price");
                if matches!(record.source, BidSource::Internet | BidSource::Absentee | BidSource::BuyNow) {
                    assert!(!self.suspended.contains(record.bidder.as_str()), "a suspended bidder does not bid");
                    let limit = self.limit.filter(|_| record.bidder == "d").unwrap_or(i64::MAX);
                    assert!(record.maximum.reveal() <= limit, "a bid stays within the spending limit");
                }
                let leads = standing.as_ref().is_some_and(|standing| standing.number == record.number);
                let maximum = Some(record.maximum.reveal());
                let shown = Some(record.amount);
                if record.source == BidSource::Absentee {
                    assert_eq!(shown, Some(0), "an absentee bid shows no amount");
                } else {
                    assert!(leads || maximum <= price, "an outbid maximum is at or below the price");
                    assert_eq!(
                        shown,
                        if leads { price } else { maximum },
                        "a leading bid shows no more than the price"
                    );
                }
                if self.auction.kind == AuctionKind::Webcast && record.source != BidSource::Absentee {
                    let is_book = record.source == BidSource::Commission;
                    assert!(record.amount >= minimum_bid(&self.auction, item) || is_book);
                    assert!(price > item.price());
                }
            }
            ItemChange::BuyerChanged { bidder, reason, .. } => {
                assert_eq!(item.status, ItemStatus::Sold, "only a sold item has a buyer");
                assert!(
                    !bidder.is_empty() && (reason.is_some() || item.is_buyer_open()),
                    "a known buyer needs a reason"
                );
            }
            ItemChange::PriceCorrected { amount, reason } => {
                assert_eq!(item.status, ItemStatus::Sold, "only a sold item has a hammer price");
                assert!(*amount > 0 && Some(*amount) != item.price() && !reason.is_empty());
            }
            ItemChange::EndPlanned { .. } => assert_eq!(item.effective_end_time, None),
            ItemChange::EndExtended { end } | ItemChange::EndMoved { end, .. } => {
                assert!(item.effective_end_time.is_some_and(|before| *end > before), "an end only moves forward");
            }
            ItemChange::EndShifted { planned, end, .. } => {
                assert!(item.end_time.is_none_or(|before| *planned > before), "a plan only moves forward");
                assert!(item.effective_end_time.is_none_or(|before| *end >= before), "an end only moves forward");
            }
            ItemChange::Edited { edit } => {
                let on_sale = matches!(item.status, ItemStatus::Live | ItemStatus::Suspended);
                assert!(edit.end_time.is_none() || !on_sale, "an end on sale is shifted, not edited");
                let terms = edit.opening_bid.is_some() || edit.reserve.is_some() || edit.buy_now.is_some();
                let is_free = !item.has_bids() || item.status == ItemStatus::Withdrawn;
                assert!(!terms || is_free, "bids lock the terms");
            }
            ItemChange::StandingChanged { cause, .. } => {
                let causes = [Cause::BidCancelled, Cause::BidUndone, Cause::BidRetracted, Cause::AskingPriceSet];
                assert!(causes.contains(cause), "only these causes and bids change a price");
                if self.auction.kind == AuctionKind::Timed {
                    assert_eq!(*cause, Cause::BidCancelled);
                }
            }
            _ => {}
        }
        if matches!(change.cause(), Cause::BidCancelled | Cause::BidUndone | Cause::BidRetracted)
            && matches!(change, ItemChange::BidStruck { .. })
        {
            assert!(change.reason().is_some(), "striking a bid has a reason");
        }
    }

    /// Checks the state after a step.
    pub(super) fn check_state(&self) {
        let (auction, item) = (&self.auction, &self.item);
        assert_eq!(item.bid_count as usize, self.log.bids().len());
        let statuses = self.item_changes.iter().filter(|change| matches!(change, ItemChange::StatusChanged { .. }));
        assert_eq!(item.sequence, statuses.count() as i64, "one number for each status change");
        assert_eq!(auction.in_ring == Some(item.uuid), item.in_ring().is_some(), "both sides of the ring agree");
        assert!(item.in_ring().is_none() || item.status == ItemStatus::Live, "an item in the ring is LIVE");
        assert_eq!((item.version, auction.version), (1, 1), "the rules leave versions alone");
        match auction.kind {
            AuctionKind::Timed => self.check_leader(),
            AuctionKind::Webcast => self.check_ring(),
        }
        self.check_public_views();
    }

    fn counting(&self) -> Vec<&BidRecord> {
        let is_over = |record: &BidRecord| self.item.is_over(record.number, record.source);
        self.log.bids().iter().filter(|record| record.stands() && !is_over(record)).collect()
    }

    /// A timed item: the highest maximum leads, among equal ones the earliest, at the lowest price that outbids the
    /// others.
    fn check_leader(&self) {
        let item = &self.item;
        assert_eq!(item.ring, RingStatus::Waiting);
        // The terms of a withdrawn item can be edited in spite of its bids, which lapse when it is reinstated.
        if item.status == ItemStatus::Withdrawn {
            return;
        }
        let bids = self.counting();
        let Some(standing) = &item.standing else {
            assert!(bids.is_empty(), "a bid leads while any bid counts");
            return;
        };
        if item.post_sale_offer {
            assert_eq!((standing.number, standing.amount), (item.bid_count, standing.maximum.reveal()));
            assert!(matches!(item.status, ItemStatus::Sold | ItemStatus::Unsold), "an offer is no bid of a sale");
            return;
        }
        let last_source = self.log.get(standing.number).map(|record| record.source);
        if last_source == Some(BidSource::BuyNow) {
            assert_eq!(Some(standing.amount), item.buy_now);
            assert!(matches!(item.status, ItemStatus::SoldBuyNow | ItemStatus::Unsold), "a purchase is no bid");
            return;
        }
        let highest = bids.iter().map(|record| record.maximum).max().unwrap();
        let first = bids.iter().find(|record| record.maximum == highest).unwrap();
        assert_eq!((standing.maximum, &standing.bidder), (highest, &first.bidder));
        let pricing = Pricing::of(&self.auction, item);
        assert_eq!(
            item.standing,
            pricing.replay(bids.iter().copied()),
            "replaying all bids gives the same standing bid"
        );
        let others = bids.iter().filter(|record| record.bidder != standing.bidder);
        let second = others.map(|record| record.maximum.reveal()).max();
        let reserve = item.reserve.map_or(0, |reserve| reserve.min(standing.maximum).reveal());
        assert!(standing.amount <= standing.maximum.reveal(), "the price is within the maximum");
        assert!(standing.amount >= second.unwrap_or(0), "the price reaches the second maximum");
        assert!(standing.amount >= reserve, "a price that can meet the reserve meets it");
        let forced = second.map_or(pricing.opening(), |second| pricing.above(second)).max(pricing.opening());
        assert!(standing.amount <= forced.max(reserve), "the price is no higher than needed");
    }

    /// An item of a webcast: the standing bid counts, and the asking price is above it.
    fn check_ring(&self) {
        let item = &self.item;
        if let Some(standing) = &item.standing {
            let record = self.log.get(standing.number).unwrap();
            assert!(record.stands() && record.source != BidSource::Absentee);
            assert!(!item.is_over(record.number, record.source), "a bid that a pass ended does not stand");
            let accepted = item.price_before_correction.unwrap_or(standing.amount);
            assert_eq!((record.bid, record.amount), (standing.bid, accepted));
        }
        assert!(item.status != ItemStatus::Passed || item.standing.is_none(), "no bid stands on a passed item");
        assert!(
            item.before_pass.is_none() || item.status == ItemStatus::Passed,
            "only a passed item keeps the state before the pass"
        );
        let Some(ring) = item.in_ring() else {
            assert!(item.pending.is_empty(), "no bid is pending outside of the ring");
            return;
        };
        assert!(
            item.price().is_none_or(|price| price < ring.asking_price),
            "the asking price is above the standing bid"
        );
        let amounts = item.pending.iter().map(|pending| pending.amount);
        assert!(amounts.clone().all(|amount| amount >= ring.asking_price), "pending bids reach the asking price");
        let mut paddles: Vec<_> = item.pending.iter().map(|pending| &pending.bidder).collect();
        paddles.sort_unstable();
        paddles.dedup();
        assert_eq!(paddles.len(), item.pending.len(), "at most one bid of each bidder is pending");
        let is_pending = |lost: &LostBid| item.pending.iter().any(|pending| pending.bid == lost.bid.bid);
        assert!(!item.lost.iter().any(is_pending), "a lost bid waits no longer");
    }

    /// No public view contains a reserve or a maximum, except as an amount that was public already.
    fn check_public_views(&self) {
        let Item { reserve, standing, .. } = &self.item;
        let mut shown = Vec::new();
        numbers(&serde_json::to_value(PublicItem::of(&self.auction, &self.item)).unwrap(), &mut shown);
        let bids: Vec<_> = self.log.bids().iter().filter_map(|record| PublicBid::of(&self.item, record)).collect();
        let counted: Vec<i64> = bids.iter().map(|bid| bid.number).collect();
        assert_eq!(counted, (1..=self.item.shown_bids()).collect::<Vec<_>>(), "public numbers skip absentee bids");
        let leader = standing.as_ref().map(|standing| &standing.bidder);
        let of_leader = self.counting().into_iter().filter(|record| Some(&record.bidder) == leader);
        let shown_of_leader =
            of_leader.filter_map(|record| PublicBid::of(&self.item, record)).map(|bid| bid.amount).max();
        let price = self.item.price_before_correction.or(self.item.price());
        assert!(shown_of_leader <= price, "the leading bidder's bids show no more than the price");
        assert!(self.item.price_before_correction.is_none() || self.item.status == ItemStatus::Sold);
        numbers(&serde_json::to_value(bids).unwrap(), &mut shown);
        if let Some(reserve) = reserve.map(|reserve| reserve.reveal()) {
            assert!(!shown.contains(&reserve) || self.prices.contains(&reserve), "the reserve {reserve} is shown");
        }
        if let Some(standing) = standing {
            let maximum = standing.maximum.reveal();
            let known = self.prices.contains(&maximum)
                || self.log.bids().iter().any(|record| record.amount == maximum)
                || minimum_bid(&self.auction, &self.item) == maximum
                || self.item.buy_now == Some(maximum)
                || self.item.opening_bid == maximum;
            assert!(known || !shown.contains(&maximum), "the maximum {maximum} is shown");
        }
        let text = format!("{:?} {:?}", self.item, self.log);
        assert!(!text.replace("Hidden(…)", "").contains("Hidden("), "debug output shows no hidden amount");
    }
}

/// Every number in a JSON value, except counters, which may equal a reserve by chance.
fn numbers(value: &Value, found: &mut Vec<i64>) {
    match value {
        Value::Number(number) => found.extend(number.as_i64()),
        Value::Array(values) => values.iter().for_each(|value| numbers(value, found)),
        Value::Object(fields) => fields
            .iter()
            .filter(|(name, _)| !["number", "bidCount", "version"].contains(&name.as_str()))
            .for_each(|(_, value)| numbers(value, found)),
        _ => {}
    }
}
