//! A customer who is set up, as support does it: an account, key, application, event types and endpoint at the provider; a
//! customer connected to them and an auctioneer at the platform; a receiver that verifies.

use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::time::{Duration, Instant};

use consumer::{ApiClient, ApiError, ExpectedEvent, Receiver};
use contract::event::EventType;
use kit_outbound::{AddressPolicy, Client, ClientConfig};
use kit_runtime::clock::{SharedClock, SystemClock};
use serde_json::{Value, json};

use crate::server::{Launch, ServerError};

/// How long the items of an auction may take to follow it.
const BULK_CHANGE_MAX: Duration = Duration::from_secs(120);

/// Why a site could not be set up or used.
#[derive(Debug, thiserror::Error)]
pub enum CustomerSiteError {
    /// The binary did not do as it was told.
    #[error(transparent)]
    Server(#[from] ServerError),
    /// An API did not.
    #[error(transparent)]
    ApiClient(#[from] ApiError),
    /// Anything around them.
    #[error("{0}")]
    Other(String),
}

/// Everything around running servers. The receiver and what was set up outlive any number of servers.
pub struct CustomerSite {
    /// Calls both APIs.
    pub http: Client,
    /// The time.
    pub clock: SharedClock,
    /// The customer's receiver, which has the endpoint's secret.
    pub receiver: Receiver,
    /// The platform's API, with a key that may do everything.
    pub platform: ApiClient,
    /// The provider's API, with the customer's key.
    pub provider: ApiClient,
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
    /// Sets a customer up at running servers; the two launches may be the same.
    pub async fn set_up(platform: &Launch, provider: &Launch) -> Result<Self, CustomerSiteError> {
        let (http, clock): (_, SharedClock) = (http_client(), Arc::new(SystemClock));
        let receiver = bind(&clock).await?;

        let account = field(&provider.run_command(&["provider", "account", "create", "Site", "--json"])?, "id")?;
        let key = ["provider", "key", "create", "--account", &account, "--name", "site", "--json"];
        let provider_key = field(&provider.run_command(&key)?, "key")?;
        let provider_url = provider.provider_url();
        let provider = ApiClient::new(http.clone(), provider_url.clone(), &provider_key)?;
        let (application, endpoint) = at_provider(&provider, &receiver).await?;

        let staff_key = platform.run_command(&["key", "create", "--name", "site", "--scope", "all", "--json"])?;
        let platform = ApiClient::new(http.clone(), platform.platform_url(), &field(&staff_key, "key")?)?;
        let customer = json!({ "name": format!("Site {application}") });
        let customer = platform.post("/api/v1/customers", &customer).await?.text("/uuid")?.to_owned();
        let credentials = json!({ "providerUrl": provider_url, "applicationId": application, "apiKey": provider_key });
        platform.put(&format!("/api/v1/customers/{customer}/consumer"), &credentials).await?;
        let auctioneer = json!({ "customer": customer, "name": "Site" });
        let auctioneer = platform.post("/api/v1/auctioneers", &auctioneer).await?.text("/uuid")?.to_owned();
        Ok(CustomerSite {
            http,
            clock,
            receiver,
            platform,
            provider,
            provider_key,
            customer,
            auctioneer,
            application,
            endpoint,
        })
    }

    /// A further application of the customer. Gives its id.
    pub async fn add_application(&self, name: &str) -> Result<String, CustomerSiteError> {
        Ok(self.provider.post("/api/v1/app/", &json!({ "name": name })).await?.text("/id")?.to_owned())
    }

    /// A further endpoint of an application, with a receiver of its own.
    pub async fn add_receiver(&self, application: &str) -> Result<Receiver, CustomerSiteError> {
        let receiver = bind(&self.clock).await?;
        connect(&self.provider, application, &receiver).await?;
        Ok(receiver)
    }

    /// A further endpoint of an application at this address. Gives its signing secret.
    pub async fn add_endpoint(&self, application: &str, url: &str) -> Result<String, CustomerSiteError> {
        Ok(add_endpoint(&self.provider, application, url).await?.secret)
    }

    /// Moves the customer's endpoint to another address. Gives its signing secret.
    pub async fn move_endpoint(&self, url: &str) -> Result<String, CustomerSiteError> {
        let endpoint = format!("/api/v1/app/{}/endpoint/{}/", self.application, self.endpoint);
        self.provider.put(&endpoint, &json!({ "url": url })).await?;
        Ok(self.provider.get(&format!("{endpoint}secret/")).await?.text("/key")?.to_owned())
    }

    /// Creates an auction of this auctioneer; `auction` says what is special about it. Gives its UUID.
    pub async fn create_auction(&self, mut auction: Value) -> Result<String, CustomerSiteError> {
        auction["auctioneer"] = json!(self.auctioneer);
        auction["currency"] = json!("GBP");
        auction["timeZone"] = json!("Europe/London");
        Ok(self.platform.post("/api/v1/auctions", &auction).await?.text("/uuid")?.to_owned())
    }

    /// A time this many milliseconds from now, as the API takes it.
    pub fn in_ms(&self, ms: i64) -> String {
        let at = kit_runtime::clock::from_ms(kit_runtime::clock::to_ms(self.clock.now()) + ms);
        kit_runtime::clock::rfc3339_ms(at)
    }

    /// Items of an auction in running order, as the API shows them.
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

    /// Waits until the items of an auction have followed what was done with it as a whole.
    pub async fn wait_for_bulk_change(&self, auction: &str) -> Result<(), CustomerSiteError> {
        let deadline = Instant::now() + BULK_CHANGE_MAX;
        while !self.platform.get(&format!("/api/v1/auctions/{auction}")).await?.body["following"].is_null() {
            if Instant::now() > deadline {
                return Err(CustomerSiteError::Other(format!("the items of auction {auction} have not followed it")));
            }
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        Ok(())
    }

    /// What the platform has announced so far, in order.
    pub async fn announced_events(&self) -> Result<Vec<ExpectedEvent>, CustomerSiteError> {
        let feed = consumer::read_feed(&self.platform, &self.customer).await?;
        Ok(feed.into_iter().map(|event| event.event).collect())
    }
}

async fn at_provider(provider: &ApiClient, receiver: &Receiver) -> Result<(String, String), CustomerSiteError> {
    let application = provider.post("/api/v1/app/", &json!({ "name": "Site" })).await?.text("/id")?.to_owned();
    for event_type in EventType::ALL {
        let definition = serde_json::to_value(contract::event_type::definition(*event_type));
        let definition = definition.map_err(|error| CustomerSiteError::Other(error.to_string()))?;
        provider.post("/api/v1/event-type/", &definition).await?;
    }
    let endpoint = connect(provider, &application, receiver).await?;
    Ok((application, endpoint))
}

/// An endpoint at the receiver's address, whose secret the receiver gets. Gives its id.
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

/// A text field of what a management command printed.
fn field(printed: &Value, name: &str) -> Result<String, CustomerSiteError> {
    let text = printed[name].as_str().map(str::to_owned);
    text.ok_or_else(|| CustomerSiteError::Other(format!("the command printed no {name}: {printed}")))
}
