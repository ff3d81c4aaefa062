//! Pages of messages and attempts, newest first, within the last 90 days.
//!
//! A filtered page scans a bounded number of rows. If the scan stops at this limit, the page has the rows found so far
//! (or none), is not `done`, and has an iterator that continues the scan.

use jiff::{SignedDuration, Timestamp};
use kit_runtime::clock::from_ms;

use crate::error::{FieldError, ProviderError};
use crate::ids;
use crate::page::{CursorKey, ListPage, PageQuery, PageRequest};
use crate::port::{Cursor, Order, Scan, ScanResult};

/// Retention of messages, and the default length of the time span of a page.
pub(crate) const HISTORY_WINDOW: SignedDuration = SignedDuration::from_hours(90 * 24);
/// Maximum difference between the clocks of nodes.
const CLOCK_SKEW_MAX: SignedDuration = SignedDuration::from_hours(1);
/// Maximum number of rows that a filtered page scans.
pub const SCANNED_ROWS_MAX: usize = 5_000;
/// Maximum number of rows that a filtered page scans if each row needs a join.
pub(crate) const SCANNED_JOINED_ROWS_MAX: usize = 1_000;
/// Maximum number of payload bytes in a page, without its last row.
const BYTES_MAX: usize = 16 * 1_024 * 1_024;

/// A checked request for a page of history.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HistoryRequest {
    limit: usize,
    from: Option<Cursor>,
    before: Option<Timestamp>,
    after: Option<Timestamp>,
}

/// The query parameters of a request for a page of history, unchecked.
#[derive(Debug, Clone, Copy, Default)]
pub struct HistoryQuery<'a> {
    /// `limit`
    pub limit: Option<&'a str>,
    /// `iterator`
    pub iterator: Option<&'a str>,
    /// `before`
    pub before: Option<&'a str>,
    /// `after`
    pub after: Option<&'a str>,
}

impl HistoryRequest {
    /// Parses the parameters of a list of ids with this prefix. Errors are those of [`PageRequest::parse`], and 422 for
    /// an invalid time.
    pub fn parse(query: HistoryQuery<'_>, prefix: &'static str) -> Result<Self, ProviderError> {
        let HistoryQuery { limit, iterator, before, after } = query;
        let page = PageRequest::parse(PageQuery { limit, iterator, order: None }, CursorKey::Id(prefix))?;
        let time = |name, text: Option<&str>| text.map(|text| parse_time(name, text)).transpose();
        Ok(Self { before: time("before", before)?, after: time("after", after)?, ..Self::from(&page) })
    }

    /// The scan for a page of ids with this prefix, with one row more than the page shows. It covers the time between
    /// `before` and `after`. If one of them is missing, it covers 90 days from the other, or 90 days back from the
    /// start.
    ///
    /// The scan goes back in time. It goes forward if the iterator does, or if only `after` is given.
    pub(crate) fn scan(&self, prefix: &str, now: Timestamp, scanned_rows_max: usize) -> Scan {
        let at = |time: Timestamp| ids::lowest_id_at(prefix, time);
        let time_of = |id: &str| ids::timestamp_of(id, prefix).unwrap_or(now);
        let (mut above, mut below) = (String::new(), at(saturating_add(now, CLOCK_SKEW_MAX)));
        match (self.before, self.after, &self.from) {
            (Some(before), _, _) => above = at(saturating_add(before, -HISTORY_WINDOW)),
            (None, Some(after), _) => below = below.min(at(saturating_add(after, HISTORY_WINDOW))),
            (None, None, Some(Cursor::After(id))) => above = at(saturating_add(time_of(id), -HISTORY_WINDOW)),
            (None, None, Some(Cursor::Before(id))) => {
                below = below.min(at(saturating_add(time_of(id), HISTORY_WINDOW)))
            }
            (None, None, None) => above = at(saturating_add(now, -HISTORY_WINDOW)),
        }
        if let Some(before) = self.before {
            below = below.min(at(before));
        }
        if let Some(after) = self.after {
            above = above.max(at(after));
        }
        match &self.from {
            Some(Cursor::After(id)) => below = below.min(id.clone()),
            Some(Cursor::Before(id)) => above = above.max(id.clone()),
            None => {}
        }
        let direction = if self.is_ascending() { Order::Ascending } else { Order::Descending };
        Scan { above, below, direction, limit: self.limit + 1, scanned_rows_max, bytes_max: BYTES_MAX }
    }

