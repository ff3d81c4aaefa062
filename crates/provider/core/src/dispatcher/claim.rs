//! Rows out of the table into a lane, and back.

use std::collections::HashMap;
use std::sync::Arc;

use super::Shared;
use super::lane::{Lane, STORE_PAUSE};
use super::lane_state::{Claim, Work};
use super::nodes::Holder;
use crate::model::Id;
use crate::port::{RowKind, StoreResult};

/// Claims rows for a lane, whose state asked for them.
pub(super) async fn claim(lane: Arc<Lane>, shared: Arc<Shared>, asked: Claim) {
    let Some(holder) = shared.names.current() else {
        lane.update(&shared, |state| state.claim_later(asked.kind));
        return;
    };
    let mut claiming = Claiming { lane: &lane, shared: &shared, kind: asked.kind, ended: false };
    match rows(&shared, &lane, &holder, asked).await {
        Ok((works, read)) => {
            claiming.ended = true;
            lane.update(&shared, |state| state.claimed(works, read, asked));
            if shared.is_draining() {
                lane.give_back().await;
            }
            lane.pump(&shared);
        }
        Err(error) => {
            tracing::warn!(endpoint = %lane.endpoint, %error, "no deliveries could be claimed");
        }
    }
}

/// The claimed rows, and how many there were with those that have no payload any more.
async fn rows(shared: &Shared, lane: &Lane, holder: &Holder, asked: Claim) -> StoreResult<(Vec<Work>, usize)> {
    let context = &shared.context;
    // Before the rows: they are at least as new.
    let purges = context.snapshots.get(&lane.application).await?.map_or(0, |snapshot| snapshot.application.purges);
    let rows = context.store.claim(holder, &lane.endpoint, asked.kind, context.clock.now(), asked.room).await?;
    let (read, since) = (rows.len(), context.clock.monotonic());
    let mut works = Vec::with_capacity(read);
    for row in rows {
        let holder = Arc::clone(holder);
        let wanted_at = row.message.deliver_at.unwrap_or(row.message.created_at);
        let wanted_at = (!row.replayed).then_some(wanted_at);
        match row.message.payload {
            Some(payload) => {
                let (message, attempts, key, trigger) = (row.message.id, row.attempts, row.key, row.trigger);
                works.push(Work { message, payload, purges, attempts, key, trigger, holder, since, wanted_at });
            }
            None => {
                shared.recorders.record(lane.drop_entry(row.message.id, row.key, holder)).await;
            }
        }
    }
    if read > 0
        && let Ok(Some(snapshot)) = context.snapshots.get(&lane.application).await
        && let Some(target) = snapshot.targets.get(&lane.endpoint)
    {
        lane.set_terms(shared, target);
    }
    Ok((works, read))
}

/// Gives rows back to the table, due at once.
pub(super) async fn release(shared: &Shared, endpoint: &Id, works: Vec<Work>) {
    let mut by_holder: HashMap<Id, (Holder, Vec<(Id, Id)>)> = HashMap::new();
    for work in works {
        let rows = by_holder.entry(work.holder.0.clone()).or_insert_with(|| (work.holder, Vec::new()));
        rows.1.push((work.message, endpoint.clone()));
    }
    for (holder, rows) in by_holder.into_values() {
        if let Err(error) = shared.context.store.release(&holder, rows, shared.context.clock.now()).await {
            shared.names.doubt();
            tracing::warn!(%endpoint, %error, "deliveries could not be given back; they are found again later");
        }
    }
}

/// Stands for a claim under way: one that fails, or panics, is not waited for. What it may have claimed is found again.
struct Claiming<'a> {
    lane: &'a Arc<Lane>,
    shared: &'a Arc<Shared>,
    kind: RowKind,
    ended: bool,
}

impl Drop for Claiming<'_> {
    fn drop(&mut self) {
        if !self.ended {
            self.shared.names.doubt();
            let until = self.shared.context.clock.now() + STORE_PAUSE;
            self.lane.update(self.shared, |state| state.not_claimed(self.kind, until));
            self.lane.pump(self.shared);
        }
    }
}
