//! After the hammer and after the sale: open buyers, buyers who do not pay, accepted offers, mistaken auctions.

use std::time::Duration;

use contract::{AuctionStatus, ItemStatus};
use platform_core::PlatformError;
use platform_core::bidders::{NewRegistration, RegistrationDecision, RegistrationPatch};
use platform_core::bidding::bids::NewBid;
use platform_core::journal::corrections::{Corrected, Correction, CorrectionQuery};
use platform_core::port::{Page, RegistrationStatus};
use platform_core::ring::{ClerkCommand, ClerkCommandResult, Confirmed};
use platform_core::sales::auctions::NewAuction;
use platform_core::sales::auctions::requested_status::RequestedStatus;
use platform_core::sales::item_ends::ItemEndWorker;
use platform_core::sales::items::buyer::NamedBuyer;
use platform_core::sales::items::hammer_price::HammerPrice;
use platform_core::sales::items::post_sale::PostSaleOffer;
use platform_core::sales::items::unpaid::UnpaidLots;
use platform_core::sales::new_item::NewItem;
use platform_rules::item::ConfirmedBuyer;
use platform_rules::{Admission, AuctionKind, Item};
use uuid::Uuid;

use crate::fixture::TestPlatform;

struct Sale {
    fixture: TestPlatform,
    auction: Uuid,
    items: Vec<Uuid>,
}

impl Sale {
    async fn new(kind: AuctionKind, reserves: &[Option<i64>]) -> Self {
        Self::of(kind, Admission::Open, reserves).await
    }

    async fn with_registration(registration: Admission, reserves: &[Option<i64>]) -> Self {
        Self::of(AuctionKind::Webcast, registration, reserves).await
    }

    async fn of(kind: AuctionKind, registration: Admission, reserves: &[Option<i64>]) -> Self {
        let fixture = TestPlatform::new().await;
        let lot = |(lot, reserve): (usize, &Option<i64>)| NewItem {
            reserve: *reserve,
            ..NewItem::new(lot.to_string(), "A lot")
        };
        let timed = fixture.timed(Duration::from_secs(3_600), reserves.iter().enumerate().map(lot).collect());
        let new = NewAuction {
            kind,
            registration,
            starts_at: Some(fixture.platform.now()),
            extension_seconds: None,
            ..timed
        };
        let created = fixture.create(&new).await;
        let items = created.items.iter().map(|item| item.uuid).collect();
        let sale = Sale { fixture, auction: created.auction.uuid, items };
        for paddle in ["7", "8"] {
            sale.register(paddle, RegistrationStatus::Approved).await;
        }
        sale
    }

    async fn register(&self, paddle: &str, status: RegistrationStatus) {
        let new = NewRegistration {
            paddle: Some(paddle.to_owned()),
            party: None,
            name: Some("Ada".to_owned()),
            email: None,
            limit: None,
            note: None,
            status,
        };
        self.fixture.platform.register_bidder(&self.fixture.caller, self.auction, &new, None).await.unwrap();
    }

    async fn clerk(&self, command: ClerkCommand) -> Result<ClerkCommandResult, PlatformError> {
        let (platform, caller) = (&self.fixture.platform, &self.fixture.caller);
        let seen = platform.ring(caller, self.auction).await.unwrap().version();
        platform.clerk(caller, self.auction, &command, seen, None).await?.fresh()
    }

    async fn sell_in_room(&self) {
        self.clerk(ClerkCommand::Send { item: None }).await.unwrap();
        self.clerk(ClerkCommand::OpenRoomBid { amount: Some(5_000), large_jump: true }).await.unwrap();
        self.clerk(ClerkCommand::Sell { confirmed: Confirmed::default() }).await.unwrap();
    }

    async fn change_buyer(&self, item: usize, buyer: &str, reason: Option<&str>) -> Result<Item, PlatformError> {
        let (platform, caller) = (&self.fixture.platform, &self.fixture.caller);
        let buyer = NamedBuyer { paddle: buyer.to_owned(), reason: reason.map(str::to_owned), ..NamedBuyer::default() };
        platform.change_buyer(caller, self.items[item], &buyer, None, None).await?.fresh()
    }

    async fn correct_price(&self, item: usize, amount: i64, reason: &str) -> Result<Item, PlatformError> {
        let (platform, caller) = (&self.fixture.platform, &self.fixture.caller);
        let correction = HammerPrice { amount, reason: reason.to_owned(), unusual_amount: true };
        platform.correct_hammer_price(caller, self.items[item], &correction, None, None).await?.fresh()
    }

