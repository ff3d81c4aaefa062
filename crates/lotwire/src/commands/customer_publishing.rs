//! Runs `lotwire customer disconnect` and `lotwire customer quarantine`.

use kit_runtime::clock::rfc3339_ms;
use platform_core::outbox::quarantine::QuarantineSelection;
use platform_core::port::{OvertakenPolicy, Page};
use platform_core::{Caller, Outcome, Platform};
use serde_json::json;
use uuid::Uuid;

use super::{pluralise, print, print_json};
use crate::cli::{CustomerPublishing, Quarantine, QuarantineSend};
use crate::error::{CommandError, ErrorContext as _};

/// Maximum number of listed events.
const LIST_MAX: usize = 10_000;

/// Maximum number of calls of a command that publishes all quarantined events again. A call takes up to 1,000 events.
const CALLS_MAX: usize = 10_000;

pub(super) async fn run(
    platform: &Platform,
    support: &Caller,
    command: &CustomerPublishing,
) -> Result<(), CommandError> {
    match command {
        CustomerPublishing::Disconnect { customer, confirmation } => {
            confirmation.ask(|| {
                format!("Delete the connection of customer {customer} and its API key, and discard its waiting events?")
            })?;
            let ended = platform.disconnect_consumer(support, *customer).await.context("deleting the connection")?;
            let waited = pluralise(ended.waited, "waiting event", "waiting events");
            print(&format!("Disconnected. The API key is deleted and {waited} discarded."));
            if ended.made_key_remains {
                print(
                    "The embedded provider still accepts the key that the platform had made. Revoke it: \
                     lotwire provider key list --account ACCOUNT, then lotwire provider key revoke.",
                );
            }
        }
        CustomerPublishing::Quarantine(Quarantine::List { customer, json }) => {
            list(platform, support, *customer, *json).await?;
        }
        CustomerPublishing::Quarantine(Quarantine::Send(options)) => send(platform, support, options).await?,
        CustomerPublishing::Quarantine(Quarantine::Drop { customer, cursors, reason, confirmation }) => {
            confirmation.ask(|| {
                let events = pluralise(cursors.len(), "event", "events");
                format!("Drop {events} of customer {customer}? Dropped events are never published.")
            })?;
            let dropped = platform.drop_quarantined(support, *customer, (cursors, reason), None).await;
            let count = dropped.and_then(Outcome::fresh).context("dropping the events")?;
            print(&format!("Dropped {count}."));
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
    let overtaken = if options.out_of_order { OvertakenPolicy::Send } else { OvertakenPolicy::Refuse };
    let selection = if options.cursors.is_empty() {
        QuarantineSelection::All
    } else {
        QuarantineSelection::These(options.cursors.clone())
    };
    let (mut sent, mut left) = (0, 0);
    for _ in 0..CALLS_MAX {
        let result = platform.send_quarantined(support, options.customer, (&selection, overtaken), None).await;
        let result = result.and_then(Outcome::fresh).context("publishing the events again")?;
        sent += result.sent.len();
        left = result.quarantined;
        if selection != QuarantineSelection::All || result.sent.is_empty() || left == 0 {
            break;
        }
    }
    let (waiting, quarantined) = (pluralise(sent, "event waits", "events wait"), pluralise(left, "event", "events"));
    print(&format!("{waiting} to be published again; {quarantined} in quarantine."));
    if selection == QuarantineSelection::All && left > 0 && overtaken == OvertakenPolicy::Refuse {
        print(
            "Later events of the same auction or item have overtaken the events left in quarantine: drop them, or \
             publish them with --out-of-order.",
        );
    }
    Ok(())
}
