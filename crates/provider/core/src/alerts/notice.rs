//! The texts of alerts: mails and the details of operational events.

use jiff::{SignedDuration, Timestamp};
use kit_mail::plain_name;
use kit_runtime::clock::rfc3339_ms;
use serde_json::{Map, Value, json};

use super::transition::Transition;
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
    /// Cause of the latest failed attempt; none when it is no longer known.
    pub(super) cause: Option<Cause>,
    /// Failed attempts since `since`.
    pub(super) failed: u64,
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
        insert("failedAttempts", json!(self.failed));
        insert("cause", json!(self.cause.as_ref().map(Cause::code)));
        insert("causeText", json!(self.cause.as_ref().map(Cause::sentence_without_response)));
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

    pub(super) fn text(&self, audience: Audience) -> String {
        let mut lines = vec![self.opening()];
        if self.transition != Transition::Recovered
            && let Some(cause) = &self.cause
        {
            lines.push(format!("Why: {} {}", cause.sentence_without_response(), cause.remedy()).trim_end().to_owned());
        }
        lines.push(format!("Failed attempts since {}: {}", time(self.since), self.failed));
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
        lines.push(format!("To stop these mails, remove your address: {}", self.recipients_link(audience)));
        lines.join("\n\n") + "\n"
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

    fn disabled_at(&self) -> Option<Timestamp> {
        self.since.checked_add(self.disable_after).ok()
    }

    fn host(&self) -> String {
        self.uri().and_then(|uri| uri.host().map(str::to_owned)).unwrap_or_else(|| self.endpoint.id.to_string())
    }

    /// The address without its query, which may contain a secret.
    fn address(&self) -> String {
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

    /// The page of the endpoint: in the dashboard it is a row of the application's page.
    fn link(&self, audience: Audience) -> String {
        let (url, application, endpoint) = (self.base(), &self.application.id, &self.endpoint.id);
        match audience {
            Audience::Account if operational::is_hidden(&self.application.account) => {
                format!("{url}/dashboard/operational-webhooks/{endpoint}")
            }
            Audience::Account => format!("{url}/dashboard/applications/{application}#{endpoint}"),
            Audience::Application => format!("{url}/app-portal/endpoints/{endpoint}"),
        }
    }

    /// The page that lists the recipients.
    fn recipients_link(&self, audience: Audience) -> String {
        match audience {
            Audience::Account => format!("{}/dashboard/alerts", self.base()),
            Audience::Application => format!("{}/app-portal/alerts", self.base()),
        }
    }

    fn base(&self) -> &str {
        self.public_url.trim_end_matches('/')
    }
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
    let (owner, url) = (plain_name(owner), public_url.trim_end_matches('/'));
    let kind = match audience {
        Audience::Account => "account",
        Audience::Application => "application",
    };
    format!(
        "The {kind} \"{owner}\"\nwants to send alerts about its webhooks to this address.\n\n\
         To confirm the address within 24 hours, open this page:\n{url}/app-portal/alerts/confirm?code={code}\n\n\
         Or enter this code on the page Alerts: {code}\n\n\
         If you do not expect this, ignore this mail. You will receive no alerts.\n"
    )
}

/// Formats a time for people.
fn time(at: Timestamp) -> String {
    at.strftime("%d %B %Y, %H:%M UTC").to_string()
}
