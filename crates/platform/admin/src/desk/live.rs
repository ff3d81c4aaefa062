//! The desk's stream of server-sent events. It says what changed, and each second that the server is there; what is new, the
//! page fetches.

use std::convert::Infallible;

use axum::body::Body;
use axum::response::{IntoResponse as _, Response};
use futures_util::stream;
use http::StatusCode;
use http::header::{CACHE_CONTROL, CONTENT_TYPE, HeaderName, HeaderValue};
use jiff::{SignedDuration, Timestamp};
use kit_runtime::clock::rfc3339_ms;
use platform_core::live::Listener;
use platform_core::{Caller, Platform};
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use super::problem::DeskProblem;
use crate::admin::Admin;
use crate::session::{PathIds, Session};

/// Time between two signs of life. A page takes the link for lost after three of them.
const BEAT_EVERY: SignedDuration = SignedDuration::from_secs(1);
/// The event after which a page fetches its state in any case.
const ANYTHING_CHANGED: &str = "event: changed\ndata: {}\n\n";
/// The last event of a screen whose link or session has ended. The page loads itself again and shows why.
const ENDED: &str = "event: ended\ndata: {}\n\n";
/// Tells nginx and compatible proxies not to buffer the stream.
const ACCEL_BUFFERING: HeaderName = HeaderName::from_static("x-accel-buffering");

/// `GET /webcasts/{webcast}/desk/live`
pub(super) async fn stream(session: Session, PathIds([webcast]): PathIds<1>) -> Result<Response, DeskProblem> {
    let listener = session.platform().listen_to_ring(&session.caller, webcast).await?;
    let late_bids = LateBids { caller: session.caller, webcast, seen: None };
    Ok(stream_of(Source {
        listener,
        beat_at: session.admin.now(),
        admin: session.admin,
        late_bids: Some(late_bids),
        link: None,
        has_ended: false,
    }))
}

