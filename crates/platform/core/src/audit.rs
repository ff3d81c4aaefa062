//! The audit log: every change of an item, an auction or a registration, chained by hash (`docs/operate/audit.md`,
//! `docs/decisions/0012-a-log-chained-by-hash.md`).
//!
//! The change builder records the changes of each subject and seals them here; the platform's commit refuses a change
//! with an unsealed entry; the store inserts the entries in the transaction of the change. The head of each log is part
//! of its subject's state, so that sealing reads nothing.
//!
//! Guarantees:
//! - The hash of an entry covers its whole content and the hash before it; before the first entry stands a hash of the
//!   subject's UUID.
//! - Confidential amounts are in the content as salted commitments, and beside it in plain. The content can be handed
//!   out, and a single value can be proved later.
//! - Replaying the entries gives the stored state ([`verify`] checks this and names the broken entry).

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
mod verify_log;
mod verify_registrations;

pub use access_chain::{access_begin, access_chain};
pub use anchor::Anchor;
pub use append::UnloggedChanges;
pub(crate) use append::{SubjectChanges, append_entries, registration_entries};
pub use entry::{Content, LogEntry, LogKind, chain, chain_begin};
pub use record::{RECORD_ENTRIES_MAX, RECORD_FORMAT, Record, RecordEntry, RecordSummary};
pub use record_check::{CheckedRecord, check_records};
pub use verify::{Finding, VerifyReport};
