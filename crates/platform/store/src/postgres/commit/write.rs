//! Writes the rows of accepted changes, with one statement for each table.

use std::collections::HashMap;

use kit_engine::postgres::Transaction;
use platform_core::audit::LogEntry;
use platform_core::bidding::bid::{Bid, BidStrike};
use platform_core::port::{Change, IdempotentAnswer, ItemImage, NoticeCause, StoreResult, Versioned};
use platform_rules::{Auction, Item};
use uuid::Uuid;

use crate::codec::{auction_kind_code, corrupt, end_ms, has_bids, ms, source_code, struck_columns, to_json};
use crate::postgres::rows::{self, SqlResult};
use crate::postgres::{audit, bulk_changes, customers, images, item_ends, lot_offers, notices, registrations};

/// Writes all rows except those of the journal. `moved` are the existing items whose position or lot number changes.
/// Updates run before inserts, so that a new item can have the former lot number of another item.
pub(super) async fn all(db: &Transaction<'_>, changes: &[&Change], moved: &[Uuid]) -> SqlResult<()> {
    let auctions = last_states(changes.iter().filter_map(|change| change.auction.as_ref()), |auction| auction.uuid);
    let items = last_states(changes.iter().flat_map(|change| &change.items), |item| item.uuid);
    let bids: Vec<&Bid> = changes.iter().flat_map(|change| &change.bids).collect();
    let entries: Vec<&LogEntry> = changes.iter().flat_map(|change| &change.log).collect();
    let mut answers: Vec<&IdempotentAnswer> = changes.iter().filter_map(|change| change.answer.as_ref()).collect();
    // Sorted, so that two batches with the same keys can't deadlock.
    answers.sort_by_key(|answer| (answer.caller, answer.key.as_str()));
    free_places(db, moved).await?;
    tokio::try_join!(
        biased;
        update_auctions(db, &auctions.changed),
        insert_auctions(db, &auctions.created),
        update_items(db, &items.changed),
        insert_items(db, &items.created),
        insert_addresses(db, changes),
        insert_bids(db, &bids),
        audit::append(db, &entries),
        registrations::write(db, changes),
        insert_answers(db, &answers),
    )?;
    bulk_changes::advance_bulk_changes(db, changes).await?;
    let copies: Vec<&ItemImage> = changes.iter().flat_map(|change| &change.images).collect();
    images::insert_copies(db, &copies).await?;
    let causes: Vec<&NoticeCause> = changes.iter().flat_map(|change| &change.notice_causes).collect();
    notices::put_causes(db, &causes).await?;
    lot_offers::accept(db, changes).await?;
    item_ends::put_sandbox_clocks(db, auctions.all()).await?;
    item_ends::put_sandbox_ends(db, items.all()).await?;
    mark_bids(db, changes).await
}

/// Frees positions and lot numbers before the update. Items may exchange them, and the update checks uniqueness row by
/// row.
async fn free_places(db: &Transaction<'_>, moved: &[Uuid]) -> SqlResult<()> {
    if moved.is_empty() {
        return Ok(());
    }
    let free = "UPDATE items SET position = -1 - position, lot_number = chr(1) || uuid::text WHERE uuid = ANY($1) AND position >= 0";
    rows::execute(db, free, &[&moved]).await.map(|_| ())
}

struct States<'a, T> {
    created: Vec<&'a T>,
    changed: Vec<&'a T>,
}

impl<'a, T> States<'a, T> {
    fn all(&self) -> impl Iterator<Item = &'a T> {
        self.created.iter().chain(&self.changed).copied()
    }
}

/// The last state of each record, because a batch may change a record more than once.
fn last_states<'a, T>(states: impl Iterator<Item = &'a Versioned<T>>, uuid: impl Fn(&T) -> Uuid) -> States<'a, T> {
    let mut places: HashMap<Uuid, (bool, usize)> = HashMap::new();
    let mut sorted = States { created: Vec::new(), changed: Vec::new() };
    for Versioned { expected_version, state } in states {
        let is_new = *expected_version == 0;
        let list = if is_new { &mut sorted.created } else { &mut sorted.changed };
        match places.get(&uuid(state)) {
            None => {
                places.insert(uuid(state), (is_new, list.len()));
                list.push(state);
            }
            Some((true, place)) => sorted.created[*place] = state,
            Some((false, place)) => sorted.changed[*place] = state,
        }
    }
    sorted
}

