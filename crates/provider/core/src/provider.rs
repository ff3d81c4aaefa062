//! [`Provider`]: the shared context of all use cases, which are its methods.

use std::sync::Arc;

use jiff::Timestamp;
use kit_runtime::clock::SharedClock;
use kit_runtime::random::{Random, SharedRandom};
use kit_runtime::tasks::Tasks;
use kit_runtime::vault::Vault;

use crate::accounts::api_key_cache::ApiKeyCache;
use crate::accounts::failed_auth_limit::FailedAuthLimiter;
use crate::accounts::rate_limit::RateLimiters;
use crate::config::ProviderConfig;
use crate::dispatcher::snapshot::Snapshots;
use crate::dispatcher::{Dispatcher, Transport};
use crate::error::ProviderResult;
use crate::idempotency::StoredAnswer;
use crate::ids::Ids;
use crate::messages::payload_check::PayloadSchemas;
use crate::messages::retention::RetentionCounters;
use crate::port::Store;
use crate::workers;

/// Maximum number of tries of a change that conflicts with concurrent changes. One change succeeds in each round, so this
/// is also the number of concurrent changes that can all succeed.
pub(crate) const CHANGE_TRIES_MAX: usize = 100;
/// Maximum number of tries of a PUT whose object other callers keep creating and deleting.
pub(crate) const PUT_TRIES_MAX: usize = 10;

/// The delivery provider. Clones share their state.
#[derive(Clone)]
pub struct Provider(Arc<Inner>);

/// The parts that a provider is built from.
pub struct ProviderParts {
    /// The store.
    pub store: Arc<dyn Store>,
    /// The clock.
    pub clock: SharedClock,
    /// Randomness for keys, secrets, ids and jitter.
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
    snapshots: Arc<Snapshots>,
    dispatcher: Dispatcher,
    retention_counters: RetentionCounters,
}

/// What came of making something with a POST.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Created<T> {
    /// It was made: 201.
    New(T),
    /// It was there, and the caller asked for it in that case: 200.
    Existing(T),
    /// The same request was answered before: this, again.
    Replayed(StoredAnswer),
}

/// What came of a PUT.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Put<T> {
    /// There was none: 201.
    Created(T),
    /// It was replaced: 200.
    Updated(T),
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
            transport,
            config: config.clone(),
        });
        Self(Arc::new(Inner {
            store,
            rate_limiters: RateLimiters::new(clock.monotonic()),
            failed_auth_limiter: FailedAuthLimiter::default(),
            payload_schemas: PayloadSchemas::new(config.cache_for),
            clock,
            random,
            vault,
            api_key_cache: ApiKeyCache::new(config.cache_for),
            config,
            ids,
            snapshots,
            dispatcher,
            retention_counters: RetentionCounters::default(),
        }))
    }

    /// Starts delivering, and the workers that look after what waits. They end with `tasks`: deliveries under way are
    /// finished, and what waits in memory is given back to the store.
    pub fn spawn_workers(&self, tasks: &Tasks) {
        workers::spawn(self, tasks);
    }

    /// Base addresses of the nodes that are alive, at most `limit`.
    pub async fn node_addresses(&self, limit: usize) -> ProviderResult<Vec<String>> {
        let alive_since = self.now() - self.config().node_dead_after;
        Ok(self.store().node_addresses(alive_since, limit).await?)
    }

    /// Answers if the provider can take messages: it is not about to end, what was sent is being recorded, and the store can be
    /// read and written.
    pub async fn ping(&self) -> ProviderResult<()> {
        self.dispatcher().check_open()?;
        self.dispatcher().check_recording()?;
        Ok(self.store().ping().await?)
    }

    /// The end is near: nothing is accepted any more (503), and [`Provider::ping`] says so, while what is under way goes on.
    pub fn refuse_messages(&self) {
        self.dispatcher().refuse();
    }

    /// Gives what was still under way when the workers were cut off to other nodes, at once.
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

    pub(crate) fn payload_schemas(&self) -> &PayloadSchemas {
        &self.0.payload_schemas
    }

    pub(crate) fn snapshots(&self) -> &Snapshots {
        &self.0.snapshots
    }

    pub(crate) fn retention_counters(&self) -> &RetentionCounters {
        &self.0.retention_counters
    }

    pub(crate) fn dispatcher(&self) -> &Dispatcher {
        &self.0.dispatcher
    }
}
