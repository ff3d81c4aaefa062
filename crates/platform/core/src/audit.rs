//! The audit log: every change of an item, an auction, a registration or a party, chained by hash (`docs/operate/audit.md`,
//! `docs/decisions/0012-a-log-chained-by-hash.md`).
//!
//! The change builder records the changes of each subject and seals them here; the platform's commit refuses a change
//! with an unsealed entry; the store inserts the entries in the transaction of the change. The head of each log is part
//! of its subject's state, so that sealing reads nothing.
//!
//! Guarantees:
//! - The hash of an entry covers its whole content and the hash before it; the first entry follows a hash of the
//!   subject's UUID.
//! - The content has confidential values as salted commitments only; the values are stored beside it. The content can be
//!   given to third parties, and a single value can be proved later.
//! - A concealed value is deleted only by the erasure of a person, whose entry names it (`erasure.rs`).
//! - Replaying the entries gives the stored state; [`crate::verification`] checks this.

mod access_chain;
mod append;
pub(crate) mod commitments;
pub(crate) mod entry;
mod erasure;
pub(crate) mod times;

pub use access_chain::{access_begin, access_chain};
pub(crate) use append::{OPENED, append_entries, party_entries, registration_entries};
pub use entry::{Content, chain, chain_begin};
pub(crate) use erasure::{erase_values, reveal};

pub use crate::port::{LogEntry, LogKind, UnloggedChanges};
