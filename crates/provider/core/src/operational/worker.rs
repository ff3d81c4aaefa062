//! Sends operational events: the worker accepts each event that the store wrote as a message of the account's
//! operational application, and then deletes the event. The event's number is the event id of the message. After a
//! crash between the two steps, the second message is rejected because its event id exists. So each event becomes one
//! message, on any number of nodes.
//!
//! The ordering key of an event is its endpoint. If an operational endpoint has ordering, the events of one endpoint
//! are accepted one after the other; otherwise all events are accepted at the same time.

use std::collections::HashMap;
use std::time::Duration;

use kit_runtime::tasks::Tasks;
use tokio::task::JoinSet;

use super::{APPLICATION, events};
use crate::ids;
use crate::model::ordering::{DeliveryOrder, OrderingKey};
use crate::model::{Id, Message};
use crate::port::{OperationalEvent, StoreError, StoreResult};
use crate::provider::Provider;

/// Interval at which the worker reads events.
const POLL_INTERVAL: Duration = Duration::from_millis(250);
const BATCH_MAX: usize = 256;
/// Number of attempts to accept a message while its application changes.
const TRIES_MAX: usize = 10;

/// Events that are accepted one after the other.
type OrderedEvents = Vec<PendingEvent>;

/// An event with the id and the ordering key of its message.
struct PendingEvent {
    message: Id,
    key: Option<OrderingKey>,
    event: OperationalEvent,
}

pub(crate) fn spawn(provider: &Provider, tasks: &Tasks) {
    let provider = provider.clone();
    tasks.spawn("provider operational events", move |stopping| {
        let provider = provider.clone();
        async move {
            while !stopping.is_cancelled() {
                match provider.send_operational_events().await {
                    Ok(BATCH_MAX) => continue,
                    Ok(_) => {}
                    Err(error) => {
                        tracing::warn!(%error, "operational events could not be sent; the worker tries again")
                    }
                }
                let next = provider.now() + POLL_INTERVAL;
                tokio::select! {
                    () = stopping.cancelled() => return,
                    () = provider.clock().sleep_until(next) => {}
                }
            }
        }
    });
}

impl Provider {
    /// Sends one batch of events. Returns the number of events that were read.
    async fn send_operational_events(&self) -> StoreResult<usize> {
        let events = self.store().operational_events(BATCH_MAX).await?;
        let found = events.len();
        let mut sending = JoinSet::new();
        for group in self.ordered_events(events).await? {
            // Groups are sent concurrently, so that their messages share a transaction.
            sending.spawn(self.clone().send_in_order(group));
        }
        let (mut sent, mut failed) = (Vec::with_capacity(found), None);
        while let Some(ended) = sending.join_next().await {
            match ended {
                Ok((numbers, result)) => {
                    sent.extend(numbers);
                    failed = result.err().or(failed);
                }
                Err(error) => failed = Some(StoreError::Unavailable(error.to_string())),
            }
        }
        if !sent.is_empty() {
            self.store().delete_operational_events(sent).await?;
        }
        failed.map_or(Ok(found), Err)
    }

    /// Groups the events that must be accepted one after the other. Message ids have the order of the events.
    async fn ordered_events(&self, events: Vec<OperationalEvent>) -> StoreResult<Vec<OrderedEvents>> {
        let mut groups: Vec<OrderedEvents> = Vec::with_capacity(events.len());
        let mut group_of_key = HashMap::new();
        for event in events {
            let (message, key) = (self.ids().make(ids::MESSAGE), events::ordering_key(&event.payload));
            let group_key = match &key {
                Some(key) if self.is_ordered(&event.account).await? => Some((event.account.clone(), key.clone())),
                _ => None,
            };
            let next = groups.len();
            let index = group_key.map_or(next, |group_key| *group_of_key.entry(group_key).or_insert(next));
            if index == next {
                groups.push(Vec::new());
            }
            groups[index].push(PendingEvent { message, key, event });
        }
        Ok(groups)
    }

    async fn is_ordered(&self, account: &str) -> StoreResult<bool> {
        let snapshot = self.snapshots().of_caller(&super::hidden_account(account), APPLICATION).await?;
        let mut targets = snapshot.iter().flat_map(|snapshot| snapshot.targets.values());
        Ok(targets.any(|target| target.ordering == DeliveryOrder::PerKey))
    }

    /// Sends events until one fails. Returns the numbers of the sent events, and the error.
    async fn send_in_order(self, group: OrderedEvents) -> (Vec<i64>, StoreResult<()>) {
        let mut sent = Vec::with_capacity(group.len());
        for PendingEvent { message, key, event } in group {
            let no = event.no;
            if let Err(error) = self.send_operational_event(message, key.as_ref(), event).await {
                return (sent, Err(error));
            }
            sent.push(no);
        }
        (sent, Ok(()))
    }

    /// Accepts the message of an event. An event whose account has no operational endpoint any more counts as sent.
    async fn send_operational_event(
        &self,
        id: Id,
        key: Option<&OrderingKey>,
        event: OperationalEvent,
    ) -> StoreResult<()> {
        let account = super::hidden_account(&event.account);
        let now = self.now();
        for _ in 0..TRIES_MAX {
            let Some(snapshot) = self.snapshots().of_caller(&account, APPLICATION).await? else { return Ok(()) };
            let message = Message {
                id: id.clone(),
                application: snapshot.application.id.clone(),
                event_type: event.event_type.as_str().into(),
                event_id: Some(format!("operational-{}", event.no)),
                payload: Some(event.payload.clone().into()),
                channels: None,
                tags: None,
                created_at: now,
                payload_expires_at: now + self.config().retention.of_payload(None),
                deliver_at: None,
                sent_by: None,
                trace_parent: None,
            };
            match self.dispatcher().accept(&snapshot, message, key, None).await {
                Ok(()) | Err(StoreError::Taken(_)) => return Ok(()),
                Err(StoreError::Conflict | StoreError::NotFound) => {
                    self.snapshots().invalidate(&snapshot.application.id);
                }
                Err(error) => return Err(error),
            }
        }
        Err(StoreError::Conflict)
    }
}
