//! The invariants of a sale after every command, computed from its bids and not with the code of the rules.

use std::collections::BTreeMap;

use contract::ItemStatus;
use platform_core::bidding::bid::{Bid, BidSource};
use platform_core::journal::SubjectKind;
use platform_core::port::{JournalRow, Page, RegistrationStatus};
use platform_rules::{Auction, AuctionKind, Item, PublicItem};
use serde_json::Value;
use uuid::Uuid;

use crate::test_sale::TestSale;

/// The effect of an accepted command, as far as the invariants depend on it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum CommandEffect {
    /// A bidder bid on an item.
    Bid { item: Uuid, paddle: String },
    /// A bid, or a fact that it was based on, was cancelled or corrected.
    TookBack,
    /// Fields were edited, ends included.
    Planned,
    /// Any other effect.
    Other,
}

/// The items before a command, and every price that was ever shown.
pub(crate) struct SaleInvariants {
    before: BTreeMap<Uuid, Item>,
    prices: BTreeMap<Uuid, Vec<i64>>,
}

impl SaleInvariants {
    pub(crate) fn new(items: Vec<Item>) -> Self {
        Self { before: by_uuid(items), prices: BTreeMap::new() }
    }

    /// Compares the items with their states before the command. `did` is none when the command was refused.
    pub(crate) async fn check(&mut self, sale: &TestSale, did: Option<&CommandEffect>, items: Vec<Item>, at: &str) {
        for now in &items {
            let before = &self.before[&now.uuid];
            if did.is_none() {
                assert_eq!(now, before, "{at}: a refused command changed the item");
                continue;
            }
            let (_, auction) = sale.item(now.uuid).await;
            let bids = sale.store.bids(now.uuid, Page { after: None, limit: 10_000 }).await.unwrap();
            prices_fall_only_by_a_cancellation_or_correction(before, now, did, at);
            ends_only_move_forward(before, now, did, at);
            the_first_highest_maximum_leads(&auction, now, &bids, at);
            one_wins(sale, now, &bids, at).await;
            self.prices.entry(now.uuid).or_default().extend(now.price());
            self.nothing_hidden_is_shown(&auction, now, at);
        }
        if let Some(CommandEffect::Bid { item, paddle }) = did {
            bidders_are_approved_and_within_their_limit(sale, &items, (*item, paddle), at).await;
        }
        self.before = by_uuid(items);
    }

    /// The public view contains neither the reserve, which ends in 7 and is never a price, nor the maximum of the leader.
    fn nothing_hidden_is_shown(&self, auction: &Auction, item: &Item, at: &str) {
        let mut shown = Vec::new();
        numbers(&serde_json::to_value(PublicItem::of(auction, item)).unwrap(), &mut shown);
        let known = |amount: i64| self.prices[&item.uuid].contains(&amount);
        if let Some(reserve) = item.reserve.map(|reserve| reserve.reveal()) {
            assert!(!shown.contains(&reserve) || known(reserve), "{at}: the reserve {reserve} is shown");
        }
        let logged = format!("{item:?}");
        assert!(!logged.replace("Hidden(…)", "").contains("Hidden("), "{at}: the debug output shows a hidden amount");
    }
}

fn by_uuid(items: Vec<Item>) -> BTreeMap<Uuid, Item> {
    items.into_iter().map(|item| (item.uuid, item)).collect()
}

fn prices_fall_only_by_a_cancellation_or_correction(before: &Item, now: &Item, did: Option<&CommandEffect>, at: &str) {
    // A corrected price and an accepted offer are dropped when the sale is reversed.
    let ends_with_sale = before.price_before_correction.is_some() || before.post_sale_offer;
    if now.price() < before.price() && !ends_with_sale {
        assert_eq!(
            did,
            Some(&CommandEffect::TookBack),
            "{at}: the price fell from {:?} to {:?}",
            before.price(),
            now.price()
        );
    }
}

fn ends_only_move_forward(before: &Item, now: &Item, did: Option<&CommandEffect>, at: &str) {
    if now.effective_end_time < before.effective_end_time {
        let on_sale = matches!(before.status, ItemStatus::Live | ItemStatus::Suspended);
        assert!(did == Some(&CommandEffect::Planned) && !on_sale, "{at}: the end moved earlier: {:?}", before.status);
    }
}

