//! The texts of alerts: mails and the details of operational events.

use jiff::{SignedDuration, Timestamp};
use kit_mail::plain_name;
use kit_runtime::clock::rfc3339_ms;
use serde_json::{Map, Value, json};

use super::transition::Transition;
use super::worker::Failures;
use crate::model::cause::Cause;
use crate::model::{Application, Endpoint};
use crate::operational;
use crate::port::AlertEvent;

/// The content of an alert.
pub(super) struct Notice<'a> {
    pub(super) transition: Transition,
    pub(super) application: &'a Application,
    pub(super) endpoint: &'a Endpoint,
    /// When the endpoint began to fail.
    pub(super) since: Timestamp,
    /// The failed attempts since `since`.
    pub(super) failures: Failures,
    /// An endpoint that has failed for this long is disabled.
    pub(super) disable_after: SignedDuration,
    /// Base address of the provider's pages.
    pub(super) public_url: &'a str,
}

impl Notice<'_> {
    /// The operational event. Svix's `endpoint.disabled` is written with the last attempt and has only Svix's fields,
    /// so the cause, the count and the link are in a separate event type.
    pub(super) fn event(&self) -> Option<AlertEvent> {
        let event_type = match self.transition {
            Transition::Failing => "endpoint.failing",
            Transition::DisablingSoon => "endpoint.disabling",
            Transition::Disabled => "endpoint.disabled_by_failures",
            Transition::Recovered => "endpoint.recovered",
        };
        let mut details = Map::new();
        let mut insert = |name: &str, value: Value| details.insert(name.to_owned(), value);
        insert("failSince", json!(rfc3339_ms(self.since)));
        insert("failedAttempts", json!(self.failures.count));
        insert("cause", json!(self.cause().map(Cause::code)));
        insert("causeText", json!(self.cause().map(Cause::sentence_without_response)));
        insert("link", json!(self.link(Audience::Account)));
        if matches!(self.transition, Transition::Failing | Transition::DisablingSoon) {
            insert("disableAt", json!(self.disabled_at().map(rfc3339_ms)));
        }
        Some(AlertEvent { event_type, details })
    }

    pub(super) fn subject(&self) -> String {
        let (host, application) = (self.host(), plain_name(&self.application.name));
        match self.transition {
            Transition::Failing => format!("Webhooks to {host} fail ({application})"),
            Transition::DisablingSoon => format!("Webhooks to {host} will be disabled in 24 hours ({application})"),
            Transition::Disabled => format!("Webhooks to {host} are disabled ({application})"),
            Transition::Recovered => format!("Webhooks to {host} arrive again ({application})"),
        }
    }

    /// The paragraphs of a mail about this endpoint alone.
    pub(super) fn paragraphs(&self, audience: Audience) -> Vec<String> {
        let mut lines = vec![self.opening()];
        if let Some(why) = self.why() {
            lines.push(format!("Why: {why}"));
        }
        lines.push(format!("Failed attempts since {}: {}", time(self.since), self.failures.count));
        match self.transition {
            Transition::Failing | Transition::DisablingSoon => {
                if let Some(at) = self.disabled_at() {
                    lines.push(format!("If no message is delivered until {}, the endpoint is disabled.", time(at)));
                }
            }
            Transition::Disabled => lines.push(
                "Messages are not sent to it until you enable it. Repair the receiver, enable the endpoint, and recover \
                 the messages that failed."
                    .to_owned(),
            ),
            Transition::Recovered => lines.push("To send failed messages again, recover them.".to_owned()),
        }
        let link = self.link(audience);
        lines.push(format!("Endpoint: {}\nAddress: {}\n{link}", self.endpoint.id, self.address()));
        lines
    }

    fn cause(&self) -> Option<&Cause> {
        self.failures.latest_cause.as_ref()
    }

    /// The cause and its remedy; none when the endpoint works, or the cause is no longer known.
    pub(super) fn why(&self) -> Option<String> {
        let cause = self.cause().filter(|_| self.transition != Transition::Recovered)?;
        Some(format!("{} {}", cause.sentence_without_response(), cause.remedy()).trim_end().to_owned())
    }

    fn opening(&self) -> String {
        let (host, name) = (self.host(), plain_name(&self.application.name));
        match self.transition {
            Transition::Failing | Transition::DisablingSoon => {
                format!("No webhook of {name} has been delivered to {host} since {}.", time(self.since))
            }
            Transition::Disabled => {
                format!("The endpoint of {name} at {host} was disabled, because its deliveries failed.")
            }
            Transition::Recovered => format!("Webhooks of {name} to {host} are delivered again."),
        }
    }

    /// When the endpoint is disabled if no message is delivered.
    pub(super) fn disabled_at(&self) -> Option<Timestamp> {
        self.since.checked_add(self.disable_after).ok()
    }

    fn host(&self) -> String {
        self.uri().and_then(|uri| uri.host().map(str::to_owned)).unwrap_or_else(|| self.endpoint.id.to_string())
    }

    /// The address without its query, which may contain a secret.
    pub(super) fn address(&self) -> String {
        match self.uri() {
            Some(uri) => format!(
                "{}://{}{}",
                uri.scheme_str().unwrap_or_default(),
                uri.authority().map_or("", |authority| authority.as_str()),
                uri.path()
            ),
            None => String::new(),
        }
    }

    fn uri(&self) -> Option<http::Uri> {
        self.endpoint.url.split('#').next().unwrap_or_default().parse().ok()
    }

    /// The page of the endpoint: in the dashboard it is a row of the application's page. The query names the endpoint, because
    /// the server does not receive the fragment, and the row may be on any page of the list.
    pub(super) fn link(&self, audience: Audience) -> String {
        let (url, application, endpoint) = (base(self.public_url), &self.application.id, &self.endpoint.id);
        match audience {
            Audience::Account if operational::is_hidden(&self.application.account) => {
                format!("{url}/dashboard/operational-webhooks/{endpoint}")
            }
            Audience::Account => format!("{url}/dashboard/applications/{application}?endpoint={endpoint}#{endpoint}"),
            Audience::Application => format!("{url}/app-portal/endpoints/{endpoint}"),
        }
    }
}

