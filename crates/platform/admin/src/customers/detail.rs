//! The page of a customer: connection, endpoints, queue, quarantine, and the latest events.

use askama::Template;
use axum::response::Response;
use jiff::Timestamp;
use kit_design::fields::QueryFields;
use kit_design::frame::{Frame, render_page};
use kit_design::relative_time::RelativeTime;
use platform_core::PlatformError;
use platform_core::Scope::{CustomersWrite, EventsRead};
use platform_core::customers::connections::ConsumerState;
use platform_core::customers::connections::endpoints::EndpointReading;
use platform_core::port::{Page as ListPage, ProviderAddress, QuarantinedEvent};
use uuid::Uuid;

use super::house::HousePanel;
use super::state;
use crate::endpoint_health::{EndpointRow, Health, endpoint_rows, reading_fault};
use crate::notice;
use crate::page_error::PageError;
use crate::sale::labels::Badge;
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
    house: HousePanel,
    connection: Option<Connection>,
    /// Its endpoints; none while the connection is not complete.
    endpoints: Option<EndpointsPanel>,
    quarantine: Vec<QuarantineRow>,
    has_more_quarantine: bool,
    /// The platform opens accounts at the embedded provider.
    opens_accounts: bool,
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
    has_made_key: bool,
    is_complete: bool,
    /// One button makes what is missing.
    can_finish: bool,
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

/// The endpoints as the page shows them.
struct EndpointsPanel {
    badge: Badge,
    /// The text in place of endpoints; empty when some are listed.
    empty: String,
    /// The cause of the last failed reading, since which the page may be out of date; empty while readings succeed.
    fault: String,
    rows: Vec<EndpointRow>,
    /// True when the application has more endpoints.
    has_more: bool,
    read_at: Option<RelativeTime>,
}

impl EndpointsPanel {
    fn new(reading: Option<&EndpointReading>, now: Timestamp) -> Self {
        let health = Health::of(reading);
        let rows = reading.map(|reading| endpoint_rows(reading, now)).unwrap_or_default();
        let empty = match &health {
            Health::NotRead(Some(_)) => "The endpoints were not read yet.",
            Health::NotRead(None) => "The endpoints were not read yet. The platform reads them within a minute.",
            Health::NoRight => "The key can't read the endpoints, so the platform does not know whether events arrive.",
            Health::NoEndpoint => {
                "The application has no endpoint: published events reach no receiver. The customer adds endpoints in the App \
                 Portal."
            }
            Health::Delivering(_) | Health::Hindered(_) => "",
        };
        Self {
            badge: match &health {
                Health::NotRead(None) => Badge::new("", "Not read yet"),
                Health::NotRead(Some(_)) => Badge::new("bad", "Not read"),
                Health::NoRight => Badge::new("wait", "Not readable"),
                health => health.badge().unwrap_or(Badge::new("good", "Delivering")),
            },
            empty: empty.to_owned(),
            fault: reading.and_then(reading_fault).unwrap_or_default(),
            rows,
            has_more: reading.is_some_and(|reading| reading.has_more),
            read_at: reading.and_then(|reading| reading.read_at).map(|at| RelativeTime::new(at, now)),
        }
    }
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
            can_finish: state.application_id.is_none()
                && (state.has_api_key
                    || (session.platform().opens_accounts() && state.provider == ProviderAddress::Embedded)),
            has_key: state.has_api_key,
            has_made_key: state.has_made_key,
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
    let endpoints = match connection.as_ref().filter(|connection| connection.is_complete) {
        Some(_) => {
            let readings = platform.endpoint_readings(caller, vec![uuid]).await?;
            Some(EndpointsPanel::new(readings.first(), session.now()))
        }
        None => None,
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
        house: HousePanel::load(&session, uuid).await?,
        connection,
        endpoints,
        quarantine: quarantine.into_iter().map(|row| QuarantineRow::new(row, &session)).collect(),
        has_more_quarantine,
        opens_accounts: platform.opens_accounts(),
        may_write: session.may(CustomersWrite),
        may_read_events: session.may(EventsRead),
    })
}
