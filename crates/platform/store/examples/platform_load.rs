//! What an item that ends costs the platform's store: finding it due, committing its end with journal and outbox, and
//! settling its event.
//!
//! `cargo run --release -p platform-store --example platform_load -- [ITEMS] [BATCH] [DIRECTORY]`
//!
//! One auction of that many items, of a connected customer whose node takes every event over, as when an auction
//! closes.

#![expect(clippy::print_stdout, reason = "figures are what it is for")]
#![expect(clippy::unwrap_used, reason = "a measurement that fails stops")]

use std::path::PathBuf;
use std::time::{Duration, Instant};

use contract::event::{Event, ItemStatusChange};
use contract::{AuctionStatus, ItemStatus};
use jiff::Timestamp;
use kit_runtime::vault::Sealed;
use platform_core::bidding::bid::{Bid, BidSource};
use platform_core::journal::{JournalEntry, SubjectKind};
use platform_core::port::{
    AccessChange, Change, Consumer, Contact, ContactRecord, NodeId, OutboxSettlement, ProviderAddress, PublishResult,
    StartFrom, Versioned,
};
use platform_rules::{
    Admission, Auction, AuctionKind, Charges, Hidden, IncrementTable, InternetBids, Item, RingStatus, StandingBid,
    WebcastPhase,
};
use uuid::Uuid;

const CUSTOMER: Uuid = Uuid::from_u128(1);
const AUCTIONEER: Uuid = Uuid::from_u128(2);
const AUCTION: Uuid = Uuid::from_u128(3);
const NODE: NodeId = NodeId(Uuid::from_u128(4));
const BIDS: usize = 2_000;

#[tokio::main]
async fn main() {
    let mut arguments = std::env::args().skip(1);
    let mut number = |default: usize| arguments.next().map_or(default, |text| text.parse().unwrap());
    let (items, batch) = (number(100_000), number(1_000));
    let directory = arguments.next().map_or_else(std::env::temp_dir, PathBuf::from);
    let path = directory.join(format!("platform-load-{}.db", std::process::id()));
    let store = platform_store::sqlite::open(&path).await.unwrap();
    store.heartbeat(NODE, at(0), at(0)).await.unwrap();
    let connect = AccessChange::PutConsumer(consumer(), StartFrom::Now);
    store.apply_access_change(connect, "{}".to_owned()).await.unwrap();
    store.commit(vec![Change { auction: Some(first(auction())), ..Change::default() }], None).await.unwrap();

    let mut entering = Duration::ZERO;
    for from in (0..items).step_by(10_000) {
        let to = items.min(from + 10_000);
        let change = Change { items: (from..to).map(|number| first(item(number))).collect(), ..Change::default() };
        let begun = Instant::now();
        store.commit(vec![change], None).await.unwrap().pop().unwrap().unwrap();
        entering += begun.elapsed();
    }
    told("entered from a catalogue", items, entering);

    let bids = BIDS.min(items);
    let mut bidding = Duration::ZERO;
    for number in 0..bids {
        let found = store.item(item_uuid(number)).await.unwrap().unwrap();
        let change = bid(found);
        let begun = Instant::now();
        store.commit(vec![change], None).await.unwrap().pop().unwrap().unwrap();
        bidding += begun.elapsed();
    }
    told("bid on, one after the other", bids, bidding);
    let begun = Instant::now();
    let counts = store.item_counts(AUCTION).await.unwrap();
    told("counted", usize::try_from(counts.total).unwrap(), begun.elapsed());

    let (mut finding, mut committing, mut settling, mut ended, mut slowest) =
        (Duration::ZERO, Duration::ZERO, Duration::ZERO, 0, Duration::ZERO);
    loop {
        let begun = Instant::now();
        let due = store.due_items(at(1), batch).await.unwrap();
        finding += begun.elapsed();
        if due.is_empty() {
            break;
        }
        let changes: Vec<Change> = due.into_iter().map(|(item, _)| end(item)).collect();
        let begun = Instant::now();
        let receipts = store.commit(changes, Some(NODE)).await.unwrap();
        let took = begun.elapsed();
        committing += took;
        slowest = slowest.max(took);
        ended += receipts.len();
        let handed = receipts.into_iter().flat_map(|receipt| receipt.unwrap().assigned);
        let outcomes: Vec<_> = handed
            .map(|event| OutboxSettlement {
                customer: event.customer,
                cursor: event.cursor,
                result: PublishResult::Published,
            })
            .collect();
        let begun = Instant::now();
        store.record_outbox_outcomes(outcomes, at(2)).await.unwrap();
        settling += begun.elapsed();
    }
    assert_eq!(ended, items);
    told("found due, with their auction", items, finding);
    told("ended, with journal and outbox", items, committing);
    println!("{:>40}: {slowest:?}", "slowest batch");
    told("settled as published", items, settling);
    drop(store);
    let bytes: u64 = ["", "-wal", "-shm"].iter().map(|end| remove(&path, end)).sum();
    println!("{:>40}: {} bytes", "file, for an item", bytes / items as u64);
}