/// On a timed item, the highest maximum that counts leads, among equal ones the earliest. On an item of a webcast, an
/// accepted bid leads.
fn the_first_highest_maximum_leads(auction: &Auction, item: &Item, bids: &[Bid], at: &str) {
    let counts =
        |bid: &&Bid| bid.struck.is_none() && !item.is_over(bid.number, bid.source) && bid.source != BidSource::Absentee;
    let counting: Vec<&Bid> = bids.iter().filter(counts).collect();
    assert_eq!(i64::try_from(bids.len()), Ok(item.bid_count), "{at}");
    let Some(standing) = &item.standing else {
        assert!(auction.kind == AuctionKind::Webcast || counting.is_empty(), "{at}: a bid counts, and no bid leads");
        return;
    };
    let bid = counting.iter().find(|bid| bid.number == standing.number);
    let bid = bid.unwrap_or_else(|| panic!("{at}: bid {} leads although it does not count", standing.number));
    assert_eq!((&bid.bidder, bid.uuid), (&standing.bidder, standing.bid), "{at}");
    if auction.kind == AuctionKind::Webcast || item.status == ItemStatus::SoldBuyNow {
        assert_eq!(bid.amount, item.price_before_correction.unwrap_or(standing.amount), "{at}");
        return;
    }
    let highest = counting.iter().map(|bid| bid.maximum).max().unwrap();
    let first = counting.iter().find(|bid| bid.maximum == highest).unwrap();
    assert_eq!((&standing.bidder, standing.maximum), (&first.bidder, highest), "{at}");
    assert!(standing.amount <= highest.reveal(), "{at}: the price is above the leader's maximum");
    let others = counting.iter().filter(|bid| bid.bidder != standing.bidder).map(|bid| bid.maximum.reveal()).max();
    assert!(standing.amount >= others.unwrap_or(0), "{at}: the price is below the maximum of an outbid bidder");
}

/// A sold item was LIVE before or sold to an offer, has a bid that counts, and is sold once until the sale is reversed.
async fn one_wins(sale: &TestSale, item: &Item, bids: &[Bid], at: &str) {
    let is_sold = |status: &str| status == "SOLD" || status == "SOLD_BUY_NOW";
    let page = Page { after: None, limit: 10_000 };
    let history = sale.platform.history(&sale.caller, (SubjectKind::Item, item.uuid), page).await.unwrap();
    let sales = history.iter().filter(|row| is_sold(&row.to)).count();
    let taken_back = history.iter().filter(|row| row.from.as_deref().is_some_and(is_sold)).count();
    assert_eq!(sales - taken_back, usize::from(is_sold(item.status.name())), "{at}");
    let is_offer = |row: &JournalRow| row.cause == "post_sale_offer_accepted";
    assert!(
        history.iter().all(|row| !is_sold(&row.to) || row.from.as_deref() == Some("LIVE") || is_offer(row)),
        "{at}"
    );
    if is_sold(item.status.name()) {
        let winner = item.standing.as_ref().unwrap();
        assert!(bids.iter().any(|bid| bid.number == winner.number && bid.struck.is_none()), "{at}");
    }
}

/// The bidder of the last bid was approved, and their commitment is within the spending limit. The log names the
/// registration.
async fn bidders_are_approved_and_within_their_limit(
    sale: &TestSale,
    items: &[Item],
    (bid_on, paddle): (Uuid, &str),
    at: &str,
) {
    let auction = items[0].auction;
    let found = sale.platform.registrations_of(&sale.caller, auction, paddle).await.unwrap().pop();
    let item = items.iter().find(|item| item.uuid == bid_on).unwrap();
    let record = sale.platform.record(&sale.caller, bid_on, 0).await.unwrap();
    let contents = record.entries.iter().map(|entry| serde_json::from_str::<Value>(&entry.content).unwrap());
    let accepted: Vec<Value> = contents.filter(|content| content["change"]["change"] == "bidAccepted").collect();
    let last_record = &accepted.last().unwrap()["change"]["record"];
    assert_eq!(last_record["number"], item.bid_count, "{at}");
    let registration = last_record["registration"]["uuid"].as_str();
    assert_eq!(registration, found.as_ref().map(|found| found.uuid.to_string()).as_deref(), "{at}");
    let Some(found) = found else { return };
    assert_eq!(last_record["registration"]["entry"], found.log.number, "{at}");
    let may_bid = matches!(found.status, RegistrationStatus::Approved | RegistrationStatus::Pending);
    assert!(may_bid, "{at}: a bidder who is {:?} has bid", found.status);
    if let Some(limit) = found.limit {
        let bound: i64 = items.iter().map(|item| item.committed_by(paddle)).sum();
        assert!(bound <= limit, "{at}: {paddle} has committed {bound} of {limit}");
    }
}

/// Every number in a JSON value but those that count.
fn numbers(value: &Value, found: &mut Vec<i64>) {
    match value {
        Value::Number(number) => found.extend(number.as_i64()),
        Value::Array(values) => values.iter().for_each(|value| numbers(value, found)),
        Value::Object(fields) => {
            let amounts = fields.iter().filter(|(name, _)| !["number", "bidCount", "version"].contains(&name.as_str()));
            amounts.for_each(|(_, value)| numbers(value, found));
        }
        _ => {}
    }
}
