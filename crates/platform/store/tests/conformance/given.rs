//! The initial states of the stories.

use std::sync::Arc;

use contract::event::{AuctionStatusChange, Event, ItemStatusChange};
use contract::{AuctionStatus, ItemStatus};
use jiff::Timestamp;
use kit_runtime::vault::Sealed;
use platform_core::bidding::bid::{Bid, BidSource};
use platform_core::journal::{JournalEntry, SubjectKind};
use platform_core::port::{
    Change, CommitReceipt, Consumer, Contact, ContactRecord, Cursor, Customer, IdempotentAnswer, MadeLinks, NodeId,
    OutboxEvent, OutboxSettlement, Page, Profile, ProviderAddress, PublishResult, StartFrom, Store, StoreResult, User,
    UserChange, Versioned,
};
use platform_rules::{
    Admission, Auction, AuctionKind, Charges, Hidden, IncrementTable, InternetBids, Item, RingStatus, StandingBid,
    WebcastPhase,
};
use uuid::Uuid;

use super::access_changes::AccessChanges as _;

pub(super) type Shared = Arc<dyn Store>;

/// The time this many milliseconds after the start of the stories.
pub(super) fn at(ms: i64) -> Timestamp {
    Timestamp::from_millisecond(1_793_232_000_000 + ms).unwrap()
}

/// A UUID that rises with its number; each kind of record has a separate range.
fn uuid(kind: u128, number: usize) -> Uuid {
    Uuid::from_u128((0x0190_0000_0000_7000_8000_u128 << 48) | (kind << 40) | number as u128)
}

pub(super) fn customer_uuid(number: usize) -> Uuid {
    uuid(1, number)
}

pub(super) fn auction_uuid(number: usize) -> Uuid {
    uuid(2, number)
}

pub(super) fn item_uuid(number: usize) -> Uuid {
    uuid(3, number)
}

pub(super) fn caller_uuid(number: usize) -> Uuid {
    uuid(4, number)
}

pub(super) fn auctioneer_uuid(number: usize) -> Uuid {
    uuid(5, number)
}

pub(super) fn node(number: usize) -> NodeId {
    NodeId(uuid(6, number))
}

pub(super) fn page<K>(after: Option<K>, limit: usize) -> Page<K> {
    Page { after, limit }
}

/// A page that contains a whole short list.
pub(super) fn whole<K>() -> Page<K> {
    page(None, 10_000)
}

pub(super) fn customer(number: usize) -> Customer {
    Customer { uuid: customer_uuid(number), name: format!("Hammer & Söhne {number}"), created_at: at(number as i64) }
}

/// The connection of a customer with both credentials.
pub(super) fn consumer(number: usize) -> Consumer {
    Consumer {
        customer: customer_uuid(number),
        provider: ProviderAddress::Url("http://127.0.0.1:8071".into()),
        application_id: Some(format!("app_{number}")),
        api_key: Some(Sealed::from_text("v1.k.c2VjcmV0")),
        has_made_key: false,
        parked: None,
        contact: ContactRecord { contact: Contact::Untried, since: at(3), detail: None },
        updated_at: at(3),
    }
}

pub(super) fn answer(key: &str, body: &str, at: Timestamp) -> IdempotentAnswer {
    IdempotentAnswer {
        caller: caller_uuid(1),
        key: key.into(),
        request_hash: [7; 32],
        status: 201,
        body: body.into(),
        tag: Some("3.1".into()),
        at,
    }
}

/// A LIVE timed auction of the first customer.
pub(super) fn auction(number: usize) -> Auction {
    Auction {
        uuid: auction_uuid(number),
        customer: customer_uuid(1),
        auctioneer: auctioneer_uuid(1),
        kind: AuctionKind::Timed,
        title: "Größere Möbel".into(),
        currency: "EUR".into(),
        time_zone: "Europe/Berlin".into(),
        starts_at: None,
        ends_at: Some(at(10_000)),
        stagger: None,
        extension_seconds: Some(600),
        increments: IncrementTable::default(),
        status: AuctionStatus::Live,
        charges: Charges::default(),
        internet_bids: InternetBids::WaitForClerk,
        registration: Admission::Open,
        phase: WebcastPhase::PreBidding,
        address_id: None,
        attachments: Vec::new(),
        in_ring: None,
        last_in_ring: None,
        ring_position: None,
        returning: false,
        was_live: false,
        rehearsal: false,
        clock: None,
        sequence: 0,
        version: 0,
        log: platform_rules::LogHead::default(),
        created_at: at(1),
    }
}

/// A LIVE item of the first auction at position `number`, which ends `number` seconds after the start of the stories.
pub(super) fn item(number: usize) -> Item {
    let end = Some(at(number as i64 * 1_000));
    Item {
        uuid: item_uuid(number),
        auction: auction_uuid(1),
        customer: customer_uuid(1),
        lot_number: format!("{number}A"),
        position: number as i64,
        title: "Kommode".into(),
        description: "Nußbaum, \"restauriert\"".into(),
        category: None,
        image_url: None,
        attachments: Vec::new(),
        low_estimate: Some(10_000),
        high_estimate: None,
        opening_bid: 0,
        reserve: Some(Hidden::new(12_000)),
        buy_now: None,
        vendor: None,
        fixed_increment: None,
        status: ItemStatus::Live,
        announced: false,
        end_time: end,
        effective_end_time: end,
        ring: RingStatus::Waiting,
        standing: None,
        bid_count: 0,
        absentee_bids: 0,
        later_absentee_bids: Vec::new(),
        bids_lapsed: 0,
        bids_passed: 0,
        before_pass: None,
        post_sale_offer: false,
        price_before_correction: None,
        pending: Vec::new(),
        lost: Vec::new(),
        relisted_from: None,
        relisted_as: None,
        sandbox: false,
        rehearsal: false,
        sequence: 0,
        version: 0,
        log: platform_rules::LogHead::default(),
        created_at: at(1),
    }
}