fn remove(path: &std::path::Path, end: &str) -> u64 {
    let mut name = path.as_os_str().to_owned();
    name.push(end);
    let bytes = std::fs::metadata(&name).map_or(0, |file| file.len());
    // The last connection removes its log itself, perhaps only now.
    let _ = std::fs::remove_file(&name);
    bytes
}

fn told(what: &str, items: usize, took: Duration) {
    println!("{what:>40}: {items} items in {took:.2?}, {:.2} µs each", took.as_secs_f64() * 1e6 / items as f64);
}

fn at(second: i64) -> Timestamp {
    Timestamp::from_second(1_793_232_000 + second).unwrap()
}

/// Of version 7 in its look: the time first, the rest at random.
fn item_uuid(number: usize) -> Uuid {
    let number = number as u128;
    let random = number.wrapping_mul(0x9e37_79b9_7f4a_7c15_f39c_0c6a_93d1_6a15) >> 64;
    Uuid::from_u128((0x0190_0000_0000 + number / 50) << 80 | 0x7000 << 64 | random)
}

fn first<T: Stated>(mut state: T) -> Versioned<T> {
    *state.version() += 1;
    Versioned { expected_version: *state.version() - 1, state }
}

trait Stated {
    fn version(&mut self) -> &mut i64;
}

impl Stated for Auction {
    fn version(&mut self) -> &mut i64 {
        &mut self.version
    }
}

impl Stated for Item {
    fn version(&mut self) -> &mut i64 {
        &mut self.version
    }
}

fn consumer() -> Consumer {
    Consumer {
        customer: CUSTOMER,
        provider: ProviderAddress::Url("http://127.0.0.1:8071".into()),
        application_id: Some("app_1".into()),
        has_made_key: false,
        api_key: Some(Sealed::from_text("v1.k.c2VjcmV0")),
        parked: None,
        contact: ContactRecord { contact: Contact::Untried, since: at(0), detail: None },
        updated_at: at(0),
    }
}

fn auction() -> Auction {
    Auction {
        uuid: AUCTION,
        customer: CUSTOMER,
        auctioneer: AUCTIONEER,
        kind: AuctionKind::Timed,
        title: "Furniture, silver and clocks".into(),
        currency: "GBP".into(),
        time_zone: "Europe/London".into(),
        starts_at: None,
        ends_at: Some(at(1)),
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
        sequence: 1,
        version: 0,
        log: platform_rules::LogHead::default(),
        created_at: at(0),
    }
}

fn item(number: usize) -> Item {
    Item {
        uuid: item_uuid(number),
        auction: AUCTION,
        customer: CUSTOMER,
        lot_number: (number + 1).to_string(),
        position: number as i64,
        title: "A George III mahogany chest of drawers".into(),
        description: "With brushing slide above four graduated drawers, on bracket feet; later handles. 84 cm wide."
            .into(),
        category: None,
        image_url: Some(format!("https://images.example.com/{number}.jpg")),
        attachments: Vec::new(),
        low_estimate: Some(40_000),
        high_estimate: Some(60_000),
        opening_bid: 20_000,
        reserve: Some(Hidden::new(35_000)),
        buy_now: None,
        vendor: None,
        fixed_increment: None,
        status: ItemStatus::Live,
        announced: false,
        end_time: Some(at(1)),
        effective_end_time: Some(at(1)),
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
        sequence: 2,
        version: 0,
        log: platform_rules::LogHead::default(),
        created_at: at(0),
    }
}

fn bid(mut item: Item) -> Change {
    item.bid_count += 1;
    let (bidder, actor) = ("paddle-7".to_owned(), format!("key:{CUSTOMER}"));
    let bid = Bid {
        uuid: item.uuid,
        item: item.uuid,
        number: item.bid_count,
        bidder: bidder.clone(),
        amount: 40_000,
        source: BidSource::Internet,
        maximum: Hidden::new(40_000),
        before: None,
        asked: None,
        actor,
        at: at(0),
        struck: None,
    };
    item.standing = Some(StandingBid {
        bid: bid.uuid,
        number: bid.number,
        bidder,
        amount: bid.amount,
        maximum: bid.maximum,
        at: bid.at,
    });
    Change { items: vec![first(item)], bids: vec![bid], ..Change::default() }
}

fn end(mut item: Item) -> Change {
    let status = if item.would_sell() { ItemStatus::Sold } else { ItemStatus::Unsold };
    item.status = status;
    item.announced = true;
    item.sequence += 1;
    let event = ItemStatusChange { item_uuid: item.uuid, auctioneer_uuid: AUCTIONEER, auction_uuid: AUCTION, status };
    let entry = JournalEntry {
        subject: item.uuid,
        kind: SubjectKind::Item,
        customer: CUSTOMER,
        sequence: item.sequence,
        from: Some(ItemStatus::Live.name()),
        to: status.name(),
        cause: "end_reached",
        actor: "timer".into(),
        at: at(1),
        reason: None,
        event: Some(Event::from(event)),
    };
    Change { items: vec![first(item)], journal: vec![entry], ..Change::default() }
}
