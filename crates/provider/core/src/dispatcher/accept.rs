//! Acceptance: many messages, one transaction, and on in memory.

use std::sync::Arc;

use kit_runtime::log_throttle::LogThrottle;

use super::Shared;
use super::lane::Reservation;
use super::lane_state::QueuedDelivery;
use super::node_leases::NodeLease;
use crate::dispatcher::snapshot::Snapshot;
use crate::dispatcher::target::Target;
use crate::messages::payload::StoredPayload;
use crate::model::{AttemptTrigger, Id, Message};
use crate::ordering::{DeliveryOrder, OrderingKey};
use crate::port::{DeliveryKind, IdempotentAnswer, NewDelivery, NewMessage, StoreError, StoreResult};

/// While the database is away, each batch would say it.
static REFUSED: LogThrottle = LogThrottle::new();

/// A message on its way to disk, which is handed from queue to queue.
pub(super) struct PendingMessage(Box<RoutedMessage>);

/// A message with the reservations that its deliveries have in their lanes.
struct RoutedMessage {
    message: NewMessage,
    payload: StoredPayload,
    purges: i64,
    /// In which line its rows wait that have no reservation.
    kind: DeliveryKind,
    reservations: Vec<(Id, Option<Reservation>)>,
    lease: Option<NodeLease>,
}

impl PendingMessage {
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
        let (lease, payload) = (shared.leases.current(), message.payload.clone().unwrap_or_default());
        let mut reservations = Vec::new();
        let mut deliveries = Vec::new();
        let sent_with = key.cloned();
        let kind = match trigger {
            AttemptTrigger::Manual => DeliveryKind::Manual,
            AttemptTrigger::Scheduled => DeliveryKind::First,
        };
        for target in snapshot.targets.values().filter(|target| receives(target, &message)) {
            let key = key.filter(|_| target.ordering == DeliveryOrder::PerKey);
            // What is to be delivered later, after others of its key, or before all of them, waits in the table.
            let is_next = kind == DeliveryKind::First && key.is_none() && message.deliver_at.is_none();
            let at_once = lease.as_ref().filter(|_| is_next);
            let reservation =
                at_once.and_then(|_| shared.lanes.reserve(shared, &message.application, target, payload.len()));
            let owner = if reservation.is_some() { lease.as_deref().cloned() } else { None };
            deliveries.push(NewDelivery {
                endpoint: target.endpoint.clone(),
                owner,
                ordering_key: key.cloned(),
                trigger,
            });
            reservations.push((target.endpoint.clone(), reservation));
        }
        let application_version = snapshot.application.version;
        let message = NewMessage { message, application_version, deliveries, ordering_key: sent_with, answer };
        Self(Box::new(RoutedMessage {
            message,
            payload,
            purges: snapshot.application.purges,
            kind,
            reservations,
            lease,
        }))
    }
}

/// Writes a batch and hands on what is on disk. This runs to its end whether or not the callers still wait.
pub(super) async fn accept(shared: Arc<Shared>, pending: Vec<PendingMessage>) -> Vec<StoreResult<()>> {
    let mut messages = Vec::with_capacity(pending.len());
    let mut handed_on = Vec::with_capacity(pending.len());
    for PendingMessage(routed) in pending {
        let RoutedMessage { message, payload, purges, kind, reservations, lease } = *routed;
        let requested_at = message.message.created_at;
        let ids = (message.message.id.clone(), message.message.application.clone());
        handed_on.push((ids, requested_at, (payload, purges), kind, reservations, lease));
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
    for (result, ((message, application), requested_at, (payload, purges), kind, reservations, lease)) in
        results.iter().zip(handed_on)
    {
        if let Err(error) = result {
            // Of those that the store can't have written, the reservations are simply free again.
            if matches!(error, StoreError::Unavailable(_) | StoreError::Corrupt(_)) {
                shared.leases.fence();
            }
            continue;
        }
        // The request is answered now. What waits here for a delivery is counted by its lane, and no longer as a part of that.
        let waits = reservations.iter().any(|(_, reservation)| reservation.is_some());
        let payload = if waits { payload.detach() } else { payload };
        for (endpoint, reservation) in reservations {
            match (reservation, &lease) {
                (Some(reservation), Some(lease)) => {
                    let lease = Arc::clone(lease);
                    let (message, payload, trigger) = (message.clone(), payload.clone(), AttemptTrigger::Scheduled);
                    let requested_at = Some(requested_at);
                    let delivery = QueuedDelivery {
                        message,
                        payload,
                        purges,
                        attempts: 0,
                        key: None,
                        trigger,
                        replayed: false,
                        lease,
                        since,
                        requested_at,
                    };
                    reservation.enqueue(&shared, delivery, now);
                }
                _ => shared.lanes.wake_for_rows(&shared, &application, &endpoint, &[kind]),
            }
        }
    }
    if shared.is_draining() {
        for lane in shared.lanes.all() {
            lane.release_queued().await;
        }
    }
    results
}

/// Whether it was written is not known: if it was, its rows are found again under the name in doubt.
fn failed(shared: &Shared, count: usize, reason: &str) -> Vec<StoreResult<()>> {
    shared.leases.fence();
    if let Some(suppressed) = REFUSED.allow() {
        tracing::warn!(messages = count, reason, suppressed, "messages could not be accepted");
    }
    (0..count).map(|_| Err(StoreError::Unavailable(reason.to_owned()))).collect()
}
