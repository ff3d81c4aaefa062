//! Claims deliveries from the table for a lane, and releases them.

use std::collections::HashMap;
use std::sync::Arc;

use super::Shared;
use super::lane::{Lane, STORE_PAUSE};
use super::lane_state::{ClaimRequest, QueuedDelivery};
use super::node_leases::NodeLease;
use super::origin::MessageOrigin;
use crate::model::Id;
use crate::port::{DeliveryKind, StoreResult};

/// Makes a claim that the lane's state requested.
pub(super) async fn claim(lane: Arc<Lane>, shared: Arc<Shared>, request: ClaimRequest) {
    let Some(lease) = shared.leases.current() else {
        lane.update(&shared, |state| state.abandon_claim(request.kind));
        return;
    };
    let mut guard = ClaimGuard { lane: &lane, shared: &shared, kind: request.kind, ended: false };
    match claim_rows(&shared, &lane, &lease, request).await {
        Ok((deliveries, read)) => {
            guard.ended = true;
            lane.update(&shared, |state| state.claimed(deliveries, read, request));
            if shared.is_draining() {
                lane.release_queued().await;
            }
            lane.start_attempts(&shared);
        }
        Err(error) => {
            tracing::warn!(endpoint_id = %lane.endpoint, %error, "no deliveries could be claimed");
        }
    }
}

/// The claimed deliveries, and the number of claimed rows including those without a payload.
async fn claim_rows(
    shared: &Shared,
    lane: &Lane,
    lease: &NodeLease,
    request: ClaimRequest,
) -> StoreResult<(Vec<QueuedDelivery>, usize)> {
    let context = &shared.context;
    // Read before the rows, so that the rows are at least as new.
    let purges = context.snapshots.get(&lane.application).await?.map_or(0, |snapshot| snapshot.application.purges);
    let rows = context.store.claim(lease, &lane.endpoint, request.kind, context.clock.now(), request.room).await?;
    let (read, since) = (rows.len(), context.clock.monotonic());
    let mut deliveries = Vec::with_capacity(read);
    for row in rows {
        let lease = Arc::clone(lease);
        let requested_at = row.message.deliver_at.unwrap_or(row.message.created_at);
        let requested_at = (!row.replayed).then_some(requested_at);
        let origin = MessageOrigin::of(&row.message, &context.config.tracer);
        match row.message.payload {
            Some(payload) => {
                let (message, attempts, key, trigger) = (row.message.id, row.attempts, row.ordering_key, row.trigger);
                deliveries.push(QueuedDelivery {
                    message,
                    payload,
                    purges,
                    attempts,
                    key,
                    trigger,
                    replayed: row.replayed,
                    lease,
                    since,
                    requested_at,
                    origin,
                });
            }
            None => {
                shared.recorders.record(lane.dropped_record(row.message.id, row.ordering_key, lease)).await;
            }
        }
    }
    if read > 0
        && let Ok(Some(snapshot)) = context.snapshots.get(&lane.application).await
        && let Some(target) = snapshot.targets.get(&lane.endpoint)
    {
        lane.set_limits(shared, target);
    }
    Ok((deliveries, read))
}

/// Releases deliveries to the table. They are due at once.
pub(super) async fn release(shared: &Shared, endpoint: &Id, deliveries: Vec<QueuedDelivery>) {
    let mut by_lease: HashMap<Id, (NodeLease, Vec<(Id, Id)>)> = HashMap::new();
    for delivery in deliveries {
        let rows = by_lease.entry(delivery.lease.0.clone()).or_insert_with(|| (delivery.lease, Vec::new()));
        rows.1.push((delivery.message, endpoint.clone()));
    }
    for (lease, rows) in by_lease.into_values() {
        if let Err(error) = shared.context.store.release(&lease, rows, shared.context.clock.now()).await {
            shared.leases.fence();
            tracing::warn!(endpoint_id = %endpoint, %error, "claimed deliveries could not be released; the sweeper claims them again later");
        }
    }
}

/// Ends a claim that fails or panics. Rows that it may have claimed become due when the fenced lease expires.
struct ClaimGuard<'a> {
    lane: &'a Arc<Lane>,
    shared: &'a Arc<Shared>,
    kind: DeliveryKind,
    ended: bool,
}

impl Drop for ClaimGuard<'_> {
    fn drop(&mut self) {
        if !self.ended {
            self.shared.leases.fence();
            let until = self.shared.context.clock.now() + STORE_PAUSE;
            self.lane.update(self.shared, |state| state.claim_failed(self.kind, until));
            self.lane.start_attempts(self.shared);
        }
    }
}