    async fn record_unpaid(
        &self,
        buyer: &str,
        items: Option<&[usize]>,
        reason: &str,
    ) -> Result<Vec<Item>, PlatformError> {
        let items = items.map(|items| items.iter().map(|item| self.items[*item]).collect());
        let unpaid = UnpaidLots { buyer: buyer.to_owned(), items, reason: reason.to_owned() };
        let (platform, caller) = (&self.fixture.platform, &self.fixture.caller);
        Ok(platform.record_unpaid_lots(caller, self.auction, &unpaid, None, None).await?.fresh()?.items)
    }

    async fn mark_unsold(&self, item: usize) -> Result<Item, PlatformError> {
        let (platform, caller) = (&self.fixture.platform, &self.fixture.caller);
        let reason = Some("the buyer did not pay".to_owned());
        platform.change_item_status(caller, self.items[item], ItemStatus::Unsold, reason, None, None).await?.fresh()
    }

    async fn accept_offer(&self, item: usize, buyer: &str, amount: i64) -> Result<Item, PlatformError> {
        let reason = "an offer by telephone".to_owned();
        let offer = PostSaleOffer { buyer: buyer.to_owned(), amount, reason, unusual_amount: true };
        let (platform, caller) = (&self.fixture.platform, &self.fixture.caller);
        platform.accept_offer(caller, self.items[item], &offer, None, None).await?.fresh()
    }

    async fn change_status(&self, to: impl Into<RequestedStatus> + Send) -> Result<AuctionStatus, PlatformError> {
        let (platform, caller) = (&self.fixture.platform, &self.fixture.caller);
        Ok(platform.change_auction_status(caller, self.auction, to, None, None).await?.fresh()?.auction.status)
    }

    async fn end_all_items(&self) {
        self.fixture.clock.advance(Duration::from_secs(3_600));
        ItemEndWorker::new(self.fixture.platform.clone()).run_once(self.fixture.platform.now()).await.unwrap();
    }

    /// Asserts that the audit log agrees with states, bids and journal.
    async fn assert_verified(&self) {
        let verified = self.fixture.platform.verify_all(&[], &|_| ()).await.unwrap();
        let broken: Vec<_> = verified.broken.iter().map(|broken| broken.what.clone()).collect();
        assert_eq!(broken, Vec::<String>::new());
    }
}

fn code<T: std::fmt::Debug>(outcome: Result<T, PlatformError>) -> &'static str {
    outcome.unwrap_err().code()
}

#[tokio::test]
async fn a_lot_is_sold_without_a_paddle_and_a_wrong_buyer_is_changed() {
    let sale = Sale::new(AuctionKind::Webcast, &[None, None]).await;
    sale.sell_in_room().await;
    sale.sell_in_room().await;
    let (platform, caller) = (&sale.fixture.platform, &sale.fixture.caller);
    let results = platform.results(caller, sale.auction).await.unwrap();
    assert_eq!((results.sold, results.open_buyers, results.total.hammer, results.buyers.len()), (2, 2, 10_000, 0));

    assert_eq!(sale.change_buyer(0, "7", None).await.unwrap().price(), Some(5_000));
    assert_eq!(code(sale.change_buyer(0, "8", None).await), "reason_required");
    assert_eq!(code(sale.change_buyer(1, "", None).await), "field_invalid");
    assert_eq!(sale.change_status(AuctionStatus::Reconciliation).await.unwrap(), AuctionStatus::Reconciliation);
    sale.change_buyer(0, "8", Some("the paddle was misread")).await.unwrap();
    let results = platform.results(caller, sale.auction).await.unwrap();
    let buyers: Vec<_> = results.buyers.iter().map(|buyer| (buyer.bidder.as_str(), buyer.items)).collect();
    assert_eq!((results.open_buyers, buyers, results.is_final), (1, vec![("8", 1)], false));
    let committed = sale.fixture.store.committed_amount(sale.auction, "8", None).await.unwrap();
    assert_eq!((committed, sale.fixture.store.committed_amount(sale.auction, "7", None).await.unwrap()), (5_000, 0));
    let journal = sale.fixture.journal_of(sale.items[0]).await;
    assert_eq!(journal, ["LIVE created", "SOLD sold_in_ring, announced"], "the change of the buyer was announced");

    assert_eq!(code(sale.change_status(AuctionStatus::Archived).await), "buyers_open");
    let open = platform.lots_with_open_buyer(caller, sale.auction, Page { after: None, limit: 9 }).await.unwrap();
    assert_eq!(open.iter().map(|item| item.uuid).collect::<Vec<_>>(), [sale.items[1]]);
    sale.change_status(RequestedStatus { buyers_open: true, ..AuctionStatus::Archived.into() }).await.unwrap();
    assert_eq!(code(sale.change_buyer(0, "7", Some("late")).await), "auction_closed");
    assert!(platform.results(caller, sale.auction).await.unwrap().is_final);
    sale.assert_verified().await;
}

