//! The health of this installation: version, database, workers, settings.

use askama::Template;
use axum::Router;
use axum::response::Response;
use axum::routing::get;
use kit_design::frame::{Frame, render_page};
use platform_core::Scope::AuctionsRead;
use platform_core::config::Nodes;

use crate::access::{Need, Page};
use crate::admin::Admin;
use crate::page_error::PageError;
use crate::session::{Section, Session};

pub(crate) const PAGES: &[Page] = &[("GET", "/system", Need::Has(AuctionsRead))];

pub(crate) fn router() -> Router<Admin> {
    Router::new().route("/system", get(page))
}

/// Background work of a node: its name, what it does, and when it runs.
const WORKERS: &[(&str, &str, &str)] = &[
    ("Ends of lots", "Ends each lot of a timed auction at its effective end.", "At the earliest end"),
    ("Publisher", "Publishes waiting events to each customer's provider, in order for each lot.", "At each commit"),
    ("Test clocks", "Ends lots of sandbox auctions on the way to the time of their clock.", "At each advance"),
    ("Bulk changes", "Applies changes of large auctions, 250 lots in a step.", "At each change"),
    ("Live updates", "Sends changes to the pages that are open, on every node.", "At each commit"),
    ("Expiry", "Deletes expired sessions and stored answers.", "Once a minute"),
];

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
    workers: &'static [(&'static str, &'static str, &'static str)],
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
        workers: WORKERS,
        session_hours: config.people.session_ttl.as_secs() / 3_600,
        idle_minutes: config.people.session_idle.as_secs() / 60,
        rate_limit: if limit == 0 { "none".to_owned() } else { format!("{limit} a minute") },
    })
}
