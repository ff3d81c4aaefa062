//! A change as the log keeps it: what happened, who did it, when and why (decisions, sections 7 and 8).

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::{AuctionChange, Cause, ItemChange};

/// A change with its circumstances. The maxima of bids are in it: it is for the platform, not for others.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Logged<C> {
    /// Who did it: `timer`, `test clock`, `key:<uuid>`, `user:<uuid>` or `command-line`.
    pub actor: String,
    /// The server's time of the decision.
    pub at: Timestamp,
    /// Why, in the log's word.
    pub cause: Cause,
    /// Why, in a person's words, where somebody gave them.
    pub reason: Option<String>,
    /// What happened.
    pub change: C,
}

impl ItemChange {
    /// The change as the log keeps it.
    pub fn logged(self, actor: &str, at: Timestamp) -> Logged<Self> {
        let (cause, reason) = (self.cause(), self.reason().map(str::to_owned));
        Logged { actor: actor.to_owned(), at, cause, reason, change: self }
    }
}

impl AuctionChange {
    /// The change as the log keeps it.
    pub fn logged(self, actor: &str, at: Timestamp) -> Logged<Self> {
        Logged { actor: actor.to_owned(), at, cause: self.cause(), reason: None, change: self }
    }
}
