//! What a store keeps so that the messages of one key stay in order.
//!
//! Of the delivery rows of one endpoint and key, the one that was accepted first is the *head*: a row like any other. Those
//! behind it are *held*: nobody's, never due, and given to nobody, until the head's row goes (by whatever call). In that
//! transaction the next of the key becomes the head, and is due.

use async_trait::async_trait;
use jiff::Timestamp;

use super::StoreResult;
use crate::model::Id;
use crate::ordering::OrderingKey;

/// Messages behind a head that are counted; more are shown as this many.
pub const WAITING_COUNT_MAX: usize = 100_000;

/// A key whose head has not gone out yet: it waits, or others wait behind it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BlockedKeyRow {
    /// The key.
    pub key: OrderingKey,
    /// The head.
    pub message: Id,
    /// Attempts made on it so far.
    pub attempts: u32,
    /// When the first of them began; when there was none, when it was accepted.
    pub since: Timestamp,
    /// When it is tried next, or since when it is due.
    pub next_at: Timestamp,
    /// A node has it: under way, or in its memory.
    pub claimed: bool,
    /// Messages behind it, counted to [`WAITING_COUNT_MAX`].
    pub waiting: u64,
}

/// What came of skipping a head.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SkipResult {
    /// Its row is gone, and the next of the key is due.
    Skipped,
    /// A node has it at the moment.
    UnderWay,
    /// That message is not the key's head.
    NotHead,
}

/// The part of the port that is about order. The rest is in how [`super::Store::accept`] enters rows with a key, and in
/// what happens when a head goes.
#[async_trait]
pub trait OrderingStore: Send + Sync {
    /// Keys of an endpoint that wait, by key, after `after`. Left out is a head on its way for the first time with nothing
    /// behind it: that is a delivery like any other.
    async fn blocked_keys(&self, endpoint: &str, after: Option<&str>, limit: usize) -> StoreResult<Vec<BlockedKeyRow>>;
    /// Drops the head of a key, if it is this message and nobody has it.
    async fn skip_head(&self, endpoint: &str, key: &str, message: &str) -> StoreResult<SkipResult>;
}
