//! Set-up over the real APIs: consumer application, event types and endpoint at the provider; customer, connection and
//! auctioneer at the platform.

use consumer::{ApiClient, Receiver};
use serde_json::json;

use crate::error::{CommandError, ErrorContext as _};

/// The name of the account, the customer and the auctioneer.
pub(super) const DEMO_NAME: &str = "Hartley & Sons";

/// The ids of what the set-up created.
pub(super) struct DemoCustomer {
    pub(super) customer: String,
    pub(super) auctioneer: String,
    pub(super) application: String,
    pub(super) endpoint: String,
}

/// Creates the application, the event types and the receiver's endpoint at the provider. Returns the ids of application
/// and endpoint.
pub(super) async fn set_up_provider(
    provider: &ApiClient,
    receiver: &Receiver,
) -> Result<(String, String), CommandError> {
    let application = provider.post("/api/v1/app/", &json!({ "name": DEMO_NAME })).await?;
    let application = application.text("/id")?.to_owned();
    for event_type in contract::event::EventType::ALL {
        let definition = contract::event_type::definition(*event_type);
        let definition = serde_json::to_value(definition).context("writing an event type")?;
        provider.post("/api/v1/event-type/", &definition).await?;
    }
    let names: Vec<&str> = contract::event::EventType::ALL.iter().map(|event_type| event_type.name()).collect();
    let endpoint = json!({ "url": receiver.url(), "description": "The auctioneer's web site", "eventTypes": names });
    let endpoint = provider.post(&format!("/api/v1/app/{application}/endpoint/"), &endpoint).await?;
    let endpoint = endpoint.text("/id")?.to_owned();
    let secret = provider.get(&format!("/api/v1/app/{application}/endpoint/{endpoint}/secret/")).await?;
    receiver.set_secret(secret.text("/key")?).context("the endpoint's signing secret")?;
    Ok((application, endpoint))
}

/// A magic link to the App Portal of the customer's application.
pub(super) async fn portal_link(provider: &ApiClient, application: &str) -> Result<String, CommandError> {
    let path = format!("/api/v1/auth/app-portal-access/{application}");
    Ok(provider.post(&path, &json!({})).await?.text("/url")?.to_owned())
}

/// Creates the customer, its connection and an auctioneer at the platform.
pub(super) async fn set_up_platform(
    platform: &ApiClient,
    provider_url: &str,
    provider_key: &str,
    (application, endpoint): (String, String),
) -> Result<DemoCustomer, CommandError> {
    let customer = platform.post("/api/v1/customers", &json!({ "name": DEMO_NAME })).await?;
    let customer = customer.text("/uuid")?.to_owned();
    let credentials = json!({ "providerUrl": provider_url, "applicationId": application, "apiKey": provider_key });
    let consumer = platform.put(&format!("/api/v1/customers/{customer}/consumer"), &credentials).await?;
    if consumer.body["connected"] != json!(true) {
        return Err(CommandError::new(format!("the platform did not connect the customer: {}", consumer.body)));
    }
    let auctioneer = platform.post("/api/v1/auctioneers", &json!({ "customer": customer, "name": DEMO_NAME })).await?;
    let auctioneer = auctioneer.text("/uuid")?.to_owned();
    Ok(DemoCustomer { customer, auctioneer, application, endpoint })
}
