//! The platform's one commit of auctions and items: one durable transaction, then the new outbox rows to the publisher.
//!
//! Before the commit, the publisher reserves room for the announced events. The transaction that inserts their outbox
//! rows assigns them to this node, and after it is durable they go to the customer's lane in memory. Rows without room
//! stay unassigned in the table, and the lane is woken to claim them.

use std::collections::HashMap;

use uuid::Uuid;

use crate::Platform;
use crate::metrics::Metrics;
use crate::port::{Change, CommitReceipt, NodeId, StoreError, StoreResult};
use crate::publishing::Reservation;
use crate::steps::status_log::StatusLog;

impl Platform {
    /// Commits one change of a customer. Errors: those of [`crate::port::AuctionStore::commit`]'s entries.
    pub(crate) async fn commit(&self, customer: Uuid, change: Change) -> StoreResult<CommitReceipt> {
        let mut results = self.commit_all(vec![(customer, change)]).await?;
        results.pop().unwrap_or_else(|| Err(StoreError::Corrupt("the store returned no result for a commit".into())))
    }

    /// Commits each change as a whole or not at all; one result for each, in order.
    pub(crate) async fn commit_all(
        &self,
        changes: Vec<(Uuid, Change)>,
    ) -> StoreResult<Vec<StoreResult<CommitReceipt>>> {
        if changes.iter().any(|(_, change)| !change.unlogged.is_empty()) {
            return Err(StoreError::Corrupt(
                "an entry of the audit log could not be sealed; see the server's log".into(),
            ));
        }
        let mut announced: HashMap<Uuid, usize> = HashMap::new();
        for (customer, change) in &changes {
            let events = change.journal.iter().filter(|entry| entry.event.is_some()).count();
            if events > 0 {
                *announced.entry(*customer).or_default() += events;
            }
        }
        let mut room: HashMap<Uuid, Reservation> = HashMap::new();
        for (customer, events) in &announced {
            if let Some(reservation) = self.publisher().reserve(*customer, *events) {
                room.insert(*customer, reservation);
            }
        }
        if room.is_empty() || announced.keys().all(|customer| room.contains_key(customer)) {
            return self.commit_and_publish(changes, room).await;
        }
        // Some lanes are full: the rows of their customers stay in the table, the rows of the others are handed over.
        let total = changes.len();
        let (with, without): (Vec<_>, Vec<_>) = changes
            .into_iter()
            .enumerate()
            .partition(|(_, (customer, _))| !announced.contains_key(customer) || room.contains_key(customer));
        let mut results: Vec<(usize, StoreResult<CommitReceipt>)> = Vec::with_capacity(total);
        for (part, room) in [(with, room), (without, HashMap::new())] {
            if part.is_empty() {
                continue;
            }
            let (places, changes): (Vec<usize>, Vec<_>) = part.into_iter().unzip();
            match self.commit_and_publish(changes, room).await {
                Ok(answers) => results.extend(places.into_iter().zip(answers)),
                Err(error) if results.is_empty() => return Err(error),
                // The first part is durable: only this one failed.
                Err(error) => results.extend(places.into_iter().map(|place| (place, Err(error.clone())))),
            }
        }
        results.sort_by_key(|(place, _)| *place);
        Ok(results.into_iter().map(|(_, result)| result).collect())
    }

    async fn commit_and_publish(
        &self,
        changes: Vec<(Uuid, Change)>,
        room: HashMap<Uuid, Reservation>,
    ) -> StoreResult<Vec<StoreResult<CommitReceipt>>> {
        let updates = self.live().prepare_updates(&changes);
        let (customers, changes): (Vec<Uuid>, Vec<Change>) = changes.into_iter().unzip();
        if room.is_empty() {
            let results = self.commit_counted(changes, None).await?;
            updates.committed(&results);
            self.wake_lanes(&customers, &results);
            return Ok(results);
        }
        // A task of its own: if the caller is cancelled after the commit, the rows must still reach their lanes.
        let platform = self.clone();
        let task = tokio::spawn(async move {
            let results = platform.commit_then_hand_over(customers, changes, room).await?;
            updates.committed(&results);
            Ok(results)
        });
        match task.await {
            Ok(results) => results,
            Err(_) => {
                self.publisher().fence();
                Err(StoreError::Unavailable("the commit was interrupted; it is not known if it succeeded".into()))
            }
        }
    }

    async fn commit_counted(
        &self,
        changes: Vec<Change>,
        node: Option<NodeId>,
    ) -> StoreResult<Vec<StoreResult<CommitReceipt>>> {
        let (counts, log) = (Metrics::counts(&changes), StatusLog::of(&changes));
        let causes_notices = changes.iter().any(|change| !change.notice_causes.is_empty());
        let begin = self.clock().monotonic();
        let results = self.store().commit(changes, node).await?;
        counts.committed(self.metrics(), self.clock().monotonic().saturating_duration_since(begin), &results);
        log.committed(&results);
        if causes_notices {
            self.notices_caused().notify();
        }
        Ok(results)
    }

    async fn commit_then_hand_over(
        &self,
        customers: Vec<Uuid>,
        changes: Vec<Change>,
        mut room: HashMap<Uuid, Reservation>,
    ) -> StoreResult<Vec<StoreResult<CommitReceipt>>> {
        let node = self.publisher().node();
        let mut results = match self.commit_counted(changes, Some(node)).await {
            Ok(results) => results,
            Err(error) => {
                // The commit may have succeeded nevertheless; then this node owns rows that it does not know.
                self.publisher().fence();
                return Err(error);
            }
        };
        self.wake_lanes(&customers, &results);
        for (customer, result) in customers.iter().zip(&mut results) {
            if let (Ok(receipt), Some(reservation)) = (result, room.get_mut(customer)) {
                let assigned = std::mem::take(&mut receipt.assigned);
                reservation.hand_over(assigned, receipt.connection_updated_at, self.clock().monotonic());
            }
        }
        Ok(results)
    }

    fn wake_lanes(&self, customers: &[Uuid], results: &[StoreResult<CommitReceipt>]) {
        for (customer, result) in customers.iter().zip(results) {
            if result.as_ref().is_ok_and(|receipt| receipt.waiting > 0) {
                self.publisher().wake_lane(*customer);
            }
        }
    }
}