/// The line about the page that lists the recipients.
pub(super) fn stop_line(public_url: &str, audience: Audience) -> String {
    let site = match audience {
        Audience::Account => "dashboard",
        Audience::Application => "app-portal",
    };
    format!("To stop these mails, remove your address: {}/{site}/alerts", base(public_url))
}

pub(super) fn base(public_url: &str) -> &str {
    public_url.trim_end_matches('/')
}

/// The readers of an alert, which determine the pages that it links to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Audience {
    /// Users of the account, who have the dashboard.
    Account,
    /// Engineers of the application, who have the App Portal.
    Application,
}

/// The mail that confirms an address. `owner` is the name of the account or application whose alerts it will receive.
/// The caller who asks for the mail may have chosen that name, and need not know the recipient.
pub(super) fn confirmation(code: &str, audience: Audience, owner: &str, public_url: &str) -> String {
    let (owner, url) = (plain_name(owner), base(public_url));
    let kind = match audience {
        Audience::Account => "account",
        Audience::Application => "application",
    };
    format!(
        "This mail is from the webhook provider at\n{url}\n\n\
         A user asked it to send alerts to this address\nwhen webhooks of this {kind} fail:\n\"{owner}\"\n\n\
         To confirm the address within 24 hours, open this page:\n{url}/app-portal/alerts/confirm?code={code}\n\n\
         Or enter this code on the page Alerts: {code}\n\n\
         If you do not expect this, ignore this mail. You will receive no alerts.\n"
    )
}

/// Formats a time for people.
fn time(at: Timestamp) -> String {
    at.strftime("%d %B %Y, %H:%M UTC").to_string()
}