#[tokio::test]
async fn a_buyer_without_registration_or_over_the_limit_needs_a_confirmation() {
    let sale = Sale::with_registration(Admission::Required, &[None, None, None]).await;
    let (platform, caller) = (&sale.fixture.platform, &sale.fixture.caller);
    for _ in 0..3 {
        sale.sell_in_room().await;
    }
    let name = async |item: usize, paddle: &str, reason: Option<&str>, (not_approved, over_limit)| {
        let confirmed = ConfirmedBuyer { not_approved, over_limit };
        let buyer = NamedBuyer { paddle: paddle.to_owned(), reason: reason.map(str::to_owned), confirmed };
        platform.change_buyer(caller, sale.items[item], &buyer, None, None).await
    };
    assert_eq!(code(name(0, "117", None, (false, false)).await), "bidder_not_approved");
    assert_eq!(code(name(0, "117", None, (false, true)).await), "bidder_not_approved");
    assert!(platform.registrations_of(caller, sale.auction, "117").await.unwrap().is_empty());
    name(0, "117", None, (true, false)).await.unwrap();
    let registered = platform.registrations_of(caller, sale.auction, "117").await.unwrap().pop().unwrap();
    assert_eq!((registered.status, registered.name, registered.version), (RegistrationStatus::Approved, None, 1));
    let paddles = ["7".to_owned(), "117".to_owned()];
    let names = platform.bidder_names(caller, sale.auction, &paddles).await.unwrap();
    assert_eq!(names.into_iter().collect::<Vec<_>>(), [("7".to_owned(), "Ada".to_owned())]);
    let limited =
        RegistrationPatch { limit: Some(Some(8_000)), name: Some("Bea".into()), ..RegistrationPatch::default() };
    let id = (sale.auction, registered.uuid);
    platform.change_registration(caller, id, &limited, None).await.unwrap();

    // The first lot commits 5,000 of the spending limit of 8,000.
    assert_eq!(code(name(1, "117", None, (false, false)).await), "spending_limit_reached");
    assert_eq!(code(name(1, "117", None, (false, true)).await), "reason_required");
    name(1, "117", Some("the auctioneer allowed it"), (false, true)).await.unwrap();

    let suspended = RegistrationDecision { to: RegistrationStatus::Suspended, reason: Some("unpaid".into()) };
    platform.change_registration_status(caller, id, &suspended, None, None).await.unwrap();
    assert_eq!(code(name(2, "117", Some("said so"), (true, true)).await), "bidder_suspended");
    assert_eq!(platform.results(caller, sale.auction).await.unwrap().open_buyers, 1);
    sale.assert_verified().await;
}

#[tokio::test]
async fn an_unknown_buyer_needs_a_confirmation_even_if_registration_is_open() {
    let sale = Sale::new(AuctionKind::Webcast, &[None]).await;
    let (platform, caller) = (&sale.fixture.platform, &sale.fixture.caller);
    sale.sell_in_room().await;
    // Paddle 9 has a pending registration; paddle 07 has none.
    sale.register("9", RegistrationStatus::Pending).await;
    assert_eq!(code(sale.change_buyer(0, "9", None).await), "bidder_not_approved");
    assert_eq!(code(sale.change_buyer(0, "07", None).await), "bidder_not_approved");
    let similar = async |paddle: &str| platform.similar_paddle(caller, sale.auction, paddle).await.unwrap();
    let seven = similar("07").await.unwrap();
    assert_eq!((seven.paddle.as_str(), seven.name.as_deref()), ("7", Some("Ada")));
    assert_eq!((similar("7").await, similar("70").await), (None, None));
    let confirmed = ConfirmedBuyer { not_approved: true, over_limit: false };
    let buyer = NamedBuyer { paddle: "07".into(), reason: None, confirmed };
    platform.change_buyer(caller, sale.items[0], &buyer, None, None).await.unwrap();
    assert_eq!(similar("07").await, None, "a registered paddle has no similar paddle");
    sale.assert_verified().await;
}

