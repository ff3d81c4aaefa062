//! Runs `lotwire trigger`: sends an example of an event to an application.

use contract::event::{AuctionStatusChange, Event, EventType, ItemStatusChange};
use contract::{AuctionStatus, ItemStatus};
use serde_json::json;
use uuid::Uuid;

use super::application_client::ApplicationClient;
use super::{hint, print, print_json};
use crate::cli::Trigger;
use crate::config::Config;
use crate::error::{CommandError, ErrorContext as _};

pub(super) async fn run(config: &Config, options: &Trigger) -> Result<(), CommandError> {
    let event = example(options.event.event_type(), options.status.as_deref())?;
    let client = ApplicationClient::open(config, &options.target).await?;
    let id = client.send(&event).await?;
    let event_type = event.event_type().name();
    if options.json {
        return print_json(&json!({ "id": id, "eventType": event_type, "event": event }));
    }
    print(&id);
    hint(&format!("{event_type} with the status {} was sent to {}.", event.status_name(), client.application()));
    Ok(())
}

/// An event with random UUIDs.
fn example(event_type: EventType, status: Option<&str>) -> Result<Event, CommandError> {
    let (item_uuid, auctioneer_uuid, auction_uuid) = (Uuid::now_v7(), Uuid::now_v7(), Uuid::now_v7());
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
