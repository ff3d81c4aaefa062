//! What a look at a receiving address found, in words.

use askama::Template;
use askama::filters::HtmlSafe;
use jiff::{SignedDuration, Timestamp};
use kit_design::error_page::sentence;
use kit_design::relative_time::RelativeTime;
use provider_core::endpoints::url_check::{UrlCheck, UrlFinding};
use provider_core::{Cause, ProviderError};

use crate::page_error::PageError;
use crate::portal::causes;
use crate::portal::labels::StatusBadge;
use crate::portal::session::Session;

/// A certificate that ends sooner than this is pointed out.
const CERTIFICATE_DAYS_MIN: i64 = 14;

/// The verdict on an address, as part of a form.
#[derive(Debug, Template)]
#[template(path = "portal/endpoints/url_verdict.html")]
pub(super) struct UrlVerdict {
    kind: &'static str,
    verdict: &'static str,
    rows: Vec<Row>,
    /// Where the address redirects to.
    target: Option<String>,
    /// Path of the action that takes the target, with the site's base.
    check_path: String,
}

#[derive(Debug)]
struct Row {
    status: StatusBadge,
    text: String,
    until: Option<RelativeTime>,
    step: String,
}

impl HtmlSafe for UrlVerdict {}

impl UrlVerdict {
    /// Looks at an address, for the form at this path. An empty address gets no look.
    pub(super) async fn look(session: &Session, path: &str, url: &str) -> Result<Self, PageError> {
        let check_path = format!("{}{path}/check-url", session.portal.site().base);
        match session.provider().check_url(&session.caller, session.app(), url).await {
            Ok(check) => Ok(Self { check_path, ..Self::of(check, url, session.portal.now()) }),
            Err(ProviderError::TooManyRequests { .. }) => Ok(Self {
                check_path,
                ..Self::with(
                    "wait",
                    "The address was not checked: too many checks at once. Check it again in a second.",
                )
            }),
            Err(error) => Err(error.into()),
        }
    }

    fn with(kind: &'static str, verdict: &'static str) -> Self {
        Self { kind, verdict, rows: Vec::new(), target: None, check_path: String::new() }
    }

    fn of(check: UrlCheck, url: &str, now: Timestamp) -> Self {
        let mut rows = Vec::new();
        let all: Vec<String> = check.addresses.iter().map(ToString::to_string).collect();
        // A host that is an IP address needs no look-up.
        if !all.is_empty() && all != [check.host.trim_matches(['[', ']'])] {
            rows.push(row(StatusBadge::PASSED, format!("{} is {}.", check.host, all.join(", ")), ""));
        }
        match check.certificate_ends_at {
            Some(end) => {
                let is_soon = end < now + SignedDuration::from_hours(24 * CERTIFICATE_DAYS_MIN);
                let (status, step) =
                    if is_soon { (StatusBadge::SOON, "Renew it before it ends.") } else { (StatusBadge::PASSED, "") };
                let until = Some(RelativeTime::new(end, now));
                rows.push(Row { until, ..row(status, "The TLS certificate is trusted and ends", step) });
            }
            None if !check.is_https && !check.addresses.is_empty() => {
                rows.push(row(StatusBadge::NOT_ENCRYPTED, "Payloads travel in clear text.", "Use https if you can."));
            }
            None => {}
        }
        let is_at_provider = check.is_at_provider;
        let (kind, verdict) = match &check.finding {
            UrlFinding::Provider => {
                let text =
                    "It is this provider's own API or page. Deliveries to it would return here, and are not sent.";
                rows.push(row(StatusBadge::CHECK_FAILED, text, "Enter the address of your own server."));
                ("bad", "This is the provider itself.")
            }
            UrlFinding::Invalid(reason) => {
                rows.push(row(StatusBadge::CHECK_FAILED, sentence(reason), ""));
                ("bad", "This address can't be used.")
            }
            UrlFinding::Failed(error) => {
                let (cause, step) = causes::words(&Cause::of_transport_error(error, url), "");
                rows.push(row(StatusBadge::CHECK_FAILED, cause, step));
                ("bad", "Messages would not arrive at this address now.")
            }
            UrlFinding::Redirects(target) => {
                let text = format!("It redirects to {target}. Deliveries do not follow redirects.");
                rows.push(row(StatusBadge::CHECK_FAILED, text, "Use the address that it redirects to."));
                ("bad", "This address redirects.")
            }
            UrlFinding::Answered(code @ (404 | 410)) if !is_at_provider => {
                let text = format!("It answered {code} to a HEAD request.");
                rows.push(row(StatusBadge::SOON, text, "See whether the path is right and deployed."));
                ("wait", "The server can be reached, but may have no such path.")
            }
            UrlFinding::Answered(code @ 500..) => {
                rows.push(row(StatusBadge::SOON, format!("It answered {code} to a HEAD request."), "Look at its log."));
                ("wait", "The server can be reached, but does not work now.")
            }
            UrlFinding::Answered(code) if is_at_provider => {
                let text =
                    format!("It has the host and the port of this provider, and answered {code} to a HEAD request.");
                let step = "Enter the address of your own server, unless a proxy passes this path to it.";
                rows.push(row(StatusBadge::SOON, text, step));
                ("wait", "This seems to be the provider itself.")
            }
            UrlFinding::Answered(code) => {
                rows.push(row(StatusBadge::PASSED, format!("It answered {code} to a HEAD request."), ""));
                ("good", "The server can be reached. Send an example afterwards to see that it accepts messages.")
            }
        };
        let target = match check.finding {
            UrlFinding::Redirects(target) => Some(target),
            _ => None,
        };
        Self { rows, target, ..Self::with(kind, verdict) }
    }
}

fn row(status: StatusBadge, text: impl Into<String>, step: impl Into<String>) -> Row {
    Row { status, text: text.into(), until: None, step: step.into() }
}
