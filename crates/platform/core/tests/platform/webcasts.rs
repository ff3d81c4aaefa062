//! Webcasts: the ring, its clerks and its bidders.

use std::time::Duration;

use contract::{AuctionStatus, ItemStatus};
use platform_core::bidding::absentee_bids::NewAbsenteeBid;
use platform_core::port::Page;
use platform_core::ring::{
    ClerkCommand, ClerkCommandResult, Confirmed, InternetBidState, NewInternetBid, RingAction, RingState,
};
use platform_core::sales::auctions::NewAuction;
use platform_core::sales::new_item::NewItem;
use platform_core::{Caller, PlatformError, Scope};
use platform_rules::ring::next_to_send;
use platform_rules::{AuctionKind, InternetBids};
use uuid::Uuid;

use crate::fixture::TestPlatform;

struct Webcast {
    fixture: TestPlatform,
    auction: Uuid,
    items: Vec<Uuid>,
}

impl Webcast {
    async fn new(lots: usize, internet_bids: InternetBids) -> Self {
        let fixture = TestPlatform::new().await;
        let items = (1..=lots).map(|lot| NewItem::new(lot.to_string(), "A lot")).collect();
        let timed = fixture.timed(Duration::from_secs(3_600), items);
        let starts_at = Some(fixture.platform.now());
        let new = NewAuction { kind: AuctionKind::Webcast, starts_at, internet_bids, ..timed };
        let created = fixture.create(&new).await;
        let items = created.items.iter().map(|item| item.uuid).collect();
        Webcast { fixture, auction: created.auction.uuid, items }
    }

    async fn ring(&self) -> RingState {
        self.fixture.platform.ring(&self.fixture.caller, self.auction).await.unwrap()
    }

    /// Runs a clerk's command on the current version of the ring.
    async fn clerk(&self, command: ClerkCommand) -> Result<ClerkCommandResult, PlatformError> {
        self.clerk_who_saw(&self.ring().await, command).await
    }

    async fn clerk_who_saw(
        &self,
        seen: &RingState,
        command: ClerkCommand,
    ) -> Result<ClerkCommandResult, PlatformError> {
        self.fixture.platform.clerk(&self.fixture.caller, self.auction, &command, seen.version(), None).await?.fresh()
    }

    async fn bid(&self, bidder: &str, amount: i64) -> Result<Option<platform_core::bidding::bid::Bid>, PlatformError> {
        let new = NewInternetBid { bidder: bidder.into(), amount };
        let placed = self.fixture.platform.bid_in_ring(&self.fixture.caller, self.items[0], &new, None, None).await?;
        Ok(match placed.fresh()?.state {
            InternetBidState::Accepted(bid) => Some(*bid),
            _ => None,
        })
    }

    async fn leave(&self, bidder: &str, maximum: i64) -> Result<(), PlatformError> {
        let new = NewAbsenteeBid { bidder: bidder.into(), maximum, unusual_amount: true };
        self.fixture.platform.place_absentee_bid(&self.fixture.caller, self.items[0], &new, None, None).await.map(drop)
    }
}

fn next() -> ClerkCommand {
    ClerkCommand::Send { item: None }
}

fn room(bidder: &str, amount: i64) -> ClerkCommand {
    ClerkCommand::RoomBid { bidder: bidder.into(), amount: Some(amount), large_jump: true }
}

#[tokio::test]
async fn a_webcast_is_sold_lot_by_lot_and_reconciled() {
    let sale = Webcast::new(2, InternetBids::WaitForClerk).await;
    assert_eq!(
        sale.clerk(ClerkCommand::Sell { confirmed: Confirmed::default() }).await.unwrap_err().code(),
        "not_in_ring"
    );
    sale.clerk(next()).await.unwrap();
    assert_eq!(sale.clerk(next()).await.unwrap_err().code(), "ring_occupied");
    assert_eq!(
        sale.clerk(ClerkCommand::Sell { confirmed: Confirmed::default() }).await.unwrap_err().code(),
        "no_standing_bid"
    );
    assert_eq!(sale.clerk(room("paddle 7", 5_000)).await.unwrap().bid.unwrap().amount, 5_000);
    let sold = sale.clerk(ClerkCommand::Sell { confirmed: Confirmed::default() }).await.unwrap();
    assert_eq!((sold.about.unwrap().status, sold.ring.auction.in_ring), (ItemStatus::Sold, None));
    sale.clerk(next()).await.unwrap();
    sale.clerk(ClerkCommand::Pass { over_waiting_bid: false }).await.unwrap();
    assert_eq!(sale.clerk(next()).await.unwrap_err().code(), "not_found");

    let fixture = &sale.fixture;
    let reconcile = AuctionStatus::Reconciliation;
    fixture.platform.change_auction_status(&fixture.caller, sale.auction, reconcile, None, None).await.unwrap();
    assert_eq!(
        fixture.journal_of(sale.items[1]).await[1..],
        ["PASSED passed_in_ring, announced", "UNSOLD reconciled, announced"]
    );
    for command in [ClerkCommand::Begin, next(), ClerkCommand::FairWarning] {
        assert_eq!(sale.clerk(command).await.unwrap_err().code(), "auction_closed");
    }
}