/// The state as its next version.
pub(super) fn next_auction(mut auction: Auction) -> Versioned<Auction> {
    let expected_version = auction.version;
    auction.version += 1;
    Versioned { expected_version, state: auction }
}

/// The state as its next version.
pub(super) fn next(mut item: Item) -> Versioned<Item> {
    let expected_version = item.version;
    item.version += 1;
    Versioned { expected_version, state: item }
}

/// A change of one item without an event.
pub(super) fn silent(item: Item) -> Change {
    Change { items: vec![next(item)], ..Change::default() }
}

/// A change of the item to this status, which is announced.
pub(super) fn announced(mut item: Item, to: ItemStatus, now: Timestamp) -> Change {
    let from = item.status;
    item.status = to;
    item.announced = true;
    item.sequence += 1;
    let event = ItemStatusChange {
        item_uuid: item.uuid,
        auctioneer_uuid: auctioneer_uuid(1),
        auction_uuid: item.auction,
        status: to,
    };
    let entry = JournalEntry {
        subject: item.uuid,
        kind: SubjectKind::Item,
        customer: item.customer,
        sequence: item.sequence,
        from: Some(from.name()),
        to: to.name(),
        cause: "end_reached",
        actor: "timer".into(),
        at: now,
        reason: None,
        event: Some(Event::from(event)),
    };
    Change { journal: vec![entry], ..silent(item) }
}

/// The creation of the auction, which is announced.
pub(super) fn created(mut auction: Auction) -> Change {
    auction.sequence += 1;
    let event =
        AuctionStatusChange { auctioneer_uuid: auction.auctioneer, auction_uuid: auction.uuid, status: auction.status };
    let entry = JournalEntry {
        subject: auction.uuid,
        kind: SubjectKind::Auction,
        customer: auction.customer,
        sequence: auction.sequence,
        from: None,
        to: auction.status.name(),
        cause: "created",
        actor: "command-line".into(),
        at: at(1),
        reason: None,
        event: Some(Event::from(event)),
    };
    Change { auction: Some(next_auction(auction)), journal: vec![entry], ..Change::default() }
}

/// The next bid on an item.
pub(super) fn bid(mut item: Item, amount: i64) -> Change {
    item.bid_count += 1;
    let number = item.bid_count;
    let bid = Bid {
        uuid: uuid(7, number as usize),
        item: item.uuid,
        number,
        bidder: "paddle-7".into(),
        amount,
        maximum: Hidden::new(amount + 7),
        source: BidSource::ALL[number as usize % BidSource::ALL.len()],
        before: (number > 1).then_some(number - 1),
        asked: (number > 2).then_some(amount - 1),
        actor: "key:1".into(),
        at: at(number),
        struck: None,
    };
    item.standing = Some(StandingBid {
        bid: bid.uuid,
        number,
        bidder: bid.bidder.clone(),
        amount,
        maximum: bid.maximum,
        at: bid.at,
    });
    Change { bids: vec![bid], ..silent(item) }
}

/// Commits one change without assigning its rows to a node.
pub(super) async fn commit(store: &Shared, change: Change) -> StoreResult<CommitReceipt> {
    commit_to(store, change, None).await
}

pub(super) async fn commit_to(store: &Shared, change: Change, assign_to: Option<NodeId>) -> StoreResult<CommitReceipt> {
    store.commit(vec![change], assign_to).await.unwrap().pop().unwrap()
}

/// Creates the first customer with this many LIVE items in the first auction, none of them announced.
pub(super) async fn sale(store: &Shared, items: usize) {
    store.create_customer(customer(1), None).await.unwrap();
    let change = Change {
        auction: Some(next_auction(auction(1))),
        items: (1..=items).map(|number| next(item(number))).collect(),
        ..Change::default()
    };
    commit(store, change).await.unwrap();
}

/// [`sale`] of a customer who is connected.
pub(super) async fn connected_sale(store: &Shared, items: usize) {
    sale(store, items).await;
    store.put_consumer(consumer(1), StartFrom::Now).await.unwrap();
    store.heartbeat(node(1), at(0), at(0)).await.unwrap();
}

/// Changes the present item to this status, and returns the cursor of the event.
pub(super) async fn ends(store: &Shared, number: usize, to: ItemStatus) -> Cursor {
    let found = store.item(item_uuid(number)).await.unwrap().unwrap();
    commit(store, announced(found, to, at(number as i64))).await.unwrap().cursors[0]
}

/// Claims all claimable rows for a node, and returns their cursors.
pub(super) async fn claims(store: &Shared, claimer: usize, now: Timestamp) -> Vec<Cursor> {
    cursors(&store.claim_outbox(node(claimer), customer_uuid(1), now, 10_000).await.unwrap())
}

/// The outcome of a row of the first customer.
pub(super) fn outcome(cursor: Cursor, result: PublishResult) -> OutboxSettlement {
    OutboxSettlement { customer: customer_uuid(1), cursor, result }
}

pub(super) fn cursors(events: &[OutboxEvent]) -> Vec<Cursor> {
    events.iter().map(|event| event.cursor).collect()
}

/// A user with this role, who has not signed in.
pub(super) fn user(number: usize, role: &str) -> User {
    let email = format!("{number}@example.com");
    let hash = "$argon2id$…".to_owned();
    User::new(caller_uuid(number), email, hash, at(1), Profile::of_role(role))
}

/// A change of a user to this state, decided on its version.
pub(super) fn user_change(user: User) -> UserChange {
    UserChange { change: kit_identity::user::Change::to(user), made_links: MadeLinks::Keep, answer: None }
}