#[tokio::test]
async fn a_hammer_price_is_corrected_without_an_event_until_the_auction_is_archived() {
    let sale = Sale::new(AuctionKind::Webcast, &[None]).await;
    sale.sell_in_room().await;
    sale.change_buyer(0, "7", None).await.unwrap();
    let (platform, caller) = (&sale.fixture.platform, &sale.fixture.caller);
    assert_eq!(code(sale.correct_price(0, 500, " ").await), "reason_required");
    assert_eq!(code(sale.correct_price(0, 0, "misheard").await), "field_invalid");
    let corrected = sale.correct_price(0, 500, "a zero too many").await.unwrap();
    assert_eq!((corrected.price(), corrected.status, corrected.bid_count), (Some(500), ItemStatus::Sold, 1));
    assert_eq!(sale.correct_price(0, 500, "again").await.unwrap().price(), Some(500), "the same price changes nothing");
    sale.change_status(AuctionStatus::Reconciliation).await.unwrap();
    sale.correct_price(0, 700, "read again").await.unwrap();
    let results = platform.results(caller, sale.auction).await.unwrap();
    assert_eq!((results.total.hammer, results.buyers[0].total.hammer), (700, 700));
    assert_eq!(sale.fixture.store.committed_amount(sale.auction, "7", None).await.unwrap(), 700);
    let journal = sale.fixture.journal_of(sale.items[0]).await;
    assert_eq!(journal, ["LIVE created", "SOLD sold_in_ring, announced"], "the corrected price was announced");
    sale.change_status(AuctionStatus::Archived).await.unwrap();
    assert_eq!(code(sale.correct_price(0, 900, "late").await), "auction_closed");
    sale.assert_verified().await;
}

#[tokio::test]
async fn corrections_of_a_sale_are_listed_with_what_they_replaced() {
    let sale = Sale::new(AuctionKind::Webcast, &[None, None]).await;
    let (platform, caller) = (&sale.fixture.platform, &sale.fixture.caller);
    sale.sell_in_room().await;
    sale.sell_in_room().await;
    let listed = async |query: CorrectionQuery| {
        let found = platform.corrections(caller, sale.auction, query).await.unwrap();
        let shown = |found: Correction| {
            assert_eq!(found.actor, caller.actor);
            let item = sale.items.iter().position(|item| *item == found.item).unwrap();
            (item, found.what, found.reason.unwrap_or_default())
        };
        found.into_iter().map(shown).collect::<Vec<_>>()
    };
    assert_eq!(listed(CorrectionQuery::default()).await, []);
    let buyer = |before: Option<&str>, after: &str| Corrected::Buyer {
        before: before.map(str::to_owned),
        after: after.to_owned(),
    };
    let price = |before, after| Corrected::Price { before: Some(before), after };
    sale.change_buyer(0, "7", None).await.unwrap();
    sale.fixture.clock.advance(Duration::from_secs(60));
    let late = platform.now();
    sale.change_buyer(0, "8", Some("the paddle was misread")).await.unwrap();
    sale.correct_price(0, 5_500, "misheard").await.unwrap();
    sale.correct_price(1, 4_000, "misread").await.unwrap();
    sale.fixture.clock.advance(Duration::from_secs(60));
    sale.correct_price(0, 5_600, "read again").await.unwrap();
    let all = [
        (0, price(5_500, 5_600), "read again".to_owned()),
        (1, price(5_000, 4_000), "misread".to_owned()),
        (0, price(5_000, 5_500), "misheard".to_owned()),
        (0, buyer(Some("7"), "8"), "the paddle was misread".to_owned()),
        (0, buyer(None, "7"), String::new()),
    ];
    assert_eq!(listed(CorrectionQuery::default()).await, all);
    let of_item = CorrectionQuery { item: Some(sale.items[1]), ..CorrectionQuery::default() };
    assert_eq!(listed(of_item).await, all[1..2]);
    let since = CorrectionQuery { from: Some(late), ..CorrectionQuery::default() };
    assert_eq!(listed(since).await, all[..4]);
    let before = CorrectionQuery { before: Some(late), ..CorrectionQuery::default() };
    assert_eq!(listed(before).await, all[4..]);
    let clerk = platform_core::Caller { scopes: platform_core::Role::Clerk.scopes(), ..caller.clone() };
    let refused = platform.corrections(&clerk, sale.auction, CorrectionQuery::default()).await;
    assert_eq!(code(refused), "forbidden");
    sale.assert_verified().await;
}

