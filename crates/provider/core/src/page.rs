//! Pages of lists: the query parameters `limit`, `iterator` and `order`, and the resulting page.
//!
//! An iterator is the key of the last row of a page. To page backwards, it is `-` and the key of the first row.

use crate::error::{FieldError, ProviderError};
use crate::ids;
use crate::port::{Cursor, Order, Page};
use crate::uid::{NAME_CHARS_MAX, check_name};

/// Default number of rows of a page.
pub const LIMIT_DEFAULT: usize = 50;
/// Maximum number of rows of a page.
pub const LIMIT_MAX: usize = 250;

/// A checked request for a page of a list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PageRequest {
    limit: usize,
    from: Option<Cursor>,
    order: Option<Order>,
}

/// The query parameters of a request for a page of a list, unchecked.
#[derive(Debug, Clone, Copy, Default)]
pub struct PageQuery<'a> {
    /// `limit`
    pub limit: Option<&'a str>,
    /// `iterator`
    pub iterator: Option<&'a str>,
    /// `order`
    pub order: Option<&'a str>,
}

/// The kind of a list's keys. Iterators are checked against it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CursorKey {
    /// Ids with this prefix.
    Id(&'static str),
    /// Event type names.
    Name,
}

/// One page of a list: `{data, iterator, prevIterator, done}` in the API.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ListPage<T> {
    /// The rows.
    pub data: Vec<T>,
    /// Key of the last row; none when there are no rows.
    pub iterator: Option<String>,
    /// `-` and the key of the first row.
    pub prev_iterator: Option<String>,
    /// Whether there are no more rows in the requested direction.
    pub done: bool,
}

impl PageRequest {
    /// Parses the parameters. 422 for a limit over 250 and for an invalid iterator; 400 for a limit that is not a
    /// number.
    pub fn parse(query: PageQuery<'_>, key: CursorKey) -> Result<Self, ProviderError> {
        let limit = query.limit.map_or(Ok(LIMIT_DEFAULT), parse_limit)?;
        let from = query.iterator.map(|iterator| parse_iterator(iterator, key)).transpose()?;
        let order = match query.order {
            None => None,
            Some("ascending") => Some(Order::Ascending),
            Some("descending") => Some(Order::Descending),
            Some(_) => return Err(invalid("order", "must be ascending or descending")),
        };
        Ok(Self { limit, from, order })
    }

    /// The first page, with at most `limit` rows (250).
    pub fn first(limit: usize) -> Self {
        Self { limit: limit.min(LIMIT_MAX), from: None, order: None }
    }

    pub(crate) fn parts(&self) -> (usize, Option<Cursor>) {
        (self.limit, self.from.clone())
    }

    /// The rows of the page, and one more, out of all rows of a list in ascending order.
    pub(crate) fn rows_of_page<T>(&self, mut rows: Vec<T>, key: impl Fn(&T) -> &str) -> Vec<T> {
        match &self.from {
            None => {}
            Some(Cursor::After(from)) => rows.retain(|row| key(row) > from.as_str()),
            Some(Cursor::Before(from)) => {
                rows.retain(|row| key(row) < from.as_str());
                rows.drain(..rows.len().saturating_sub(self.limit + 1));
            }
        }
        rows.truncate(self.limit + 1);
        rows
    }

    pub(crate) fn is_backward(&self) -> bool {
        matches!(self.from, Some(Cursor::Before(_)))
    }

    /// The page to read from the store, with one row more than is shown.
    pub(crate) fn to_store(&self, order: Order) -> Page {
        Page { from: self.from.clone(), order: self.order.unwrap_or(order), limit: self.limit + 1 }
    }

    /// Makes the page from the rows of the store.
    pub(crate) fn slice<T>(&self, mut rows: Vec<T>, key: impl Fn(&T) -> &str) -> ListPage<T> {
        let done = rows.len() <= self.limit;
        if !done && self.is_backward() {
            // When paging backwards, the extra row is the first one.
            rows.drain(..rows.len() - self.limit);
        }
        rows.truncate(self.limit);
        let iterator = rows.last().map(|row| key(row).to_owned());
        let prev_iterator = rows.first().map(|row| format!("-{}", key(row)));
        ListPage { data: rows, iterator, prev_iterator, done }
    }
}

impl Default for PageRequest {
    fn default() -> Self {
        Self { limit: LIMIT_DEFAULT, from: None, order: None }
    }
}

