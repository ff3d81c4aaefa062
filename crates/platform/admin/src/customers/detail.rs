//! The page of a customer: connection, queue, quarantine, and the latest events.

use askama::Template;
use axum::response::Response;
use kit_design::fields::QueryFields;
use kit_design::frame::{Frame, render_page};
use kit_design::relative_time::RelativeTime;
use platform_core::PlatformError;
use platform_core::Scope::{CustomersWrite, EventsRead};
use platform_core::customers::connections::ConsumerState;
use platform_core::port::{Page as ListPage, QuarantinedEvent};
use uuid::Uuid;

use super::state;
use crate::notice;
use crate::page_error::PageError;
use crate::session::{PathIds, Section, Session};

/// Events in quarantine that the page lists.
const QUARANTINED_SHOWN: usize = 25;

#[derive(Template)]
#[template(path = "customers/detail.html")]
struct DetailPage {
    frame: Frame,
    uuid: Uuid,
    /// Address of the page.
    path: String,
    name: String,
    connection: Option<Connection>,
    quarantine: Vec<QuarantineRow>,
    has_more_quarantine: bool,
    may_write: bool,
    may_read_events: bool,
}

/// The connection as the page shows it.
struct Connection {
    kind: &'static str,
    word: &'static str,
    advice: &'static str,
    since: RelativeTime,
    /// The cause, if it does not work.
    cause: Option<String>,
    provider: String,
    provider_url: String,
    application: Option<String>,
    has_key: bool,
    is_complete: bool,
    is_parked: bool,
    waiting: u64,
    oldest: Option<RelativeTime>,
    failing: Option<Failing>,
}

/// The latest failure of the events that wait.
struct Failing {
    error: String,
    at: RelativeTime,
    next: Option<RelativeTime>,
}

/// An event in quarantine.
struct QuarantineRow {
    cursor: i64,
    event_type: &'static str,
    event_id: String,
    at: RelativeTime,
    error: String,
}

impl Connection {
    fn new(state: ConsumerState, session: &Session) -> Self {
        let now = session.now();
        let (kind, word) = state::words(&state);
        let (_, since, cause) = state.state();
        let time = |at| RelativeTime::new(at, now);
        let failing = state.backlog.failing.as_ref().map(|failing| Failing {
            error: failing.error.clone(),
            at: time(failing.at),
            next: failing.next_attempt_at.map(time),
        });
        Self {
            kind,
            word,
            advice: state::advice(&state),
            since: time(since),
            cause: cause.map(str::to_owned),
            provider: state::provider(&state.provider),
            is_complete: state.is_complete(),
            is_parked: state.parked.is_some(),
            waiting: state.backlog.pending,
            oldest: state.backlog.oldest_at.map(time),
            failing,
            has_key: state.has_api_key,
            application: state.application_id,
            provider_url: state.provider_url,
        }
    }
}

impl QuarantineRow {
    fn new(row: QuarantinedEvent, session: &Session) -> Self {
        Self {
            cursor: row.event.cursor,
            event_type: row.event.event_type.name(),
            event_id: row.event.event_id(),
            at: RelativeTime::new(row.at, session.now()),
            error: row.error,
        }
    }
}

/// The page.
pub(super) async fn page(
    session: Session,
    PathIds([uuid]): PathIds<1>,
    QueryFields(query): QueryFields,
) -> Result<Response, PageError> {
    let (platform, caller) = (session.platform(), &session.caller);
    let customer = platform.customer(caller, uuid).await?;
    let connection = match platform.consumer(caller, uuid).await {
        Err(PlatformError::NotFound(_)) => None,
        state => Some(Connection::new(state?, &session)),
    };
    let page = ListPage { after: None, limit: QUARANTINED_SHOWN + 1 };
    let mut quarantine = platform.quarantined(caller, uuid, page).await?;
    let has_more_quarantine = quarantine.len() > QUARANTINED_SHOWN;
    quarantine.truncate(QUARANTINED_SHOWN);
    render_page(&DetailPage {
        frame: session.frame(&customer.name, Section::Customers).with_notice(notice::from_query(&query)),
        uuid,
        path: format!("{}/customers/{uuid}", session.admin.site().base),
        name: customer.name,
        connection,
        quarantine: quarantine.into_iter().map(|row| QuarantineRow::new(row, &session)).collect(),
        has_more_quarantine,
        may_write: session.may(CustomersWrite),
        may_read_events: session.may(EventsRead),
    })
}