    /// Makes a page of the scan's result.
    pub(crate) fn slice<T>(&self, found: ScanResult<T>, key: impl Fn(&T) -> &str) -> ListPage<T> {
        let ScanResult { mut rows, mut stopped_at } = found;
        if rows.len() > self.limit {
            // The extra row belongs to the next page.
            stopped_at = self.limit.checked_sub(1).map(|last| key(&rows[last]).into());
            rows.truncate(self.limit);
            if stopped_at.is_none() {
                return ListPage { data: rows, iterator: None, prev_iterator: None, done: false };
            }
        }
        let done = stopped_at.is_none();
        let is_ascending = self.is_ascending();
        if is_ascending {
            rows.reverse();
        }
        let (first, last, stopped) = (rows.first().map(&key), rows.last().map(&key), stopped_at.as_deref());
        // In the direction of the scan, the next page begins where the scan stopped.
        let (newest, oldest) = match is_ascending {
            true => (stopped.or(first), last.or(stopped)),
            false => (first.or(stopped), stopped.or(last)),
        };
        let iterator = oldest.map(str::to_owned);
        let prev_iterator = newest.map(|id| format!("-{id}"));
        ListPage { data: rows, iterator, prev_iterator, done }
    }

    /// Whether the request names both ends of a time span that is no longer than this.
    pub(crate) fn is_within(&self, span_max: SignedDuration) -> bool {
        match (self.after, self.before) {
            (Some(after), Some(before)) => before.duration_since(after) <= span_max,
            _ => false,
        }
    }

    /// Whether the scan goes towards the present.
    fn is_ascending(&self) -> bool {
        match &self.from {
            Some(start) => matches!(start, Cursor::Before(_)),
            None => self.before.is_none() && self.after.is_some(),
        }
    }
}

impl From<&PageRequest> for HistoryRequest {
    fn from(page: &PageRequest) -> Self {
        let (limit, from) = page.parts();
        Self { limit, from, before: None, after: None }
    }
}

fn saturating_add(time: Timestamp, by: SignedDuration) -> Timestamp {
    time.checked_add(by).unwrap_or(if by.is_negative() { Timestamp::MIN } else { Timestamp::MAX })
}

/// Parses a time in a query: RFC 3339, or `2026-11-25 15:00:06.92 UTC`, the default format of Rust clients. If the `+`
/// of an offset was not escaped, it has become a space, which is accepted.
pub fn parse_query_time(text: &str) -> Option<Timestamp> {
    if let Some(time) = text.strip_suffix(" UTC") {
        return format!("{time}Z").parse().ok();
    }
    let with_offset = || text.rsplit_once(' ').and_then(|(time, offset)| format!("{time}+{offset}").parse().ok());
    text.parse().ok().or_else(with_offset)
}

fn parse_time(name: &'static str, text: &str) -> Result<Timestamp, ProviderError> {
    let parsed = parse_query_time(text).ok_or(());
    let invalid =
        |_| ProviderError::Validation(vec![FieldError::in_query(name, "must be a time such as 2026-11-21T06:28:03Z")]);
    parsed.map(|time| from_ms(time.as_millisecond())).map_err(invalid)
}

#[cfg(test)]
mod tests {
    use super::*;

    const PREFIX: &str = "msg_";

    fn now() -> Timestamp {
        "2026-11-21T00:00:00Z".parse().unwrap()
    }

    fn id(time: &str) -> String {
        ids::lowest_id_at(PREFIX, time.parse().unwrap())
    }

    fn request(before: Option<&str>, after: Option<&str>, iterator: Option<&str>) -> HistoryRequest {
        HistoryRequest::parse(HistoryQuery { before, after, iterator, limit: Some("2") }, PREFIX).unwrap()
    }