#[tokio::test]
async fn a_passed_lot_is_sold_to_an_offer_while_the_auction_is_live() {
    let sale = Sale::new(AuctionKind::Webcast, &[Some(9_000), None]).await;
    sale.clerk(ClerkCommand::Send { item: None }).await.unwrap();
    sale.clerk(ClerkCommand::RoomBid { bidder: "7".to_owned(), amount: Some(5_000), large_jump: true }).await.unwrap();
    sale.clerk(ClerkCommand::Pass { over_waiting_bid: false }).await.unwrap();
    assert_eq!(code(sale.accept_offer(0, "9", 4_000).await), "buyer_not_registered");
    let sold = sale.accept_offer(0, "8", 4_000).await.unwrap();
    assert_eq!((sold.status, sold.price(), sold.reserve_met()), (ItemStatus::Sold, Some(4_000), Some(false)));
    assert_eq!(code(sale.accept_offer(0, "8", 4_000).await), "illegal_transition");
    let journal = sale.fixture.journal_of(sale.items[0]).await;
    let passed_and_sold = ["PASSED passed_in_ring, announced", "SOLD post_sale_offer_accepted, announced"];
    assert_eq!(journal[1..], passed_and_sold);
    // The sale continues. The price and the buyer of an accepted offer can be corrected.
    sale.sell_in_room().await;
    sale.correct_price(0, 4_500, "the offer was misread").await.unwrap();
    assert_eq!(sale.change_buyer(0, "7", Some("the wrong paddle")).await.unwrap().price(), Some(4_500));
    sale.change_status(AuctionStatus::Reconciliation).await.unwrap();
    sale.assert_verified().await;
}

#[tokio::test]
async fn the_unpaid_lots_of_a_buyer_become_unsold_all_or_none() {
    let sale = Sale::new(AuctionKind::Timed, &[None, None, None]).await;
    let (platform, caller) = (&sale.fixture.platform, &sale.fixture.caller);
    for (item, bidder) in sale.items.iter().zip(["7", "7", "8"]) {
        let bid = NewBid { bidder: bidder.to_owned(), amount: 5_000 };
        platform.place_bid(caller, *item, &bid, None, None).await.unwrap();
    }
    sale.end_all_items().await;
    assert_eq!(code(sale.record_unpaid("7", Some(&[0, 1, 2]), "gone").await), "not_sold_to_buyer");
    assert_eq!(code(sale.record_unpaid("7", Some(&[0, 0]), "gone").await), "invalid");
    assert_eq!(code(sale.record_unpaid("9", None, "gone").await), "nothing_sold_to_buyer");
    assert_eq!(code(sale.record_unpaid("7", None, "").await), "reason_required");
    assert_eq!(platform.results(caller, sale.auction).await.unwrap().sold, 3, "a refused call changed a lot");
    sale.change_status(AuctionStatus::Reconciliation).await.unwrap();
    let unpaid = sale.record_unpaid("7", None, "the card was refused").await.unwrap();
    assert_eq!(unpaid.iter().map(|item| item.status).collect::<Vec<_>>(), [ItemStatus::Unsold, ItemStatus::Unsold]);
    for item in &sale.items[..2] {
        let journal = sale.fixture.store.history(*item, Page { after: None, limit: 9 }).await.unwrap();
        let last = journal.last().unwrap();
        assert_eq!((&*last.to, last.reason.as_deref()), ("UNSOLD", Some("the card was refused")));
        assert!(last.body.is_some(), "the change of a lot was not announced");
    }
    assert_eq!(platform.results(caller, sale.auction).await.unwrap().sold, 1);
    sale.change_status(AuctionStatus::Archived).await.unwrap();
    assert_eq!(code(sale.record_unpaid("8", None, "late").await), "auction_closed");
    sale.assert_verified().await;
}

