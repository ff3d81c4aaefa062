//! Cache of snapshots. A snapshot is an application with its endpoints at one time; messages are routed and delivered
//! with it.
//!
//! A change on this node, and a signal of a change on another node, removes the snapshot. The store rejects a message
//! that was routed with a stale snapshot ([`crate::port::StoreError::Conflict`]), and it is routed again. One caller at
//! a time reads a shard's snapshot from the store; others wait for the result.

use std::sync::{Arc, PoisonError, RwLock};
use std::time::{Duration, Instant};

use foldhash::HashMap;
use kit_runtime::clock::SharedClock;
use kit_runtime::vault::Vault;

use crate::dispatcher::target::Target;
use crate::ids;
use crate::model::{Application, Id};
use crate::port::{Store, StoreResult};

const SHARDS: usize = 16;
const APPLICATIONS_MAX: usize = 2_048;
const UIDS_MAX: usize = 32_768;

/// An application and the targets of its endpoints.
pub(crate) struct Snapshot {
    pub(crate) application: Application,
    pub(crate) targets: HashMap<Id, Arc<Target>>,
    /// The time before the read: the snapshot is at least as new.
    pub(crate) loaded_at: Instant,
}

pub(crate) struct Snapshots {
    store: Arc<dyn Store>,
    vault: Arc<Vault>,
    clock: SharedClock,
    max_age: Duration,
    shards: [Shard; SHARDS],
    /// `account/uid` to application id. A lookup is valid only if the application's snapshot has the same uid. Callers
    /// choose uids, so the map uses the standard library's keyed hash, which resists chosen collisions.
    uids: RwLock<std::collections::HashMap<Box<str>, Id>>,
}

#[derive(Default)]
struct Shard {
    /// Locked while an application of the shard is read from the store.
    loading: tokio::sync::Mutex<()>,
    state: RwLock<ShardState>,
}

#[derive(Default)]
struct ShardState {
    /// Incremented by each invalidation, so that a snapshot that was read before it is not inserted after it.
    generation: u64,
    snapshots: HashMap<Id, Arc<Snapshot>>,
}

impl Snapshots {
    pub(crate) fn new(store: Arc<dyn Store>, vault: Arc<Vault>, clock: SharedClock, max_age: Duration) -> Self {
        Self { store, vault, clock, max_age, shards: Default::default(), uids: RwLock::default() }
    }

    /// The snapshot of the account's application with this id or uid.
    pub(crate) async fn of_caller(&self, account: &str, id_or_uid: &str) -> StoreResult<Option<Arc<Snapshot>>> {
        if ids::is_id(id_or_uid, ids::APPLICATION) {
            let snapshot = self.get(id_or_uid).await?;
            return Ok(snapshot.filter(|snapshot| snapshot.is(account, id_or_uid)));
        }
        let uid = format!("{account}/{id_or_uid}");
        let known = self.uids.read().unwrap_or_else(PoisonError::into_inner).get(uid.as_str()).cloned();
        let snapshot = known.as_ref().and_then(|id| self.fresh(id)).filter(|snapshot| snapshot.is(account, id_or_uid));
        match snapshot {
            Some(snapshot) => Ok(Some(snapshot)),
            // Boxed, as in `get`.
            None => Box::pin(self.of_uid(account, id_or_uid, uid, known)).await,
        }
    }

    /// The snapshot of an application by its uid. `known` is the cached id of the uid.
    async fn of_uid(
        &self,
        account: &str,
        id_or_uid: &str,
        uid: String,
        known: Option<Id>,
    ) -> StoreResult<Option<Arc<Snapshot>>> {
        if let Some(id) = known
            && let Some(snapshot) = self.get(&id).await?
            && snapshot.is(account, id_or_uid)
        {
            return Ok(Some(snapshot));
        }
        let Some(application) = self.store.application(account, id_or_uid).await? else { return Ok(None) };
        let snapshot = self.get(&application.id).await?;
        let mut uids = self.uids.write().unwrap_or_else(PoisonError::into_inner);
        if uids.len() >= UIDS_MAX {
            uids.clear();
        }
        uids.insert(uid.into(), application.id);
        Ok(snapshot)
    }

    pub(crate) async fn get(&self, application: &str) -> StoreResult<Option<Arc<Snapshot>>> {
        match self.fresh(application) {
            Some(snapshot) => Ok(Some(snapshot)),
            // Boxed, because the load is rare and would enlarge the future of every caller.
            None => Box::pin(self.load(application)).await,
        }
    }

    async fn load(&self, application: &str) -> StoreResult<Option<Arc<Snapshot>>> {
        let shard = self.shard(application);
        let _loading = shard.loading.lock().await;
        if let Some(snapshot) = self.fresh(application) {
            return Ok(Some(snapshot));
        }
        let generation = shard.state.read().unwrap_or_else(PoisonError::into_inner).generation;
        // Taken before the read.
        let loaded_at = self.clock.monotonic();
        let Some((application, endpoints)) = self.store.snapshot(application).await? else { return Ok(None) };
        let targets = endpoints.into_iter().map(|endpoint| {
            let target = Target::new(&self.vault, &application, endpoint);
            (target.endpoint.clone(), Arc::new(target))
        });
        let targets = targets.collect();
        let snapshot = Arc::new(Snapshot { application, targets, loaded_at });
        let mut state = shard.state.write().unwrap_or_else(PoisonError::into_inner);
        if state.generation == generation {
            if state.snapshots.len() >= APPLICATIONS_MAX {
                state.snapshots.clear();
            }
            state.snapshots.insert(snapshot.application.id.clone(), Arc::clone(&snapshot));
        }
        Ok(Some(snapshot))
    }

    /// The snapshot of an application, read at `since` or later.
    pub(crate) async fn get_since(&self, application: &str, since: Instant) -> StoreResult<Option<Arc<Snapshot>>> {
        if let Some(snapshot) = self.fresh(application)
            && snapshot.loaded_at < since
        {
            self.invalidate(application);
        }
        self.get(application).await
    }

    /// Removes the snapshot of a changed application.
    pub(crate) fn invalidate(&self, application: &str) {
        let mut state = self.shard(application).state.write().unwrap_or_else(PoisonError::into_inner);
        state.generation += 1;
        state.snapshots.remove(application);
    }

    /// Removes all snapshots, because another node changed an application.
    pub(crate) fn clear(&self) {
        for shard in &self.shards {
            let mut state = shard.state.write().unwrap_or_else(PoisonError::into_inner);
            state.generation += 1;
            state.snapshots.clear();
        }
    }

    fn fresh(&self, application: &str) -> Option<Arc<Snapshot>> {
        let state = self.shard(application).state.read().unwrap_or_else(PoisonError::into_inner);
        let snapshot = state.snapshots.get(application)?;
        let age = self.clock.monotonic().saturating_duration_since(snapshot.loaded_at);
        (age < self.max_age).then(|| Arc::clone(snapshot))
    }

    fn shard(&self, application: &str) -> &Shard {
        // The last characters of an id are random.
        &self.shards[application.bytes().next_back().map_or(0, usize::from) % SHARDS]
    }
}

impl Snapshot {
    fn is(&self, account: &str, id_or_uid: &str) -> bool {
        let named = *self.application.id == *id_or_uid || self.application.uid.as_deref() == Some(id_or_uid);
        *self.application.account == *account && named
    }
}
