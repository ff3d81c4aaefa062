//! What the provider answers, and what the platform makes of it: retried, parked, quarantined; in order, nothing lost, and
//! no customer slowed by another's provider.

use std::time::Duration;

use consumer::ApiClient;
use serde_json::{Value, json};
use testkit::server::{Launch, Server};
use testkit::site::http_client;

use crate::fake_provider::{Answer, FakeProvider};
use crate::support::{launch, lots};

/// A platform with customers at fake providers.
struct PublisherFixture {
    platform: ApiClient,
    _server: Server,
    _data: tempfile::TempDir,
}

struct Customer {
    uuid: String,
    auctioneer: String,
}

impl PublisherFixture {
    async fn new() -> Self {
        let data = tempfile::tempdir().unwrap();
        let launch: Launch = launch(data.path()).roles(&["platform"]);
        let server = launch.start(&http_client()).await.unwrap();
        let key = launch.run_command(&["key", "create", "--name", "test", "--scope", "all", "--json"]).unwrap();
        let platform = ApiClient::new(http_client(), launch.platform_url(), key["key"].as_str().unwrap()).unwrap();
        PublisherFixture { platform, _server: server, _data: data }
    }

    async fn customer(&self, name: &str, provider: &FakeProvider) -> Customer {
        let created = self.platform.post("/api/v1/customers", &json!({ "name": name })).await.unwrap();
        let uuid = created.text("/uuid").unwrap().to_owned();
        let credentials = json!({ "providerUrl": provider.url, "applicationId": format!("app_{name}"), "apiKey": format!("key-{name}") });
        let connected = self.platform.put(&format!("/api/v1/customers/{uuid}/consumer"), &credentials).await.unwrap();
        assert_eq!(connected.body["test"], json!({ "ok": true, "detail": null }));
        let auctioneer =
            self.platform.post("/api/v1/auctioneers", &json!({ "customer": uuid, "name": name })).await.unwrap();
        Customer { auctioneer: auctioneer.text("/uuid").unwrap().to_owned(), uuid }
    }

    /// Creates a draft: one event.
    async fn auction(&self, customer: &Customer) -> String {
        let auction = json!({ "auctioneer": customer.auctioneer, "kind": "webcast", "title": "A sale", "currency": "GBP",
            "timeZone": "Europe/London", "startsAt": "2099-01-01T00:00:00Z", "items": lots(1) });
        self.platform.post("/api/v1/auctions", &auction).await.unwrap().text("/uuid").unwrap().to_owned()
    }

    /// One more event of an auction.
    async fn change(&self, auction: &str, status: &str) {
        let path = format!("/api/v1/auctions/{auction}");
        let seen = self.platform.get(&path).await.unwrap().etag;
        self.platform
            .post_if_match(&format!("{path}/status"), seen.as_ref(), &json!({ "status": status }))
            .await
            .unwrap();
    }

    async fn connection(&self, customer: &Customer) -> Value {
        self.platform.get(&format!("/api/v1/customers/{}/consumer", customer.uuid)).await.unwrap().body
    }

    async fn wait_for(&self, customer: &Customer, is_so: impl Fn(&Value) -> bool) -> Value {
        for _ in 0..600 {
            let connection = self.connection(customer).await;
            if is_so(&connection) {
                return connection;
            }
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
        panic!("{}", self.connection(customer).await);
    }
}

fn ids(auction: &str, sequences: &[u32]) -> Vec<String> {
    sequences.iter().map(|sequence| format!("{auction}.{sequence}")).collect()
}

fn accepted(provider: &FakeProvider) -> Vec<String> {
    provider.accepted().into_iter().map(|posted| posted.event_id).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn transient_errors_are_retried_in_order() {
    for answer in [Answer::Status(500), Answer::Status(503), Answer::Close] {
        let (fixture, provider) = (PublisherFixture::new().await, FakeProvider::start().await);
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
async fn a_conflict_means_that_the_provider_has_it() {
    let (fixture, provider) = (PublisherFixture::new().await, FakeProvider::start().await);
    let customer = fixture.customer("one", &provider).await;
    provider.script(&[Answer::Status(409)]);
    let auction = fixture.auction(&customer).await;
    fixture.change(&auction, "PREVIEW").await;
    provider.wait_until(|provider| provider.accepted().len() == 2).await;
    assert_eq!(provider.posted().len(), 2);
    fixture.wait_for(&customer, |connection| connection["backlog"]["pending"] == 0).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn retry_after_is_kept_in_full() {
    let (fixture, provider) = (PublisherFixture::new().await, FakeProvider::start().await);
    let customer = fixture.customer("one", &provider).await;
    provider.script(&[Answer::RetryAfter(2)]);
    fixture.auction(&customer).await;
    let waiting = fixture.wait_for(&customer, |connection| connection["lastError"].is_object()).await;
    let told = &waiting["lastError"];
    assert!(
        told["detail"].as_str().unwrap().starts_with("the provider answered 429") && told["at"].is_string(),
        "{told}"
    );
    assert!(told["nextAttemptAt"].as_str() > told["at"].as_str(), "{told}");
    provider.wait_until(|provider| provider.accepted().len() == 1).await;
    let sent = fixture.wait_for(&customer, |connection| connection["backlog"]["pending"] == 0).await;
    assert_eq!(sent["lastError"], json!(null));
    let posted = provider.posted();
    assert_eq!(posted.len(), 2);
    assert!(posted[1].at.duration_since(posted[0].at) >= Duration::from_secs(2), "{posted:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_refusal_of_the_credentials_parks_the_queue_until_support_resumes_it() {
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
        assert!(!parked.to_string().contains("key-one"), "a secret is shown: {parked}");

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
    let (fixture, provider) = (PublisherFixture::new().await, FakeProvider::start().await);
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
