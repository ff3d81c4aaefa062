//! What is committed, and what came of it.

use platform_rules::{Auction, Item};

use super::{
    Address, BidderItem, BulkChangeStep, Cursor, ExpectedRegistration, IdempotentAnswer, OutboxEvent, SpendingVersion,
};
use crate::audit::{LogEntry, UnloggedChanges};
use crate::bid::{Bid, BidStrike};
use crate::journal::JournalEntry;

/// A new or changed state with the version that it was decided on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Versioned<T> {
    /// The version loaded; 0 for a new one. The store refuses the change with `Conflict` if it is another by now.
    pub expected_version: i64,
    /// The state to store; its own `version` is already `expected_version + 1`.
    pub state: T,
}

/// One atomic unit of work. Everything in it becomes true together.
#[derive(Debug, Clone, Default)]
pub struct Change {
    /// Auction created or changed.
    pub auction: Option<Versioned<Auction>>,
    /// A new address, the auction's.
    pub address: Option<Address>,
    /// Items created or changed. Distinct.
    pub items: Vec<Versioned<Item>>,
    /// Bids accepted; appended.
    pub bids: Vec<Bid>,
    /// What becomes of bids that were accepted before, or in this change; in order.
    pub bid_strikes: Vec<BidStrike>,
    /// Items on which bidders have bid, to be found again by [`RegistrationStore::committed`](super::RegistrationStore::committed).
    pub bidder_items: Vec<BidderItem>,
    /// The turn that a bid of a bidder with a spending limit takes. `Conflict` when another took it.
    pub spending_version: Option<SpendingVersion>,
    /// The registration that a bid was decided on, where it takes no turn. `Conflict` when it is another by now.
    pub registration: Option<ExpectedRegistration>,
    /// A bulk change that begins, goes on or is over.
    pub bulk_change: Option<BulkChangeStep>,
    /// Status changes, in order; of one subject with rising sequences.
    pub journal: Vec<JournalEntry>,
    /// What happened to its auction and items and is no entry of the log yet. The platform's commit leaves none.
    pub unlogged: Vec<UnloggedChanges>,
    /// Entries of the log, of one subject with rising numbers.
    pub log: Vec<LogEntry>,
    /// Answer to keep for the caller's idempotency key.
    pub answer: Option<IdempotentAnswer>,
}

/// What became of a committed change.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct CommitReceipt {
    /// Cursors of `Change::journal`, in its order.
    pub cursors: Vec<Cursor>,
    /// Outbox rows that were given to the node named in [`Store::commit`](super::Store::commit), ready to be published now.
    pub assigned: Vec<OutboxEvent>,
    /// Outbox rows that wait in the table: the publisher did not ask for them, or an earlier one of their subject waits.
    pub waiting: usize,
}