#[tokio::test]
async fn of_two_commands_on_one_version_of_the_ring_one_is_refused() {
    let sale = Webcast::new(1, InternetBids::WaitForClerk).await;
    sale.clerk(next()).await.unwrap();
    sale.clerk(room("7", 100)).await.unwrap();
    let seen = sale.ring().await;
    let (one, other) = tokio::join!(
        sale.clerk_who_saw(&seen, ClerkCommand::Sell { confirmed: Confirmed::default() }),
        sale.clerk_who_saw(&seen, ClerkCommand::Pass { over_waiting_bid: false })
    );
    let codes = [one.err(), other.err()].map(|error| error.map(|error| error.code()));
    assert!(codes.contains(&None) && codes.contains(&Some("precondition_failed")), "{codes:?}");
    assert_eq!(sale.fixture.journal_of(sale.items[0]).await.len(), 2, "the lot has more than a creation and one sale");
}

#[tokio::test]
async fn only_clerks_read_absentee_bids_and_bid_with_them() {
    let sale = Webcast::new(1, InternetBids::WaitForClerk).await;
    sale.leave("a", 500).await.unwrap();
    sale.leave("b", 700).await.unwrap();
    sale.leave("a", 300).await.unwrap();
    sale.clerk(ClerkCommand::Begin).await.unwrap();
    sale.leave("b", 800).await.unwrap();
    sale.leave("b", 700).await.unwrap();
    let sent = sale.clerk(next()).await.unwrap().ring;
    assert_eq!(sale.leave("c", 900).await.unwrap_err().code(), "item_in_ring");
    assert_eq!(sent.item.as_ref().unwrap().price(), None, "an absentee bid was placed without the clerk");
    let left: Vec<_> =
        sent.desk.unwrap().commissions.into_iter().map(|left| (left.bidder, left.maximum.reveal())).collect();
    assert_eq!(left, [("b".to_owned(), 700), ("a".to_owned(), 300)]);

    let commission = |bidder: Option<&str>| ClerkCommand::CommissionBid { bidder: bidder.map(str::to_owned) };
    let bid = sale.clerk(commission(None)).await.unwrap().bid.unwrap();
    assert_eq!((bid.bidder.as_str(), bid.amount), ("b", 400), "the bid is not one step of 100 above the next maximum");
    assert_eq!(sale.clerk(commission(None)).await.unwrap_err().code(), "no_commission");
    assert_eq!(sale.clerk(commission(Some("a"))).await.unwrap_err().code(), "commission_exceeded");
    assert_eq!(sale.clerk(commission(Some("c"))).await.unwrap_err().code(), "no_commission");

    let public = Caller { scopes: [Scope::AuctionsRead].into_iter().collect(), ..sale.fixture.caller.clone() };
    assert_eq!(sale.fixture.platform.ring(&public, sale.auction).await.unwrap().desk, None);
}

#[tokio::test]
async fn internet_bids_are_pending_and_raise_the_version_of_the_ring() {
    let sale = Webcast::new(1, InternetBids::WaitForClerk).await;
    assert_eq!(sale.bid("b-17", 100).await.unwrap_err().code(), "not_in_ring");
    sale.clerk(next()).await.unwrap();
    let seen = sale.clerk(room("7", 100)).await.unwrap().ring;
    assert_eq!(sale.bid("b-17", 5_000).await.unwrap(), None);
    let unseen = sale.clerk_who_saw(&seen, ClerkCommand::Sell { confirmed: Confirmed::default() }).await.unwrap_err();
    assert_eq!(unseen.code(), "precondition_failed");
    let pending = sale.ring().await.item.unwrap().pending.remove(0);
    let taken = sale.clerk(ClerkCommand::Accept { bid: pending.bid }).await.unwrap();
    assert_eq!(taken.bid.unwrap().bidder, "b-17");
    assert_eq!(sale.clerk(ClerkCommand::Accept { bid: pending.bid }).await.unwrap_err().code(), "not_pending");
    assert_eq!(sale.bid("b-17", 50_000).await.unwrap_err().code(), "already_leading");
}

