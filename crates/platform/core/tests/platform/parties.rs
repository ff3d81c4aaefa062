//! The register of a house: its records, blocks that reach every node, and what a bidder bought.

use std::time::Duration;

use contract::AuctionStatus;
use platform_core::bidders::{
    NewRegistration, PartyInput, PartyKind, PurchaseState, RegistrationDecision, RegistrationPatch,
};
use platform_core::bidding::bids::NewBid;
use platform_core::port::{Money, Page, Party, PartyDetails, Registration, RegistrationStatus};
use platform_core::sales::item_ends::ItemEndWorker;
use platform_core::sales::items::unpaid::UnpaidLots;
use platform_core::sales::new_item::NewItem;
use platform_core::{Caller, Platform, PlatformConfig, PlatformError, Role};
use platform_rules::Item;
use uuid::Uuid;

use crate::fixture::{TestPlatform, node};

const HOUR: Duration = Duration::from_secs(3_600);

/// A sale of three lots that needs registrations. Bids are placed on the fixture's node; the office works on another node.
struct Sale {
    fixture: TestPlatform,
    office: Platform,
    items: Vec<Item>,
}

impl Sale {
    async fn new() -> Self {
        let fixture = TestPlatform::new().await;
        let office = node(&fixture.store, &fixture.clock, PlatformConfig::default(), 2);
        let lot =
            |number: &str| NewItem { opening_bid: 100, fixed_increment: Some(10), ..NewItem::new(number, "A table") };
        let items = fixture.create(&fixture.timed(HOUR, vec![lot("1"), lot("2"), lot("3")])).await.items;
        Self { fixture, office, items }
    }

    async fn add(&self, name: &str) -> Party {
        let limit = Some(Money { amount: 10_000, currency: "GBP".parse().unwrap() });
        let (is_bidder, email) = (true, Some("ada@example.com".into()));
        let details = PartyDetails { name: name.into(), is_bidder, email, limit, ..PartyDetails::default() };
        let input = PartyInput { details, document: Some("passport".into()) };
        self.office.create_party(&self.fixture.caller, self.fixture.customer.uuid, &input).await.unwrap()
    }

    async fn register(&self, paddle: &str, party: Uuid) -> Result<Registration, PlatformError> {
        let entry = NewRegistration {
            paddle: Some(paddle.into()),
            party: Some(party),
            name: None,
            email: None,
            limit: None,
            note: None,
            status: RegistrationStatus::Approved,
        };
        let auction = self.items[0].auction;
        self.office.register_bidder(&self.fixture.caller, auction, &entry, None).await?.fresh()
    }

    /// The code of the refusal of a bid on a lot, if it is refused.
    async fn bid(&self, lot: usize, paddle: &str, amount: i64) -> Option<&'static str> {
        let new = NewBid { bidder: paddle.into(), amount };
        let placed =
            self.fixture.platform.place_bid(&self.fixture.caller, self.items[lot].uuid, &new, None, None).await;
        placed.err().map(|refusal| refusal.code())
    }

    async fn approve(&self, registration: &Registration) -> Option<&'static str> {
        let step = RegistrationDecision { to: RegistrationStatus::Approved, reason: None };
        let ids = (registration.auction, registration.uuid);
        let decided = self.office.change_registration_status(&self.fixture.caller, ids, &step, None, None).await;
        decided.err().map(|refusal| refusal.code())
    }

    async fn assert_verified(&self) {
        let verified = self.fixture.platform.verify_all(&[], &|_| ()).await.unwrap();
        assert_eq!(verified.broken, []);
    }
}

#[tokio::test]
async fn a_registration_takes_what_was_not_entered_from_the_register() {
    let sale = Sale::new().await;
    let party = sale.add("Ada Lovelace").await;
    let registered = sale.register("12", party.uuid).await.unwrap();
    assert_eq!(registered.name.as_deref(), Some("Ada Lovelace"));
    assert_eq!(registered.email.as_deref(), Some("ada@example.com"));
    assert_eq!(registered.limit, Some(10_000));
    // A later change of the record leaves the registration as it was made.
    let details = PartyDetails { name: "Ada King".into(), ..party.details.clone() };
    let input = PartyInput { details, document: Some("passport".into()) };
    sale.fixture.clock.advance(HOUR / 2);
    let changed = sale.office.change_party(&sale.fixture.caller, party.uuid, &input, Some(1)).await.unwrap();
    assert_eq!((changed.details.name.as_str(), changed.version), ("Ada King", 2));
    // The same document keeps the time at which it was seen.
    assert_eq!(changed.identity, party.identity);
    let stale = sale.office.change_party(&sale.fixture.caller, party.uuid, &input, Some(1)).await;
    assert_eq!(stale.unwrap_err().code(), "precondition_failed");
    let ids = (registered.auction, registered.uuid);
    let read = sale.office.registration(&sale.fixture.caller, ids).await.unwrap();
    assert_eq!(read.name.as_deref(), Some("Ada Lovelace"));
    // An identifier of the caller's own is no record of the register.
    let own = sale.register("13", Uuid::from_u128(7)).await.unwrap();
    assert_eq!((own.name, own.limit), (None, None));
    sale.assert_verified().await;
}

