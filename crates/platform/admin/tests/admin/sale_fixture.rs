//! An auction with lots, and an operator who runs it.

use contract::{AuctionStatus, ItemStatus};
use jiff::{SignedDuration, Timestamp};
use platform_core::bidding::bids::NewBid;
use platform_core::sales::auctions::NewAuction;
use platform_core::sales::item_ends::ItemEndWorker;
use platform_core::sales::new_item::NewItem;
use platform_core::{Caller, Role};
use platform_rules::{AuctionKind, Item};
use uuid::Uuid;

use crate::fixture::{Fixture, PASSWORD};
use testkit::web::Browser;

/// Closing time of the auctions.
pub(crate) const ENDS_AT: &str = "2026-12-04T19:00:00Z";

pub(crate) struct Sale {
    pub(crate) fixture: Fixture,
    pub(crate) operator: Browser,
    pub(crate) auctioneer: Uuid,
    pub(crate) auction: Uuid,
    pub(crate) items: Vec<Item>,
}

pub(crate) fn staff() -> Caller {
    Caller::command_line()
}

impl Sale {
    /// A timed auction in this status with lots 1, 2, … of these titles, each with a reserve of £50.
    pub(crate) async fn new(status: AuctionStatus, titles: &[&str]) -> Self {
        Self::on(Fixture::new(), status, titles).await
    }

    /// The same, on this platform.
    pub(crate) async fn on(fixture: Fixture, status: AuctionStatus, titles: &[&str]) -> Self {
        let operator = fixture.signed_in(Role::Operator).await;
        let customer = fixture.customer("Hammer & Sons").await;
        let created = fixture.platform.create_auctioneer(&staff(), customer, "Hammer London", None).await;
        let auctioneer = created.unwrap().fresh().unwrap().uuid;
        let ends_at: Timestamp = ENDS_AT.parse().unwrap();
        let lot_status = if status == AuctionStatus::Live { ItemStatus::Live } else { ItemStatus::Draft };
        let item = |(place, title): (usize, &&str)| NewItem {
            reserve: Some(5_000),
            low_estimate: Some(6_000),
            high_estimate: Some(9_000),
            opening_bid: 1_000,
            status: lot_status,
            ..NewItem::new((place + 1).to_string(), *title)
        };
        let new = NewAuction {
            ends_at: Some(ends_at),
            status,
            items: titles.iter().enumerate().map(item).collect(),
            ..NewAuction::new(auctioneer, AuctionKind::Timed, "December silver", "GBP", "Europe/London")
        };
        let created = fixture.platform.create_auction(&staff(), &new, None).await.unwrap().fresh().unwrap();
        Self { fixture, operator, auctioneer, auction: created.auction.uuid, items: created.items }
    }

    /// Path of a page of the auction.
    pub(crate) fn path(&self, page: &str) -> String {
        format!("/auctions/{}{page}", self.auction)
    }

    /// Path of a page of a lot.
    pub(crate) fn lot(&self, place: usize, page: &str) -> String {
        self.path(&format!("/lots/{}{page}", self.items[place].uuid))
    }

    /// The lot as it is now.
    pub(crate) async fn item(&self, place: usize) -> Item {
        self.fixture.platform.item(&staff(), self.items[place].uuid).await.unwrap().0
    }

    pub(crate) async fn bid(&self, place: usize, paddle: &str, amount: i64) {
        let bid = NewBid { bidder: paddle.into(), amount };
        self.fixture.platform.place_bid(&staff(), self.items[place].uuid, &bid, None, None).await.unwrap();
    }

    /// The operator with a new session, after the clock moved on.
    pub(crate) async fn sign_in_again(&self) -> Browser {
        let mut operator = self.fixture.visitor();
        operator.post("/sign-in", &[("email", "operator@example.com"), ("password", PASSWORD)]).await.is(303);
        operator
    }

    /// Ends the lots: a day after the closing time.
    pub(crate) async fn end(&self) {
        let at = ENDS_AT.parse::<Timestamp>().unwrap() + SignedDuration::from_hours(24);
        self.fixture.clock.set(at);
        ItemEndWorker::new(self.fixture.platform.clone()).run_once(at).await.unwrap();
    }
}
