//! What a rig works on: a store, a launch of the real binary, a customer that is set up, and a receiver.

use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;

use clap::ValueEnum;
use consumer::{Api, Receiver};
use contract::event::EventType;
use outbound::{AddressPolicy, Client, ClientConfig};
use runtime::clock::{SharedClock, SystemClock};
use serde_json::json;
use testkit::server::{Launch, Server, built_binary};

use crate::RigError;

/// Which database engine the server uses.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Engine {
    Sqlite,
    Postgres,
}

/// Everything around the server. The receiver and the data outlive any number of servers.
pub(crate) struct Site {
    pub(crate) launch: Launch,
    pub(crate) http: Client,
    pub(crate) clock: SharedClock,
    pub(crate) receiver: Receiver,
    pub(crate) platform: Api,
    pub(crate) provider: Api,
    pub(crate) customer: String,
    pub(crate) auctioneer: String,
    pub(crate) application: String,
    _data: tempfile::TempDir,
}

impl Site {
    /// Sets a customer up, as support does it, on a fresh store; the server that it was done with runs on.
    pub(crate) async fn set_up(engine: Engine, settings: &[(&str, &str)]) -> Result<(Self, Server), RigError> {
        let data = tempfile::tempdir()?;
        let mut launch = Launch::new(built_binary("lotwire")?, data.path())?;
        if engine == Engine::Postgres {
            launch = launch.database(&testkit::postgres::fresh_database().await?);
        }
        launch = launch.set("SECRETS__KEY", &"5a".repeat(32));
        for (key, value) in settings {
            launch = launch.set(key, value);
        }
        let clock: SharedClock = Arc::new(SystemClock);
        let http = Client::new(ClientConfig { policy: AddressPolicy::any(), ..ClientConfig::default() });
        let receiver = Receiver::bind(SocketAddr::from((Ipv4Addr::LOCALHOST, 0)), clock.clone()).await?;

        let text = |value: serde_json::Value, name: &str| value[name].as_str().unwrap_or_default().to_owned();
        let account = text(launch.manage(&["provider", "account", "create", "Rig", "--json"])?, "id");
        let provider_key = text(
            launch.manage(&["provider", "key", "create", "--account", &account, "--name", "rig", "--json"])?,
            "key",
        );
        let staff_key = text(launch.manage(&["key", "create", "--name", "rig", "--scope", "all", "--json"])?, "key");
        let server = launch.start(&http).await?;

        let provider = Api::new(http.clone(), launch.provider_url(), &provider_key)?;
        let application = provider.post("/api/v1/app/", &json!({ "name": "Rig" })).await?.text("/id")?.to_owned();
        for event_type in EventType::ALL {
            let definition = serde_json::to_value(contract::event_type::definition(*event_type))?;
            provider.post("/api/v1/event-type/", &definition).await?;
        }
        let endpoint = provider
            .post(&format!("/api/v1/app/{application}/endpoint/"), &json!({ "url": receiver.url() }))
            .await?
            .text("/id")?
            .to_owned();
        let secret = provider.get(&format!("/api/v1/app/{application}/endpoint/{endpoint}/secret/")).await?;
        receiver.set_secret(secret.text("/key")?)?;

        let platform = Api::new(http.clone(), launch.platform_url(), &staff_key)?;
        let customer = platform.post("/api/v1/customers", &json!({ "name": "Rig" })).await?.text("/uuid")?.to_owned();
        let credentials =
            json!({ "providerUrl": launch.provider_url(), "applicationId": application, "apiKey": provider_key });
        platform.put(&format!("/api/v1/customers/{customer}/consumer"), &credentials).await?;
        let auctioneer = json!({ "customer": customer, "name": "Rig" });
        let auctioneer = platform.post("/api/v1/auctioneers", &auctioneer).await?.text("/uuid")?.to_owned();
        let site =
            Site { launch, http, clock, receiver, platform, provider, customer, auctioneer, application, _data: data };
        Ok((site, server))
    }
}
