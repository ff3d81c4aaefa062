//! What the crate promises of every change and of every state.

use contract::ItemStatus;
use serde_json::Value;

use super::sale::Sale;
use crate::proxy::Pricing;
use crate::{
    AuctionKind, BidRecord, BidSource, Cause, Item, ItemChange, PublicBid, PublicItem, RingStatus, minimum_bid,
};

impl Sale {
    /// What holds of a change against the state right before it.
    pub(super) fn check_change(&self, change: &ItemChange) {
        let item = &self.item;
        match change {
            ItemChange::StatusChanged { from, to, cause, announced, .. } => {
                assert_eq!(*from, (item.sequence > 0).then_some(item.status));
                assert!(*announced || !item.announced, "an earlier announcement is followed up");
                if *cause == Cause::EndReached {
                    let reserve = item.reserve.map_or(0, |reserve| reserve.reveal());
                    let sells = item.price().is_some_and(|price| price >= reserve);
                    assert_eq!(*to, if sells { ItemStatus::Sold } else { ItemStatus::Unsold });
                }
                if matches!(to, ItemStatus::Sold | ItemStatus::SoldBuyNow) {
                    let winner = item.standing.as_ref().and_then(|standing| self.log.get(standing.number)).unwrap();
                    assert!(winner.stands(), "one winner, whose bid counts");
                    assert_eq!(from, &Some(ItemStatus::Live), "what is sold is not sold again");
                }
                if matches!(to, ItemStatus::Sold | ItemStatus::SoldBuyNow | ItemStatus::Unsold | ItemStatus::Passed) {
                    assert!(*announced);
                }
            }
            ItemChange::BidAccepted { record, standing } => {
                assert_eq!(record.number, item.bid_count + 1);
                assert_eq!(item.status, ItemStatus::Live);
                let price = standing.as_ref().map(|standing| standing.amount);
                assert!(price >= item.price(), "a bid never lowers the price");
                if matches!(record.source, BidSource::Internet | BidSource::Absentee | BidSource::BuyNow) {
                    assert!(!self.suspended.contains(record.bidder.as_str()), "whoever is suspended bids nothing");
                    let limit = self.limit.filter(|_| record.bidder == "d").unwrap_or(i64::MAX);
                    assert!(record.maximum.reveal() <= limit, "nobody goes beyond their limit");
                }
                let leads = standing.as_ref().is_some_and(|standing| standing.number == record.number);
                let all_of_it = Some(record.maximum.reveal());
                let shown = Some(record.amount);
                if record.source == BidSource::Absentee {
                    assert_eq!(shown, Some(0), "nothing is shown of what an absentee left");
                } else {
                    assert!(leads || all_of_it <= price, "whoever is outbid has given all");
                    assert_eq!(shown, if leads { price } else { all_of_it }, "a leader shows no more than the price");
                }
                if self.auction.kind == AuctionKind::Webcast && record.source != BidSource::Absentee {
                    assert!(record.amount >= minimum_bid(&self.auction, item) && price > item.price());
                }
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
                assert!(!terms || is_free, "the terms of bids stay");
            }
            ItemChange::StandingChanged { cause, .. } => {
                let causes = [Cause::BidCancelled, Cause::BidUndone, Cause::BidRetracted, Cause::AskingPriceSet];
                assert!(causes.contains(cause), "nothing else changes a price but a bid");
                if self.auction.kind == AuctionKind::Timed {
                    assert_eq!(*cause, Cause::BidCancelled);
                }
            }
            _ => {}
        }
        if matches!(change.cause(), Cause::BidCancelled | Cause::BidUndone | Cause::BidRetracted)
            && matches!(change, ItemChange::BidStruck { .. })
        {
            assert!(change.reason().is_some(), "whoever takes a bid back says why");
        }
    }

    /// What holds of the state after every step.
    pub(super) fn check_state(&self) {
        let (auction, item) = (&self.auction, &self.item);
        assert_eq!(item.bid_count as usize, self.log.bids().len());
        let statuses = self.item_changes.iter().filter(|change| matches!(change, ItemChange::StatusChanged { .. }));
        assert_eq!(item.sequence, statuses.count() as i64, "one number for each status change");
        assert_eq!(auction.in_ring == Some(item.uuid), item.in_ring().is_some(), "both sides of the ring agree");
        assert!(item.in_ring().is_none() || item.status == ItemStatus::Live, "what is in the ring can be sold");
        assert_eq!((item.version, auction.version), (1, 1), "versions are the platform's");
        match auction.kind {
            AuctionKind::Timed => self.check_leader(),
            AuctionKind::Webcast => self.check_ring(),
        }
        self.check_what_is_shown();
    }

