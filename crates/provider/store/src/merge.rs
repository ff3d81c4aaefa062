//! Merges the ordered lists of several owners (applications or endpoints) into the beginning of their common order, for
//! searches. Both engines use it.
//!
//! The owners are read in the order of their first rows. After `n` owners the rows of a further one matter only before the
//! last row that is known to be in the result, so reading `n` lists costs about `log n` times as many rows as one.

use std::ops::Range;

use provider_core::model::Id;
use provider_core::port::{Order, Scan};

/// A row of an owner's list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Entry {
    /// Place of the owner in the list of owners.
    pub(crate) owner: usize,
    pub(crate) message: Id,
    /// Status code of the attempt, if the owner's rows are attempts.
    pub(crate) code: u16,
}

/// The beginning of the merged lists: at most `rows_max` entries.
pub(crate) struct Merge {
    direction: Order,
    rows_max: usize,
    entries: Vec<Entry>,
    above: String,
    below: String,
    /// Whether entries were left out.
    is_cut: bool,
}

impl Merge {
    pub(crate) fn new(scan: &Scan, rows_max: usize) -> Self {
        let (above, below) = (scan.above.clone(), scan.below.clone());
        Self { direction: scan.direction, rows_max, entries: Vec::new(), above, below, is_cut: false }
    }

    /// The ids between which an owner's rows may still be part of the result; both ends are excluded.
    pub(crate) fn bounds(&self) -> (&str, &str) {
        (&self.above, &self.below)
    }

    /// Whether an owner whose first row has this id, and every later owner, has no row in the result.
    pub(crate) fn is_beyond(&self, head: &str) -> bool {
        head <= self.above.as_str() || head >= self.below.as_str()
    }

    pub(crate) fn add(&mut self, entries: impl IntoIterator<Item = Entry>) {
        self.entries.extend(entries);
        if self.entries.len() >= 2 * self.rows_max {
            self.cut();
        }
    }

    /// The entries in the order of the scan, and whether there are more.
    pub(crate) fn finish(mut self) -> (Vec<Entry>, bool) {
        self.cut();
        (self.entries, self.is_cut)
    }

    fn cut(&mut self) {
        match self.direction {
            Order::Ascending => self.entries.sort_unstable_by(|one, other| one.message.cmp(&other.message)),
            Order::Descending => self.entries.sort_unstable_by(|one, other| other.message.cmp(&one.message)),
        }
        if self.entries.len() < self.rows_max {
            return;
        }
        self.is_cut = true;
        self.entries.truncate(self.rows_max);
        if let Some(last) = self.entries.last() {
            match self.direction {
                Order::Ascending => self.below = last.message.to_string(),
                Order::Descending => self.above = last.message.to_string(),
            }
        }
    }
}

/// The direction of a list in SQL.
pub(crate) fn direction_sql(direction: Order) -> &'static str {
    match direction {
        Order::Ascending => "ASC",
        Order::Descending => "DESC",
    }
}

/// Neighbouring entries of one message.
pub(crate) fn groups(entries: &[Entry]) -> Vec<Range<usize>> {
    let mut groups: Vec<Range<usize>> = Vec::new();
    for (at, entry) in entries.iter().enumerate() {
        match groups.last_mut() {
            Some(group) if entries[group.start].message == entry.message => group.end = at + 1,
            _ => groups.push(at..at + 1),
        }
    }
    groups
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entries(messages: &[&str]) -> Vec<Entry> {
        let entry = |message: &&str| Entry { owner: 0, message: (*message).into(), code: 0 };
        messages.iter().map(entry).collect()
    }

    fn merged(direction: Order, rows_max: usize, lists: &[&[&str]]) -> (Vec<String>, bool) {
        let scan = Scan {
            above: "a".to_owned(),
            below: "z".to_owned(),
            direction,
            limit: 1,
            scanned_rows_max: 1,
            bytes_max: 1,
        };
        let mut merge = Merge::new(&scan, rows_max);
        for list in lists {
            let (above, below) = merge.bounds();
            let list: Vec<_> = list.iter().copied().filter(|id| *id > above && *id < below).take(rows_max).collect();
            merge.add(entries(&list));
        }
        let (entries, is_cut) = merge.finish();
        (entries.iter().map(|entry| entry.message.to_string()).collect(), is_cut)
    }

    #[test]
    fn lists_are_merged_up_to_a_number_of_rows_in_both_directions() {
        let texts = |texts: &[&str]| texts.iter().map(|text| (*text).to_owned()).collect::<Vec<_>>();
        let lists: &[&[&str]] = &[&["y", "h", "c"], &["x", "w", "b"], &["g", "f", "e", "d"]];
        assert_eq!(merged(Order::Descending, 3, lists), (texts(&["y", "x", "w"]), true));
        assert_eq!(merged(Order::Descending, 100, lists).0.len(), 10);
        let lists: &[&[&str]] = &[&["b", "h"], &["c", "d", "y"], &["e"]];
        assert_eq!(merged(Order::Ascending, 3, lists), (texts(&["b", "c", "d"]), true));
        assert_eq!(merged(Order::Ascending, 9, lists), (texts(&["b", "c", "d", "e", "h", "y"]), false));
        assert_eq!(merged(Order::Ascending, 9, &[]), (Vec::new(), false));
    }

    #[test]
    fn rows_of_one_message_are_a_group() {
        assert_eq!(groups(&entries(&["a", "a", "b", "c", "c"])), [0..2, 2..3, 3..5]);
        assert!(groups(&[]).is_empty());
    }
}
