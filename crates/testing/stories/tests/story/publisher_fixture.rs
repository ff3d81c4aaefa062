//! A platform without an embedded provider, with customers at fake providers.

use std::time::Duration;

use consumer::ApiClient;
use serde_json::{Value, json};
use testkit::server::{Launch, Server};
use testkit::site::http_client;

use crate::fake_provider::FakeProvider;
use crate::support::{WAIT_MAX, launch, lots};

/// A running platform and a client with all scopes.
pub struct PublisherFixture {
    pub platform: ApiClient,
    pub launch: Launch,
    _server: Server,
    _data: tempfile::TempDir,
}

/// A connected customer with an auctioneer.
pub struct Customer {
    pub uuid: String,
    auctioneer: String,
}

impl PublisherFixture {
    pub async fn new() -> Self {
        let data = tempfile::tempdir().unwrap();
        Self::start(launch(data.path()).roles(&["platform"]), data).await
    }

    /// Starts the platform node of `launch`, whose data directory is `data`.
    pub async fn start(launch: Launch, data: tempfile::TempDir) -> Self {
        let server = launch.start(&http_client()).await.unwrap();
        let key = launch.create_staff_key("test").unwrap();
        let platform = ApiClient::new(http_client(), launch.platform_url(), &key).unwrap();
        PublisherFixture { platform, launch, _server: server, _data: data }
    }

    /// Creates a customer that is connected to the application `app_NAME` with the key `key-NAME`.
    pub async fn customer(&self, name: &str, provider: &FakeProvider) -> Customer {
        let created = self.platform.post("/api/v1/customers", &json!({ "name": name })).await.unwrap();
        let uuid = created.text("/uuid").unwrap().to_owned();
        let credentials = json!({
            "providerUrl": provider.url, "applicationId": format!("app_{name}"), "apiKey": format!("key-{name}"),
        });
        let connected = self.platform.put(&format!("/api/v1/customers/{uuid}/consumer"), &credentials).await.unwrap();
        assert_eq!(connected.body["test"], json!({ "ok": true, "detail": null }));
        let auctioneer =
            self.platform.post("/api/v1/auctioneers", &json!({ "customer": uuid, "name": name })).await.unwrap();
        Customer { auctioneer: auctioneer.text("/uuid").unwrap().to_owned(), uuid }
    }

    /// Creates a draft auction, which is one event.
    pub async fn auction(&self, customer: &Customer) -> String {
        let auction = json!({ "auctioneer": customer.auctioneer, "kind": "webcast", "title": "A sale", "currency": "GBP",
            "timeZone": "Europe/London", "startsAt": "2099-01-01T00:00:00Z", "items": lots(1) });
        self.platform.post("/api/v1/auctions", &auction).await.unwrap().text("/uuid").unwrap().to_owned()
    }

    /// Changes the status of an auction, which is one more event.
    pub async fn change(&self, auction: &str, status: &str) {
        let path = format!("/api/v1/auctions/{auction}");
        let etag = self.platform.get(&path).await.unwrap().etag;
        let status = json!({ "status": status });
        self.platform.post_if_match(&format!("{path}/status"), etag.as_ref(), &status).await.unwrap();
    }

    /// The customer's connection, as the API shows it.
    pub async fn connection(&self, customer: &Customer) -> Value {
        self.platform.get(&format!("/api/v1/customers/{}/consumer", customer.uuid)).await.unwrap().body
    }

    /// Polls the connection until `is_expected` holds for it.
    pub async fn wait_for(&self, customer: &Customer, is_expected: impl Fn(&Value) -> bool) -> Value {
        let polling = async {
            loop {
                let connection = self.connection(customer).await;
                if is_expected(&connection) {
                    return connection;
                }
                tokio::time::sleep(Duration::from_millis(50)).await;
            }
        };
        match tokio::time::timeout(WAIT_MAX, polling).await {
            Ok(connection) => connection,
            Err(_) => panic!("the connection did not reach the expected state: {}", self.connection(customer).await),
        }
    }
}
