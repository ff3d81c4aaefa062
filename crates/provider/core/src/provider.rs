//! [`Provider`]: the shared context of all use cases, which are its methods.

use std::sync::Arc;

use jiff::Timestamp;
use kit_identity::passwords::Passwords;
use kit_runtime::clock::SharedClock;
use kit_runtime::metrics::ReadingCache;
use kit_runtime::random::{Random, SharedRandom};
use kit_runtime::vault::Vault;

use crate::config::ProviderConfig;
use crate::dispatcher::snapshot::Snapshots;
use crate::dispatcher::{Dispatcher, Transport};
use crate::error::ProviderResult;
use crate::ids::Ids;
use crate::node_state::api_key_cache::ApiKeyCache;
use crate::node_state::failed_auth_limit::FailedAuthLimiter;
use crate::node_state::rate_limit::RateLimiters;
use crate::node_state::retention_counts::RetentionCounters;
use crate::node_state::store_counts::StoreCounts;
use crate::node_state::unknown_types::UnknownTypes;
use crate::node_state::url_check_limits::UrlChecks;
use crate::payload_schemas::PayloadSchemas;
use crate::port::Store;

/// The delivery provider. Clones share their state.
#[derive(Clone)]
pub struct Provider(Arc<Inner>);

/// The parts that a provider is built from.
pub struct ProviderParts {
    /// The store.
    pub store: Arc<dyn Store>,
    /// The clock.
    pub clock: SharedClock,
    /// Random numbers for keys, secrets, ids and jitter.
    pub random: SharedRandom,
    /// Seals signing secrets.
    pub vault: Arc<Vault>,
    /// Sends deliveries: a [`kit_outbound::Client`] with the address policy of the configuration.
    pub transport: Arc<dyn Transport>,
    /// Settings.
    pub config: ProviderConfig,
}

struct Inner {
    store: Arc<dyn Store>,
    clock: SharedClock,
    random: SharedRandom,
    vault: Arc<Vault>,
    config: ProviderConfig,
    ids: Ids,
    api_key_cache: ApiKeyCache,
    rate_limiters: RateLimiters,
    failed_auth_limiter: FailedAuthLimiter,
    payload_schemas: PayloadSchemas,
    unknown_types: UnknownTypes,
    snapshots: Arc<Snapshots>,
    dispatcher: Dispatcher,
    retention_counters: RetentionCounters,
    store_counts: ReadingCache<StoreCounts>,
    url_checks: UrlChecks,
    passwords: Passwords,
}

impl Provider {
    /// A provider that accepts messages. Deliveries begin with [`Provider::spawn_workers`]; until then they wait in the
    /// store. Must be called on a tokio runtime.
    pub fn new(parts: ProviderParts) -> Self {
        let ProviderParts { store, clock, random, vault, transport, config } = parts;
        let ids = Ids::new(Arc::clone(&clock), Arc::clone(&random));
        let snapshots =
            Arc::new(Snapshots::new(Arc::clone(&store), Arc::clone(&vault), Arc::clone(&clock), config.cache_for));
        let dispatcher = Dispatcher::new(crate::dispatcher::Context {
            store: Arc::clone(&store),
            clock: Arc::clone(&clock),
            random: Arc::clone(&random),
            ids: ids.clone(),
            snapshots: Arc::clone(&snapshots),
            transport: Arc::clone(&transport),
            config: config.clone(),
        });
        let clock_start = clock.monotonic();
        Self(Arc::new(Inner {
            store,
            rate_limiters: RateLimiters::new(clock.monotonic()),
            failed_auth_limiter: FailedAuthLimiter::default(),
            payload_schemas: PayloadSchemas::new(config.cache_for),
            unknown_types: UnknownTypes::default(),
            clock,
            random,
            vault,
            api_key_cache: ApiKeyCache::new(config.cache_for),
            passwords: Passwords::new(config.identity.passwords_at_once_max, config.identity.passwords_waiting_max),
            config,
            ids,
            snapshots,
            dispatcher,
            retention_counters: RetentionCounters::default(),
            store_counts: ReadingCache::default(),
            url_checks: UrlChecks::new(transport, RateLimiters::new(clock_start)),
        }))
    }

    /// Base addresses of the nodes that are alive, at most `limit`.
    pub async fn node_addresses(&self, limit: usize) -> ProviderResult<Vec<String>> {
        let now = self.store().database_time().await?.unwrap_or_else(|| self.now());
        Ok(self.store().node_addresses(now - self.config().node_dead_after, limit).await?)
    }

    /// `Ok` when the provider can accept messages: it is not shutting down, attempts are being recorded, and the store
    /// can be read and written.
    pub async fn ping(&self) -> ProviderResult<()> {
        self.dispatcher().check_open()?;
        self.dispatcher().check_recording()?;
        Ok(self.store().ping().await?)
    }

    /// Begins the graceful shutdown: new messages are rejected with 503, and [`Provider::ping`] fails. Attempts under
    /// way continue.
    pub fn refuse_messages(&self) {
        self.dispatcher().refuse();
    }

    /// Releases the deliveries that were still under way when the workers were stopped, so that other nodes take them
    /// at once.
    pub async fn release_node(&self) {
        self.dispatcher().release_node().await;
    }

    pub(crate) fn now(&self) -> Timestamp {
        self.0.clock.now()
    }

    pub(crate) fn store(&self) -> &dyn Store {
        &*self.0.store
    }

    pub(crate) fn clock(&self) -> &SharedClock {
        &self.0.clock
    }

    pub(crate) fn random(&self) -> &dyn Random {
        &*self.0.random
    }

    pub(crate) fn vault(&self) -> &Vault {
        &self.0.vault
    }

    /// Settings.
    pub fn config(&self) -> &ProviderConfig {
        &self.0.config
    }

    pub(crate) fn ids(&self) -> &Ids {
        &self.0.ids
    }

    pub(crate) fn api_key_cache(&self) -> &ApiKeyCache {
        &self.0.api_key_cache
    }

    pub(crate) fn rate_limiters(&self) -> &RateLimiters {
        &self.0.rate_limiters
    }

    pub(crate) fn failed_auth_limiter(&self) -> &FailedAuthLimiter {
        &self.0.failed_auth_limiter
    }

    pub(crate) fn unknown_types(&self) -> &UnknownTypes {
        &self.0.unknown_types
    }

    pub(crate) fn payload_schemas(&self) -> &PayloadSchemas {
        &self.0.payload_schemas
    }

    pub(crate) fn snapshots(&self) -> &Snapshots {
        &self.0.snapshots
    }

    pub(crate) fn retention_counters(&self) -> &RetentionCounters {
        &self.0.retention_counters
    }

    pub(crate) fn store_counts_cache(&self) -> &ReadingCache<StoreCounts> {
        &self.0.store_counts
    }

    pub(crate) fn url_checks(&self) -> &UrlChecks {
        &self.0.url_checks
    }

    pub(crate) fn passwords(&self) -> &Passwords {
        &self.0.passwords
    }

    pub(crate) fn dispatcher(&self) -> &Dispatcher {
        &self.0.dispatcher
    }
}
