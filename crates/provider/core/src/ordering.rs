//! Ordered delivery per key. An endpoint enables it (`ordering`), and the sender sets the ordering key of a message in
//! a header (docs/decisions/0009-ordering-per-key.md).
//!
//! Guarantees for an endpoint with [`DeliveryOrder::PerKey`]:
//! - If one message of a key was acknowledged before the next message of the key was sent, the next message is
//!   attempted only after the first was delivered, given up, or skipped by an operator. Restarts, retries and several
//!   nodes do not change this.
//! - Other keys, and messages without a key, do not wait.
//! - A message that a background task sends again joins the end of its key's queue. A message that a caller resends
//!   alone is outside of the order.
//! - Delivery stays at least once: a copy of a message that was delivered just before a crash may arrive after it. It
//!   never arrives after the next message of the key, unless a stalled node continues after the others declared it
//!   dead.

mod blocked_keys;
mod retry_head;
mod skip_head;

pub use blocked_keys::{BlockedKey, BlockedKeysSummary, BlockedReason};
pub use skip_head::SKIPPED_RESPONSE;

use crate::error::ProviderError;
pub use crate::model::ordering::{DeliveryOrder, InvalidOrderingKey, KEY_CHARS_MAX, OrderingKey};

/// Maximum number of blocked keys in one page.
pub const BLOCKED_MAX: usize = 250;

/// The refusal to change a head that a node has claimed.
fn under_way() -> ProviderError {
    ProviderError::Conflict {
        code: "under_way",
        detail: "an attempt to deliver the message is under way; repeat the request when it has ended".into(),
    }
}
