//! Live updates of the list of messages over server-sent events: the number of messages that are newer than the list.
//!
//! A stream checks every [`PAUSE`] and ends after [`CHECKS_MAX`] checks, or when the visitor's token has ended. The browser
//! then opens it again, which authenticates the visitor again.

use std::convert::Infallible;

use axum::body::Body;
use axum::response::{IntoResponse as _, Response};
use futures_util::stream;
use http::StatusCode;
use http::header::CONTENT_TYPE;
use http::request::Parts;
use jiff::SignedDuration;
use provider_core::port::{MessageFilter, PayloadRead};
use provider_core::{HistoryQuery, HistoryRequest, ids};

use crate::page_error::PageError;
use crate::portal::session::Session;
use crate::portal::stream_slots::StreamSlot;
use kit_design::error_page::ErrorPage;
use kit_design::fields::QueryFields;

const PAUSE: SignedDuration = SignedDuration::from_secs(2);
const CHECKS_MAX: usize = 30;
/// Messages that are counted; a larger number is shown as this one.
const COUNTED_MAX: usize = 100;

struct Tail {
    session: Session,
    filter: MessageFilter,
    after: String,
    shown: usize,
    checks: usize,
    _slot: StreamSlot,
}

/// `GET /messages/live?after={message}&eventType={name}`: an event `newer` with the number, whenever it changes. 204 when
/// too many streams are open, which ends the browser's attempts.
pub(in crate::portal) async fn stream(
    session: Session,
    parts: Parts,
    QueryFields(query): QueryFields,
) -> Result<Response, PageError> {
    let after = query.text("after").to_owned();
    if !ids::is_id(&after, ids::MESSAGE) {
        return Err(ErrorPage::bad_request("The parameter \"after\" must be the id of a message.").into());
    }
    let from = kit_http::client_ip::resolve(&parts, &session.provider().config().trusted_proxies);
    let Some(slot) = session.portal.streams().take(&session.application.id, from) else {
        return Ok(StatusCode::NO_CONTENT.into_response());
    };
    let event_types = query.non_empty("eventType").map(|name| vec![name.to_owned()]);
    let filter = MessageFilter { event_types, ..MessageFilter::default() };
    let tail = Tail { session, filter, after, shown: 0, checks: 0, _slot: slot };
    let events = stream::unfold(tail, async |mut tail| {
        let text = tail.next().await?;
        Some((Ok::<_, Infallible>(text), tail))
    });
    Ok(([(CONTENT_TYPE, "text/event-stream")], Body::from_stream(events)).into_response())
}

impl Tail {
    /// The next event, or a comment that keeps the connection open; none at the end of the stream.
    async fn next(&mut self) -> Option<String> {
        if self.checks >= CHECKS_MAX {
            return None;
        }
        if self.checks > 0 {
            let clock = self.session.portal.clock();
            clock.sleep_until(clock.now() + PAUSE).await;
        }
        self.checks += 1;
        if self.checks > 1 && !self.session.provider().token_goes_on(&self.session.caller).await.ok()? {
            return None;
        }
        let newer = self.count().await.ok()?;
        if newer == self.shown {
            return Some(": none\n\n".to_owned());
        }
        self.shown = newer;
        let more = if newer >= COUNTED_MAX { "+" } else { "" };
        Some(format!("event: newer\ndata: {newer}{more}\n\n"))
    }

    async fn count(&self) -> Result<usize, PageError> {
        let (limit, iterator) = (COUNTED_MAX.to_string(), format!("-{}", self.after));
        let query = HistoryQuery { limit: Some(&limit), iterator: Some(&iterator), ..HistoryQuery::default() };
        let part = HistoryRequest::parse(query, ids::MESSAGE)?;
        let Session { caller, portal, .. } = &self.session;
        let found = portal.provider().find_messages(caller, self.session.app(), &self.filter, PayloadRead::Skip, part);
        Ok(found.await?.data.len())
    }
}
