//! Commits: many changes in one job; each change is applied completely or not at all. Bids and ends of items are
//! committed here (a hot path).
//!
//! Each statement is prepared once for a batch, and each update compares the version in its condition. A change of one
//! record first writes the answer for its idempotency key and then the record, so that only the answer has to be
//! deleted after a conflict. A change of several records runs in a savepoint. The statements that follow can't
//! conflict.

use std::borrow::Borrow;
use std::collections::HashMap;

use kit_runtime::trace::TraceParent;
use platform_core::journal::JournalEntry;
use platform_core::port::{Change, CommitReceipt, NodeId, OutboxEvent, StoreError, StoreResult, Versioned};
use platform_rules::{Auction, Item};
use rusqlite::{CachedStatement, Connection, params};
use uuid::Uuid;

use super::consumers::{self, ConnectionState};
use super::rows::{self, SqlError, SqlResult, is_constraint};
use super::{
    access_log, audit, bulk_changes, customers, idempotency, images, item_ends, journal, lot_offers, nodes, notices,
    registrations,
};
use crate::batch::RejectedChanges;
use crate::codec::{auction_kind_code, end_ms, has_bids, ms, source_code, struck_columns, to_json};

const INSERT_ITEM: &str = "INSERT INTO items (uuid, auction, position, lot_number, status, has_bids, effective_end_ms, \
     version, state, vendor, category) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11)";
/// Does not set columns that seldom change, so that SQLite does not update their indexes.
const UPDATE_ITEM: &str = "UPDATE items SET status = ?4, has_bids = ?5, effective_end_ms = ?6, version = ?7, state = ?8 \
     WHERE uuid = ?1 AND version = ?7 - 1 AND position = ?2 AND lot_number = ?3 AND vendor IS ?9 AND category IS ?10";
const UPDATE_ITEM_PLACE: &str = "UPDATE items SET position = ?2, lot_number = ?3, status = ?4, has_bids = ?5, \
     effective_end_ms = ?6, version = ?7, state = ?8, vendor = ?9, category = ?10 WHERE uuid = ?1 AND version = ?7 - 1";
/// Frees the position and the lot number of an item, because another item of the same change may receive them.
const FREE_ITEM_PLACE: &str = "UPDATE items SET position = -1 - position, lot_number = char(1) || hex(uuid) \
     WHERE uuid = ?1 AND version = ?2";
const INSERT_AUCTION: &str = "INSERT INTO auctions (uuid, customer, auctioneer, kind, status, version, state) \
     VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)";
const UPDATE_AUCTION: &str =
    "UPDATE auctions SET status = ?2, version = ?3, state = ?4 WHERE uuid = ?1 AND version = ?3 - 1";
const INSERT_BID: &str = "INSERT INTO bids (item, number, uuid, bidder, amount, source, actor, at_ms, maximum, before, \
     asked) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11)";
const MARK_BID: &str = "UPDATE bids SET struck = ?3, struck_after = ?4, struck_reason = ?5, struck_actor = ?6, \
     struck_at_ms = ?7 WHERE item = ?1 AND number = ?2";
const INSERT_OUTBOX: &str =
    "INSERT INTO outbox (cursor, customer, subject, owner, attempts, traceparent) VALUES (?1, ?2, ?3, ?4, 0, ?5)";

/// A change with its encoded states. States are encoded outside of the writer thread, because all callers share it.
pub(super) struct EncodedChange {
    change: Change,
    auction: Option<String>,
    items: Vec<String>,
}

impl EncodedChange {
    pub(super) fn each(changes: Vec<Change>) -> StoreResult<Vec<Self>> {
        let written = changes.into_iter().map(|change| {
            let auction = change.auction.as_ref().map(|auction| to_json(&auction.state)).transpose()?;
            let items = change.items.iter().map(|item| to_json(&item.state)).collect::<StoreResult<_>>()?;
            Ok(Self { change, auction, items })
        });
        written.collect()
    }
}

impl Borrow<Change> for EncodedChange {
    fn borrow(&self) -> &Change {
        &self.change
    }
}

/// One result for each change, in order.
pub(super) fn commit(
    db: &Connection,
    changes: &[EncodedChange],
    assign_to: Option<NodeId>,
) -> SqlResult<Vec<StoreResult<CommitReceipt>>> {
    let mut commit = Commit {
        db,
        update_item: db.prepare_cached(UPDATE_ITEM)?,
        append: db.prepare_cached(journal::APPEND)?,
        enter: db.prepare_cached(INSERT_OUTBOX)?,
        is_held_back: db.prepare_cached("SELECT 1 FROM outbox WHERE subject = ?1")?,
        connected: HashMap::new(),
        assign_to: match assign_to {
            Some(node) if changes.iter().any(|written| announces(&written.change)) => {
                Some(nodes::node_number(db, node)?)
            }
            _ => None,
        },
    };
    RejectedChanges::each(changes, |written| match commit.change(written) {
        Ok(receipt) => Ok(Ok(receipt)),
        Err(SqlError::Store(error)) => Ok(Err(error)),
        Err(error) => Err(error),
    })
}

