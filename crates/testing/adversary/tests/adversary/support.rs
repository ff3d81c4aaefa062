//! Shared by the attacks: launches of the binary, accounts with applications, waits, and measurements of the process.

use std::net::SocketAddr;
use std::path::Path;
use std::time::Duration;

use serde_json::{Value, json};
use testkit::server::{Launch, Server, built_binary};
use testkit::site::http_client;

use crate::call::Api;

/// Host of the salerooms.
pub const SALEROOM_HOST: &str = "saleroom.localhost";

/// Time limit of every wait. It is generous, so that a busy machine does not fail a test.
pub const WAIT_MAX: Duration = Duration::from_secs(120);

/// A launch on SQLite in `data`. Deliveries to this machine are allowed, and no attempt is repeated during a test.
pub fn launch(data: &Path) -> Launch {
    Launch::new(built_binary("lotwire").unwrap(), data)
        .unwrap()
        .set("SECRETS__KEY", &"07".repeat(32))
        .set("PROVIDER__RETRY_SCHEDULE", "20h")
        .set("PLATFORM__PUBLISH_BACKOFF_BASE", "20ms")
        .set("PLATFORM__PUBLISH_BACKOFF_CAP", "200ms")
}

/// A running server with its data directory.
pub struct Running {
    pub launch: Launch,
    pub server: Server,
    data: tempfile::TempDir,
}

impl Running {
    /// A server with these further settings.
    pub async fn new(settings: &[(&str, &str)]) -> Self {
        let data = tempfile::tempdir().unwrap();
        Self::of(settings.iter().fold(launch(data.path()), |launch, (key, value)| launch.set(key, value)), data).await
    }

    /// A server with these further settings and a port for salerooms, and the address of that port.
    pub async fn with_salerooms(settings: &[(&str, &str)]) -> (Self, SocketAddr) {
        let data = tempfile::tempdir().unwrap();
        let launch = settings.iter().fold(launch(data.path()), |launch, (key, value)| launch.set(key, value));
        let port = launch.second_node().unwrap().platform;
        let launch = launch.set("SALEROOM__LISTEN", &port.to_string());
        let launch = launch.set("SALEROOM__PUBLIC_URL", &format!("http://{SALEROOM_HOST}:{}", port.port()));
        (Self::of(launch, data).await, port)
    }

    /// A server on SQLite and one on PostgreSQL, for behaviour that depends on the store.
    pub async fn on_both_stores() -> [Self; 2] {
        let sqlite = Self::new(&[]).await;
        let data = tempfile::tempdir().unwrap();
        let postgres = launch(data.path()).database(&testkit::postgres::fresh_database().await.unwrap());
        [sqlite, Self::of(postgres, data).await]
    }

    pub async fn of(launch: Launch, data: tempfile::TempDir) -> Self {
        let server = launch.start(&http_client()).await.unwrap();
        Running { launch, server, data }
    }

    /// The same installation after a restart, with these further settings.
    pub async fn restarted(self, settings: &[(&str, &str)]) -> Self {
        let launch = settings.iter().fold(self.launch.clone(), |launch, (key, value)| launch.set(key, value));
        Self::of(launch, self.stopped()).await
    }

    /// Stops the server. Returns its data directory.
    pub fn stopped(self) -> tempfile::TempDir {
        let Running { server, data, .. } = self;
        assert!(tokio::task::block_in_place(|| server.stop()).unwrap().success());
        data
    }

    /// The data directory.
    pub fn data(&self) -> &Path {
        self.data.path()
    }

    pub fn platform(&self) -> Api {
        Api::new(self.launch.platform_url())
    }

    pub fn provider(&self) -> Api {
        Api::new(self.launch.provider_url())
    }
}

/// An account of the provider with one application.
#[derive(Clone)]
pub struct Account {
    pub api: Api,
    pub key: String,
    pub application: String,
}

impl Account {
    pub async fn new(running: &Running, name: &str) -> Self {
        let (api, key) = (running.provider(), running.launch.create_provider_key(name).unwrap());
        let application = api.make("post", "/api/v1/app", &key, &json!({ "name": name })).await.text("id");
        Account { api, key, application }
    }

    /// A path below the application.
    pub fn path(&self, rest: &str) -> String {
        format!("/api/v1/app/{}/{rest}", self.application)
    }

    pub async fn endpoint(&self, url: &str) -> String {
        self.api.make("post", &self.path("endpoint"), &self.key, &json!({ "url": url })).await.text("id")
    }

    pub async fn message(&self, payload: Value) -> String {
        let message = json!({ "eventType": "attack.tried", "payload": payload });
        self.api.make("post", &self.path("msg"), &self.key, &message).await.text("id")
    }

    pub async fn get(&self, rest: &str) -> Value {
        self.api.make("get", &self.path(rest), &self.key, &Value::Null).await.body
    }

    /// The attempts of a message, once there are `count`.
    pub async fn attempts(&self, message: &str, count: usize) -> Vec<Value> {
        let path = format!("attempt/msg/{message}?limit=250");
        let found = async || self.get(&path).await["data"].as_array().cloned().unwrap_or_default();
        wait_until(&format!("{count} attempts"), async || found().await.len() >= count).await;
        found().await
    }
}

/// Waits until the condition is true.
pub async fn wait_until(what: &str, condition: impl AsyncFn() -> bool) {
    let polling = async {
        while !condition().await {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    };
    assert!(tokio::time::timeout(WAIT_MAX, polling).await.is_ok(), "in {} s: {what}", WAIT_MAX.as_secs());
}

/// The most memory that the process has had, in MiB.
pub fn peak_memory_mib(process: u32) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{process}/status")).unwrap();
    let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap();
    peak.trim().trim_end_matches("kB").trim().parse::<u64>().unwrap() / 1024
}
