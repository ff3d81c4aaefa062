//! Messages with an event type that is not registered, counted in memory until a worker writes the counts.
//!
//! The delivery path only counts. Guarantees: a written count is exact and is written once; a crash loses the counts
//! since the last write. Counts of more than [`ENTRIES_MAX`] event types and keys between two writes are dropped.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use jiff::Timestamp;

use crate::caller::Caller;
use crate::model::{Id, UnknownEventType};

/// Maximum number of event types and keys between two writes.
const ENTRIES_MAX: usize = 10_000;

/// Counts since the last write.
#[derive(Debug, Default)]
pub(crate) struct UnknownTypes(Mutex<HashMap<(Id, Id, String), UnknownEventType>>);

impl UnknownTypes {
    /// Counts a message that the caller sent.
    pub(crate) fn add(&self, caller: &Caller, name: &str, at: Timestamp) {
        let mut counts = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let full = counts.len() >= ENTRIES_MAX;
        let of = (caller.account.clone(), caller.key.clone(), name.to_owned());
        if full && !counts.contains_key(&of) {
            return;
        }
        let count = counts.entry(of).or_insert_with(|| UnknownEventType {
            account: caller.account.clone(),
            name: name.to_owned(),
            key: caller.key.clone(),
            key_name: caller.name.to_string(),
            messages: 0,
            first_at: at,
            last_at: at,
        });
        count.messages += 1;
        count.last_at = count.last_at.max(at);
    }

    /// Removes the counts, for a write.
    pub(crate) fn take(&self) -> Vec<UnknownEventType> {
        let counts = std::mem::take(&mut *self.0.lock().unwrap_or_else(PoisonError::into_inner));
        let mut counts: Vec<_> = counts.into_values().collect();
        // The same order in all transactions, so that they do not deadlock.
        counts.sort_by(|left, right| {
            (&left.account, &left.name, &left.key).cmp(&(&right.account, &right.name, &right.key))
        });
        counts
    }

    /// Adds the counts of a failed write again.
    pub(crate) fn put_back(&self, taken: Vec<UnknownEventType>) {
        let mut counts = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        for old in taken {
            let of = (old.account.clone(), old.key.clone(), old.name.clone());
            if let Some(newer) = counts.get_mut(&of) {
                newer.messages += old.messages;
                newer.first_at = newer.first_at.min(old.first_at);
            } else if counts.len() < ENTRIES_MAX {
                counts.insert(of, old);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use kit_runtime::clock::from_ms;

    use super::*;
    use crate::model::{Account, AccountSettings};

    #[test]
    fn messages_are_counted_by_name_and_key_and_taken_once() {
        let at = from_ms;
        let account =
            Account { id: "org_1".into(), name: "a".into(), settings: AccountSettings::default(), created_at: at(0) };
        let caller = Caller::operator(&account);
        let counts = UnknownTypes::default();
        for (name, ms) in [("b", 5), ("a", 7), ("b", 9), ("b", 8)] {
            counts.add(&caller, name, at(ms));
        }
        let taken = counts.take();
        let shown = |taken: &[UnknownEventType]| {
            let row = |row: &UnknownEventType| (row.name.clone(), row.messages, row.first_at, row.last_at);
            taken.iter().map(row).collect::<Vec<_>>()
        };
        assert_eq!(shown(&taken), [("a".to_owned(), 1, at(7), at(7)), ("b".to_owned(), 3, at(5), at(9))]);
        assert_eq!(counts.take(), []);
        counts.add(&caller, "b", at(11));
        counts.put_back(taken);
        assert_eq!(shown(&counts.take())[1], ("b".to_owned(), 4, at(5), at(11)));
    }
}
