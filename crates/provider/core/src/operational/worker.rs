//! Makes messages of events: each row that the store wrote becomes a message of the account's operational application, and
//! goes. After a crash in between the row is found again, and its number, which is the message's event id, says that the
//! message is there. So each event is one message, whichever nodes do it.
//!
//! An event's ordering key is the endpoint that it is about. Where a listener asks for order, an event becomes a message when the
//! one before it of the same endpoint is one; otherwise all do at the same time.

use std::collections::HashMap;
use std::time::Duration;

use jiff::SignedDuration;
use kit_runtime::tasks::Tasks;
use tokio::task::JoinSet;

use super::{APPLICATION, events};
use crate::ids;
use crate::model::{Id, Message};
use crate::ordering::{DeliveryOrder, OrderingKey};
use crate::port::{OperationalEvent, StoreError, StoreResult};
use crate::provider::Provider;

/// The table is looked at this often.
const POLL_INTERVAL: Duration = Duration::from_millis(250);
/// Events that become messages at the same time.
const BATCH_MAX: usize = 256;
/// Tries to accept a message of an application that keeps changing.
const TRIES_MAX: usize = 10;
const RETENTION: SignedDuration = SignedDuration::from_hours(24 * 90);

/// Events that become messages one after the other.
type OrderedEvents = Vec<(Id, Option<OrderingKey>, OperationalEvent)>;

pub(crate) fn spawn(provider: &Provider, tasks: &Tasks) {
    let provider = provider.clone();
    tasks.spawn("provider operational events", move |stopping| {
        let provider = provider.clone();
        async move {
            while !stopping.is_cancelled() {
                match provider.send_operational_events().await {
                    Ok(BATCH_MAX) => continue,
                    Ok(_) => {}
                    Err(error) => tracing::warn!(%error, "operational events can't be sent; they wait"),
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
    /// The number of events found.
    async fn send_operational_events(&self) -> StoreResult<usize> {
        let events = self.store().operational_events(BATCH_MAX).await?;
        let found = events.len();
        let mut sending = JoinSet::new();
        for line in self.ordered_events(events).await? {
            // At the same time, so that they share a transaction.
            sending.spawn(self.clone().send_in_order(line));
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

    /// What is to be sent one after the other, each with its message's id; these are in the order of the events.
    async fn ordered_events(&self, events: Vec<OperationalEvent>) -> StoreResult<Vec<OrderedEvents>> {
        let mut lines: Vec<OrderedEvents> = Vec::with_capacity(events.len());
        let mut of_key = HashMap::new();
        for event in events {
            let (id, key) = (self.ids().make(ids::MESSAGE), events::ordering_key(&event.payload));
            let in_order = match &key {
                Some(key) if self.is_ordered(&event.account).await? => Some((event.account.clone(), key.clone())),
                _ => None,
            };
            let next = lines.len();
            let place = in_order.map_or(next, |in_order| *of_key.entry(in_order).or_insert(next));
            if place == next {
                lines.push(Vec::new());
            }
            lines[place].push((id, key, event));
        }
        Ok(lines)
    }

    async fn is_ordered(&self, account: &str) -> StoreResult<bool> {
        let snapshot = self.snapshots().of_caller(&super::hidden_account(account), APPLICATION).await?;
        let mut targets = snapshot.iter().flat_map(|snapshot| snapshot.targets.values());
        Ok(targets.any(|target| target.ordering == DeliveryOrder::PerKey))
    }

    /// The numbers of what is done, and what kept the rest of the line from it.
    async fn send_in_order(self, line: OrderedEvents) -> (Vec<i64>, StoreResult<()>) {
        let mut sent = Vec::with_capacity(line.len());
        for (id, key, event) in line {
            let no = event.no;
            if let Err(error) = self.send_operational_event(id, key.as_ref(), event).await {
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
                payload_expires_at: now + RETENTION,
                deliver_at: None,
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
