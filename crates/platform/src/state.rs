//! The platform as one value that every surface and worker holds.

use std::sync::Arc;

use jiff::Timestamp;
use runtime::clock::SharedClock;
use runtime::ids::Ids;
use runtime::random::SharedRandom;
use runtime::signal::Signal;
use runtime::tasks::Tasks;
use runtime::vault::Vault;

use crate::access::KeyCache;
use crate::config::PlatformConfig;
use crate::port::{NodeId, Store};
use crate::publisher::Publisher;

/// What a platform stands on.
pub struct PlatformParts {
    /// Where everything is kept.
    pub store: Arc<dyn Store>,
    /// The time.
    pub clock: SharedClock,
    /// Randomness that is fit for keys.
    pub random: SharedRandom,
    /// Seals provider API keys.
    pub vault: Arc<Vault>,
    /// Reaches providers; its address policy is the operator's.
    pub client: outbound::Client,
    /// Limits and pace.
    pub config: PlatformConfig,
}

/// The platform. Clones are the same one. Use cases are its methods, by subject in the crate's modules.
#[derive(Clone)]
pub struct Platform {
    inner: Arc<Inner>,
}

struct Inner {
    store: Arc<dyn Store>,
    clock: SharedClock,
    random: SharedRandom,
    ids: Ids,
    vault: Arc<Vault>,
    client: outbound::Client,
    config: PlatformConfig,
    publisher: Publisher,
    /// Somebody set an end that may be earlier than the one the timer sleeps until.
    ends_moved: Signal,
    keys: KeyCache,
}

impl Platform {
    /// A platform that answers, and does nothing by itself: see [`Platform::spawn_workers`].
    pub fn new(parts: PlatformParts) -> Self {
        let PlatformParts { store, clock, random, vault, client, config } = parts;
        let ids = Ids::new(Arc::clone(&clock), Arc::clone(&random));
        let publisher = Publisher::new(
            publisher_parts(&store, &clock, &random, &vault, &client, &config),
            NodeId(ids.uuid_v7()),
        );
        let keys = KeyCache::new(config.key_cache_max, config.key_cache_ttl);
        let ends_moved = Signal::new();
        let inner = Inner { store, clock, random, ids, vault, client, config, publisher, ends_moved, keys };
        Self { inner: Arc::new(inner) }
    }

    /// Starts what the platform does by itself: ending items, publishing, saying that this node lives, forgetting old
    /// answers. Once for each platform. A process without them (a management command) leaves that work to others.
    pub fn spawn_workers(&self, tasks: &Tasks) {
        self.spawn_publisher(tasks);
        self.spawn_timers(tasks);
        self.spawn_upkeep(tasks);
    }

    /// The server's time; every answer about an item carries it.
    pub fn now(&self) -> Timestamp {
        self.inner.clock.now()
    }

    /// Limits and pace.
    pub fn config(&self) -> &PlatformConfig {
        &self.inner.config
    }

    /// Answers if the platform can work: its database can be read and written.
    pub async fn ping(&self) -> crate::PlatformResult<()> {
        Ok(self.store().ping().await?)
    }

    pub(crate) fn store(&self) -> &dyn Store {
        self.inner.store.as_ref()
    }

    pub(crate) fn shared_store(&self) -> Arc<dyn Store> {
        Arc::clone(&self.inner.store)
    }

    pub(crate) fn clock(&self) -> &SharedClock {
        &self.inner.clock
    }

    pub(crate) fn random(&self) -> &SharedRandom {
        &self.inner.random
    }

    pub(crate) fn ids(&self) -> &Ids {
        &self.inner.ids
    }

    pub(crate) fn vault(&self) -> &Vault {
        &self.inner.vault
    }

    pub(crate) fn client(&self) -> &outbound::Client {
        &self.inner.client
    }

    pub(crate) fn publisher(&self) -> &Publisher {
        &self.inner.publisher
    }

    pub(crate) fn ends_moved(&self) -> &Signal {
        &self.inner.ends_moved
    }

    pub(crate) fn keys(&self) -> &KeyCache {
        &self.inner.keys
    }
}

fn publisher_parts(
    store: &Arc<dyn Store>,
    clock: &SharedClock,
    random: &SharedRandom,
    vault: &Arc<Vault>,
    client: &outbound::Client,
    config: &PlatformConfig,
) -> crate::publisher::PublisherParts {
    crate::publisher::PublisherParts {
        store: Arc::clone(store),
        clock: Arc::clone(clock),
        random: Arc::clone(random),
        vault: Arc::clone(vault),
        client: client.clone(),
        config: config.publisher.clone(),
    }
}
