//! Acceptance: many messages, one transaction, and on in memory.

use std::sync::Arc;

use kit_runtime::seldom::Seldom;

use super::Shared;
use super::lane::Place;
use super::lane_state::Work;
use super::nodes::Holder;
use crate::model::{AttemptTrigger, Id, Message};
use crate::ordering::{DeliveryOrder, OrderingKey};
use crate::payload::StoredPayload;
use crate::port::{IdempotentAnswer, NewDelivery, NewMessage, RowKind, StoreError, StoreResult};
use crate::snapshot::Snapshot;
use crate::target::Target;

/// While the database is away, each batch would say it.
static REFUSED: Seldom = Seldom::new();

/// A message on its way to disk, which is handed from queue to queue.
pub(super) struct Pending(Box<Routed>);

/// A message with the places that its deliveries have in their lanes.
struct Routed {
    message: NewMessage,
    payload: StoredPayload,
    purges: i64,
    /// In which line its rows wait that have no place.
    kind: RowKind,
    places: Vec<(Id, Option<Place>)>,
    holder: Option<Holder>,
}

impl Pending {
    /// Routes a message to the targets that receive it, and reserves the room for its deliveries before anything is written.
    pub(super) fn new(
        shared: &Arc<Shared>,
        snapshot: &Snapshot,
        message: Message,
        key: Option<&OrderingKey>,
        answer: Option<IdempotentAnswer>,
        trigger: AttemptTrigger,
        receives: impl Fn(&Target, &Message) -> bool,
    ) -> Self {
        let (holder, payload) = (shared.names.current(), message.payload.clone().unwrap_or_default());
        let mut places = Vec::new();
        let mut deliveries = Vec::new();
        let sent_with = key.cloned();
        let kind = match trigger {
            AttemptTrigger::Manual => RowKind::Manual,
            AttemptTrigger::Scheduled => RowKind::First,
        };
        for target in snapshot.targets.values().filter(|target| receives(target, &message)) {
            let key = key.filter(|_| target.ordering == DeliveryOrder::PerKey);
            // What is to be delivered later, after others of its key, or before all of them, waits in the table.
            let is_next = kind == RowKind::First && key.is_none() && message.deliver_at.is_none();
            let at_once = holder.as_ref().filter(|_| is_next);
            let place = at_once.and_then(|_| shared.lanes.reserve(shared, &message.application, target, payload.len()));
            let owner = if place.is_some() { holder.as_deref().cloned() } else { None };
            deliveries.push(NewDelivery { endpoint: target.endpoint.clone(), owner, key: key.cloned(), trigger });
            places.push((target.endpoint.clone(), place));
        }
        let application_version = snapshot.application.version;
        let message = NewMessage { message, application_version, deliveries, key: sent_with, answer };
        Self(Box::new(Routed { message, payload, purges: snapshot.application.purges, kind, places, holder }))
    }
}

/// Writes a batch and hands on what is on disk. This runs to its end whether or not the callers still wait.
pub(super) async fn accept(shared: Arc<Shared>, pending: Vec<Pending>) -> Vec<StoreResult<()>> {
    let mut messages = Vec::with_capacity(pending.len());
    let mut handed_on = Vec::with_capacity(pending.len());
    for Pending(routed) in pending {
        let Routed { message, payload, purges, kind, places, holder } = *routed;
        let wanted_at = message.message.created_at;
        let ids = (message.message.id.clone(), message.message.application.clone());
        handed_on.push((ids, wanted_at, (payload, purges), kind, places, holder));
        messages.push(message);
    }
    let count = messages.len();
    shared.metrics.accept_batch(count);
    let results = match shared.context.store.accept(messages, shared.context.clock.now()).await {
        Ok(results) if results.len() == count => results,
        Ok(_) => return failed(&shared, count, "the store answered for another number of messages"),
        Err(error) => return failed(&shared, count, &error.to_string()),
    };
    let (now, since) = (shared.context.clock.now(), shared.context.clock.monotonic());
    for (result, ((message, application), wanted_at, (payload, purges), kind, places, holder)) in
        results.iter().zip(handed_on)
    {
        if let Err(error) = result {
            // Of those that the store can't have written, the places are simply free again.
            if matches!(error, StoreError::Unavailable(_) | StoreError::Corrupt(_)) {
                shared.names.doubt();
            }
            continue;
        }
        // The request is answered now. What waits here for a delivery is counted by its lane, and no longer as a part of that.
        let waits = places.iter().any(|(_, place)| place.is_some());
        let payload = if waits { payload.apart() } else { payload };
        for (endpoint, place) in places {
            match (place, &holder) {
                (Some(place), Some(holder)) => {
                    let holder = Arc::clone(holder);
                    let (message, payload, trigger) = (message.clone(), payload.clone(), AttemptTrigger::Scheduled);
                    let wanted_at = Some(wanted_at);
                    let work =
                        Work { message, payload, purges, attempts: 0, key: None, trigger, holder, since, wanted_at };
                    place.fill(&shared, work, now);
                }
                _ => shared.lanes.look_in_table(&shared, &application, &endpoint, &[kind]),
            }
        }
    }
    if shared.is_draining() {
        for lane in shared.lanes.all() {
            lane.give_back().await;
        }
    }
    results
}

/// Whether it was written is not known: if it was, its rows are found again under the name in doubt.
fn failed(shared: &Shared, count: usize, reason: &str) -> Vec<StoreResult<()>> {
    shared.names.doubt();
    if let Some(kept_back) = REFUSED.may() {
        tracing::warn!(messages = count, reason, kept_back, "messages could not be accepted");
    }
    (0..count).map(|_| Err(StoreError::Unavailable(reason.to_owned()))).collect()
}