#[tokio::test]
async fn a_sale_below_the_reserve_needs_a_confirmation() {
    let sale = Sale::new(AuctionKind::Webcast, &[Some(9_000)]).await;
    sale.clerk(ClerkCommand::Send { item: None }).await.unwrap();
    sale.clerk(ClerkCommand::RoomBid { bidder: "7".to_owned(), amount: Some(5_000), large_jump: true }).await.unwrap();
    assert_eq!(code(sale.clerk(ClerkCommand::Sell { confirmed: Confirmed::default() }).await), "reserve_not_met");
    let sold = sale
        .clerk(ClerkCommand::Sell { confirmed: Confirmed { below_reserve: true, over_waiting_bid: false } })
        .await
        .unwrap()
        .about
        .unwrap();
    assert_eq!((sold.status, sold.reserve_met()), (ItemStatus::Sold, Some(false)));
}

#[tokio::test]
async fn an_unsold_lot_is_sold_to_an_offer_until_the_auction_is_archived() {
    let sale = Sale::new(AuctionKind::Timed, &[None, Some(9_000)]).await;
    let (platform, caller) = (&sale.fixture.platform, &sale.fixture.caller);
    for item in &sale.items {
        let bid = NewBid { bidder: "7".to_owned(), amount: 5_000 };
        platform.place_bid(caller, *item, &bid, None, None).await.unwrap();
    }
    sale.end_all_items().await;
    sale.change_status(AuctionStatus::Reconciliation).await.unwrap();
    assert_eq!(code(sale.accept_offer(0, "8", 4_000).await), "illegal_transition");
    assert_eq!(sale.mark_unsold(0).await.unwrap().status, ItemStatus::Unsold);
    assert_eq!(code(sale.accept_offer(0, "9", 4_000).await), "buyer_not_registered");
    let relisted = sale.accept_offer(1, "8", 4_500).await.unwrap();
    let sold = sale.accept_offer(0, "8", 100).await.unwrap();
    assert_eq!((relisted.price(), sold.price(), sold.status), (Some(4_500), Some(100), ItemStatus::Sold));
    let results = platform.results(caller, sale.auction).await.unwrap();
    assert_eq!((results.sold, results.total.hammer, results.buyers[0].bidder.as_str()), (2, 4_600, "8"));
    let journal = sale.fixture.journal_of(sale.items[0]).await;
    let after = [
        "SOLD end_reached, announced",
        "UNSOLD buyer_did_not_pay, announced",
        "SOLD post_sale_offer_accepted, announced",
    ];
    assert_eq!(journal[1..], after);
    sale.change_status(AuctionStatus::Archived).await.unwrap();
    assert_eq!(code(sale.mark_unsold(0).await), "auction_closed");
    sale.assert_verified().await;
}

#[tokio::test]
async fn a_mistaken_auction_is_archived_with_a_reason_and_its_items_are_withdrawn() {
    let fixture = TestPlatform::new().await;
    let items = vec![NewItem::new("1", "A lot"), NewItem::new("2", "Another")];
    let draft = NewAuction { status: AuctionStatus::Draft, ..fixture.timed(Duration::from_secs(60), items) };
    let created = fixture.create(&draft).await;
    let items = created.items.iter().map(|item| item.uuid).collect();
    let sale = Sale { fixture, auction: created.auction.uuid, items };
    assert_eq!(code(sale.change_status(AuctionStatus::Archived).await), "reason_required");
    let mistake = RequestedStatus { reason: Some("entered twice".to_owned()), ..AuctionStatus::Archived.into() };
    assert_eq!(sale.change_status(mistake.clone()).await.unwrap(), AuctionStatus::Archived);
    let journal = sale.fixture.store.history(sale.auction, Page { after: None, limit: 9 }).await.unwrap();
    assert_eq!(journal[1].reason.as_deref(), Some("entered twice"));
    assert_eq!(sale.fixture.journal_of(sale.auction).await[1], "ARCHIVED auction_archived, announced");
    assert_eq!(sale.fixture.journal_of(sale.items[1]).await, ["DRAFT created", "WITHDRAWN auction_archived"]);
    sale.assert_verified().await;

    let live = Sale::new(AuctionKind::Timed, &[None]).await;
    live.change_status(AuctionStatus::Preview).await.unwrap();
    assert_eq!(code(live.change_status(mistake).await), "auction_was_live");
}
