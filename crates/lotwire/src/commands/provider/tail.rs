//! Runs `lotwire provider tail`: prints the messages and attempts of an application as they come.
//!
//! The command reads the new rows once a second: from the provider's database, or from its API. Rows that exist when it
//! starts are not printed. While the provider can't be reached, it goes on trying, and then prints the rows of that time.

use std::collections::{HashMap, HashSet};
use std::time::Duration;

use futures_util::StreamExt as _;
use jiff::Timestamp;
use kit_runtime::clock::rfc3339_ms;
use provider_core::model::AttemptStatus;
use serde_json::{Value, json};

use super::{hint, one_line, print};
use crate::cli::Tail as Options;
use crate::commands::application_client::{AcceptedMessage, ApplicationClient, FinishedAttempt, KnownEndpoint};
use crate::config::Config;
use crate::error::CommandError;
use crate::node;

const INTERVAL: Duration = Duration::from_secs(1);
/// Endpoints whose attempts are read in one round; those of a larger application take turns.
const ENDPOINTS_OF_ROUND_MAX: usize = 50;
/// Concurrent requests.
const REQUESTS_MAX: usize = 8;
/// Rounds between two looks for new endpoints.
const ENDPOINTS_EVERY_ROUNDS: usize = 10;
const URL_CHARS_MAX: usize = 48;

pub(super) async fn run(config: &Config, options: &Options) -> Result<(), CommandError> {
    let shutdown_signal = node::shutdown_signal()?;
    let client = ApplicationClient::open(config, &options.target).await?;
    let mut tail =
        Tail { client: &client, options, endpoints: Vec::new(), turn: 0, messages: None, attempts: HashMap::new() };
    // An unknown application or endpoint ends the command before it waits.
    tail.read_endpoints().await?;
    tail.round().await?;
    hint(&format!("Following {}. Press Ctrl-C to stop.", client.application()));
    tokio::select! {
        _ = shutdown_signal => Ok(()),
        never = tail.follow() => match never {},
    }
}

/// The rows that were printed, and the place of the next read.
struct Tail<'a> {
    client: &'a ApplicationClient,
    options: &'a Options,
    endpoints: Vec<KnownEndpoint>,
    /// Place of the endpoint that is read next.
    turn: usize,
    /// Ids of the latest messages; none before the first round.
    messages: Option<HashSet<String>>,
    /// Ids of the latest attempts, by endpoint.
    attempts: HashMap<String, HashSet<String>>,
}

/// A line of the output.
struct Line {
    at: Timestamp,
    text: String,
}

impl Tail<'_> {
    async fn follow(&mut self) -> std::convert::Infallible {
        let mut interval = tokio::time::interval(INTERVAL);
        interval.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
        let (mut round, mut is_lost) = (0_usize, false);
        loop {
            interval.tick().await;
            round += 1;
            let looks_for_endpoints = round.is_multiple_of(ENDPOINTS_EVERY_ROUNDS);
            let read = async {
                if looks_for_endpoints {
                    self.read_endpoints().await?;
                }
                self.round().await
            };
            match read.await {
                Ok(mut lines) => {
                    if std::mem::take(&mut is_lost) {
                        hint("The provider answers again.");
                    }
                    lines.sort_by_key(|line| line.at);
                    lines.iter().for_each(|line| print(&line.text));
                }
                Err(error) if is_lost => drop(error),
                Err(error) => {
                    is_lost = true;
                    hint(&format!("The provider can't be read now, so the command tries again: {error}"));
                }
            }
        }
    }

    async fn read_endpoints(&mut self) -> Result<(), CommandError> {
        let all = self.client.endpoints().await?;
        self.endpoints = match &self.options.endpoint {
            None => all,
            Some(wanted) => {
                let is_wanted =
                    |endpoint: &KnownEndpoint| endpoint.id == *wanted || endpoint.uid.as_ref() == Some(wanted);
                let found: Vec<_> = all.into_iter().filter(is_wanted).collect();
                if found.is_empty() {
                    return Err(CommandError::new(format!(
                        "{} has no endpoint with the id or uid {wanted:?}. `lotwire provider endpoint list {}` lists its \
                         endpoints",
                        self.client.application(),
                        self.client.application()
                    )));
                }
                found
            }
        };
        Ok(())
    }

    /// Reads the new rows. The first round of messages, and of each endpoint that existed before, prints nothing.
    async fn round(&mut self) -> Result<Vec<Line>, CommandError> {
        let mut lines = Vec::new();
        let is_first = self.messages.is_none();
        if !self.options.failed && self.options.endpoint.is_none() {
            let latest = self.client.latest_messages().await?;
            let ids = latest.iter().map(|message| message.id.clone()).collect();
            if let Some(known) = self.messages.replace(ids) {
                lines
                    .extend(latest.iter().filter(|message| !known.contains(&message.id)).map(|new| self.accepted(new)));
            }
        } else {
            self.messages = Some(HashSet::new());
        }
        let count = self.endpoints.len().min(if is_first { usize::MAX } else { ENDPOINTS_OF_ROUND_MAX });
        let of_round: Vec<String> =
            self.endpoints.iter().cycle().skip(self.turn).take(count).map(|endpoint| endpoint.id.clone()).collect();
        self.turn = (self.turn + count).checked_rem(self.endpoints.len()).unwrap_or_default();
        let client = self.client;
        let reads = of_round.into_iter().map(|id| async move { (client.latest_attempts(&id).await, id) });
        let mut found = futures_util::stream::iter(reads).buffered(REQUESTS_MAX);
        while let Some((latest, endpoint)) = found.next().await {
            let latest = latest?;
            let ids = latest.iter().map(|attempt| attempt.id.clone()).collect();
            let known = self.attempts.insert(endpoint, ids);
            if is_first {
                continue;
            }
            // All attempts at an endpoint that was created meanwhile are new.
            let known = known.unwrap_or_default();
            let new = latest.iter().filter(|attempt| !known.contains(&attempt.id));
            let shown = new.filter(|attempt| !self.options.failed || attempt.status == AttemptStatus::Fail);
            lines.extend(shown.map(|attempt| self.attempted(attempt)));
        }
        Ok(lines)
    }

    fn accepted(&self, message: &AcceptedMessage) -> Line {
        let AcceptedMessage { id, event_type, at } = message;
        let text = match self.options.json {
            true => json!({
                "kind": "message", "at": rfc3339_ms(*at), "id": id, "eventType": event_type,
            })
            .to_string(),
            false => format!("{}  accepted   {id}  {event_type}", time(*at)),
        };
        Line { at: *at, text }
    }

    fn attempted(&self, attempt: &FinishedAttempt) -> Line {
        let at = attempt.began_at + jiff::SignedDuration::from_millis(attempt.duration_ms);
        let text = if self.options.json { as_json(attempt, at).to_string() } else { as_text(attempt, at) };
        Line { at, text }
    }
}