impl<T> ListPage<T> {
    /// Converts each row of the page.
    pub fn map<U>(self, row: impl FnMut(T) -> U) -> ListPage<U> {
        ListPage {
            data: self.data.into_iter().map(row).collect(),
            iterator: self.iterator,
            prev_iterator: self.prev_iterator,
            done: self.done,
        }
    }
}

fn parse_limit(text: &str) -> Result<usize, ProviderError> {
    let digits = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    match text.parse::<usize>() {
        Ok(limit) if digits && limit <= LIMIT_MAX => Ok(limit),
        _ if digits => Err(invalid("limit", format!("must be at most {LIMIT_MAX}"))),
        _ => Err(ProviderError::BadRequest {
            code: "invalid_limit",
            detail: format!("limit must be a number from 0 to {LIMIT_MAX}"),
        }),
    }
}

fn parse_iterator(text: &str, key: CursorKey) -> Result<Cursor, ProviderError> {
    // A name that begins with a dash is read as a backward iterator: paging does not support such names.
    let (word, back) = text.strip_prefix('-').map_or((text, false), |word| (word, true));
    let valid = match key {
        CursorKey::Id(prefix) => ids::is_id(word, prefix),
        CursorKey::Name => check_name(word, NAME_CHARS_MAX).is_ok(),
    };
    if !valid {
        return Err(invalid("iterator", "this is not an iterator of this list"));
    }
    Ok(if back { Cursor::Before(word.to_owned()) } else { Cursor::After(word.to_owned()) })
}

fn invalid(parameter: &'static str, msg: impl Into<String>) -> ProviderError {
    ProviderError::Validation(vec![FieldError::in_query(parameter, msg)])
}

#[cfg(test)]
mod tests {
    use super::*;

    const KEY: CursorKey = CursorKey::Id("msg_");
    const ID: &str = "msg_1srOrx2ZWZBpBUvZwXKQmoEYga2";

    fn code(query: PageQuery<'_>) -> &'static str {
        PageRequest::parse(query, KEY).map_or_else(|error| error.code(), |_| "ok")
    }

    #[test]
    fn a_limit_is_a_number_to_250() {
        for (limit, expected) in [
            ("0", "ok"),
            ("1", "ok"),
            ("250", "ok"),
            ("251", "validation"),
            ("99999999999999999999999", "validation"),
            ("-1", "invalid_limit"),
            ("+1", "invalid_limit"),
            ("ten", "invalid_limit"),
            ("", "invalid_limit"),
            ("1.5", "invalid_limit"),
        ] {
            assert_eq!(code(PageQuery { limit: Some(limit), ..PageQuery::default() }), expected, "{limit}");
        }
    }

    #[test]
    fn an_invalid_iterator_is_rejected() {
        let back = format!("-{ID}");
        for (iterator, expected) in [
            (ID, "ok"),
            (back.as_str(), "ok"),
            ("", "validation"),
            ("-", "validation"),
            ("msg_", "validation"),
            ("app_1srOrx2ZWZBpBUvZwXKQmoEYga2", "validation"),
            ("msg_1srOrx2ZWZBpBUvZwXKQmoEYga2x", "validation"),
            ("msg_1srOrx2ZWZBpBUvZwXKQmoEYg\u{e9}", "validation"),
            ("--msg_1srOrx2ZWZBpBUvZwXKQmoEYga", "validation"),
        ] {
            assert_eq!(code(PageQuery { iterator: Some(iterator), ..PageQuery::default() }), expected, "{iterator}");
        }
    }

    #[test]
    fn a_page_drops_the_extra_row_at_its_far_end() {
        let rows = || ["c", "d", "e"].map(String::from).to_vec();
        let page = |limit, from| PageRequest { from, ..PageRequest::first(limit) };
        let forward = page(2, Some(Cursor::After("b".into()))).slice(rows(), |row| row);
        assert_eq!(forward.data, ["c", "d"]);
        assert_eq!((forward.iterator.as_deref(), forward.prev_iterator.as_deref()), (Some("d"), Some("-c")));
        assert!(!forward.done);
        let back = page(2, Some(Cursor::Before("f".into()))).slice(rows(), |row| row);
        assert_eq!(back.data, ["d", "e"]);
        assert!(!back.done);
        let last = page(3, None).slice(rows(), |row| row);
        assert!(last.done);
    }

    #[test]
    fn a_limit_of_zero_is_an_empty_page() {
        let page = PageRequest::first(0);
        assert_eq!(page.to_store(Order::Ascending).limit, 1);
        let slice = page.slice(vec!["a".to_owned()], |row| row);
        assert_eq!((slice.data.len(), slice.iterator, slice.prev_iterator), (0, None, None));
    }
}
