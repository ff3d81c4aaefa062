//! Sample states for tests: an auction and one of its items.

use contract::{AuctionStatus, ItemStatus};
use jiff::{SignedDuration, Timestamp};
use uuid::Uuid;

use crate::{
    Admission, Auction, AuctionKind, BidLog, BidRecord, BidSource, Charges, Hidden, InRing, IncrementTable,
    InternetBids, Item, LogHead, RingStatus, StandingBid, WebcastPhase, minimum_bid,
};

/// The time `seconds` after the start of the sample auction, which closes at 1,000.
pub(crate) fn at(seconds: i64) -> Timestamp {
    Timestamp::UNIX_EPOCH + SignedDuration::from_secs(1_800_000_000 + seconds)
}

pub(crate) fn auction(kind: AuctionKind, status: AuctionStatus) -> Auction {
    Auction {
        uuid: Uuid::from_u128(1),
        customer: Uuid::from_u128(2),
        auctioneer: Uuid::from_u128(3),
        kind,
        title: "Clocks and barometers".to_owned(),
        currency: "GBP".to_owned(),
        time_zone: "Europe/London".to_owned(),
        starts_at: Some(at(0)),
        ends_at: Some(at(1_000)),
        stagger: None,
        extension_seconds: None,
        increments: IncrementTable::default(),
        status,
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
        rehearsal: false,
        was_live: !matches!(status, AuctionStatus::Draft | AuctionStatus::Preview),
        clock: None,
        sequence: 1,
        version: 1,
        log: LogHead::default(),
        created_at: at(-100),
    }
}

pub(crate) fn item(auction: &Auction, status: ItemStatus) -> Item {
    let end = crate::new_item_end(auction, 0);
    Item {
        uuid: Uuid::from_u128(10),
        auction: auction.uuid,
        customer: auction.customer,
        lot_number: "12A".to_owned(),
        position: 0,
        title: "A longcase clock".to_owned(),
        description: String::new(),
        category: None,
        image_url: None,
        attachments: Vec::new(),
        low_estimate: Some(20_000),
        high_estimate: Some(30_000),
        opening_bid: 10_000,
        reserve: None,
        buy_now: None,
        vendor: None,
        fixed_increment: None,
        status,
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
        sequence: 1,
        version: 1,
        log: LogHead::default(),
        created_at: at(-100),
    }
}

pub(crate) fn with_bid(mut item: Item, amount: i64) -> Item {
    item.standing = Some(StandingBid {
        bid: Uuid::from_u128(99),
        number: 1,
        bidder: "paddle 7".to_owned(),
        amount,
        maximum: Hidden::new(amount),
        at: at(1),
    });
    item.bid_count = 1;
    item
}

/// The bids of an item whose bids all have the standing one's bidder and amount.
pub(crate) fn log_of(item: &Item) -> BidLog {
    let record = |(number, standing): (i64, &StandingBid)| BidRecord {
        bid: standing.bid,
        number,
        bidder: standing.bidder.clone(),
        amount: standing.amount,
        maximum: standing.maximum,
        source: BidSource::Room,
        before: None,
        asked: None,
        registration: None,
        at: standing.at,
        struck: None,
    };
    let bids = (1..=item.bid_count).filter_map(|number| Some(record((number, item.standing.as_ref()?))));
    BidLog::new(bids.collect()).unwrap()
}

/// The auction and the item, with the item in the ring.
pub(crate) fn in_ring(mut auction: Auction, mut item: Item) -> (Auction, Item) {
    auction.in_ring = Some(item.uuid);
    let asking_price = minimum_bid(&auction, &item);
    item.ring = RingStatus::InRing(InRing { asking_price, paused: false, warnings: 0, lowered: false });
    (auction, item)
}
