//! Live updates of a list over server-sent events: the number of rows that are newer than the page, with its filter.
//!
//! A stream checks every [`PAUSE`] and ends after [`CHECKS_MAX`] checks, or when the visitor's session has ended. The browser
//! then opens it again, which authenticates the visitor again.

use std::convert::Infallible;

use axum::body::Body;
use axum::response::{IntoResponse as _, Response};
use futures_util::stream;
use http::StatusCode;
use http::header::CONTENT_TYPE;
use jiff::SignedDuration;
use kit_runtime::clock::SharedClock;

use crate::stream_slots::StreamSlot;

const PAUSE: SignedDuration = SignedDuration::from_secs(2);
const CHECKS_MAX: usize = 30;
/// Rows that are counted; a larger number is shown as this one.
pub(crate) const COUNTED_MAX: usize = 100;

/// A list on a page that is open.
pub(crate) trait OpenList: Send + 'static {
    /// The number of rows that are newer than the page, at most [`COUNTED_MAX`]; none if they can't be counted.
    fn count(&self) -> impl Future<Output = Option<usize>> + Send;
    /// Whether the visitor may still see the list.
    fn may_go_on(&self) -> impl Future<Output = bool> + Send;
}

struct Stream<L> {
    list: L,
    clock: SharedClock,
    shown: usize,
    checks: usize,
    _slot: StreamSlot,
}

/// A stream with an event `newer` with the number, whenever it changes. 204 without a slot, which ends the browser's
/// attempts.
pub(crate) fn stream(list: impl OpenList, clock: SharedClock, slot: Option<StreamSlot>) -> Response {
    let Some(slot) = slot else { return StatusCode::NO_CONTENT.into_response() };
    let stream = Stream { list, clock, shown: 0, checks: 0, _slot: slot };
    let events = stream::unfold(stream, async |mut stream| {
        let text = stream.next().await?;
        Some((Ok::<_, Infallible>(text), stream))
    });
    ([(CONTENT_TYPE, "text/event-stream")], Body::from_stream(events)).into_response()
}

impl<L: OpenList> Stream<L> {
    /// The next event, or a comment that keeps the connection open; none at the end of the stream.
    async fn next(&mut self) -> Option<String> {
        if self.checks >= CHECKS_MAX {
            return None;
        }
        if self.checks > 0 {
            self.clock.sleep_until(self.clock.now() + PAUSE).await;
        }
        self.checks += 1;
        if self.checks > 1 && !self.list.may_go_on().await {
            return None;
        }
        let newer = self.list.count().await?;
        if newer == self.shown {
            return Some(": none\n\n".to_owned());
        }
        self.shown = newer;
        let more = if newer >= COUNTED_MAX { "+" } else { "" };
        Some(format!("event: newer\ndata: {newer}{more}\n\n"))
    }
}