#[tokio::test]
async fn internet_bids_are_accepted_at_once_if_the_auction_is_configured_so() {
    let sale = Webcast::new(1, InternetBids::AcceptedAtOnce).await;
    sale.clerk(next()).await.unwrap();
    assert_eq!(sale.bid("b-17", 100).await.unwrap().unwrap().amount, 100);
    let item = sale.ring().await.item.unwrap();
    assert_eq!((item.price(), item.pending.len()), (Some(100), 0));
    let timed = NewAuction {
        internet_bids: InternetBids::AcceptedAtOnce,
        ..sale.fixture.timed(Duration::from_secs(60), Vec::new())
    };
    let refused = sale.fixture.platform.create_auction(&sale.fixture.caller, &timed, None).await.unwrap_err();
    assert_eq!(refused.code(), "invalid");
}

#[tokio::test]
async fn the_desk_shows_the_next_items_and_the_possible_commands() {
    let sale = Webcast::new(8, InternetBids::WaitForClerk).await;
    let lots = |ring: &RingState| -> Vec<String> {
        ring.desk.as_ref().unwrap().next.iter().map(|item| item.lot_number.clone()).collect()
    };
    let first_by_the_rules = async |ring: &RingState| {
        let page = Page { after: None, limit: 8 };
        let items = sale.fixture.platform.items(&sale.fixture.caller, sale.auction, page).await.unwrap();
        next_to_send(&ring.auction, &items).unwrap().lot_number.clone()
    };
    let ring = sale.ring().await;
    assert_eq!(lots(&ring), ["1", "2", "3", "4", "5"]);
    assert_eq!(first_by_the_rules(&ring).await, "1");
    assert_eq!(ring.desk.unwrap().legal, [RingAction::Begin, RingAction::Send]);
    sale.clerk(ClerkCommand::Send { item: Some(sale.items[5]) }).await.unwrap();
    let removed = sale.clerk(ClerkCommand::Remove).await.unwrap().ring;
    assert_eq!(lots(&removed), ["1", "2", "3", "4", "5"], "the next lots have a gap");
    assert_eq!(removed.desk.as_ref().unwrap().last, None, "a removed lot can be reopened");
    let reason = "it was not finished".to_owned();
    assert_eq!(sale.clerk(ClerkCommand::Reopen { reason }).await.unwrap_err().code(), "not_last_item");
    assert_eq!(first_by_the_rules(&removed).await, "1");
    sale.clerk(next()).await.unwrap();
    let passed = sale.clerk(ClerkCommand::Pass { over_waiting_bid: false }).await.unwrap().ring;
    assert_eq!(lots(&passed), ["2", "3", "4", "5", "7"], "the removed lot does not follow the last one");
    assert_eq!(first_by_the_rules(&passed).await, "2");
    let desk = passed.desk.as_ref().unwrap();
    assert_eq!(desk.legal, [RingAction::Send, RingAction::OfferAgain, RingAction::Reopen]);
    assert_eq!(desk.last.as_ref().unwrap().uuid, sale.items[0]);
    assert_eq!(sale.ring().await, passed, "the answer to the command differs from the ring");
    let reason = "the hammer fell too soon".to_owned();
    let reopened = sale.clerk(ClerkCommand::Reopen { reason }).await.unwrap().ring;
    assert_eq!(sale.ring().await, reopened.clone());
    assert_eq!(reopened.desk.unwrap().last, None);

    // The lots follow to the end of the catalogue; the removed lot is the last.
    for lot in ["2", "3", "4", "5", "7", "8", "6"] {
        sale.clerk(ClerkCommand::Pass { over_waiting_bid: false }).await.unwrap();
        let sent = sale.clerk(next()).await.unwrap().ring;
        assert_eq!(sent.item.unwrap().lot_number, lot);
    }
    let last = sale.clerk(ClerkCommand::Pass { over_waiting_bid: false }).await.unwrap().ring;
    assert_eq!(lots(&last), [""; 0]);
    assert_eq!(sale.clerk(next()).await.unwrap_err().code(), "not_found");
}

#[tokio::test]
async fn clerk_commands_and_bids_share_the_item_queue() {
    let sale = Webcast::new(1, InternetBids::AcceptedAtOnce).await;
    sale.clerk(next()).await.unwrap();
    sale.bid("b-17", 100).await.unwrap();
    let seen = sale.ring().await;
    // The sale is durable and its result is delayed. Bids that arrive meanwhile wait in the item queue and are refused.
    let hold = sale.fixture.faults.hold_answers_to_commits().await;
    let bids = async {
        while sale.fixture.store.item(sale.items[0]).await.unwrap().unwrap().status != ItemStatus::Sold {
            tokio::task::yield_now().await;
        }
        let (first, second, ()) = tokio::join!(sale.bid("b-18", 500), sale.bid("b-19", 600), async { drop(hold) });
        [first, second]
    };
    let (sold, refused) =
        tokio::join!(sale.clerk_who_saw(&seen, ClerkCommand::Sell { confirmed: Confirmed::default() }), bids);
    assert_eq!(sold.unwrap().about.unwrap().price(), Some(100));
    for refused in refused {
        assert!(["item_not_live", "not_in_ring"].contains(&refused.unwrap_err().code()));
    }
}

