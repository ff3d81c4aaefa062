//! Events under whose id the provider has a message already.

use contract::AuctionStatus;
use kit_runtime::clock::Clock as _;
use platform_core::PlatformConfig;
use platform_core::outbox::quarantine::QuarantineSelection;
use platform_core::port::{OvertakenPolicy, Page, QuarantinedEvent};
use platform_rules::Auction;
use serde_json::{Value, json};

use crate::fixture::{KEY, TestPlatform};
use crate::provider::{Provider, Reply};
use crate::publishing::{WORKERS, pending};

/// A platform whose first event the provider refuses with 409, and a provider that answers reads of messages with `shown`.
async fn conflicting(shown: impl IntoIterator<Item = Reply>) -> (Provider, TestPlatform, Auction) {
    conflicting_times(1, shown).await
}

async fn conflicting_times(times: usize, shown: impl IntoIterator<Item = Reply>) -> (Provider, TestPlatform, Auction) {
    let provider = Provider::start(vec![Reply::Status(409); times]).await;
    provider.show(shown);
    let fixture = TestPlatform::connected(&provider, PlatformConfig::default()).await;
    let auction = fixture.draft().await;
    provider.request(1).await;
    (provider, fixture, auction)
}

fn message(event_type: &str, payload: &Value) -> Reply {
    let message =
        json!({ "id": "msg_1", "eventType": event_type, "payload": payload, "timestamp": "2026-01-01T00:00:00Z" });
    Reply::With(200, "body", message.to_string())
}

/// Waits until these numbers of events wait and are in quarantine.
async fn until(fixture: &TestPlatform, expected: (u64, u64)) {
    while pending(fixture).await != expected {
        tokio::task::yield_now().await;
    }
}

async fn quarantined(fixture: &TestPlatform) -> Vec<QuarantinedEvent> {
    let page = Page { after: None, limit: 10 };
    fixture.platform.quarantined(&fixture.caller, fixture.customer.uuid, page).await.unwrap()
}

/// Conflicts that the node counted, by how the message compares.
async fn counted(fixture: &TestPlatform) -> Vec<(String, u32)> {
    let metrics = fixture.platform.figures().await;
    let counts =
        metrics.lines().filter_map(|line| line.strip_prefix("lotwire_platform_event_conflicts_total{message=\""));
    let counts = counts.map(|line| line.split_once("\"} ").unwrap());
    let counts = counts.map(|(message, count)| (message.to_owned(), count.parse().unwrap()));
    counts.filter(|(_, count)| *count > 0).collect()
}

async fn send_again(fixture: &TestPlatform) {
    let which = (&QuarantineSelection::All, OvertakenPolicy::Refuse);
    fixture.platform.send_quarantined(&fixture.caller, fixture.customer.uuid, which, None).await.unwrap();
}

#[tokio::test]
async fn an_event_that_the_provider_has_already_is_published() {
    // The provider returns the posted message, with its payload serialised again.
    let (provider, fixture, auction) = conflicting([]).await;
    fixture.close().await;
    assert_eq!(pending(&fixture).await, (0, 0));
    assert_eq!(provider.messages_read(), [format!("GET /api/v1/app/app_1/msg/{}.1/", auction.uuid)]);
    assert_eq!(provider.requests().len(), 1);
    assert_eq!(counted(&fixture).await, [("same".to_owned(), 1)]);
}

#[tokio::test]
async fn an_event_under_whose_id_the_provider_has_another_message_is_quarantined() {
    let other = message("AUCTION_STATUS_CHANGE", &json!({ "status": "LIVE", "secret": "of the provider" }));
    let (provider, fixture, auction) = conflicting([other]).await;
    let to = AuctionStatus::Preview;
    fixture.platform.change_auction_status(&fixture.caller, auction.uuid, to, None, None).await.unwrap();
    assert_eq!(provider.request(2).await.idempotency_key, format!("{}.2", auction.uuid));
    fixture.close().await;
    assert_eq!(pending(&fixture).await, (0, 1));
    let refused = &quarantined(&fixture).await[0];
    assert_eq!(refused.event.sequence, 1);
    let error = &refused.error;
    assert!(error.starts_with("the provider has another message under this event id: its payload differs."), "{error}");
    assert!(error.contains("send the event again") && error.ends_with("Otherwise drop it"), "{error}");
    assert!(!error.contains("secret"), "the reason contains text of the provider: {error}");
    assert_eq!(counted(&fixture).await, [("other".to_owned(), 1)]);
}

#[tokio::test]
async fn an_event_whose_message_has_expired_is_published_and_counted() {
    let (_provider, fixture, _) = conflicting([message("AUCTION_STATUS_CHANGE", &json!({ "expired": true }))]).await;
    fixture.close().await;
    assert_eq!(pending(&fixture).await, (0, 0));
    assert_eq!(counted(&fixture).await, [("expired".to_owned(), 1)]);
}

#[tokio::test]
async fn a_key_that_may_not_read_publishes_and_the_conflict_is_counted() {
    for status in [401, 403] {
        let (_provider, fixture, _) = conflicting([Reply::Status(status)]).await;
        fixture.close().await;
        assert_eq!(pending(&fixture).await, (0, 0), "{status}");
        assert_eq!(counted(&fixture).await, [("no_read_right".to_owned(), 1)], "{status}");
        let state = fixture.platform.consumer(&fixture.caller, fixture.customer.uuid).await.unwrap();
        assert_eq!(state.parked, None, "{status}");
    }
}