fn as_json(attempt: &FinishedAttempt, at: Timestamp) -> Value {
    json!({
        "kind": "attempt",
        "at": rfc3339_ms(at),
        "id": attempt.id,
        "message": attempt.message,
        "eventType": attempt.event_type,
        "endpoint": attempt.endpoint,
        "url": attempt.url,
        "result": result(attempt.status),
        "statusCode": attempt.code,
        "cause": attempt.cause.as_ref().map(|(code, _)| code),
        "causeText": attempt.cause.as_ref().map(|(_, text)| text),
        "durationMs": attempt.duration_ms,
        "manual": attempt.is_manual,
    })
}

fn as_text(attempt: &FinishedAttempt, at: Timestamp) -> String {
    let event_type = attempt.event_type.as_deref().unwrap_or("-");
    let outcome = match &attempt.cause {
        Some((_, sentence)) => one_line(sentence),
        None if attempt.code == 0 => String::new(),
        None => attempt.code.to_string(),
    };
    let manual = if attempt.is_manual { "  manual" } else { "" };
    format!(
        "{}  {:<9}  {}  {event_type}  {}  {outcome}  {} ms{manual}",
        time(at),
        result(attempt.status),
        attempt.message,
        short(&attempt.url),
        attempt.duration_ms,
    )
}

fn result(status: AttemptStatus) -> &'static str {
    match status {
        AttemptStatus::Success => "delivered",
        AttemptStatus::Fail => "failed",
        AttemptStatus::Cancelled => "cancelled",
        AttemptStatus::Pending | AttemptStatus::Sending => "pending",
    }
}

fn time(at: Timestamp) -> String {
    at.strftime("%H:%M:%S%.3fZ").to_string()
}

/// The host and the path of a URL, cut in the middle of a long one: both ends tell endpoints apart.
fn short(url: &str) -> String {
    let bare = one_line(url.split_once("://").map_or(url, |(_, rest)| rest));
    let bare = bare.trim_end_matches('/');
    let chars = bare.chars().count();
    if chars <= URL_CHARS_MAX {
        return bare.to_owned();
    }
    let side = (URL_CHARS_MAX - 1) / 2;
    let begin: String = bare.chars().take(side).collect();
    let end: String = bare.chars().skip(chars - side).collect();
    format!("{begin}…{end}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_address_is_cut_in_its_middle() {
        assert_eq!(short("https://example.com/hooks/"), "example.com/hooks");
        let long = short(&format!("https://example.com/{}/receive", "a".repeat(80)));
        assert!(long.starts_with("example.com/aaa") && long.ends_with("aa/receive") && long.contains('…'), "{long}");
        assert_eq!(long.chars().count(), URL_CHARS_MAX - 1);
    }

    #[test]
    fn an_attempt_is_one_line_with_its_cause() {
        let attempt = FinishedAttempt {
            id: "atmpt_1".into(),
            message: "msg_1".into(),
            event_type: Some("invoice.paid".into()),
            endpoint: "ep_1".into(),
            url: "https://example.com/hooks".into(),
            status: AttemptStatus::Fail,
            code: 500,
            cause: Some(("code_failed", "500: The receiver's own code failed.".into())),
            duration_ms: 35,
            is_manual: true,
            began_at: Timestamp::UNIX_EPOCH,
        };
        let at = Timestamp::UNIX_EPOCH;
        assert_eq!(
            as_text(&attempt, at),
            "00:00:00.000Z  failed     msg_1  invoice.paid  example.com/hooks  500: The receiver's own code failed.  35 ms  \
             manual"
        );
        let json = as_json(&attempt, at);
        assert_eq!(
            (&json["cause"], &json["statusCode"], &json["result"]),
            (&json!("code_failed"), &json!(500), &json!("failed"))
        );
    }
}