#[tokio::test]
async fn a_bid_after_the_hammer_is_listed_with_its_delay_for_fifteen_seconds() {
    let sale = Webcast::new(1, InternetBids::WaitForClerk).await;
    sale.clerk(next()).await.unwrap();
    sale.clerk(room("7", 100)).await.unwrap();
    assert_eq!(sale.bid("8", 5).await.unwrap_err().code(), "bid_too_low");
    sale.clerk(ClerkCommand::Sell { confirmed: Confirmed::default() }).await.unwrap();
    sale.fixture.clock.advance(Duration::from_millis(840));
    assert!(sale.bid("9", 500).await.is_err());
    let (platform, caller) = (&sale.fixture.platform, &sale.fixture.caller);
    let late_bids = platform.late_bids(caller, sale.auction).await.unwrap();
    let shown: Vec<_> = late_bids.iter().map(|bid| (bid.bidder.as_str(), bid.amount, bid.late_ms)).collect();
    assert_eq!(shown, [("9", 500, Some(840)), ("8", 5, None)]);
    assert_eq!(late_bids[1].code, "bid_too_low");
    sale.fixture.clock.advance(Duration::from_secs(15));
    assert_eq!(platform.late_bids(caller, sale.auction).await.unwrap(), []);
}

#[tokio::test]
async fn a_rehearsal_is_journalled_and_never_published() {
    let sale = Webcast::new(2, InternetBids::WaitForClerk).await;
    let (platform, caller) = (&sale.fixture.platform, &sale.fixture.caller);
    let before = sale
        .fixture
        .store
        .events_after(sale.fixture.customer.uuid, Page { after: None, limit: 100 })
        .await
        .unwrap()
        .len();
    let rehearsal = platform.rehearse(caller, sale.auction).await.unwrap();
    assert_eq!((rehearsal.status, rehearsal.rehearsal), (AuctionStatus::Live, true));
    let items = platform.items(caller, rehearsal.uuid, Page { after: None, limit: 9 }).await.unwrap();
    let rehearsed = Webcast { auction: rehearsal.uuid, items: items.iter().map(|item| item.uuid).collect(), ..sale };
    rehearsed.clerk(next()).await.unwrap();
    rehearsed.clerk(room("7", 100)).await.unwrap();
    let sold = rehearsed.clerk(ClerkCommand::Sell { confirmed: Confirmed::default() }).await.unwrap().about.unwrap();
    assert_eq!(sold.status, ItemStatus::Sold);
    let platform = &rehearsed.fixture.platform;
    let journal = rehearsed.fixture.journal_of(sold.uuid).await;
    assert_eq!(journal.last().map(String::as_str), Some("SOLD sold_in_ring"));
    let after = rehearsed
        .fixture
        .store
        .events_after(rehearsed.fixture.customer.uuid, Page { after: None, limit: 100 })
        .await
        .unwrap();
    assert_eq!(after.len(), before);
    let verified = platform.verify_all(&[], &|_| ()).await.unwrap();
    let broken: Vec<_> = verified.broken.iter().map(|broken| broken.what.clone()).collect();
    assert_eq!(broken, Vec::<String>::new());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_ring_read_during_commands_is_consistent() {
    const BIDS: i64 = 200;
    let sale = Webcast::new(1, InternetBids::WaitForClerk).await;
    let opened = sale.clerk(next()).await.unwrap().ring;
    let last = opened.version().auction + BIDS;
    let bids = async {
        let mut states = vec![opened];
        for _ in 0..BIDS {
            let bid = ClerkCommand::OpenRoomBid { amount: None, large_jump: true };
            states.push(sale.clerk(bid).await.unwrap().ring);
        }
        states
    };
    let reads = async {
        let mut states = vec![sale.ring().await];
        while states.last().is_some_and(|ring| ring.version().auction < last) {
            states.push(sale.ring().await);
        }
        states
    };
    let (written, read) = tokio::join!(bids, reads);
    for ring in &read {
        assert!(written.iter().any(|state| state.version() == ring.version()), "{:?} never was", ring.version());
    }
}