    #[test]
    fn a_page_covers_90_days_from_the_given_time() {
        let (old, forth) = (id("2026-05-01T00:00:00Z"), format!("-{}", id("2026-05-01T00:00:00Z")));
        let (may, june) = (Some("2026-05-01T00:00:00Z"), Some("2026-06-01T00:00:00+00:00"));
        let ahead = "2026-11-21T01:00:00Z";
        for (before, after, iterator, above, below, direction) in [
            (None, None, None, "2026-08-23T00:00:00Z", ahead, Order::Descending),
            (june, None, None, "2026-03-03T00:00:00Z", "2026-06-01T00:00:00Z", Order::Descending),
            (None, may, None, "2026-05-01T00:00:00Z", "2026-07-30T00:00:00Z", Order::Ascending),
            (june, may, None, "2026-05-01T00:00:00Z", "2026-06-01T00:00:00Z", Order::Descending),
            (None, None, Some(&*old), "2026-01-31T00:00:00Z", "2026-05-01T00:00:00Z", Order::Descending),
            (None, None, Some(&*forth), "2026-05-01T00:00:00Z", "2026-07-30T00:00:00Z", Order::Ascending),
            (june, None, Some(&*old), "2026-03-03T00:00:00Z", "2026-05-01T00:00:00Z", Order::Descending),
            (june, None, Some(&*forth), "2026-05-01T00:00:00Z", "2026-06-01T00:00:00Z", Order::Ascending),
            (None, june, Some(&*forth), "2026-06-01T00:00:00Z", "2026-08-30T00:00:00Z", Order::Ascending),
        ] {
            let scan = request(before, after, iterator).scan(PREFIX, now(), 9);
            let expected = (id(above), id(below), direction);
            assert_eq!((scan.above, scan.below, scan.direction), expected, "{before:?} {after:?} {iterator:?}");
        }
    }

    #[test]
    fn a_time_is_rfc_3339_or_ends_in_utc_and_anything_else_is_refused() {
        for (text, valid) in [
            ("2026-11-21T06:28:03Z", true),
            ("2026-11-21T06:28:03.123456789+02:00", true),
            ("2026-11-21T06:28:03.123456 00:00", true),
            ("2026-11-25 15:00:06.92 UTC", true),
            ("2026-11-25 15:00:06 UTC", true),
            ("2026-11-21T06:28:03+02:00 UTC", false),
            ("2026-11-21 UTC", false),
            (" UTC", false),
            ("2026-11-21", false),
            ("yesterday", false),
            ("", false),
        ] {
            let query = HistoryQuery { before: Some(text), ..HistoryQuery::default() };
            assert_eq!(HistoryRequest::parse(query, PREFIX).is_ok(), valid, "{text}");
        }
    }

    fn page(
        back: Option<&str>,
        rows: &[&str],
        stopped_at: Option<&str>,
    ) -> (Vec<String>, Option<String>, Option<String>, bool) {
        let rows = rows.iter().map(|row| (*row).to_owned()).collect();
        let iterator = id("2026-05-01T00:00:00Z");
        let iterator = back.map(|back| format!("{back}{iterator}"));
        let slice = request(None, None, iterator.as_deref())
            .slice(ScanResult { rows, stopped_at: stopped_at.map(Into::into) }, |row: &String| row);
        (slice.data, slice.iterator, slice.prev_iterator, slice.done)
    }

    fn shown(
        rows: &[&str],
        iterator: &str,
        prev_iterator: &str,
        done: bool,
    ) -> (Vec<String>, Option<String>, Option<String>, bool) {
        let text = |text: &str| (!text.is_empty()).then(|| text.to_owned());
        (rows.iter().map(|row| (*row).to_owned()).collect(), text(iterator), text(prev_iterator), done)
    }

    #[test]
    fn an_iterator_continues_after_the_last_scanned_row() {
        assert_eq!(page(None, &["e", "d", "c"], None), shown(&["e", "d"], "d", "-e", false));
        assert_eq!(page(None, &["e", "d"], None), shown(&["e", "d"], "d", "-e", true));
        assert_eq!(page(None, &["e"], Some("b")), shown(&["e"], "b", "-e", false));
        assert_eq!(page(None, &[], Some("b")), shown(&[], "b", "-b", false));
        assert_eq!(page(None, &[], None), shown(&[], "", "", true));
        assert_eq!(page(Some("-"), &["c", "d", "e"], None), shown(&["d", "c"], "c", "-d", false));
        assert_eq!(page(Some("-"), &["c"], Some("f")), shown(&["c"], "c", "-f", false));
        assert_eq!(page(Some("-"), &[], Some("f")), shown(&[], "f", "-f", false));
    }
}
