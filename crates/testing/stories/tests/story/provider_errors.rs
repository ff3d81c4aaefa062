//! The provider's responses to published events: the publisher retries, parks the queue or quarantines the event. Order
//! is kept, no event is lost, and one customer's provider does not delay another customer.

use std::time::Duration;

use serde_json::json;

use crate::fake_provider::{Answer, FakeProvider};
use crate::publisher_fixture::PublisherFixture;

fn ids(auction: &str, sequences: &[u32]) -> Vec<String> {
    sequences.iter().map(|sequence| format!("{auction}.{sequence}")).collect()
}

fn accepted(provider: &FakeProvider) -> Vec<String> {
    provider.accepted().into_iter().map(|posted| posted.event_id).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn transient_errors_are_retried_in_order() {
    for answer in [Answer::Status(500), Answer::Status(503), Answer::Close] {
        let fixture = PublisherFixture::new().await;
        let provider = FakeProvider::start().await;
        let customer = fixture.customer("one", &provider).await;
        provider.script(&[answer, answer, answer]);
        let auction = fixture.auction(&customer).await;
        fixture.change(&auction, "PREVIEW").await;
        fixture.change(&auction, "DRAFT").await;
        provider.wait_until(|provider| provider.accepted().len() == 3).await;
        assert_eq!(accepted(&provider), ids(&auction, &[1, 2, 3]), "{answer:?}");
        assert!(provider.posted().len() >= 6, "{answer:?}");
        for posted in provider.posted() {
            assert_eq!(posted.idempotency_key, posted.event_id);
            assert_eq!(posted.authorization, "Bearer key-one");
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_conflict_with_the_same_message_counts_as_published() {
    let fixture = PublisherFixture::new().await;
    let provider = FakeProvider::start().await;
    let customer = fixture.customer("one", &provider).await;
    provider.script(&[Answer::Status(409)]);
    let auction = fixture.auction(&customer).await;
    fixture.change(&auction, "PREVIEW").await;
    provider.wait_until(|provider| provider.accepted().len() == 2).await;
    assert_eq!(provider.posted().len(), 2);
    fixture.wait_for(&customer, |connection| connection["backlog"]["pending"] == 0).await;
    assert_eq!(provider.read(), ids(&auction, &[1]));
}

#[tokio::test(flavor = "multi_thread")]
async fn retry_after_is_honoured_in_full() {
    let fixture = PublisherFixture::new().await;
    let provider = FakeProvider::start().await;
    let customer = fixture.customer("one", &provider).await;
    provider.script(&[Answer::RetryAfter(2)]);
    fixture.auction(&customer).await;
    let waiting = fixture.wait_for(&customer, |connection| connection["lastError"].is_object()).await;
    let last_error = &waiting["lastError"];
    assert!(
        last_error["detail"].as_str().unwrap().starts_with("the provider answered 429") && last_error["at"].is_string(),
        "{last_error}"
    );
    assert!(last_error["nextAttemptAt"].as_str() > last_error["at"].as_str(), "{last_error}");
    provider.wait_until(|provider| provider.accepted().len() == 1).await;
    let sent = fixture.wait_for(&customer, |connection| connection["backlog"]["pending"] == 0).await;
    assert_eq!(sent["lastError"], json!(null));
    let posted = provider.posted();
    assert_eq!(posted.len(), 2);
    assert!(posted[1].at.duration_since(posted[0].at) >= Duration::from_secs(2), "{posted:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn refused_credentials_park_the_queue_until_support_resumes_it() {
    for status in [401, 403, 404] {
        let (fixture, provider, other) =
            (PublisherFixture::new().await, FakeProvider::start().await, FakeProvider::start().await);
        let customer = fixture.customer("one", &provider).await;
        let neighbour = fixture.customer("two", &other).await;
        provider.always(Some(Answer::Status(status)));
        let auction = fixture.auction(&customer).await;
        fixture.wait_for(&customer, |connection| connection["parked"].is_object()).await;
        fixture.change(&auction, "PREVIEW").await;
        let parked = fixture.connection(&customer).await;
        assert!(parked["parked"]["reason"].as_str().unwrap().contains(&status.to_string()), "{parked}");
        assert_eq!(parked["backlog"]["pending"], 2);
        assert!(!parked.to_string().contains("key-one"), "the API key is shown: {parked}");

        fixture.auction(&neighbour).await;
        other.wait_until(|other| other.accepted().len() == 1).await;

        provider.always(None);
        let resume = format!("/api/v1/customers/{}/consumer/resume", customer.uuid);
        fixture.platform.post(&resume, &json!({})).await.unwrap();
        provider.wait_until(|provider| provider.accepted().len() == 2).await;
        assert_eq!(accepted(&provider), ids(&auction, &[1, 2]), "{status}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_permanently_refused_event_is_quarantined_and_others_are_published() {
    let fixture = PublisherFixture::new().await;
    let provider = FakeProvider::start().await;
    let customer = fixture.customer("one", &provider).await;
    provider.script(&[Answer::Status(422)]);
    let auction = fixture.auction(&customer).await;
    fixture.wait_for(&customer, |connection| connection["backlog"]["quarantined"] == 1).await;
    fixture.change(&auction, "PREVIEW").await;
    provider.wait_until(|provider| provider.accepted().len() == 1).await;
    assert_eq!(accepted(&provider), ids(&auction, &[2]));
    let quarantine = format!("/api/v1/customers/{}/consumer/quarantine", customer.uuid);
    let quarantine = fixture.platform.get(&quarantine).await.unwrap().body;
    assert_eq!(quarantine["data"][0]["eventId"], json!(format!("{auction}.1")));
    assert!(quarantine["data"][0]["error"].as_str().unwrap().contains("422"), "{quarantine}");
}
