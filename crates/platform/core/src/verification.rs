//! Verification of the audit log: replays the entries, compares them with the stored states, and names a wrong entry.
//!
//! A verified record can be given to third parties, who check it without the database.

mod anchor;
mod mismatch;
mod record;
mod record_check;
mod replay;
mod verify;
mod verify_access;
mod verify_log;
mod verify_parties;
mod verify_registrations;

pub use anchor::Anchor;
pub use record::{RECORD_ENTRIES_MAX, RECORD_FORMAT, Record, RecordEntry, RecordSummary};
pub use record_check::{CheckedRecord, check_records};
pub use verify::{Finding, VerifyReport};
