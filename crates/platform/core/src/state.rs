//! The platform as one value that every surface and worker holds.

use std::sync::Arc;

use jiff::Timestamp;
use kit_runtime::clock::SharedClock;
use kit_runtime::ids::Ids;
use kit_runtime::random::SharedRandom;
use kit_runtime::signal::Signal;
use kit_runtime::tasks::Tasks;
use kit_runtime::vault::Vault;

use crate::access::KeyCache;
use crate::bidders::{KnownBidders, Turns};
use crate::config::PlatformConfig;
use crate::lines::Lines;
use crate::live::Live;
use crate::metrics::Metrics;
use crate::people::Doorkeeper;
use crate::port::{ApiKey, NodeId, Store};
use crate::publisher::{Publisher, PublisherParts};

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
    pub client: kit_outbound::Client,
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
    client: kit_outbound::Client,
    config: PlatformConfig,
    publisher: Publisher,
    live: Live,
    /// Somebody set an end that may be earlier than the one the timer sleeps until.
    ends_moved: Signal,
    /// The clock of a sandbox auction was given a target.
    clocks_moved: Signal,
    /// The items of an auction begin to follow it.
    leads_moved: Signal,
    keys: KeyCache<ApiKey>,
    doorkeeper: Doorkeeper,
    /// Bids of bidders with a spending limit come one after the other.
    turns: Turns,
    /// Decisions that lost against others are made again one after the other.
    again: Turns,
    /// Registrations that need not be read again for each bid.
    known_bidders: KnownBidders,
    /// Who waits to decide about which item.
    lines: Lines,
    metrics: Arc<Metrics>,
}

impl Platform {
    /// A platform that answers, and does nothing by itself: see [`Platform::spawn_workers`].
    pub fn new(parts: PlatformParts) -> Self {
        let PlatformParts { store, clock, random, vault, client, config } = parts;
        let ids = Ids::new(Arc::clone(&clock), Arc::clone(&random));
        let metrics = Arc::new(Metrics::new());
        let publishing = PublisherParts {
            store: Arc::clone(&store),
            clock: Arc::clone(&clock),
            random: Arc::clone(&random),
            vault: Arc::clone(&vault),
            client: client.clone(),
            config: config.publisher.clone(),
            metrics: Arc::clone(&metrics),
        };
        let publisher = Publisher::new(publishing, NodeId(ids.uuid_v7()));
        let live = Live::new(Arc::clone(&store), Arc::clone(&clock), ids.clone(), config.live.clone(), config.nodes);
        let keys = KeyCache::new(config.key_cache_max, config.key_cache_ttl);
        let doorkeeper = Doorkeeper::new(&config);
        let (ends_moved, clocks_moved) = (Signal::new(), Signal::new());
        let inner = Inner {
            store,
            clock,
            random,
            ids,
            vault,
            client,
            config,
            publisher,
            live,
            ends_moved,
            clocks_moved,
            leads_moved: Signal::new(),
            keys,
            doorkeeper,
            turns: Turns::new(),
            again: Turns::new(),
            known_bidders: KnownBidders::default(),
            lines: Lines::default(),
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
        self.spawn_leads(tasks);
        self.spawn_upkeep(tasks);
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

    pub(crate) fn client(&self) -> &kit_outbound::Client {
        &self.inner.client
    }

    pub(crate) fn publisher(&self) -> &Publisher {
        &self.inner.publisher
    }

    pub(crate) fn live(&self) -> &Live {
        &self.inner.live
    }

    pub(crate) fn ends_moved(&self) -> &Signal {
        &self.inner.ends_moved
    }

    pub(crate) fn clocks_moved(&self) -> &Signal {
        &self.inner.clocks_moved
    }

    pub(crate) fn leads_moved(&self) -> &Signal {
        &self.inner.leads_moved
    }

    pub(crate) fn again(&self) -> &Turns {
        &self.inner.again
    }

    pub(crate) fn turns(&self) -> &Turns {
        &self.inner.turns
    }

    pub(crate) fn known_bidders(&self) -> &KnownBidders {
        &self.inner.known_bidders
    }

    pub(crate) fn lines(&self) -> &Lines {
        &self.inner.lines
    }

    pub(crate) fn keys(&self) -> &KeyCache<ApiKey> {
        &self.inner.keys
    }

    pub(crate) fn doorkeeper(&self) -> &Doorkeeper {
        &self.inner.doorkeeper
    }
}

#[cfg(test)]
mod tests {
    use std::future::Future;

    use super::*;
    use crate::auctions::{CreatedAuction, NewAuction};
    use crate::bids::{NewBid, PlacedBid};
    use crate::ring::{ClerkCommand, CommandDone, RingVersion};
    use crate::{Answering, Caller};

    fn sendable<F: Future + Send>(future: F) -> F {
        future
    }

    /// Never called: that it compiles is what servers need, which move futures between threads.
    #[expect(dead_code, reason = "checked by the compiler")]
    fn use_cases_can_move_between_threads(
        platform: &Platform,
        caller: &Caller,
        (auction, bid, command): (&NewAuction, &NewBid, &ClerkCommand),
        answers: (Answering<'_, CreatedAuction>, Answering<'_, PlacedBid>, Answering<'_, CommandDone>),
    ) {
        let id = uuid::Uuid::nil();
        drop(sendable(platform.create_auction(caller, auction, Some(answers.0))));
        drop(sendable(platform.place_bid(caller, id, bid, None, Some(answers.1))));
        let seen = RingVersion { auction: 1, item: 0 };
        drop(sendable(platform.clerk(caller, id, command, seen, Some(answers.2))));
        drop(sendable(platform.authenticate("lw_")));
    }
}
