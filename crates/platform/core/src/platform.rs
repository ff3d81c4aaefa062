//! The platform as one value, which every surface and worker holds.

use std::sync::Arc;

use jiff::Timestamp;
use kit_outbound::{AddressPolicy, Client, ClientConfig};
use kit_push::ServerKey;
use kit_runtime::clock::SharedClock;
use kit_runtime::ids::Ids;
use kit_runtime::metrics::ReadingCache;
use kit_runtime::random::SharedRandom;
use kit_runtime::signal::Signal;
use kit_runtime::vault::Vault;

use crate::config::PlatformConfig;
use crate::image_decoder::ImageLimits;
use crate::item_queue::ItemQueues;
use crate::live::Live;
use crate::metrics::{Metrics, StoreFigures};
use crate::node_state::catalogue_turns::CatalogueTurns;
use crate::node_state::credential_cache::CredentialCache;
use crate::node_state::end_health::EndHealth;
use crate::node_state::late_bids::LateBids;
use crate::node_state::registration_cache::RegistrationCache;
use crate::node_state::served_domains::ServedDomainCache;
use crate::node_state::sign_in_state::SignInState;
use crate::node_state::striped_locks::StripedLocks;
use crate::node_state::worker_runs::WorkerRuns;
use crate::port::{ApiKey, NodeId, Store};
use crate::provider_access::ProviderAccess;
use crate::publishing::{Publisher, PublisherParts};

/// Separates the key of Web Push from all other uses of the secret key.
const PUSH_KEY_PURPOSE: &str = "web push, server key";

/// The parts that a platform is built from.
pub struct PlatformParts {
    /// The store.
    pub store: Arc<dyn Store>,
    /// The clock.
    pub clock: SharedClock,
    /// Cryptographically secure randomness.
    pub random: SharedRandom,
    /// Seals provider API keys.
    pub vault: Arc<Vault>,
    /// Reaches providers.
    pub providers: ProviderAccess,
    /// Limits and intervals.
    pub config: PlatformConfig,
}

/// The platform. Clones share one platform. Its methods are the use cases, in the modules of their capabilities.
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
    /// Fires when a command sets an end that may be earlier than the next known one.
    ends_changed: Signal,
    /// Fires when an advance of a sandbox clock begins.
    clocks_advanced: Signal,
    /// Fires when a bulk change begins.
    bulk_changes_begun: Signal,
    /// Fires when a mail is queued.
    mails_queued: Signal,
    /// Fires when something happened that bidders may have to know.
    notices_caused: Signal,
    /// Fires when notices were made.
    notices_made: Signal,
    /// Sends to the push services of browsers.
    push_client: Client,
    /// The key by which they know this installation, derived from the secret key, so that all nodes have the same one. It is kept, because
    /// each page shows its public half.
    push_key: Option<ServerKey>,
    api_key_cache: CredentialCache<ApiKey>,
    sign_in_state: SignInState,
    /// Serialise the bids of a bidder with a spending limit.
    bidder_locks: StripedLocks,
    /// Serialise the retries of a customer's commands after version conflicts.
    retry_locks: StripedLocks,
    /// Cache of registrations.
    registration_cache: RegistrationCache,
    /// The domains of houses that are served.
    served_domains: ServedDomainCache,
    /// The command queues of items.
    item_queues: ItemQueues,
    /// Bounds the uploads of images.
    image_limits: ImageLimits,
    /// Bounds the catalogues that are read.
    catalogue_turns: CatalogueTurns,
    /// Internet bids that were refused in the last seconds.
    late_bids: LateBids,
    /// Whether due items can be ended.
    end_health: EndHealth,
    /// The last runs of this node's workers.
    worker_runs: WorkerRuns,
    metrics: Arc<Metrics>,
    /// The figures of the last scrape.
    store_figures: ReadingCache<StoreFigures>,
}

impl Platform {
    /// A platform without background work: see [`Platform::spawn_workers`].
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
            tracer: config.tracer.clone(),
        };
        let publisher = Publisher::new(publishing, NodeId(ids.uuid_v7()));
        let live = Live::new(Arc::clone(&store), Arc::clone(&clock), ids.clone(), config.live.clone(), config.nodes);
        let api_key_cache = CredentialCache::new(config.key_cache_max, config.key_cache_ttl);
        let sign_in_state = SignInState::new(&config);
        let (ends_changed, clocks_advanced) = (Signal::new(), Signal::new());
        let policy = AddressPolicy::public_only(config.push_networks.clone());
        let push_key = ServerKey::from_secret(&vault.derived(PUSH_KEY_PURPOSE));
        let push_client = Client::new(ClientConfig { policy, ..ClientConfig::default() });
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
            mails_queued: Signal::new(),
            notices_caused: Signal::new(),
            notices_made: Signal::new(),
            push_client,
            push_key,
            api_key_cache,
            sign_in_state,
            bidder_locks: StripedLocks::new(),
            retry_locks: StripedLocks::new(),
            registration_cache: RegistrationCache::default(),
            served_domains: ServedDomainCache::default(),
            item_queues: ItemQueues::default(),
            image_limits: ImageLimits::default(),
            catalogue_turns: CatalogueTurns::default(),
            late_bids: LateBids::default(),
            end_health: EndHealth::default(),
            worker_runs: WorkerRuns::default(),
            metrics,
            store_figures: ReadingCache::default(),
        };
        Self { inner: Arc::new(inner) }
    }

    /// The server's time, which every response about an item contains.
    pub fn now(&self) -> Timestamp {
        self.inner.clock.now()
    }

    /// Limits and intervals.
    pub fn config(&self) -> &PlatformConfig {
        &self.inner.config
    }

    /// Checks that the database can be read and written, and that due items have not failed to end for ten seconds.
    /// Responses of providers never count.
    pub async fn ping(&self) -> crate::PlatformResult<()> {
        self.end_health().check(self.clock().monotonic())?;
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

    pub(crate) fn store_figures_cache(&self) -> &ReadingCache<StoreFigures> {
        &self.inner.store_figures
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

    pub(crate) fn mails_queued(&self) -> &Signal {
        &self.inner.mails_queued
    }

    pub(crate) fn notices_made(&self) -> &Signal {
        &self.inner.notices_made
    }

    pub(crate) fn push_key(&self) -> Option<&ServerKey> {
        self.inner.push_key.as_ref()
    }

    pub(crate) fn push_client(&self) -> &Client {
        &self.inner.push_client
    }

    pub(crate) fn notices_caused(&self) -> &Signal {
        &self.inner.notices_caused
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

    pub(crate) fn served_domain_cache(&self) -> &ServedDomainCache {
        &self.inner.served_domains
    }

    pub(crate) fn late_bid_memory(&self) -> &LateBids {
        &self.inner.late_bids
    }

    pub(crate) fn image_limits(&self) -> &ImageLimits {
        &self.inner.image_limits
    }

    pub(crate) fn catalogue_turns(&self) -> &CatalogueTurns {
        &self.inner.catalogue_turns
    }

    pub(crate) fn end_health(&self) -> &EndHealth {
        &self.inner.end_health
    }

    pub(crate) fn worker_runs(&self) -> &WorkerRuns {
        &self.inner.worker_runs
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

    /// Never called. It compiles only if the futures of use cases are `Send`, which servers need.
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
