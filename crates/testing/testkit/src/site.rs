//! A set-up customer. At the provider it has an account, an API key, an application, event types and an endpoint. At
//! the platform it has a connection and an auctioneer. A verifying receiver serves the endpoint.

use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::time::{Duration, Instant};

use consumer::{ApiClient, ApiError, ExpectedEvent, Receiver};
use contract::event::EventType;
use kit_outbound::{AddressPolicy, Client, ClientConfig};
use kit_runtime::clock::{SharedClock, SystemClock};
use serde_json::{Value, json};

use crate::server::{Launch, ServerError};

/// Time limit for a bulk change of an auction's items.
const BULK_CHANGE_MAX: Duration = Duration::from_secs(120);

/// The reason why the customer could not be set up or used.
#[derive(Debug, thiserror::Error)]
pub enum CustomerSiteError {
    /// A server or a management command failed.
    #[error(transparent)]
    Server(#[from] ServerError),
    /// An API call failed.
    #[error(transparent)]
    ApiClient(#[from] ApiError),
    /// Another error.
    #[error("{0}")]
    Other(String),
}

/// A customer with clients of both APIs and a receiver. It outlives restarts of the servers.
pub struct CustomerSite {
    /// HTTP client that reaches servers on this machine.
    pub http: Client,
    /// The system clock.
    pub clock: SharedClock,
    /// The customer's receiver, which verifies signatures with the endpoint's secret.
    pub receiver: Receiver,
    /// The platform's API, with a key of all scopes.
    pub platform: ApiClient,
    /// The provider's API, with the customer's key.
    pub provider: ApiClient,
    /// The customer's account at the provider (`org_…`).
    pub account: String,
    /// The customer's key at the provider.
    pub provider_key: String,
    /// UUID of the customer.
    pub customer: String,
    /// UUID of its auctioneer.
    pub auctioneer: String,
    /// Its consumer application (`app_…`).
    pub application: String,
    /// The endpoint at the receiver (`ep_…`).
    pub endpoint: String,
}

/// A client that reaches servers on this machine.
pub fn http_client() -> Client {
    Client::new(ClientConfig { policy: AddressPolicy::any(), ..ClientConfig::default() })
}

impl CustomerSite {
    /// Sets up a customer at running servers. The two launches may be the same.
    pub async fn set_up(platform: &Launch, provider: &Launch) -> Result<Self, CustomerSiteError> {
        let (http, clock): (_, SharedClock) = (http_client(), Arc::new(SystemClock));
        let receiver = bind(&clock).await?;

        let account = provider.create_provider_account("Site")?;
        let provider_key = provider.create_key_of_account(&account, "Site")?;
        let provider_url = provider.provider_url();
        // A platform and a provider of one launch are one installation.
        let entered = if platform.provider == provider.provider { "embedded".to_owned() } else { provider_url.clone() };
        let provider = ApiClient::new(http.clone(), provider_url, &provider_key)?;
        let (application, endpoint) = set_up_provider(&provider, &receiver).await?;

        let staff_key = platform.create_staff_key("site")?;
        let platform = ApiClient::new(http.clone(), platform.platform_url(), &staff_key)?;
        let customer = json!({ "name": format!("Site {application}") });
        let customer = platform.post("/api/v1/customers", &customer).await?.text("/uuid")?.to_owned();
        let credentials = json!({ "providerUrl": entered, "applicationId": application, "apiKey": provider_key });
        platform.put(&format!("/api/v1/customers/{customer}/consumer"), &credentials).await?;
        let auctioneer = json!({ "customer": customer, "name": "Site" });
        let auctioneer = platform.post("/api/v1/auctioneers", &auctioneer).await?.text("/uuid")?.to_owned();
        Ok(CustomerSite {
            http,
            clock,
            receiver,
            platform,
            provider,
            account,
            provider_key,
            customer,
            auctioneer,
            application,
            endpoint,
        })
    }

    /// Adds an application. Returns its id.
    pub async fn add_application(&self, name: &str) -> Result<String, CustomerSiteError> {
        Ok(self.provider.post("/api/v1/app/", &json!({ "name": name })).await?.text("/id")?.to_owned())
    }

    /// Adds an endpoint to an application, with a receiver of its own.
    pub async fn add_receiver(&self, application: &str) -> Result<Receiver, CustomerSiteError> {
        let receiver = bind(&self.clock).await?;
        connect(&self.provider, application, &receiver).await?;
        Ok(receiver)
    }

    /// Adds an endpoint with this URL to an application. Returns its signing secret.
    pub async fn add_endpoint(&self, application: &str, url: &str) -> Result<String, CustomerSiteError> {
        Ok(add_endpoint(&self.provider, application, url).await?.secret)
    }

    /// Changes the URL of the customer's endpoint. Returns its signing secret.
    pub async fn move_endpoint(&self, url: &str) -> Result<String, CustomerSiteError> {
        let endpoint = format!("/api/v1/app/{}/endpoint/{}/", self.application, self.endpoint);
        self.provider.put(&endpoint, &json!({ "url": url })).await?;
        Ok(self.provider.get(&format!("{endpoint}secret/")).await?.text("/key")?.to_owned())
    }

    /// Creates an auction of this auctioneer. `auction` has the fields beyond auctioneer, currency and time zone.
    /// Returns its UUID.
    pub async fn create_auction(&self, mut auction: Value) -> Result<String, CustomerSiteError> {
        auction["auctioneer"] = json!(self.auctioneer);
        auction["currency"] = json!("GBP");
        auction["timeZone"] = json!("Europe/London");
        Ok(self.platform.post("/api/v1/auctions", &auction).await?.text("/uuid")?.to_owned())
    }

    /// The time `ms` milliseconds from now, in the API's format.
    pub fn in_ms(&self, ms: i64) -> String {
        let at = kit_runtime::clock::from_ms(kit_runtime::clock::to_ms(self.clock.now()) + ms);
        kit_runtime::clock::rfc3339_ms(at)
    }

    /// The items of an auction in running order, as the API returns them.
    pub async fn items(&self, auction: &str) -> Result<Vec<Value>, CustomerSiteError> {
        let mut items = Vec::new();
        let mut after = String::new();
        loop {
            let page = self.platform.get(&format!("/api/v1/auctions/{auction}/items?limit=250{after}")).await?;
            items.extend(page.body["data"].as_array().into_iter().flatten().cloned());
            match page.body["next"].as_str() {
                Some(next) => after = format!("&after={next}"),
                None => return Ok(items),
            }
        }
    }

    /// Waits until the bulk change of an auction's items is finished.
    pub async fn wait_for_bulk_change(&self, auction: &str) -> Result<(), CustomerSiteError> {
        let deadline = Instant::now() + BULK_CHANGE_MAX;
        while !self.platform.get(&format!("/api/v1/auctions/{auction}")).await?.body["following"].is_null() {
            if Instant::now() > deadline {
                return Err(CustomerSiteError::Other(format!(
                    "the bulk change of auction {auction} did not finish in time"
                )));
            }
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        Ok(())
    }

    /// The events that the platform has announced so far, in order.
    pub async fn announced_events(&self) -> Result<Vec<ExpectedEvent>, CustomerSiteError> {
        let feed = consumer::read_feed(&self.platform, &self.customer).await?;
        Ok(feed.into_iter().map(|event| event.event).collect())
    }
}

async fn set_up_provider(provider: &ApiClient, receiver: &Receiver) -> Result<(String, String), CustomerSiteError> {
    let application = provider.post("/api/v1/app/", &json!({ "name": "Site" })).await?.text("/id")?.to_owned();
    for event_type in EventType::ALL {
        let definition = serde_json::to_value(contract::event_type::definition(*event_type));
        let definition = definition.map_err(|error| CustomerSiteError::Other(error.to_string()))?;
        provider.post("/api/v1/event-type/", &definition).await?;
    }
    let endpoint = connect(provider, &application, receiver).await?;
    Ok((application, endpoint))
}

/// Creates an endpoint at the receiver's URL and gives its secret to the receiver. Returns its id.
async fn connect(provider: &ApiClient, application: &str, receiver: &Receiver) -> Result<String, CustomerSiteError> {
    let endpoint = add_endpoint(provider, application, &receiver.url()).await?;
    receiver.set_secret(&endpoint.secret).map_err(|error| CustomerSiteError::Other(error.to_string()))?;
    Ok(endpoint.id)
}

struct Endpoint {
    id: String,
    secret: String,
}

async fn add_endpoint(provider: &ApiClient, application: &str, url: &str) -> Result<Endpoint, CustomerSiteError> {
    let endpoints = format!("/api/v1/app/{application}/endpoint/");
    let id = provider.post(&endpoints, &json!({ "url": url })).await?.text("/id")?.to_owned();
    let secret = provider.get(&format!("{endpoints}{id}/secret/")).await?.text("/key")?.to_owned();
    Ok(Endpoint { id, secret })
}

async fn bind(clock: &SharedClock) -> Result<Receiver, CustomerSiteError> {
    let receiver = Receiver::bind(SocketAddr::from((Ipv4Addr::LOCALHOST, 0)), clock.clone());
    receiver.await.map_err(|error| CustomerSiteError::Other(error.to_string()))
}
