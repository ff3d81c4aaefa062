//! Finds the nodes of the embedded provider for the platform.
//!
//! A node that runs the provider uses its own listener. Another process looks in the data directory, in the provider's
//! table of nodes on PostgreSQL, and at `provider.listen`. It uses only addresses whose server proves that it has the
//! sealing key of this installation, because API keys are sent there.

use std::net::SocketAddr;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use jiff::Timestamp;
use kit_engine::OlderTables;
use kit_outbound::{AddressPolicy, Client, ClientConfig};
use kit_runtime::clock::SharedClock;
use kit_runtime::random::SharedRandom;
use kit_runtime::vault::Vault;
use platform_core::provider_access::{EmbeddedAccounts, EmbeddedProvider};
use provider_core::Provider;
use provider_core::port::StoreResult;
use tokio::sync::Mutex;

use crate::address_file;
use crate::config::{Config, Role, listen_address};
use crate::embedded_accounts::ProviderAccounts;
use crate::server_proof::{self, Server};

/// How long found addresses are used without another look. Short, so that another node is found soon after one dies.
const FOUND_FOR: Duration = Duration::from_secs(2);
/// Maximum number of nodes that are asked for a proof.
const NODES_MAX: usize = 16;

/// See the module.
pub(crate) struct EmbeddedNodes {
    config: Config,
    vault: Arc<Vault>,
    clock: SharedClock,
    random: SharedRandom,
    client: Client,
    own: OnceLock<String>,
    /// The accounts of the provider that this process runs.
    accounts: OnceLock<ProviderAccounts>,
    /// The provider's table of nodes.
    table: NodeTable,
    found: Mutex<Option<(Instant, Vec<String>)>>,
    turn: AtomicUsize,
}

/// Reads the provider's table of nodes; it is opened with the first use.
#[derive(Default)]
struct NodeTable(tokio::sync::OnceCell<Arc<dyn provider_core::port::Store>>);

impl EmbeddedNodes {
    pub(crate) fn new(config: &Config, vault: Arc<Vault>, clock: SharedClock, random: SharedRandom) -> Self {
        let client = Client::new(ClientConfig { policy: AddressPolicy::any(), ..ClientConfig::default() });
        EmbeddedNodes {
            config: config.clone(),
            vault,
            clock,
            random,
            client,
            own: OnceLock::new(),
            accounts: OnceLock::new(),
            table: NodeTable::default(),
            found: Mutex::default(),
            turn: AtomicUsize::new(0),
        }
    }

    /// This process runs this provider, which listens there.
    pub(crate) fn set_own(&self, provider: &Provider, listen: SocketAddr) {
        let _ = self.own.set(listen_address::local_url(listen));
        let _ = self.accounts.set(ProviderAccounts(provider.clone()));
    }

    /// Whose server answers at a base URL.
    pub(crate) async fn identify(&self, role: Role, base: &str) -> Server {
        server_proof::identify(&self.client, &self.vault, self.random.as_ref(), role, base).await
    }

    async fn find(&self) -> Vec<String> {
        let mut candidates: Vec<String> =
            address_file::read(&self.config.data_dir, Role::Provider).into_iter().collect();
        candidates.extend(self.table.addresses(&self.config, self.clock.now()).await);
        candidates.push(self.usual_url());
        let mut urls: Vec<String> = Vec::new();
        for url in candidates.into_iter().take(NODES_MAX) {
            if !urls.contains(&url) {
                urls.push(url);
            }
        }
        // All at the same time: a dead host must not delay the others.
        let asked = urls.iter().map(|url| self.identify(Role::Provider, url));
        let answers = futures_util::future::join_all(asked).await;
        urls.into_iter().zip(answers).filter(|(_, server)| *server == Server::Own).map(|(url, _)| url).collect()
    }
}

impl NodeTable {
    /// Empty with SQLite, where one node at most runs, and if the table can't be read.
    async fn addresses(&self, config: &Config, now: Timestamp) -> Vec<String> {
        if config.database.url.is_empty() {
            return Vec::new();
        }
        let open = || async { provider_store::postgres::open(&config.database.postgres(OlderTables::Refuse)).await };
        let found = match self.0.get_or_try_init(open).await {
            Ok(store) => addresses_of(store.as_ref(), now).await.map_err(|error| error.to_string()),
            Err(error) => Err(error.to_string()),
        };
        found.unwrap_or_else(|error| {
            tracing::warn!(error, "the provider's table of nodes can't be read");
            Vec::new()
        })
    }
}

/// The addresses of living nodes. `now` counts for a store that has no clock of its own.
async fn addresses_of(store: &dyn provider_core::port::Store, now: Timestamp) -> StoreResult<Vec<String>> {
    let now = store.database_time().await?.unwrap_or(now);
    store.node_addresses(now - provider_core::ProviderConfig::default().node_dead_after, NODES_MAX).await
}

#[async_trait::async_trait]
impl EmbeddedProvider for EmbeddedNodes {
    async fn base_urls(&self) -> Vec<String> {
        if let Some(own) = self.own.get() {
            return vec![own.clone()];
        }
        let mut found = self.found.lock().await;
        let now = self.clock.monotonic();
        let mut urls = match found.as_ref() {
            Some((at, urls)) if now.saturating_duration_since(*at) < FOUND_FOR => urls.clone(),
            _ => {
                let urls = self.find().await;
                *found = Some((self.clock.monotonic(), urls.clone()));
                urls
            }
        };
        drop(found);
        // In turn, so that several provider nodes share the requests.
        if !urls.is_empty() {
            let turn = self.turn.fetch_add(1, Ordering::Relaxed) % urls.len();
            urls.rotate_left(turn);
        }
        urls
    }

    fn usual_url(&self) -> String {
        listen_address::local_url(self.config.provider.listen)
    }

    fn accounts(&self) -> Option<&dyn EmbeddedAccounts> {
        self.accounts.get().map(|accounts| accounts as &dyn EmbeddedAccounts)
    }
}