#[tokio::test]
async fn a_block_stops_new_bids_on_every_node_and_lists_those_that_stand() {
    let sale = Sale::new().await;
    let party = sale.add("Ada").await;
    let registered = sale.register("12", party.uuid).await.unwrap();
    assert_eq!(sale.bid(0, "12", 500).await, None);
    assert_eq!(sale.bid(1, "12", 200).await, None);
    assert_eq!(sale.bid(1, "99", 300).await, None);
    let caller = &sale.fixture.caller;
    let refused = sale.office.block_party(caller, party.uuid, "  ", None).await.unwrap_err();
    assert_eq!(refused.code(), "reason_required");
    let blocked = sale.office.block_party(caller, party.uuid, "did not pay", Some(1)).await.unwrap();
    assert_eq!(blocked.block.as_ref().map(|block| block.reason.as_str()), Some("did not pay"));

    // The node that takes the bids has the approved registration in its cache.
    assert_eq!(sale.bid(2, "12", 500).await, Some("bidder_suspended"));
    let standing = sale.office.standing_lots(caller, party.uuid).await.unwrap();
    assert_eq!(standing.iter().map(|lot| lot.item.lot_number.as_str()).collect::<Vec<_>>(), ["1"]);
    assert_eq!(sale.approve(&registered).await, Some("bidder_blocked"));
    let other = sale.fixture.draft().await;
    let entry = NewRegistration {
        paddle: None,
        party: Some(party.uuid),
        name: None,
        email: None,
        limit: None,
        note: None,
        status: RegistrationStatus::Pending,
    };
    let refused = sale.office.register_bidder(caller, other.uuid, &entry, None).await.unwrap_err();
    assert_eq!(refused.code(), "bidder_blocked");

    sale.office.unblock_party(caller, party.uuid, None).await.unwrap();
    assert_eq!(sale.bid(2, "12", 500).await, Some("bidder_suspended"));
    assert_eq!(sale.approve(&registered).await, None);
    assert_eq!(sale.bid(2, "12", 500).await, None);
    sale.assert_verified().await;
}

#[tokio::test]
async fn an_approved_registration_can_not_get_a_blocked_party() {
    let sale = Sale::new().await;
    let party = sale.add("Ada").await;
    let registered = sale.register("12", Uuid::from_u128(7)).await.unwrap();
    let caller = &sale.fixture.caller;
    sale.office.block_party(caller, party.uuid, "did not pay", None).await.unwrap();
    let patch = RegistrationPatch { party: Some(Some(party.uuid)), ..RegistrationPatch::default() };
    let ids = (registered.auction, registered.uuid);
    let refused = sale.office.change_registration(caller, ids, &patch, None).await.unwrap_err();
    assert_eq!(refused.code(), "bidder_blocked");
}

#[tokio::test]
async fn the_purchases_of_a_bidder_say_what_was_not_paid() {
    let sale = Sale::new().await;
    let party = sale.add("Ada").await;
    let registered = sale.register("12", party.uuid).await.unwrap();
    for (lot, amount) in [(0, 500), (1, 200), (2, 900)] {
        assert_eq!(sale.bid(lot, "12", amount).await, None);
    }
    assert_eq!(sale.bid(2, "99", 2_000).await, None);
    sale.fixture.clock.advance(HOUR * 2);
    let now = sale.fixture.platform.now();
    ItemEndWorker::new(sale.fixture.platform.clone()).run_once(now).await.unwrap();
    let unpaid =
        UnpaidLots { buyer: "12".into(), items: Some(vec![sale.items[1].uuid]), reason: "no money came".into() };
    let caller = &sale.fixture.caller;
    sale.office.record_unpaid_lots(caller, registered.auction, &unpaid, None, None).await.unwrap();

    let sales = sale.office.sales_of_party(caller, party.uuid, Page { after: None, limit: 10 }).await.unwrap();
    assert_eq!(sales.len(), 1);
    assert_eq!(sales[0].auction.status, AuctionStatus::Live);
    let bought = sales[0].purchases.iter().map(|purchase| (purchase.item.lot_number.as_str(), purchase.state));
    assert_eq!(bought.collect::<Vec<_>>(), [("1", PurchaseState::Sold), ("2", PurchaseState::NotPaid)]);
}

#[tokio::test]
async fn the_register_is_of_one_house_and_looking_at_it_is_logged() {
    let sale = Sale::new().await;
    let party = sale.add("Ada").await;
    let (platform, staff) = (&sale.fixture.platform, &sale.fixture.caller);
    let other = platform.create_customer(staff, "Other house", None).await.unwrap().fresh().unwrap();
    let of_other = Caller { customer: Some(other.uuid), ..staff.clone() };
    assert_eq!(platform.party(&of_other, party.uuid).await.unwrap_err().code(), "not_found");
    let page = Page { after: None, limit: 10 };
    let own = sale.fixture.customer.uuid;
    let refused = platform.find_parties(&of_other, own, (PartyKind::All, ""), page.clone()).await.unwrap_err();
    assert_eq!(refused.code(), "not_found");
    for (role, may_read) in [
        (Role::Administrator, true),
        (Role::Operator, true),
        (Role::Support, true),
        (Role::Clerk, false),
        (Role::Viewer, false),
    ] {
        let caller = Caller { scopes: role.scopes(), role: Some(role), ..staff.clone() };
        assert_eq!(platform.party(&caller, party.uuid).await.is_ok(), may_read, "{role:?}");
        let blocked = platform.block_party(&caller, party.uuid, "reason", Some(99)).await.unwrap_err();
        let may_write = matches!(role, Role::Administrator | Role::Operator);
        assert_eq!(blocked.code() == "precondition_failed", may_write, "{role:?}");
    }
    let found = platform.find_parties(staff, own, (PartyKind::Bidders, "ada@"), page).await.unwrap();
    assert_eq!((found.parties.len(), found.count), (1, 1));
    let log = platform.access_log(staff, Page { after: None, limit: 10 }).await.unwrap();
    let events: Vec<String> = log.iter().map(|row| serde_json::to_string(&row.content.event).unwrap()).collect();
    assert!(events[0].contains("registerListed") && !events[0].contains("ada"), "{events:?}");
    assert!(events[1].contains("partyViewed") && events[1].contains(&party.uuid.to_string()), "{events:?}");
}
