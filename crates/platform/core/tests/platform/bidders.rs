//! Bidders whose registration changes on one node while they bid on another.

use std::time::Duration;

use platform_core::bidders::{NewRegistration, RegistrationDecision, RegistrationPatch};
use platform_core::bidding::bids::NewBid;
use platform_core::port::{Registration, RegistrationStatus};
use platform_core::sales::new_item::NewItem;
use platform_core::{Platform, PlatformConfig};
use platform_rules::Item;

use crate::fixture::{TestPlatform, node};

const HOUR: Duration = Duration::from_secs(3_600);

/// A sale of two lots with one bidder. The fixture's node takes the bids and has the registration in its cache; the office
/// changes the registration on another node.
struct Sale {
    fixture: TestPlatform,
    office: Platform,
    items: Vec<Item>,
    bidder: Registration,
}

impl Sale {
    async fn new() -> Self {
        let fixture = TestPlatform::new().await;
        let office = node(&fixture.store, &fixture.clock, PlatformConfig::default(), 2);
        let lot =
            |number: &str| NewItem { opening_bid: 100, fixed_increment: Some(10), ..NewItem::new(number, "A table") };
        let items = fixture.create(&fixture.timed(HOUR, vec![lot("1"), lot("2")])).await.items;
        let entry = NewRegistration {
            paddle: Some("12".into()),
            party: None,
            name: Some("A. Bidder".into()),
            email: None,
            limit: None,
            note: None,
            status: RegistrationStatus::Approved,
        };
        let bidder = office.register_bidder(&fixture.caller, items[0].auction, &entry, None).await.unwrap();
        Self { office, items, bidder: bidder.fresh().unwrap(), fixture }
    }

    /// Places a bid of the bidder on a lot. The error is the code of the refusal.
    async fn bid(&self, lot: usize, amount: i64) -> Result<(), &'static str> {
        let new = NewBid { bidder: "12".into(), amount };
        let placed =
            self.fixture.platform.place_bid(&self.fixture.caller, self.items[lot].uuid, &new, None, None).await;
        placed.map(drop).map_err(|refusal| refusal.code())
    }

    async fn decide_registration(&self, to: RegistrationStatus) {
        let decision = RegistrationDecision { to, reason: Some("it did not pay".into()) };
        let registration = (self.bidder.auction, self.bidder.uuid);
        self.office
            .change_registration_status(&self.fixture.caller, registration, &decision, None, None)
            .await
            .unwrap();
    }

    async fn bid_count(&self, lot: usize) -> i64 {
        self.fixture.store.item(self.items[lot].uuid).await.unwrap().unwrap().bid_count
    }
}

#[tokio::test]
async fn a_bidder_who_was_suspended_on_another_node_is_refused() {
    let sale = Sale::new().await;
    sale.bid(0, 500).await.unwrap();
    sale.decide_registration(RegistrationStatus::Suspended).await;
    assert_eq!(sale.bid(0, 600).await, Err("bidder_suspended"));
    assert_eq!(sale.bid(1, 600).await, Err("bidder_suspended"));
    assert_eq!((sale.bid_count(0).await, sale.bid_count(1).await), (1, 0));
    // The cached suspension does not refuse the bidder after the new approval.
    sale.decide_registration(RegistrationStatus::Approved).await;
    sale.bid(1, 600).await.unwrap();
}

#[tokio::test]
async fn a_limit_that_another_node_set_applies_at_once() {
    let sale = Sale::new().await;
    sale.bid(0, 500).await.unwrap();
    let patch = RegistrationPatch { limit: Some(Some(1_000)), ..RegistrationPatch::default() };
    let of = (sale.bidder.auction, sale.bidder.uuid);
    sale.office.change_registration(&sale.fixture.caller, of, &patch, None).await.unwrap();
    assert_eq!(sale.bid(1, 501).await, Err("spending_limit_reached"));
    sale.bid(1, 500).await.unwrap();
}

#[tokio::test]
async fn of_concurrent_bids_only_those_of_a_suspended_bidder_fail() {
    let sale = Sale::new().await;
    sale.bid(0, 500).await.unwrap();
    sale.decide_registration(RegistrationStatus::Suspended).await;
    let others = async |paddle: &str, amount| {
        let new = NewBid { bidder: paddle.into(), amount };
        sale.fixture.platform.place_bid(&sale.fixture.caller, sale.items[0].uuid, &new, None, None).await
    };
    let (a, suspended, b) = tokio::join!(others("a", 600), sale.bid(0, 900), others("b", 700));
    assert!(a.is_ok() && b.is_ok(), "{a:?}, {b:?}");
    assert_eq!(suspended, Err("bidder_suspended"));
    assert_eq!(sale.bid_count(0).await, 3);
}