/// `POST /webcasts/{webcast}/desk/held`: the desk receives its stream. 204.
pub(super) async fn held(session: Session, PathIds([webcast]): PathIds<1>) -> Result<StatusCode, DeskProblem> {
    session.platform().report_desk(&session.caller, webcast).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// The events of a listener without their content: `changed` with the version, and `beat` each second. With the token of a
/// link, the stream ends with `ended` when the link has ended.
pub(crate) fn respond(listener: Listener, admin: Admin, link: Option<String>) -> Response {
    stream_of(Source { listener, beat_at: admin.now(), admin, late_bids: None, link, has_ended: false })
}

fn stream_of(source: Source) -> Response {
    let events = stream::unfold(source, async |mut source| {
        let text = source.next().await?;
        Some((Ok::<_, Infallible>(text), source))
    });
    let headers = [
        (CONTENT_TYPE, HeaderValue::from_static("text/event-stream")),
        (CACHE_CONTROL, HeaderValue::from_static("no-store")),
        (ACCEL_BUFFERING, HeaderValue::from_static("no")),
    ];
    (headers, Body::from_stream(events)).into_response()
}

struct Source {
    listener: Listener,
    admin: Admin,
    beat_at: Timestamp,
    /// For desks only.
    late_bids: Option<LateBids>,
    /// The token that opened a screen without a sign-in.
    link: Option<String>,
    has_ended: bool,
}

/// Refused web bids are in memory only, so no event tells of them; the stream looks for new ones at each beat.
struct LateBids {
    caller: Caller,
    webcast: Uuid,
    /// When the last one that the desk knows arrived.
    seen: Option<Timestamp>,
}

impl LateBids {
    async fn has_new(&mut self, platform: &Platform) -> bool {
        let Ok(bids) = platform.late_bids(&self.caller, self.webcast).await else { return false };
        let Some(last) = bids.first().map(|bid| bid.at) else { return false };
        self.seen.replace(last).is_none_or(|seen| seen < last)
    }
}

impl Source {
    async fn next(&mut self) -> Option<String> {
        while !self.has_ended {
            tokio::select! {
                chunk = self.listener.next() => {
                    let Some(chunk) = chunk else {
                        self.has_ended = true;
                        return self.listener.was_refused().then(|| ENDED.to_owned());
                    };
                    if let Some(changed) = changed(&chunk) {
                        return Some(changed);
                    }
                }
                () = self.admin.clock().sleep_until(self.beat_at) => {
                    let now = self.admin.now();
                    self.beat_at = now + BEAT_EVERY;
                    if self.link_has_ended().await {
                        self.has_ended = true;
                        return Some(ENDED.to_owned());
                    }
                    if let Some(late_bids) = &mut self.late_bids
                        && late_bids.has_new(self.admin.platform()).await
                    {
                        return Some(ANYTHING_CHANGED.to_owned());
                    }
                    return Some(format!("event: beat\ndata: {}\n\n", rfc3339_ms(now)));
                }
            }
        }
        None
    }

    /// True when the link of this screen was revoked or has expired, or its sale has ended. While the store can't be
    /// reached, the screen goes on.
    async fn link_has_ended(&self) -> bool {
        let Some(token) = &self.link else { return false };
        matches!(self.admin.platform().open_screen(token).await, Ok(Err(_)))
    }
}

/// An event of the live channel.
#[derive(Deserialize)]
struct EventIn {
    item: Option<VersionIn>,
    auction: Option<VersionIn>,
}

#[derive(Deserialize)]
struct VersionIn {
    uuid: Uuid,
    version: i64,
}

/// What changed; empty when anything may have.
#[derive(Debug, Default, Serialize)]
struct Changed {
    #[serde(skip_serializing_if = "Option::is_none")]
    item: Option<Uuid>,
    #[serde(skip_serializing_if = "Option::is_none")]
    auction: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    version: Option<i64>,
}

/// The event that the page gets for an event of the channel; none for a comment.
fn changed(chunk: &[u8]) -> Option<String> {
    let text = std::str::from_utf8(chunk).ok()?;
    let line = |name: &str| text.lines().find_map(|line| line.strip_prefix(name));
    let data = line("data: ")?;
    let changed = match line("event: ") {
        // A snapshot begins a stream or follows a gap.
        Some("snapshot") => Changed::default(),
        _ => match serde_json::from_str(data) {
            Ok(EventIn { item: Some(item), .. }) => {
                Changed { item: Some(item.uuid), version: Some(item.version), auction: None }
            }
            Ok(EventIn { auction: Some(auction), .. }) => {
                Changed { auction: Some(auction.version), ..Changed::default() }
            }
            _ => Changed::default(),
        },
    };
    Some(format!("event: changed\ndata: {}\n\n", kit_http::json::text(&changed)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_event_says_what_changed_and_nothing_else() {
        let item = "00000000-0000-7000-8000-000000000001";
        let chunk = format!(
            "id: 1-2\nevent: item\ndata: {{\"serverTime\":\"t\",\"item\":{{\"uuid\":\"{item}\",\"leader\":\"7\",\"version\":3}}}}\n\n"
        );
        assert_eq!(
            changed(chunk.as_bytes()).unwrap(),
            format!("event: changed\ndata: {{\"item\":\"{item}\",\"version\":3}}\n\n")
        );
        let chunk = format!("event: auction\ndata: {{\"auction\":{{\"uuid\":\"{item}\",\"version\":9}}}}\n\n");
        assert_eq!(changed(chunk.as_bytes()).unwrap(), "event: changed\ndata: {\"auction\":9}\n\n");
        assert_eq!(changed(b"event: snapshot\ndata: {\"items\":[]}\n\n").unwrap(), "event: changed\ndata: {}\n\n");
        assert_eq!(changed(b"event: messages\ndata: {\"messages\":[]}\n\n").unwrap(), "event: changed\ndata: {}\n\n");
        assert_eq!(changed(b": here\n\n"), None);
    }
}
