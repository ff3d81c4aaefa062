//! `lotwire provider stuck`.

use std::time::Duration;

use provider::{Provider, Stuck, Why};
use runtime::clock::rfc3339_ms;
use serde_json::{Value, json};

use super::{one_line, or_dash, print, print_json};
use crate::cli::Stuck as Options;
use crate::fault::{Fault, While as _};
use crate::node::Ground;

const MINUTE: Duration = Duration::from_secs(60);

pub(super) async fn run(provider: &Provider, ground: &Ground, options: &Options) -> Result<(), Fault> {
    let waited = MINUTE.saturating_mul(options.older_than_minutes);
    let before = ground.clock.now().checked_sub(waited).while_("working out since when")?;
    let stuck = provider.list_stuck(before, options.limit as usize).await.while_("looking for what waits")?;
    if stuck.is_empty() && !options.json {
        print("Nothing waits.");
    }
    for stuck in &stuck {
        if options.json {
            print_json(&view(stuck))?;
        } else {
            print(&describe(stuck));
        }
    }
    Ok(())
}

fn describe(stuck: &Stuck) -> String {
    let Stuck { account, endpoint, deliveries, oldest_at, next_at, why } = stuck;
    let since = or_dash(oldest_at.map(rfc3339_ms));
    let next = next_at.map(|at| format!("; next due {}", rfc3339_ms(at))).unwrap_or_default();
    let why = match why {
        Why::Failing { since, code, error } => {
            let last = match (code, error) {
                (_, Some(error)) => format!(", last: {}", one_line(error)),
                (Some(code), None) => format!(", last answer {code}"),
                (None, None) => String::new(),
            };
            format!("failing since {}{last}", rfc3339_ms(*since))
        }
        Why::Disabled => "the endpoint is disabled".to_owned(),
        Why::Due => "due, and no node has taken them".to_owned(),
        Why::InHand => "a node has them in hand".to_owned(),
        Why::Later => "to be tried again".to_owned(),
    };
    format!(
        "{}  {deliveries} waiting since {since}\n    {} of {} in {account}\n    {why}{next}",
        endpoint.id,
        one_line(&endpoint.url),
        endpoint.application,
    )
}

fn view(stuck: &Stuck) -> Value {
    let (since, code, error) = match &stuck.why {
        Why::Failing { since, code, error } => (Some(rfc3339_ms(*since)), *code, error.as_deref()),
        _ => (None, None, None),
    };
    json!({
        "account": &*stuck.account,
        "application": &*stuck.endpoint.application,
        "endpoint": &*stuck.endpoint.id,
        "url": stuck.endpoint.url,
        "waiting": stuck.deliveries,
        "oldestAt": stuck.oldest_at.map(rfc3339_ms),
        "nextAt": stuck.next_at.map(rfc3339_ms),
        "why": stuck.why.name(),
        "failingSince": since,
        "lastCode": code,
        "lastError": error,
    })
}
