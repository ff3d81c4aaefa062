//! Slices of ordered maps, with the meaning that [`Page`] gives them.

use std::collections::BTreeMap;
use std::ops::Bound;

use ::provider::model::Id;
use ::provider::port::{From, Order, Page, Scan};

/// Rows by what they belong to and their own key.
pub(super) type Owned<V> = BTreeMap<(Id, Id), V>;

/// The slice of the rows that belong to `owner`, in the list's direction.
pub(super) fn slice<V: Clone>(rows: &Owned<V>, owner: &str, page: &Page) -> Vec<V> {
    let (mut lower, mut upper) = (Bound::Included(key(owner, "")), Bound::Excluded(after(owner)));
    let ascending = match (&page.from, page.order) {
        (None, order) => order == Order::Ascending,
        (Some(From::After(from)), Order::Ascending) | (Some(From::Before(from)), Order::Descending) => {
            lower = Bound::Excluded(key(owner, from));
            true
        }
        (Some(From::Before(from)), Order::Ascending) | (Some(From::After(from)), Order::Descending) => {
            upper = Bound::Excluded(key(owner, from));
            false
        }
    };
    let range = rows.range((lower, upper)).map(|(_, row)| row.clone());
    let mut found: Vec<V> =
        if ascending { range.take(page.limit).collect() } else { range.rev().take(page.limit).collect() };
    // The rows just before a key are found walking away from it.
    if matches!(page.from, Some(From::Before(_))) {
        found.reverse();
    }
    found
}

/// The rows of `owner` with keys between those of the scan, in its direction.
pub(super) fn scan<'rows, V>(
    rows: &'rows Owned<V>,
    owner: &str,
    scan: &Scan,
) -> Box<dyn Iterator<Item = (&'rows Id, &'rows V)> + 'rows> {
    if scan.above >= scan.below {
        return Box::new(std::iter::empty());
    }
    let between = (Bound::Excluded(key(owner, &scan.above)), Bound::Excluded(key(owner, &scan.below)));
    let range = rows.range(between).map(|((_, own), row)| (own, row));
    match scan.direction {
        Order::Ascending => Box::new(range),
        Order::Descending => Box::new(range.rev()),
    }
}

/// Key of a row.
pub(super) fn key(owner: &str, own: &str) -> (Id, Id) {
    (Id::from(owner), Id::from(own))
}

/// The smallest key that belongs to somebody after `owner`.
pub(super) fn after(owner: &str) -> (Id, Id) {
    (Id::from(format!("{owner}\0")), Id::from(""))
}
