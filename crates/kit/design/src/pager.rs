//! Links from one page of a list to the pages beside it.

/// Iterators of the pages beside the shown one. Lists are newest first.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Pager {
    /// Iterator of the page with newer entries, if there is one.
    pub newer: Option<String>,
    /// Iterator of the page with older entries, if there is one.
    pub older: Option<String>,
}

/// Where a page stands in its list, as the use case that read it reports it.
#[derive(Debug, Clone, Copy)]
pub struct PagePosition<'a> {
    /// Iterator that the request carried. One that begins with `-` reads towards newer entries.
    pub requested: Option<&'a str>,
    /// Iterator of the entries that follow.
    pub next: Option<&'a str>,
    /// Iterator of the entries before.
    pub previous: Option<&'a str>,
    /// The list has no more entries in the direction of the request.
    pub is_last: bool,
}

impl Pager {
    /// The pages beside the one at this position.
    pub fn new(position: PagePosition<'_>) -> Self {
        let PagePosition { requested, next, previous, is_last } = position;
        let (newer, older) = (previous.map(str::to_owned), next.map(str::to_owned));
        match requested {
            None => Self { newer: None, older: older.filter(|_| !is_last) },
            Some(iterator) if iterator.starts_with('-') => Self { newer: newer.filter(|_| !is_last), older },
            Some(_) => Self { newer, older: older.filter(|_| !is_last) },
        }
    }

    /// The list has one page only.
    pub fn is_single_page(&self) -> bool {
        *self == Self::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_pager_links_the_pages_beside_the_shown_one() {
        for (requested, is_last, newer, older) in [
            (None, true, None, None),
            (None, false, None, Some("d")),
            (Some("f"), false, Some("-e"), Some("d")),
            (Some("f"), true, Some("-e"), None),
            (Some("-c"), false, Some("-e"), Some("d")),
            (Some("-c"), true, None, Some("d")),
        ] {
            let pager = Pager::new(PagePosition { requested, next: Some("d"), previous: Some("-e"), is_last });
            assert_eq!((pager.newer.as_deref(), pager.older.as_deref()), (newer, older), "{requested:?} {is_last}");
        }
    }
}
