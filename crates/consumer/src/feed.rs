//! A reader of the platform's event feed, which a customer uses to reconcile after an outage.

use jiff::Timestamp;
use serde_json::Value;
use uuid::Uuid;

use crate::api::{ApiClient, ApiError};
use crate::arrival_log::ExpectedEvent;

/// An event of the feed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FeedEvent {
    /// The subject and its announced status.
    pub event: ExpectedEvent,
    /// The server's time of the status change.
    pub at: Timestamp,
}

/// All announced events of a customer, in order. The API key of `platform` must have access to them.
pub async fn read_feed(platform: &ApiClient, customer: &str) -> Result<Vec<FeedEvent>, ApiError> {
    let mut events = Vec::new();
    let mut after = "0".to_owned();
    loop {
        let page = platform.get(&format!("/api/v1/events?customer={customer}&limit=250&after={after}")).await?;
        for event in page.body["data"].as_array().into_iter().flatten() {
            events.push(parse(event).ok_or_else(|| ApiError::Failed {
                call: "reading the event feed".to_owned(),
                text: format!("an event of the feed can't be parsed: {event}"),
            })?);
        }
        if page.body["done"] == Value::Bool(true) {
            return Ok(events);
        }
        after = page.body["next"].as_str().map_or(page.body["next"].to_string(), str::to_owned);
    }
}

fn parse(event: &Value) -> Option<FeedEvent> {
    let payload = &event["payload"];
    let subject: Uuid = payload["itemUuid"].as_str().or(payload["auctionUuid"].as_str())?.parse().ok()?;
    let status = payload["status"].as_str()?.to_owned();
    let at = event["occurredAt"].as_str()?.parse().ok()?;
    Some(FeedEvent { event: ExpectedEvent { subject, status }, at })
}
