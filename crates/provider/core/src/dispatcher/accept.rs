//! Acceptance: writes many messages in one transaction, and then passes their deliveries to the lanes in memory.

use std::sync::Arc;

use jiff::Timestamp;
use kit_runtime::log_throttle::LogThrottle;

use super::Shared;
use super::lane::Reservation;
use super::lane_state::QueuedDelivery;
use super::node_leases::NodeLease;
use super::origin::MessageOrigin;
use crate::dispatcher::snapshot::Snapshot;
use crate::dispatcher::target::Target;
use crate::model::ordering::{DeliveryOrder, OrderingKey};
use crate::model::{AttemptTrigger, Id, Message};
use crate::payload::StoredPayload;
use crate::port::{DeliveryKind, IdempotentAnswer, NewDelivery, NewMessage, StoreError, StoreResult};

/// Limits the log: during an outage of the database, each batch fails.
static REFUSED: LogThrottle = LogThrottle::new();

/// A message that waits for its transaction. The box makes it cheap to move from queue to queue.
pub(super) struct PendingMessage(Box<RoutedMessage>);

struct RoutedMessage {
    message: NewMessage,
    routing: Routing,
}

/// The deliveries of a message, which are passed to their lanes after the commit.
struct Routing {
    message: Id,
    application: Id,
    requested_at: Timestamp,
    payload: StoredPayload,
    purges: i64,
    /// Kind of the deliveries without a reservation, which wait in the table.
    kind: DeliveryKind,
    /// Each endpoint with the reservation in its lane.
    reservations: Vec<(Id, Option<Reservation>)>,
    lease: Option<NodeLease>,
    origin: Option<Arc<MessageOrigin>>,
}

impl PendingMessage {
    /// Routes a message to the targets that receive it, and reserves room in their lanes before the message is written.
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
        let kind = match trigger {
            AttemptTrigger::Manual => DeliveryKind::Manual,
            AttemptTrigger::Scheduled => DeliveryKind::First,
        };
        for target in snapshot.targets.values().filter(|target| receives(target, &message)) {
            let key = key.filter(|_| target.ordering == DeliveryOrder::PerKey);
            // Delayed, ordered and manual deliveries wait in the table.
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
        let routing = Routing {
            origin: MessageOrigin::of(&message, &shared.context.config.tracer),
            message: message.id.clone(),
            application: message.application.clone(),
            requested_at: message.created_at,
            payload,
            purges: snapshot.application.purges,
            kind,
            reservations,
            lease,
        };
        let application_version = snapshot.application.version;
        let message = NewMessage { message, application_version, deliveries, ordering_key: key.cloned(), answer };
        Self(Box::new(RoutedMessage { message, routing }))
    }
}

/// Writes a batch, and passes the deliveries of the committed messages to their lanes. It completes even if the callers
/// no longer wait.
pub(super) async fn accept(shared: Arc<Shared>, pending: Vec<PendingMessage>) -> Vec<StoreResult<()>> {
    let mut messages = Vec::with_capacity(pending.len());
    let mut routings = Vec::with_capacity(pending.len());
    for PendingMessage(routed) in pending {
        let RoutedMessage { message, routing } = *routed;
        routings.push(routing);
        messages.push(message);
    }
    let count = messages.len();
    shared.metrics.accept_batch(count);
    let results = match shared.context.store.accept(messages, shared.context.clock.now()).await {
        Ok(results) if results.len() == count => results,
        Ok(_) => return failed(&shared, count, "the store answered for another number of messages".to_owned()),
        // Nothing was written.
        Err(StoreError::DiskFull(reason)) => {
            return (0..count).map(|_| Err(StoreError::DiskFull(reason.clone()))).collect();
        }
        Err(error) => return failed(&shared, count, error.to_string()),
    };
    let (now, since) = (shared.context.clock.now(), shared.context.clock.monotonic());
    for (result, routing) in results.iter().zip(routings) {
        if let Err(error) = result {
            // After other errors the store can't have written the message; dropping its reservations is enough.
            if matches!(error, StoreError::Unavailable(_) | StoreError::Corrupt(_)) {
                shared.leases.fence();
            }
            continue;
        }
        let Routing { message, application, requested_at, payload, purges, kind, reservations, lease, origin } =
            routing;
        // The request ends now, so the memory of its payload is counted by the lanes and no longer as part of the
        // request.
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
                        origin: origin.clone(),
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

/// Fails a batch that may have been committed. If it was, its deliveries become due when the fenced lease expires.
fn failed(shared: &Shared, count: usize, reason: String) -> Vec<StoreResult<()>> {
    shared.leases.fence();
    if let Some(suppressed) = REFUSED.allow() {
        tracing::warn!(messages = count, reason, suppressed, "messages could not be accepted");
    }
    (0..count).map(|_| Err(StoreError::Unavailable(reason.clone()))).collect()
}
