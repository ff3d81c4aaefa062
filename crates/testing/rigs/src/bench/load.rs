//! Sends messages like the platform's publisher, at the highest possible or at a fixed rate.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use consumer::ApiClient;
use contract::ItemStatus;
use contract::event::{Event, ItemStatusChange};
use hdrhistogram::Histogram;
use kit_runtime::clock::SystemClock;
use kit_runtime::ids::Ids;
use kit_runtime::random::SystemRandom;
use serde_json::value::RawValue;
use testkit::server::Launch;
use tokio::task::JoinSet;
use uuid::Uuid;

use super::histogram;
use crate::RigError;
use crate::http_io::{Connection, Sink};
use crate::site::RigSite;

/// Time limit for the last webhooks.
pub(super) const DRAIN_MAX: Duration = Duration::from_secs(600);

/// A sender of messages to one application.
#[derive(Clone)]
pub(super) struct Sender {
    provider: ApiClient,
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
    pub(super) fn to(site: &RigSite, application: &str) -> Self {
        Sender {
            provider: site.provider.clone(),
            path: format!("/api/v1/app/{application}/msg/"),
            ids: Ids::new(site.clock.clone(), Arc::new(SystemRandom)),
        }
    }

    /// Sends one message that is not measured.
    pub(super) async fn send(&self) -> Result<(), RigError> {
        self.provider.post(&self.path, &serde_json::to_value(message(self.ids.uuid_v7())?)?).await?;
        Ok(())
    }

    /// Open loop: sends at a fixed rate, regardless of the responses, and waits for the webhooks at the site's
    /// receiver.
    pub(super) async fn at_rate(
        &self,
        site: &RigSite,
        times: &MessageTimes,
        rate: u64,
        seconds: u64,
    ) -> Result<Latencies, RigError> {
        let count = rate * seconds;
        let before = site.receiver.read(|record| record.arrivals().len());
        let begin = tokio::time::Instant::now();
        let mut senders = JoinSet::new();
        for number in 0..count {
            tokio::time::sleep_until(begin + Duration::from_secs_f64(number as f64 / rate as f64)).await;
            let subject = self.ids.uuid_v7();
            let body = serde_json::to_value(message(subject)?)?;
            let sender = self.clone();
            let times = times.clone();
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

/// A message about a sold item.
fn message(subject: Uuid) -> Result<Message, RigError> {
    let event = Event::from(ItemStatusChange {
        item_uuid: subject,
        auctioneer_uuid: Uuid::nil(),
        auction_uuid: Uuid::nil(),
        status: ItemStatus::Sold,
    });
    Ok(Message {
        event_type: event.event_type().name(),
        event_id: format!("{subject}.1"),
        payload: RawValue::from_string(event.to_json())?,
    })
}

/// Closed loop: each connection sends again after the response.
#[derive(Clone)]
pub(super) struct LoadGenerator {
    address: String,
    head: String,
    ids: Ids,
    next: Arc<AtomicU64>,
}

impl LoadGenerator {
    /// To one application.
    pub(super) fn to(launch: &Launch, key: &str, application: &str) -> Self {
        let address = launch.provider_url().trim_start_matches("http://").to_owned();
        LoadGenerator::at(address, &format!("/api/v1/app/{application}/msg/"), key)
    }

    /// A generator that sends directly to a receiver, without the provider.
    pub(super) fn direct_to(sink: &Sink) -> Self {
        LoadGenerator::at(sink.address(), "/", "none")
    }

    fn at(address: String, path: &str, key: &str) -> Self {
        let head = format!(
            "POST {path} HTTP/1.1\r\nhost: {address}\r\nauthorization: Bearer {key}\r\ncontent-type: application/json\r\n"
        );
        LoadGenerator {
            address,
            head,
            ids: Ids::new(Arc::new(SystemClock), Arc::new(SystemRandom)),
            next: Arc::default(),
        }
    }

    /// Sends `count` further messages.
    pub(super) async fn send(&self, count: u64, connections: u32) -> Result<(), RigError> {
        let last = self.next.load(Ordering::Relaxed) + count;
        let mut senders = JoinSet::new();
        for _ in 0..connections {
            let generator = self.clone();
            senders.spawn(async move { generator.until(last).await });
        }
        while let Some(sender) = senders.join_next().await {
            sender??;
        }
        self.next.store(last, Ordering::Relaxed);
        Ok(())
    }

    /// Sends messages over one connection until number `last`.
    async fn until(&self, last: u64) -> Result<(), RigError> {
        let mut connection = Connection::open(&self.address).await?;
        loop {
            let number = self.next.fetch_add(1, Ordering::Relaxed);
            if number >= last {
                return Ok(());
            }
            let body = serde_json::to_vec(&message(self.ids.uuid_v7())?)?;
            let status = connection.send(self.head.as_bytes(), &body).await?;
            if !(200..300).contains(&status) {
                return Err(format!("message {number} received status {status}").into());
            }
        }
    }
}

/// Times at which messages were sent, acknowledged and received, by this process's monotonic clock.
#[derive(Clone, Default)]
pub(super) struct MessageTimes(Arc<Mutex<HashMap<Uuid, Sent>>>);

struct Sent {
    at: Instant,
    accepted: Option<Instant>,
    received: Option<Instant>,
}

/// Microseconds from sending.
pub(super) struct Latencies {
    pub(super) to_receipt: Histogram<u64>,
    pub(super) to_answer: Histogram<u64>,
}

impl MessageTimes {
    /// Records arrivals at the site's receiver from now on. Call it once for each site.
    pub(super) fn of(site: &RigSite) -> Self {
        let times = MessageTimes::default();
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

    fn take(&self) -> Result<Latencies, RigError> {
        let mut latencies = Latencies { to_receipt: histogram()?, to_answer: histogram()? };
        for sent in std::mem::take(&mut *self.lock()).into_values() {
            let span = |until: Option<Instant>| until.map(|until| until.duration_since(sent.at).as_micros() as u64);
            span(sent.received).into_iter().for_each(|micros| latencies.to_receipt.saturating_record(micros));
            span(sent.accepted).into_iter().for_each(|micros| latencies.to_answer.saturating_record(micros));
        }
        Ok(latencies)
    }
}