pub(in crate::postgres) fn column<'a, R, T>(rows: &[&'a R], of: impl Fn(&'a R) -> T) -> Vec<T> {
    rows.iter().map(|row| of(row)).collect()
}

fn states<T: serde::Serialize>(rows: &[&T]) -> StoreResult<Vec<String>> {
    rows.iter().map(to_json).collect()
}

/// Runs a statement and checks that it wrote every row. The rows are locked or new, so none can be missing.
async fn write(db: &Transaction<'_>, sql: &str, values: rows::Values<'_>, expected: usize) -> SqlResult<()> {
    let written = rows::execute(db, sql, values).await?;
    if usize::try_from(written) == Ok(expected) {
        return Ok(());
    }
    Err(corrupt(format_args!("{written} rows were written instead of {expected}")).into())
}

async fn update_auctions(db: &Transaction<'_>, auctions: &[&Auction]) -> SqlResult<()> {
    if auctions.is_empty() {
        return Ok(());
    }
    let update = "UPDATE auctions a SET status = n.status, version = n.version, state = n.state \
         FROM unnest($1::uuid[], $2::integer[], $3::bigint[], $4::text[]) AS n (uuid, status, version, state) \
         WHERE a.uuid = n.uuid";
    let values: rows::Values<'_> = &[
        &column(auctions, |auction| auction.uuid),
        &column(auctions, |auction| auction.status.code()),
        &column(auctions, |auction| auction.version),
        &states(auctions)?,
    ];
    write(db, update, values, auctions.len()).await
}

async fn insert_auctions(db: &Transaction<'_>, auctions: &[&Auction]) -> SqlResult<()> {
    if auctions.is_empty() {
        return Ok(());
    }
    let insert = "INSERT INTO auctions (uuid, customer, auctioneer, kind, status, version, state) \
         SELECT * FROM unnest($1::uuid[], $2::uuid[], $3::uuid[], $4::smallint[], $5::integer[], $6::bigint[], $7::text[])";
    let values: rows::Values<'_> = &[
        &column(auctions, |auction| auction.uuid),
        &column(auctions, |auction| auction.customer),
        &column(auctions, |auction| auction.auctioneer),
        &column(auctions, |auction| auction_kind_code(auction.kind)),
        &column(auctions, |auction| auction.status.code()),
        &column(auctions, |auction| auction.version),
        &states(auctions)?,
    ];
    write(db, insert, values, auctions.len()).await
}

const ITEMS: &str = "unnest($1::uuid[], $2::uuid[], $3::bigint[], $4::text[], $5::integer[], $6::boolean[], $7::bigint[], \
     $8::bigint[], $9::text[], $10::uuid[], $11::text[]) AS n (uuid, auction, position, lot_number, status, has_bids, effective_end_ms, \
     version, state, vendor, category)";

async fn update_items(db: &Transaction<'_>, items: &[&Item]) -> SqlResult<()> {
    let update = format!(
        "UPDATE items i SET position = n.position, lot_number = n.lot_number, status = n.status, has_bids = n.has_bids, \
         effective_end_ms = n.effective_end_ms, version = n.version, state = n.state, vendor = n.vendor, \
         category = n.category \
         FROM {ITEMS} \
         WHERE i.uuid = n.uuid AND i.auction = n.auction"
    );
    write_items(db, &update, items).await
}

async fn insert_items(db: &Transaction<'_>, items: &[&Item]) -> SqlResult<()> {
    let insert = format!(
        "INSERT INTO items (uuid, auction, position, lot_number, status, has_bids, effective_end_ms, version, state, vendor, \
         category) \
         SELECT n.* FROM {ITEMS}"
    );
    write_items(db, &insert, items).await
}

