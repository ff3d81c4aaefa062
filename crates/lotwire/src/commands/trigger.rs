//! Runs `lotwire trigger`: sends an example of an event, or an event with a given payload, to an application.

use std::io::Read as _;
use std::path::Path;
use std::sync::Arc;

use contract::event::{AuctionStatusChange, Event, EventType, ItemStatusChange};
use contract::{AuctionStatus, ItemStatus};
use kit_runtime::clock::SystemClock;
use kit_runtime::ids::Ids;
use kit_runtime::random::SystemRandom;
use serde_json::value::RawValue;
use serde_json::{Value, json};

use super::application_client::ApplicationClient;
use super::{hint, print, print_json};
use crate::cli::Trigger;
use crate::config::Config;
use crate::error::{CommandError, ErrorContext as _};

/// Bytes of a payload that is read. Providers accept less.
const PAYLOAD_BYTES_MAX: u64 = 16 * 1024 * 1024;

pub(super) async fn run(config: &Config, options: &Trigger) -> Result<(), CommandError> {
    let name = options.event_type.to_lowercase().replace('_', "-");
    let known = EventType::ALL.iter().copied().find(|known| command_name(*known) == name);
    let event_type = known.map_or(options.event_type.as_str(), |known| known.name());
    let (payload, content) = match (&options.payload, known) {
        (Some(path), _) => (read_payload(path)?, "the given payload".to_owned()),
        (None, Some(known)) => {
            let event = example(known, options.status.as_deref())?;
            let raw = RawValue::from_string(event.to_json()).context("writing the event")?;
            (raw, format!("the status {}", event.status_name()))
        }
        (None, None) => {
            return Err(CommandError::new(format!(
                "there is no example of {event_type}: add --payload with a file that contains its JSON object, or - for \
                 standard input. Examples exist of {}",
                EventType::ALL.iter().copied().map(command_name).collect::<Vec<_>>().join(" and ")
            )));
        }
    };
    let client = ApplicationClient::open(config, &options.target).await?;
    let id = client.send(event_type, payload.clone()).await?;
    if client.is_registered(event_type).await == Some(false) {
        hint(&format!(
            "The event type {event_type} is not registered at the provider: no schema checks its payload, and receivers \
             can't choose it in the App Portal. Register it on the dashboard's page Event types, or with POST \
             /api/v1/event-type."
        ));
    }
    if options.json {
        return print_json(&json!({ "id": id, "eventType": event_type, "event": payload }));
    }
    print(&id);
    hint(&format!("{event_type} with {content} was accepted for {}.", client.application()));
    Ok(())
}

/// The event type as the command line has it, such as `item-status-change`.
fn command_name(event_type: EventType) -> String {
    event_type.name().to_lowercase().replace('_', "-")
}

/// The JSON object in a file, or in standard input for `-`.
fn read_payload(path: &Path) -> Result<Box<RawValue>, CommandError> {
    let is_stdin = path == Path::new("-");
    let name = if is_stdin { "standard input".to_owned() } else { path.display().to_string() };
    let mut text = String::new();
    let limit = PAYLOAD_BYTES_MAX + 1;
    let read = if is_stdin {
        std::io::stdin().lock().take(limit).read_to_string(&mut text)
    } else {
        std::fs::File::open(path).and_then(|file| file.take(limit).read_to_string(&mut text))
    };
    let bytes = read.context(format!("reading the payload from {name}"))?;
    if bytes as u64 > PAYLOAD_BYTES_MAX {
        return Err(CommandError::new(format!("the payload in {name} is larger than {PAYLOAD_BYTES_MAX} bytes")));
    }
    // Editors on Windows write a byte order mark.
    let text = text.trim_start_matches('\u{feff}');
    let value: Value = serde_json::from_str(text).context(format!("the payload in {name} is not valid JSON"))?;
    if !value.is_object() {
        return Err(CommandError::new(format!("the payload in {name} is not a JSON object")));
    }
    RawValue::from_string(text.trim().to_owned()).context(format!("reading the payload from {name}"))
}

/// An event with random UUIDs.
fn example(event_type: EventType, status: Option<&str>) -> Result<Event, CommandError> {
    let ids = Ids::new(Arc::new(SystemClock), Arc::new(SystemRandom));
    let (item_uuid, auctioneer_uuid, auction_uuid) = (ids.uuid_v7(), ids.uuid_v7(), ids.uuid_v7());
    Ok(match event_type {
        EventType::ItemStatusChange => {
            let status: ItemStatus = status.unwrap_or("SOLD").parse().context("--status")?;
            Event::from(ItemStatusChange { item_uuid, auctioneer_uuid, auction_uuid, status })
        }
        EventType::AuctionStatusChange => {
            let status: AuctionStatus = status.unwrap_or("LIVE").parse().context("--status")?;
            Event::from(AuctionStatusChange { auctioneer_uuid, auction_uuid, status })
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_example_has_the_given_status_and_is_valid_for_its_event_type() {
        for (event_type, status, expected) in [
            (EventType::ItemStatusChange, None, "SOLD"),
            (EventType::ItemStatusChange, Some("PASSED"), "PASSED"),
            (EventType::AuctionStatusChange, None, "LIVE"),
        ] {
            let event = example(event_type, status).unwrap();
            assert_eq!(Event::parse(event_type, &event.to_json()).unwrap(), event);
            assert_eq!(event.status_name(), expected);
        }
        let refused = example(EventType::AuctionStatusChange, Some("SOLD")).unwrap_err().to_string();
        assert!(refused.contains("RECONCILIATION"), "{refused}");
    }
}
