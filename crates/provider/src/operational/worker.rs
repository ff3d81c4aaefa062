//! Makes messages of events: each row that the store wrote becomes a message of the account's operational application, and
//! goes. After a crash in between the row is found again, and its number, which is the message's event id, says that the
//! message is there. So each event is one message, whichever nodes do it.

use std::time::Duration;

use jiff::SignedDuration;
use runtime::tasks::Tasks;
use tokio::task::JoinSet;

use super::APPLICATION;
use crate::ids;
use crate::model::Message;
use crate::port::{OperationalEvent, StoreError, StoreResult};
use crate::provider::Provider;

/// The table is looked at this often.
const EVERY: Duration = Duration::from_millis(250);
/// Events that become messages at the same time.
const BATCH_MAX: usize = 256;
/// Tries to accept a message of an application that keeps changing.
const TRIES_MAX: usize = 10;
const RETENTION: SignedDuration = SignedDuration::from_hours(24 * 90);

pub(crate) fn spawn(provider: &Provider, tasks: &Tasks) {
    let provider = provider.clone();
    tasks.spawn("provider operational events", move |stopping| {
        let provider = provider.clone();
        async move {
            while !stopping.is_cancelled() {
                match provider.send_operational_events().await {
                    Ok(BATCH_MAX) => continue,
                    Ok(_) => {}
                    Err(error) => tracing::warn!(%error, "operational events wait"),
                }
                let next = provider.now() + EVERY;
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
        for event in events {
            // Ids in the order of the events; at the same time, so that they share a transaction.
            let (provider, id) = (self.clone(), self.ids().make(ids::MESSAGE));
            sending.spawn(async move { (event.no, provider.send_operational_event(id, event).await) });
        }
        let (mut sent, mut failed) = (Vec::with_capacity(found), None);
        while let Some(ended) = sending.join_next().await {
            match ended {
                Ok((no, Ok(()))) => sent.push(no),
                Ok((_, Err(error))) => failed = Some(error),
                Err(error) => failed = Some(StoreError::Unavailable(error.to_string())),
            }
        }
        if !sent.is_empty() {
            self.store().settle_operational_events(sent).await?;
        }
        failed.map_or(Ok(found), Err)
    }

    /// Accepts the message of an event. One that nobody listens to any more is done too.
    async fn send_operational_event(&self, id: crate::model::Id, event: OperationalEvent) -> StoreResult<()> {
        let account = super::hidden_account(&event.account);
        let now = self.now();
        for _ in 0..TRIES_MAX {
            let Some(snapshot) = self.snapshots().of_caller(&account, APPLICATION).await? else { return Ok(()) };
            let message = Message {
                id: id.clone(),
                application: snapshot.application.id.clone(),
                event_type: event.event_type.as_str().into(),
                event_id: Some(format!("operational-{}", event.no)),
                payload: Some(event.payload.clone()),
                channels: None,
                tags: None,
                created_at: now,
                payload_expires_at: now + RETENTION,
                deliver_at: None,
            };
            match self.dispatcher().accept(&snapshot, message, None, None).await {
                Ok(()) | Err(StoreError::Taken(_)) => return Ok(()),
                Err(StoreError::Stale | StoreError::NotFound) => {
                    self.snapshots().forget(&snapshot.application.id);
                }
                Err(error) => return Err(error),
            }
        }
        Err(StoreError::Stale)
    }
}
