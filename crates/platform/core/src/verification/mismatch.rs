//! Compares stored bids, journal rows and states with the replayed log. Each function returns a description of the
//! first difference, or none.

use serde_json::Value;

use crate::port::{Bid, JournalRow};

/// Names of the fields that differ.
pub(super) fn difference(logged: &Value, stored: &Value) -> Option<String> {
    if logged == stored {
        return None;
    }
    let (Some(logged), Some(stored)) = (logged.as_object(), stored.as_object()) else { return Some("all".to_owned()) };
    let fields = logged.keys().chain(stored.keys().filter(|field| !logged.contains_key(*field)));
    let differing: Vec<&str> =
        fields.filter(|field| logged.get(*field) != stored.get(*field)).map(String::as_str).collect();
    Some(differing.join(", "))
}

pub(super) fn bid_mismatch(logged: &[Bid], stored: &[Bid]) -> Option<String> {
    if let Some((bid, _)) = logged.iter().zip(stored).find(|(logged, stored)| logged != stored) {
        return Some(format!("bid {} differs from the log", bid.number));
    }
    let (logged, stored) = (logged.len(), stored.len());
    (logged != stored).then(|| format!("the table has {stored} bids, the log has {logged}"))
}

pub(super) fn journal_mismatch(logged: &[JournalRow], stored: &[JournalRow]) -> Option<String> {
    let same = |logged: &JournalRow, stored: &JournalRow| {
        JournalRow { cursor: stored.cursor, restore_number: stored.restore_number, ..logged.clone() } == *stored
    };
    if let Some((row, _)) = logged.iter().zip(stored).find(|(logged, stored)| !same(logged, stored)) {
        return Some(format!("row {} of its journal differs from the log", row.sequence));
    }
    let rising = stored.windows(2).all(|pair| matches!(pair, [a, b] if a.cursor < b.cursor));
    if !rising {
        return Some("the cursors of its journal don't rise".to_owned());
    }
    let (logged, stored) = (logged.len(), stored.len());
    (logged != stored).then(|| format!("its journal has {stored} rows, the log has {logged}"))
}
