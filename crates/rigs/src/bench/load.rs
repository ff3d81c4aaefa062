//! Messages as the platform sends them, as fast as they are taken or at a rate.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use consumer::Api;
use contract::ItemStatus;
use contract::event::{Event, ItemStatusChange};
use hdrhistogram::Histogram;
use runtime::ids::Ids;
use runtime::random::SystemRandom;
use serde_json::value::RawValue;
use tokio::task::JoinSet;
use uuid::Uuid;

use super::histogram;
use crate::RigError;
use crate::site::Site;

/// How long to wait for what is still on its way.
pub(super) const DRAIN_MAX: Duration = Duration::from_secs(600);

/// Where messages are sent to, and what they are made with.
#[derive(Clone)]
pub(super) struct Sender {
    provider: Api,
    path: String,
    ids: Ids,
}

#[derive(serde::Serialize)]
#[serde(rename_all = "camelCase")]
struct Message {
    event_type: &'static str,
    event_id: String,
    payload: Box<RawValue>,
}

impl Sender {
    /// Sends to one application.
    pub(super) fn to(site: &Site, application: &str) -> Self {
        Sender {
            provider: site.provider.clone(),
            path: format!("/api/v1/app/{application}/msg/"),
            ids: Ids::new(site.clock.clone(), Arc::new(SystemRandom)),
        }
    }

    /// A message about a subject of its own.
    fn message(&self) -> Result<(Uuid, serde_json::Value), RigError> {
        let subject = self.ids.uuid_v7();
        let event = Event::from(ItemStatusChange {
            item_uuid: subject,
            auctioneer_uuid: Uuid::nil(),
            auction_uuid: Uuid::nil(),
            status: ItemStatus::Sold,
        });
        let message = Message {
            event_type: event.event_type().name(),
            event_id: format!("{subject}.1"),
            payload: RawValue::from_string(event.to_json())?,
        };
        Ok((subject, serde_json::to_value(message)?))
    }

    /// Sends one message, for an event that nobody measures.
    pub(super) async fn send(&self) -> Result<(), RigError> {
        self.provider.post(&self.path, &self.message()?.1).await?;
        Ok(())
    }

    /// Sends `count` messages as fast as answers come.
    pub(super) async fn flood(&self, count: u64, connections: u32) -> Result<(), RigError> {
        let next = Arc::new(AtomicU64::new(0));
        let mut senders = JoinSet::new();
        for _ in 0..connections {
            let (sender, next) = (self.clone(), next.clone());
            senders.spawn(async move {
                while next.fetch_add(1, Ordering::Relaxed) < count {
                    sender.send().await?;
                }
                Ok::<_, RigError>(())
            });
        }
        while let Some(sender) = senders.join_next().await {
            sender??;
        }
        Ok(())
    }

    /// Sends at a fixed rate, whether answers come or not, and waits for what arrives at the site's receiver.
    pub(super) async fn at_rate(&self, site: &Site, times: &Times, rate: u64, seconds: u64) -> Result<Spans, RigError> {
        let (count, before) = (rate * seconds, site.receiver.read(|record| record.arrivals().len()));
        let begin = tokio::time::Instant::now();
        let mut senders = JoinSet::new();
        for number in 0..count {
            tokio::time::sleep_until(begin + Duration::from_secs_f64(number as f64 / rate as f64)).await;
            let (subject, body) = self.message()?;
            let (sender, times) = (self.clone(), times.clone());
            times.lock().insert(subject, Sent { at: Instant::now(), accepted: None, received: None });
            senders.spawn(async move {
                let answer = sender.provider.post(&sender.path, &body).await;
                if let Some(sent) = times.lock().get_mut(&subject) {
                    sent.accepted = Some(Instant::now());
                }
                answer.map(drop)
            });
        }
        while let Some(sender) = senders.join_next().await {
            sender??;
        }
        let wanted = before + count as usize;
        site.receiver.wait_until(DRAIN_MAX, |record| record.arrivals().len() >= wanted).await;
        times.take()
    }
}

/// When messages were sent, acknowledged and received, by the process's own steady clock.
#[derive(Clone, Default)]
pub(super) struct Times(Arc<Mutex<HashMap<Uuid, Sent>>>);

struct Sent {
    at: Instant,
    accepted: Option<Instant>,
    received: Option<Instant>,
}

/// Microseconds from sending.
pub(super) struct Spans {
    pub(super) to_receipt: Histogram<u64>,
    pub(super) to_answer: Histogram<u64>,
}

impl Times {
    /// Notes what arrives at the site's receiver from now on. Once for each site.
    pub(super) fn of(site: &Site) -> Self {
        let times = Times::default();
        let noted = times.clone();
        site.receiver.on_arrival(move |arrival| {
            if let Some(sent) = noted.lock().get_mut(&arrival.subject) {
                sent.received = Some(Instant::now());
            }
        });
        times
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<Uuid, Sent>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn take(&self) -> Result<Spans, RigError> {
        let mut spans = Spans { to_receipt: histogram()?, to_answer: histogram()? };
        for sent in std::mem::take(&mut *self.lock()).into_values() {
            let span = |until: Option<Instant>| until.map(|until| until.duration_since(sent.at).as_micros() as u64);
            span(sent.received).into_iter().for_each(|micros| spans.to_receipt.saturating_record(micros));
            span(sent.accepted).into_iter().for_each(|micros| spans.to_answer.saturating_record(micros));
        }
        Ok(spans)
    }
}