async fn write_items(db: &Transaction<'_>, sql: &str, items: &[&Item]) -> SqlResult<()> {
    if items.is_empty() {
        return Ok(());
    }
    let values: rows::Values<'_> = &[
        &column(items, |item| item.uuid),
        &column(items, |item| item.auction),
        &column(items, |item| item.position),
        &column(items, |item| item.lot_number.as_str()),
        &column(items, |item| item.status.code()),
        &column(items, has_bids),
        &column(items, end_ms),
        &column(items, |item| item.version),
        &states(items)?,
        &column(items, |item| item.vendor),
        &column(items, |item| item.category.as_deref()),
    ];
    write(db, sql, values, items.len()).await
}

/// Uses one statement for each address, because new addresses are rare.
async fn insert_addresses(db: &Transaction<'_>, changes: &[&Change]) -> SqlResult<()> {
    for address in changes.iter().filter_map(|change| change.address.as_ref()) {
        customers::put_address(db, Some(address)).await?;
    }
    Ok(())
}

async fn insert_bids(db: &Transaction<'_>, bids: &[&Bid]) -> SqlResult<()> {
    if bids.is_empty() {
        return Ok(());
    }
    let insert = "INSERT INTO bids (item, number, uuid, bidder, amount, source, actor, at_ms, maximum, before, asked) \
         SELECT * FROM unnest($1::uuid[], $2::bigint[], $3::uuid[], $4::text[], $5::bigint[], $6::smallint[], $7::text[], \
         $8::bigint[], $9::bigint[], $10::bigint[], $11::bigint[])";
    let values: rows::Values<'_> = &[
        &column(bids, |bid| bid.item),
        &column(bids, |bid| bid.number),
        &column(bids, |bid| bid.uuid),
        &column(bids, |bid| bid.bidder.as_str()),
        &column(bids, |bid| bid.amount),
        &column(bids, |bid| source_code(bid.source)),
        &column(bids, |bid| bid.actor.as_str()),
        &column(bids, |bid| ms(bid.at)),
        &column(bids, |bid| bid.maximum.reveal()),
        &column(bids, |bid| bid.before),
        &column(bids, |bid| bid.asked),
    ];
    write(db, insert, values, bids.len()).await
}

/// Uses one statement for each mark, in order, because a batch may mark a bid more than once. Marks are rare.
async fn mark_bids(db: &Transaction<'_>, changes: &[&Change]) -> SqlResult<()> {
    let update = "UPDATE bids SET struck = $3, struck_after = $4, struck_reason = $5, struck_actor = $6, struck_at_ms = $7 \
         WHERE item = $1 AND number = $2";
    for BidStrike { item, number, struck } in changes.iter().flat_map(|change| &change.bid_strikes) {
        let (code, after, reason, actor, at) = struck_columns(struck.as_ref());
        rows::execute(db, update, &[item, number, &code, &after, &reason, &actor, &at]).await?;
    }
    Ok(())
}

async fn insert_answers(db: &Transaction<'_>, answers: &[&IdempotentAnswer]) -> SqlResult<()> {
    if answers.is_empty() {
        return Ok(());
    }
    let insert = "INSERT INTO idempotent_answers (caller, key, request_hash, status, body, at_ms, tag) \
         SELECT * FROM unnest($1::uuid[], $2::text[], $3::bytea[], $4::integer[], $5::text[], $6::bigint[], $7::text[])";
    let values: rows::Values<'_> = &[
        &column(answers, |answer| answer.caller),
        &column(answers, |answer| answer.key.as_str()),
        &column(answers, |answer| answer.request_hash.as_slice()),
        &column(answers, |answer| i32::from(answer.status)),
        &column(answers, |answer| answer.body.as_str()),
        &column(answers, |answer| ms(answer.at)),
        &column(answers, |answer| answer.tag.as_deref()),
    ];
    write(db, insert, values, answers.len()).await
}
