//! The health of this installation: version, database, workers, settings. The page follows the workers while it is open.

use askama::Template;
use axum::Router;
use axum::response::Response;
use jiff::Timestamp;
use kit_design::error_page::sentence;
use kit_design::frame::{Frame, render_page};
use kit_design::relative_time::RelativeTime;
use kit_http::page_routes::get;
use platform_core::PlatformError;
use platform_core::Scope::AuctionsRead;
use platform_core::config::Nodes;
use platform_core::worker_states::{WaitingWork, Worker, WorkerHealth, WorkerState};

use crate::access::{Need, Page};
use crate::admin::Admin;
use crate::page_error::PageError;
use crate::session::{Section, Session};

pub(crate) const PAGES: &[Page] = &[("GET", "/system", Need::Has(AuctionsRead))];

pub(crate) fn router() -> Router<Admin> {
    Router::new().route("/system", get(page))
}

/// A worker of this node.
struct WorkerRow {
    name: &'static str,
    /// What it does, and when it runs.
    task: &'static str,
    last_run: Option<RelativeTime>,
    /// Class and text of its state.
    state: (&'static str, &'static str),
    failing_since: Option<RelativeTime>,
    error: String,
    /// What waits for it, of all nodes; empty when nothing does.
    behind: String,
}

/// Name and task of a worker.
fn words(worker: Worker) -> (&'static str, &'static str) {
    match worker {
        Worker::ItemEnds => ("Ends of lots", "Ends each lot of a timed auction at its effective end."),
        Worker::Heartbeat => ("Heartbeat", "Tells other nodes each second that this one runs."),
        Worker::Publisher => {
            ("Publisher", "Publishes waiting events to each customer's provider, in order for each lot.")
        }
        Worker::TestClocks => ("Test clocks", "Ends lots of sandbox auctions on the way to the time of their clock."),
        Worker::BulkChanges => ("Bulk changes", "Applies changes of large auctions, 250 lots in a step."),
        Worker::EndpointReadings => (
            "Endpoints",
            "Reads what the customers' endpoints do, every 30 seconds while events are announced or fail.",
        ),
        Worker::Notices => (
            "Notices",
            "Makes the notices that bidders of salerooms read, if the operator has set saleroom.public_url.",
        ),
        Worker::Pushes => ("Notices in browsers", "Shows notices in the browsers of bidders."),
        Worker::Mails => ("Mails", "Sends mails to bidders, if the operator has set a mail server."),
        Worker::Domains => {
            ("Domains of houses", "Looks up once a day whether the record of each proven domain still exists.")
        }
        Worker::Expiry => ("Expiry", "Deletes expired sessions and stored answers, once a minute."),
    }
}

impl WorkerRow {
    fn new(state: WorkerState, work: &WaitingWork, now: Timestamp) -> Self {
        let (name, task) = words(state.worker);
        let failing_since = match state.health {
            WorkerHealth::FailingSince(since) => Some(RelativeTime::lasting(since, now)),
            _ => None,
        };
        Self {
            name,
            task,
            last_run: state.last_run_at.map(|at| RelativeTime::new(at, now)),
            state: match state.health {
                WorkerHealth::NotStarted => ("", "Not started"),
                WorkerHealth::Running => ("good", "Running"),
                WorkerHealth::Late => ("bad", "Late"),
                WorkerHealth::FailingSince(_) => ("bad", "Failing"),
            },
            failing_since,
            error: state.error.map(|error| sentence(&error)).unwrap_or_default(),
            behind: behind(state.worker, work, now),
        }
    }
}

/// How far a worker is behind.
fn behind(worker: Worker, work: &WaitingWork, now: Timestamp) -> String {
    let since = |at: Timestamp| {
        let seconds = now.duration_since(at).as_secs().max(0);
        if seconds < 120 { format!("{seconds} s") } else { format!("{} min", seconds / 60) }
    };
    let count = |number: usize, one: &str, many: &str| match number {
        0 => String::new(),
        1 => format!("1 {one}"),
        number => format!("{number} {many}"),
    };
    match worker {
        Worker::ItemEnds => work.overdue_end.map(|at| format!("An end is {} overdue", since(at))).unwrap_or_default(),
        Worker::Publisher => match work.oldest_event_at {
            Some(at) => {
                let events = count(usize::try_from(work.events).unwrap_or(usize::MAX), "event", "events");
                format!("{events} waiting, the oldest for {}", since(at))
            }
            None => String::new(),
        },
        Worker::TestClocks => count(work.test_clocks, "clock is being advanced", "clocks are being advanced"),
        Worker::BulkChanges => count(work.bulk_changes, "change under way", "changes under way"),
        Worker::Heartbeat
        | Worker::EndpointReadings
        | Worker::Notices
        | Worker::Pushes
        | Worker::Mails
        | Worker::Domains
        | Worker::Expiry => String::new(),
    }
}

#[derive(Template)]
#[template(path = "system.html")]
struct SystemPage {
    frame: Frame,
    version: &'static str,
    engine: &'static str,
    public_url: String,
    environment: String,
    /// Milliseconds that the check of the database took; none when it failed.
    check_ms: Option<String>,
    /// What is wrong, if the check failed.
    fault: String,
    workers: Vec<WorkerRow>,
    read_at: RelativeTime,
    session_hours: u64,
    idle_minutes: u64,
    rate_limit: String,
}

async fn page(session: Session) -> Result<Response, PageError> {
    let platform = session.platform();
    let begun = session.admin.monotonic();
    let check = platform.ping().await;
    let took = session.admin.monotonic().saturating_duration_since(begun);
    let config = platform.config();
    let fault = match &check {
        Ok(()) => String::new(),
        Err(error) => {
            tracing::warn!(error = error.full_message(), "the health check of the system page failed");
            error.to_string()
        }
    };
    let limit = config.key_requests_per_min_max;
    let now = session.now();
    // A database that can't be read is the fault that the page shows; the workers' own states are in memory.
    let work = match platform.waiting_work(&session.caller).await {
        Err(error @ PlatformError::Forbidden(_)) => return Err(error.into()),
        work => work.unwrap_or_default(),
    };
    let workers = platform.worker_states().into_iter().map(|state| WorkerRow::new(state, &work, now)).collect();
    render_page(&SystemPage {
        frame: session.frame("System", Section::System),
        version: env!("CARGO_PKG_VERSION"),
        engine: match config.nodes {
            Nodes::Sole => "SQLite, one node",
            Nodes::Many => "PostgreSQL, any number of nodes",
        },
        public_url: session.admin.config().public_url.clone(),
        environment: session.admin.config().environment.clone(),
        check_ms: check.is_ok().then(|| format!("{:.1}", took.as_secs_f64() * 1_000.0)),
        fault,
        workers,
        read_at: RelativeTime::new(now, now),
        session_hours: config.identity.session_ttl.as_secs() / 3_600,
        idle_minutes: config.identity.session_idle.as_secs() / 60,
        rate_limit: if limit == 0 { "none".to_owned() } else { format!("{limit} a minute") },
    })
}
