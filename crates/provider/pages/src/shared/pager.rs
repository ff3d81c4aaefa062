//! Ways from one page of a list to the next.

use provider_core::ListPage;

/// Iterators of the pages beside this one. Lists are newest first.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Pager {
    pub(crate) newer: Option<String>,
    pub(crate) older: Option<String>,
}

impl Pager {
    /// Of a page that was asked for with this iterator.
    pub(crate) fn new<T>(slice: &ListPage<T>, asked: Option<&str>) -> Self {
        let (newer, older) = (slice.prev_iterator.clone(), slice.iterator.clone());
        match asked {
            None => Self { newer: None, older: older.filter(|_| !slice.done) },
            Some(back) if back.starts_with('-') => Self { newer: newer.filter(|_| !slice.done), older },
            Some(_) => Self { newer, older: older.filter(|_| !slice.done) },
        }
    }

    /// There is only this page.
    pub(crate) fn is_single_page(&self) -> bool {
        *self == Self::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_leads_to_those_beside_it() {
        let pager = |asked: Option<&str>, done| {
            let (iterator, prev_iterator) = (Some("d".to_owned()), Some("-e".to_owned()));
            let Pager { newer, older } = Pager::new(&ListPage { data: vec![()], iterator, prev_iterator, done }, asked);
            (newer.unwrap_or_default(), older.unwrap_or_default())
        };
        let ways = |newer: &str, older: &str| (newer.to_owned(), older.to_owned());
        assert_eq!(pager(None, true), ways("", ""));
        assert_eq!(pager(None, false), ways("", "d"));
        assert_eq!(pager(Some("f"), false), ways("-e", "d"));
        assert_eq!(pager(Some("f"), true), ways("-e", ""));
        assert_eq!(pager(Some("-c"), false), ways("-e", "d"));
        assert_eq!(pager(Some("-c"), true), ways("", "d"));
    }
}
