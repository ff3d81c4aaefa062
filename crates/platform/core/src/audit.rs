//! The audit log: every change of an item, an auction or a registration, chained by hash (`docs/operate/audit.md`,
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
//! - Replaying the entries gives the stored state. `lotwire verify` checks this and names the wrong entry.

mod access_chain;
mod anchor;
mod append;
mod commitments;
mod entry;
mod mismatch;
mod record;
mod record_check;
mod replay;
mod times;
mod verify;
mod verify_access;
mod verify_log;
mod verify_registrations;

pub use access_chain::{access_begin, access_chain};
pub use anchor::Anchor;
pub(crate) use append::{append_entries, registration_entries};
pub use entry::{Content, chain, chain_begin};
pub use record::{RECORD_ENTRIES_MAX, RECORD_FORMAT, Record, RecordEntry, RecordSummary};
pub use record_check::{CheckedRecord, check_records};
pub use verify::{Finding, VerifyReport};

pub use crate::port::{LogEntry, LogKind, UnloggedChanges};
