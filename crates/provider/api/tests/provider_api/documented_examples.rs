//! The examples of deliveries in the documentation carry signatures that a receiver can verify.

use http::HeaderMap;
use http::header::{HeaderName, HeaderValue};
use serde_json::Value;
use svix::webhooks::Webhook;

const PAGE: &str = include_str!("../../../../../docs/receive-events/webhooks.md");
const EVENTS: &str = include_str!("../../../../../docs/apis/asyncapi.json");

/// The value of a row of the page's table of test values.
fn row(part: &str) -> &'static str {
    let row = PAGE.lines().find_map(|line| line.strip_prefix(&format!("| {part} | `"))).unwrap();
    row.strip_suffix("` |").unwrap()
}

#[test]
fn the_delivery_on_the_webhooks_page_has_a_valid_signature() {
    let mut headers = HeaderMap::new();
    for name in ["webhook-id", "webhook-timestamp", "webhook-signature"] {
        headers.insert(HeaderName::from_static(name), HeaderValue::from_static(row(&format!("`{name}`"))));
    }
    let webhook = Webhook::new(row("secret")).unwrap();
    let body = row("body").as_bytes();
    webhook.verify_ignoring_timestamp(body, &headers).unwrap();
    assert!(webhook.verify_ignoring_timestamp(&body[1..], &headers).is_err());
}

#[test]
fn the_deliveries_in_the_asyncapi_document_have_valid_signatures() {
    let document: Value = serde_json::from_str(EVENTS).unwrap();
    let webhook = Webhook::new(row("secret")).unwrap();
    for name in ["ITEM_STATUS_CHANGE", "AUCTION_STATUS_CHANGE"] {
        let example = &document["components"]["messages"][name]["examples"][0];
        let headers: HeaderMap = example["headers"]
            .as_object()
            .unwrap()
            .iter()
            .map(|(name, value)| (name.parse::<HeaderName>().unwrap(), value.as_str().unwrap().parse().unwrap()))
            .collect();
        let body = example["payload"].to_string();
        webhook.verify_ignoring_timestamp(body.as_bytes(), &headers).unwrap();
    }
}