    fn counting(&self) -> Vec<&BidRecord> {
        let is_over = |record: &BidRecord| self.item.is_over(record.number, record.source);
        self.log.bids().iter().filter(|record| record.stands() && !is_over(record)).collect()
    }

    /// Of a timed item: the highest maximum leads, of equal ones the earliest, at a price that the others force.
    fn check_leader(&self) {
        let item = &self.item;
        assert_eq!(item.ring, RingStatus::Waiting);
        // Other terms than those that its bids were made under may be entered for it: they lapse when it comes back.
        if item.status == ItemStatus::Withdrawn {
            return;
        }
        let bids = self.counting();
        let Some(standing) = &item.standing else {
            assert!(bids.is_empty(), "somebody leads as long as a bid counts");
            return;
        };
        if item.status == ItemStatus::SoldBuyNow {
            assert_eq!(Some(standing.amount), item.buy_now);
            return;
        }
        let highest = bids.iter().map(|record| record.maximum).max().unwrap();
        let first = bids.iter().find(|record| record.maximum == highest).unwrap();
        assert_eq!((standing.maximum, &standing.bidder), (highest, &first.bidder));
        let pricing = Pricing::of(&self.auction, item);
        assert_eq!(item.standing, pricing.replay(bids.iter().copied()), "step by step as all at once");
        let others = bids.iter().filter(|record| record.bidder != standing.bidder);
        let second = others.map(|record| record.maximum.reveal()).max();
        let reserve = item.reserve.map_or(0, |reserve| reserve.min(standing.maximum).reveal());
        assert!(standing.amount <= standing.maximum.reveal(), "nobody pays more than they said");
        assert!(standing.amount >= second.unwrap_or(0), "nobody is outbid below what they said");
        assert!(standing.amount >= reserve, "a price that can meet the reserve meets it");
        let forced = second.map_or(pricing.opening(), |second| pricing.above(second)).max(pricing.opening());
        assert!(standing.amount <= forced.max(reserve), "nobody pays more than is needed");
    }

    /// Of a webcast's item: what stands is a bid that counts, and more than it is asked for.
    fn check_ring(&self) {
        let item = &self.item;
        if let Some(standing) = &item.standing {
            let record = self.log.get(standing.number).unwrap();
            assert!(record.stands() && record.source != BidSource::Absentee);
            assert!(!item.is_over(record.number, record.source), "what a pass has ended does not stand");
            assert_eq!((record.bid, record.amount), (standing.bid, standing.amount));
        }
        assert!(item.status != ItemStatus::Passed || item.standing.is_none(), "nothing stands on what was passed");
        assert!(item.before_pass.is_none() || item.status == ItemStatus::Passed, "only a pass is taken back");
        let Some(ring) = item.in_ring() else {
            assert!(item.pending.is_empty(), "nothing waits outside of the ring");
            return;
        };
        assert!(item.price().is_none_or(|price| price < ring.asking_price), "more is asked than what stands");
        let amounts = item.pending.iter().map(|pending| pending.amount);
        assert!(amounts.clone().all(|amount| amount >= ring.asking_price), "what waits answers the asking price");
        let mut paddles: Vec<_> = item.pending.iter().map(|pending| &pending.bidder).collect();
        paddles.sort_unstable();
        paddles.dedup();
        assert_eq!(paddles.len(), item.pending.len(), "one of each bidder waits");
    }

    /// Neither a reserve nor a maximum is in what others see, but as a price that everybody has seen.
    fn check_what_is_shown(&self) {
        let Item { reserve, standing, .. } = &self.item;
        let mut shown = Vec::new();
        numbers(&serde_json::to_value(PublicItem::of(&self.auction, &self.item)).unwrap(), &mut shown);
        let bids: Vec<_> = self.log.bids().iter().filter_map(|record| PublicBid::of(&self.item, record)).collect();
        let counted: Vec<i64> = bids.iter().map(|bid| bid.number).collect();
        assert_eq!(counted, (1..=self.item.shown_bids()).collect::<Vec<_>>(), "numbers tell nothing of absentees");
        let leader = standing.as_ref().map(|standing| &standing.bidder);
        let of_leader = self.counting().into_iter().filter(|record| Some(&record.bidder) == leader);
        let shown_of_leader =
            of_leader.filter_map(|record| PublicBid::of(&self.item, record)).map(|bid| bid.amount).max();
        assert!(shown_of_leader <= self.item.price(), "of the leader's bids no more than the price is shown");
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
        assert!(!text.replace("Hidden(…)", "").contains("Hidden("), "a log line shows nothing either");
    }
}

/// Every number in a JSON value but those that count: a reserve may happen to be one of them.
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
