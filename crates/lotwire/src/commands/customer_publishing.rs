//! `lotwire customer disconnect` and `lotwire customer quarantine`: the end of a connection, and events that were refused.

use kit_runtime::clock::rfc3339_ms;
use platform_core::consumers::QuarantineSelection;
use platform_core::port::{OvertakenPolicy, Page};
use platform_core::{Caller, Outcome, Platform};
use serde_json::json;
use uuid::Uuid;

use super::{pluralise, print, print_json};
use crate::cli::{CustomerPublishing, Quarantine, QuarantineSend};
use crate::error::{CommandError, ErrorContext as _};

/// Events listed at most; nobody reads more.
const LIST_MAX: usize = 10_000;

/// Calls of a command that sends everything again: a thousand events each.
const CALLS_MAX: usize = 10_000;

pub(super) async fn run(
    platform: &Platform,
    support: &Caller,
    command: &CustomerPublishing,
) -> Result<(), CommandError> {
    match command {
        CustomerPublishing::Disconnect { customer, confirmation } => {
            confirmation
                .ask(|| format!("Forget the key of customer {customer}, and publish nothing of what waits?"))?;
            let waited = platform.disconnect_consumer(support, *customer).await.context("ending the connection")?;
            let waited = pluralise(waited, "event waited and is", "events waited and are");
            print(&format!("Disconnected, and the key is forgotten. {waited} not published."));
        }
        CustomerPublishing::Quarantine(Quarantine::List { customer, json }) => {
            list(platform, support, *customer, *json).await?;
        }
        CustomerPublishing::Quarantine(Quarantine::Send(options)) => send(platform, support, options).await?,
        CustomerPublishing::Quarantine(Quarantine::Drop { customer, cursors, reason, confirmation }) => {
            confirmation.ask(|| {
                let events = pluralise(cursors.len(), "event", "events");
                format!("Drop {events} of customer {customer}, never to be published?")
            })?;
            let dropped = platform.drop_quarantined(support, *customer, (cursors, reason), None).await;
            let count = dropped.and_then(Outcome::fresh).context("dropping the events")?;
            print(&format!("{count} dropped, never to be published."));
        }
    }
    Ok(())
}

async fn list(platform: &Platform, support: &Caller, customer: Uuid, json: bool) -> Result<(), CommandError> {
    let page = Page { after: None, limit: LIST_MAX };
    for quarantined in platform.quarantined(support, customer, page).await.context("listing the quarantine")? {
        let (event, at) = (&quarantined.event, rfc3339_ms(quarantined.at));
        let event_type = event.event_type.name();
        if json {
            print_json(&json!({
                "cursor": event.cursor, "eventId": event.event_id(), "eventType": event_type, "at": at,
                "error": quarantined.error,
            }))?;
        } else {
            print(&format!("{:>10}  {at}  {event_type}  {}", event.cursor, quarantined.error));
        }
    }
    Ok(())
}

async fn send(platform: &Platform, support: &Caller, options: &QuarantineSend) -> Result<(), CommandError> {
    let after_later = if options.out_of_order { OvertakenPolicy::Send } else { OvertakenPolicy::Refuse };
    let which = if options.cursors.is_empty() {
        QuarantineSelection::All
    } else {
        QuarantineSelection::These(options.cursors.clone())
    };
    let (mut sent, mut left) = (0, 0);
    for _ in 0..CALLS_MAX {
        let result = platform.send_quarantined(support, options.customer, (&which, after_later), None).await;
        let result = result.and_then(Outcome::fresh).context("sending the events again")?;
        sent += result.sent.len();
        left = result.quarantined;
        if which != QuarantineSelection::All || result.sent.is_empty() || left == 0 {
            break;
        }
    }
    let (waiting, quarantined) = (pluralise(sent, "waits", "wait"), pluralise(left, "is", "are"));
    print(&format!("{waiting} to be published again; {quarantined} in quarantine."));
    if which == QuarantineSelection::All && left > 0 && after_later == OvertakenPolicy::Refuse {
        print("What is left is overtaken by later events of its auction or item: drop it, or see --out-of-order.");
    }
    Ok(())
}
