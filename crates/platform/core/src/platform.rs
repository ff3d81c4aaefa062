//! The platform as one value, which every surface and worker holds.

use std::sync::Arc;

use jiff::Timestamp;
use kit_runtime::clock::SharedClock;
use kit_runtime::ids::Ids;
use kit_runtime::random::SharedRandom;
use kit_runtime::signal::Signal;
use kit_runtime::tasks::Tasks;
use kit_runtime::vault::Vault;

use crate::access::CredentialCache;
use crate::bidders::{RegistrationCache, StripedLocks};
use crate::bidding::item_queue::ItemQueues;
use crate::config::PlatformConfig;
use crate::customers::provider_access::ProviderAccess;
use crate::live::Live;
use crate::metrics::Metrics;
use crate::people::SignInState;
use crate::port::{ApiKey, NodeId, Store};
use crate::publishing::{Publisher, PublisherParts};

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
    /// Reaches providers.
    pub providers: ProviderAccess,
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
    providers: ProviderAccess,
    config: PlatformConfig,
    publisher: Publisher,
    live: Live,
    /// A command set an end that may be earlier than the one that the timer sleeps until.
    ends_changed: Signal,
    /// The clock of a sandbox auction was given a target.
    clocks_advanced: Signal,
    /// The items of an auction begin to follow it.
    bulk_changes_begun: Signal,
    api_key_cache: CredentialCache<ApiKey>,
    sign_in_state: SignInState,
    /// Bids of bidders with a spending limit come one after the other.
    bidder_locks: StripedLocks,
    /// Decisions that lost against others are made again one after the other.
    retry_locks: StripedLocks,
    /// Registrations that need not be read again for each bid.
    registration_cache: RegistrationCache,
    /// Who waits to decide about which item.
    item_queues: ItemQueues,
    metrics: Arc<Metrics>,
}

impl Platform {
    /// A platform that answers, and does nothing by itself: see [`Platform::spawn_workers`].
    pub fn new(parts: PlatformParts) -> Self {
        let PlatformParts { store, clock, random, vault, providers, config } = parts;
        let ids = Ids::new(Arc::clone(&clock), Arc::clone(&random));
        let metrics = Arc::new(Metrics::new());
        let publishing = PublisherParts {
            store: Arc::clone(&store),
            clock: Arc::clone(&clock),
            random: Arc::clone(&random),
            vault: Arc::clone(&vault),
            providers: providers.clone(),
            config: config.publisher.clone(),
            metrics: Arc::clone(&metrics),
        };
        let publisher = Publisher::new(publishing, NodeId(ids.uuid_v7()));
        let live = Live::new(Arc::clone(&store), Arc::clone(&clock), ids.clone(), config.live.clone(), config.nodes);
        let api_key_cache = CredentialCache::new(config.key_cache_max, config.key_cache_ttl);
        let sign_in_state = SignInState::new(&config);
        let (ends_changed, clocks_advanced) = (Signal::new(), Signal::new());
        let inner = Inner {
            store,
            clock,
            random,
            ids,
            vault,
            providers,
            config,
            publisher,
            live,
            ends_changed,
            clocks_advanced,
            bulk_changes_begun: Signal::new(),
            api_key_cache,
            sign_in_state,
            bidder_locks: StripedLocks::new(),
            retry_locks: StripedLocks::new(),
            registration_cache: RegistrationCache::default(),
            item_queues: ItemQueues::default(),
            metrics,
        };
        Self { inner: Arc::new(inner) }
    }

    /// Starts what the platform does by itself: ending items, publishing, saying that this node lives, forgetting old
    /// answers. Once for each platform. A process without them (a management command) leaves that work to others.
    pub fn spawn_workers(&self, tasks: &Tasks) {
        self.spawn_publisher(tasks);
        self.spawn_timers(tasks);
        self.spawn_clocks(tasks);
        self.spawn_bulk_changes(tasks);
        self.spawn_answer_expiry(tasks);
        self.spawn_live(tasks);
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

    pub(crate) fn clock(&self) -> &SharedClock {
        &self.inner.clock
    }

    pub(crate) fn random(&self) -> &SharedRandom {
        &self.inner.random
    }

    pub(crate) fn ids(&self) -> &Ids {
        &self.inner.ids
    }

    pub(crate) fn metrics(&self) -> &Metrics {
        &self.inner.metrics
    }

    pub(crate) fn vault(&self) -> &Vault {
        &self.inner.vault
    }

    pub(crate) fn provider_access(&self) -> &ProviderAccess {
        &self.inner.providers
    }

    pub(crate) fn publisher(&self) -> &Publisher {
        &self.inner.publisher
    }

    pub(crate) fn live(&self) -> &Live {
        &self.inner.live
    }

    pub(crate) fn ends_changed(&self) -> &Signal {
        &self.inner.ends_changed
    }

    pub(crate) fn clocks_advanced(&self) -> &Signal {
        &self.inner.clocks_advanced
    }

    pub(crate) fn bulk_changes_begun(&self) -> &Signal {
        &self.inner.bulk_changes_begun
    }

    pub(crate) fn retry_locks(&self) -> &StripedLocks {
        &self.inner.retry_locks
    }

    pub(crate) fn bidder_locks(&self) -> &StripedLocks {
        &self.inner.bidder_locks
    }

    pub(crate) fn registration_cache(&self) -> &RegistrationCache {
        &self.inner.registration_cache
    }

    pub(crate) fn item_queues(&self) -> &ItemQueues {
        &self.inner.item_queues
    }

    pub(crate) fn api_key_cache(&self) -> &CredentialCache<ApiKey> {
        &self.inner.api_key_cache
    }

    pub(crate) fn sign_in_state(&self) -> &SignInState {
        &self.inner.sign_in_state
    }
}

#[cfg(test)]
mod tests {
    use std::future::Future;

    use super::*;
    use crate::bidding::bids::{NewBid, PlacedBid};
    use crate::ring::{ClerkCommand, ClerkCommandResult, RingVersion};
    use crate::sales::auctions::{CreatedAuction, NewAuction};
    use crate::{Caller, IdempotentRequest};

    fn sendable<F: Future + Send>(future: F) -> F {
        future
    }

    /// Never called: that it compiles is what servers need, which move futures between threads.
    #[expect(dead_code, reason = "checked by the compiler")]
    fn use_cases_can_move_between_threads(
        platform: &Platform,
        caller: &Caller,
        (auction, bid, command): (&NewAuction, &NewBid, &ClerkCommand),
        answers: (
            IdempotentRequest<'_, CreatedAuction>,
            IdempotentRequest<'_, PlacedBid>,
            IdempotentRequest<'_, ClerkCommandResult>,
        ),
    ) {
        let id = uuid::Uuid::nil();
        drop(sendable(platform.create_auction(caller, auction, Some(answers.0))));
        drop(sendable(platform.place_bid(caller, id, bid, None, Some(answers.1))));
        let seen = RingVersion { auction: 1, item: 0 };
        drop(sendable(platform.clerk(caller, id, command, seen, Some(answers.2))));
        drop(sendable(platform.authenticate("lw_")));
    }
}