#[tokio::test]
async fn an_event_whose_message_could_not_be_read_is_retried_before_later_events() {
    // The client sends a request again by itself when a connection that it has used before is closed.
    let closed = vec![Reply::Close; 2];
    for failures in [vec![Reply::Status(503)], closed, vec![Reply::With(200, "body", "<html>".into())]] {
        let (provider, fixture, auction) = conflicting_times(2, failures.clone()).await;
        let to = AuctionStatus::Preview;
        fixture.platform.change_auction_status(&fixture.caller, auction.uuid, to, None, None).await.unwrap();
        fixture.asleep(WORKERS + 1).await;
        assert_eq!((provider.requests().len(), pending(&fixture).await), (1, (2, 0)), "{failures:?}");
        let next_attempt_at = loop {
            let state = fixture.platform.consumer(&fixture.caller, fixture.customer.uuid).await.unwrap();
            match state.backlog.failing.and_then(|failing| failing.next_attempt_at) {
                Some(at) => break at,
                None => tokio::task::yield_now().await,
            }
        };
        let wait = next_attempt_at.duration_since(fixture.clock.now());
        fixture.clock.advance(wait.unsigned_abs());
        provider.request(3).await;
        let keys: Vec<String> = provider.requests().into_iter().map(|request| request.idempotency_key).collect();
        let expected = [1, 1, 2].map(|sequence| format!("{}.{sequence}", auction.uuid));
        assert_eq!(keys, expected, "{failures:?}");
        fixture.close().await;
        assert_eq!(pending(&fixture).await, (0, 0), "{failures:?}");
        assert_eq!(provider.messages_read().len(), failures.len() + 1, "{failures:?}");
        assert_eq!(counted(&fixture).await, [("same".to_owned(), 1)], "{failures:?}");
    }
}

#[tokio::test]
async fn without_a_restore_an_event_that_is_sent_again_keeps_its_id() {
    let other = || message("ITEM_STATUS_CHANGE", &json!({}));
    let (provider, fixture, auction) = conflicting([other(), other()]).await;
    until(&fixture, (0, 1)).await;
    provider.otherwise(Reply::Status(409));
    send_again(&fixture).await;
    assert_eq!(provider.request(2).await.idempotency_key, format!("{}.1", auction.uuid));
    fixture.close().await;
    assert_eq!(pending(&fixture).await, (0, 1));
    assert!(quarantined(&fixture).await[0].error.contains("its event type differs"));
}

#[tokio::test]
async fn an_event_that_is_sent_again_before_its_lane_knows_of_the_quarantine_is_published() {
    let provider = Provider::start([Reply::Status(409)]).await;
    provider.show([message("ITEM_STATUS_CHANGE", &json!({}))]);
    let fixture = TestPlatform::connected(&provider, PlatformConfig::default()).await;
    let held = fixture.faults.hold_answers_to_outcomes().await;
    let auction = fixture.draft().await;
    until(&fixture, (0, 1)).await;
    send_again(&fixture).await;
    while fixture.faults.events_claimed() == 0 {
        tokio::task::yield_now().await;
    }
    drop(held);
    assert_eq!(provider.request(2).await.idempotency_key, format!("{}.1", auction.uuid));
    until(&fixture, (0, 0)).await;
    fixture.close().await;
}

#[tokio::test]
async fn after_a_restore_an_event_that_is_sent_again_has_an_id_of_its_own() {
    let provider = Provider::start([Reply::Status(409)]).await;
    provider.show([message("AUCTION_STATUS_CHANGE", &json!({ "status": "LIVE" }))]);
    let fixture = TestPlatform::new().await;
    fixture.connect(&provider, KEY).await;
    assert_eq!(fixture.store.count_restore(0).await.unwrap(), 1);
    fixture.platform.spawn_workers(&fixture.tasks);
    fixture.asleep(WORKERS).await;
    let auction = fixture.draft().await;
    // The event id is that of the journal, so that the provider recognises a repeated event. The idempotency key is not:
    // the provider would repeat its response to the event that had this key before the restore.
    let first = provider.request(1).await;
    let event_id = format!("{}.1", auction.uuid);
    assert!(first.body.contains(&format!(r#""eventId":"{event_id}","#)), "{}", first.body);
    assert_eq!(first.idempotency_key, format!("{event_id}.r1"));
    until(&fixture, (0, 1)).await;

    send_again(&fixture).await;
    let again = provider.request(2).await;
    assert!(again.body.contains(&format!(r#""eventId":"{event_id}.r1","#)), "{}", again.body);
    assert_eq!(again.ordering_key, auction.uuid.to_string());
    assert_ne!(again.idempotency_key, first.idempotency_key);
    fixture.close().await;
    assert_eq!(pending(&fixture).await, (0, 0));
    let page = Page { after: None, limit: 10 };
    let events = fixture.platform.events_after(&fixture.caller, Some(fixture.customer.uuid), page).await.unwrap();
    assert_eq!(events[0].event_id(), Some(format!("{event_id}.r1")));
}