fn vendor(item: &Item) -> Option<[u8; 16]> {
    item.vendor.map(Uuid::into_bytes)
}

fn announces(change: &Change) -> bool {
    change.journal.iter().any(|entry| entry.event.is_some())
}

struct Commit<'db> {
    db: &'db Connection,
    update_item: CachedStatement<'db>,
    append: CachedStatement<'db>,
    enter: CachedStatement<'db>,
    is_held_back: CachedStatement<'db>,
    /// The connections of the batch's customers.
    connected: HashMap<Uuid, ConnectionState>,
    /// The number of the node that new outbox rows are assigned to.
    assign_to: Option<i64>,
}

impl Commit<'_> {
    fn change(&mut self, written: &EncodedChange) -> SqlResult<CommitReceipt> {
        let change = &written.change;
        if usize::from(change.auction.is_some())
            + usize::from(change.spending_version.is_some())
            + usize::from(change.bulk_change.is_some())
            + usize::from(change.accepted_offer.is_some())
            + change.items.len()
            <= 1
        {
            return self.commit_single(written);
        }
        rows::execute(self.db, "SAVEPOINT change", [])?;
        let done = idempotency::keep_or_replay(self.db, change.answer.as_ref()).and_then(|()| self.put(written));
        if done.is_err() {
            rows::execute(self.db, "ROLLBACK TO change", [])?;
        }
        rows::execute(self.db, "RELEASE change", [])?;
        done?;
        self.write_rest(change)
    }

    fn commit_single(&mut self, written: &EncodedChange) -> SqlResult<CommitReceipt> {
        let change = &written.change;
        idempotency::keep_or_replay(self.db, change.answer.as_ref())?;
        match self.put(written) {
            Ok(()) => self.write_rest(change),
            Err(error) => {
                if let Some(answer) = &change.answer {
                    idempotency::delete_answer(self.db, answer)?;
                }
                Err(error)
            }
        }
    }

    /// Runs the statements that can conflict, except the statement for the answer.
    fn put(&mut self, EncodedChange { change, auction, items }: &EncodedChange) -> SqlResult<()> {
        if let Some(spending_version) = change.spending_version {
            registrations::advance_spending_version(self.db, spending_version)?;
        }
        if let Some(seen) = &change.registration {
            registrations::check_registration(self.db, seen)?;
        }
        if let Some(accepted) = &change.accepted_offer {
            lot_offers::end(self.db, accepted)?;
        }
        if let Some(step) = &change.bulk_change {
            bulk_changes::advance_bulk_change(self.db, step)?;
        }
        if let (Some(state), Some(json)) = (&change.auction, auction) {
            self.put_auction(state, json)?;
        }
        // Items whose position or lot number changes are written last, because items of one change may exchange them.
        let mut moved = Vec::new();
        for (item, json) in change.items.iter().zip(items) {
            if change.items.len() > 1 && item.expected_version > 0 {
                if self.update_in_place(&item.state, json)? {
                    item_ends::put_sandbox_end(self.db, &item.state)?;
                } else {
                    let free = params![item.state.uuid.as_bytes(), item.expected_version];
                    if self.db.prepare_cached(FREE_ITEM_PLACE)?.execute(free)? != 1 {
                        return Err(StoreError::Conflict.into());
                    }
                    moved.push((item, json));
                }
            } else {
                self.put_item(item, json)?;
            }
        }
        for (item, json) in moved {
            self.put_item(item, json)?;
        }
        Ok(())
    }

    /// Writes an item that keeps its position, lot number, vendor and category. False when one of these or its version differs.
    fn update_in_place(&mut self, item: &Item, json: &str) -> SqlResult<bool> {
        let values = params![
            item.uuid.as_bytes(),
            item.position,
            item.lot_number,
            item.status.code(),
            has_bids(item),
            end_ms(item),
            item.version,
            json,
            vendor(item),
            item.category
        ];
        Ok(self.update_item.execute(values)? == 1)
    }

    fn put_auction(&mut self, Versioned { expected_version, state }: &Versioned<Auction>, json: &str) -> SqlResult<()> {
        let (uuid, status) = (state.uuid.as_bytes(), state.status.code());
        let done = if *expected_version == 0 {
            let (customer, auctioneer) = (state.customer.as_bytes(), state.auctioneer.as_bytes());
            let kind = auction_kind_code(state.kind);
            let values = params![uuid, customer, auctioneer, kind, status, state.version, json];
            self.db.prepare_cached(INSERT_AUCTION)?.execute(values)
        } else {
            self.db.prepare_cached(UPDATE_AUCTION)?.execute(params![uuid, status, state.version, json])
        };
        match done {
            Ok(1) => item_ends::put_sandbox_clock(self.db, state),
            Ok(_) => Err(StoreError::Conflict.into()),
            Err(error) if is_constraint(&error) => Err(StoreError::Conflict.into()),
            Err(error) => Err(error.into()),
        }
    }

    fn put_item(&mut self, Versioned { expected_version, state }: &Versioned<Item>, json: &str) -> SqlResult<()> {
        let done = if *expected_version == 0 {
            self.db.prepare_cached(INSERT_ITEM)?.execute(params![
                state.uuid.as_bytes(),
                state.auction.as_bytes(),
                state.position,
                state.lot_number,
                state.status.code(),
                has_bids(state),
                end_ms(state),
                state.version,
                json,
                vendor(state),
                state.category
            ])
        } else {
            let values = params![
                state.uuid.as_bytes(),
                state.position,
                state.lot_number,
                state.status.code(),
                has_bids(state),
                end_ms(state),
                state.version,
                json,
                vendor(state),
                state.category
            ];
            match self.update_item.execute(values) {
                // The version, the position, the lot number, the vendor or the category differs.
                Ok(0) => self.db.prepare_cached(UPDATE_ITEM_PLACE)?.execute(values),
                done => done,
            }
        };
        match done {
            Ok(1) => item_ends::put_sandbox_end(self.db, state),
            Ok(_) => Err(StoreError::Conflict.into()),
            Err(error) if is_constraint(&error) => Err(self.constraint_error(state)?.into()),
            Err(error) => Err(error.into()),
        }
    }

    /// `Taken` if another item has the lot number. `Conflict` if another item has the position: the caller then chooses
    /// another position.
    fn constraint_error(&self, item: &Item) -> SqlResult<StoreError> {
        let holder = "SELECT 1 FROM items WHERE auction = ?1 AND lot_number = ?2 AND uuid <> ?3";
        let values = (item.auction.as_bytes(), &item.lot_number, item.uuid.as_bytes());
        let other_item = rows::one(self.db, holder, values, |_| Ok(()))?;
        Ok(other_item.map_or(StoreError::Conflict, |()| StoreError::Taken("lotNumber")))
    }

    /// Writes the rows that follow from an accepted change.
    fn write_rest(&mut self, change: &Change) -> SqlResult<CommitReceipt> {
        customers::put_address(self.db, change.address.as_ref())?;
        audit::append(self.db, &change.log)?;
        for bid in &change.bids {
            self.db.prepare_cached(INSERT_BID)?.execute(params![
                bid.item.as_bytes(),
                bid.number,
                bid.uuid.as_bytes(),
                bid.bidder,
                bid.amount,
                source_code(bid.source),
                bid.actor,
                ms(bid.at),
                bid.maximum.reveal(),
                bid.before,
                bid.asked
            ])?;
        }
        for mark in &change.bid_strikes {
            let (struck, after, reason, actor, at) = struck_columns(mark.struck.as_ref());
            let values = params![mark.item.as_bytes(), mark.number, struck, after, reason, actor, at];
            self.db.prepare_cached(MARK_BID)?.execute(values)?;
        }
        registrations::record_bidder_items(self.db, &change.bidder_items)?;
        images::insert_copies(self.db, &change.images)?;
        notices::put_causes(self.db, &change.notice_causes)?;
        if let Some(accepted) = &change.accepted_offer {
            access_log::append(self.db, &accepted.note)?;
        }
        let mut receipt = CommitReceipt::default();
        for entry in &change.journal {
            self.append(entry, change.trace_parent(), &mut receipt)?;
        }
        Ok(receipt)
    }

    fn append(
        &mut self,
        entry: &JournalEntry,
        trace_parent: Option<TraceParent>,
        receipt: &mut CommitReceipt,
    ) -> SqlResult<()> {
        let body = entry.event.as_ref().map(|event| event.to_json());
        let cursor = journal::append(&mut self.append, entry, body.as_deref())?;
        receipt.cursors.push(cursor);
        let (Some(event), Some(body)) = (&entry.event, body) else { return Ok(()) };
        let connected = self.connected(entry.customer)?;
        if connected == ConnectionState::Incomplete {
            return Ok(());
        }
        if let ConnectionState::Open(updated_at) = connected {
            receipt.connection_updated_at = Some(updated_at);
        }
        let owner = match self.assign_to {
            Some(owner)
                if matches!(connected, ConnectionState::Open(_))
                    && !self.is_held_back.exists([entry.subject.as_bytes()])? =>
            {
                Some(owner)
            }
            _ => None,
        };
        let stored = trace_parent.map(|position| position.to_string());
        self.enter.execute((cursor, entry.customer.as_bytes(), entry.subject.as_bytes(), owner, stored))?;
        match owner {
            None => receipt.waiting += 1,
            Some(_) => receipt.assigned.push(OutboxEvent {
                cursor,
                customer: entry.customer,
                subject: entry.subject,
                sequence: entry.sequence,
                event_type: event.event_type(),
                body,
                attempts: 0,
                at: entry.at,
                restore_number: None,
                trace_parent,
            }),
        }
        Ok(())
    }

    fn connected(&mut self, customer: Uuid) -> SqlResult<ConnectionState> {
        if let Some(connected) = self.connected.get(&customer) {
            return Ok(*connected);
        }
        let connected = consumers::connected(self.db, customer)?;
        self.connected.insert(customer, connected);
        Ok(connected)
    }
}
