//! Checks a record without the platform, as `lotwire verify --record` does (`docs/operate/audit.md`).

use platform_rules::LogHead;
use uuid::Uuid;

use super::record::{RECORD_FORMAT, Record, RecordSummary};
use super::replay::{Openings, Replay, Subject};
use crate::port::LogKind;

/// A record that passed the check.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CheckedRecord {
    /// The item.
    pub item: Uuid,
    /// The head of its log. A reader who knows the head from elsewhere knows that the record is complete.
    pub head: LogHead,
    /// The result of the entries.
    pub summary: RecordSummary,
}

/// Checks the parts of a record, in order: the hash chain from the item's UUID to the head, and that replaying the
/// entries gives the record's summary. Errors: a description of the first mistake.
pub fn check_records(parts: &[Record]) -> Result<CheckedRecord, String> {
    let Some(last) = parts.last() else { return Err("there is no record".to_owned()) };
    let mut replay = Replay::new(LogKind::Item, last.item);
    for part in parts {
        if part.format != RECORD_FORMAT {
            return Err(format!(
                "the record has the format {:?}, and this program checks {RECORD_FORMAT:?}",
                part.format
            ));
        }
        if part.item != last.item || part.after != replay.head.number {
            return Err(format!(
                "a part begins after entry {} of item {}, and entry {} of {} is expected: give all parts in order",
                part.after, part.item, replay.head.number, last.item
            ));
        }
        if part.previous_hash != replay.head.hash {
            return Err(format!("the part after entry {} does not continue the hash chain", part.after));
        }
        for entry in &part.entries {
            let number = replay.head.number + 1;
            // A record has no events, so their auctioneer does not matter.
            let taken = replay.take((&entry.content, entry.hash), Openings::Unknown, Uuid::nil());
            taken.map_err(|what| format!("entry {number}: {what}"))?;
        }
    }
    let head = replay.head;
    if head.number != last.head_number || head.hash != last.head_hash {
        let (ours, theirs) = (head.number, last.head_number);
        return Err(format!("its last entry is {ours}, and the record's head {theirs} has another number or hash"));
    }
    let Some(Subject::Item(item)) = &replay.subject else { return Err("it has no entries".to_owned()) };
    let summary = RecordSummary::of(item);
    if summary != last.summary {
        return Err("its summary is not the result of its entries".to_owned());
    }
    Ok(CheckedRecord { item: last.item, head, summary })
}
