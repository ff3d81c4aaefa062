//! Messages sent to the provider's API and received at an endpoint: throughput, and the time from sending to receipt.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use contract::ItemStatus;
use contract::event::{Event, ItemStatusChange};
use hdrhistogram::Histogram;
use runtime::ids::Ids;
use runtime::random::SystemRandom;
use serde_json::value::RawValue;
use tokio::task::JoinSet;
use uuid::Uuid;

use super::{Options, histogram, milliseconds, process};
use crate::site::Site;
use crate::{RigError, say};

/// How long to wait for what is still on its way.
const DRAIN_MAX: Duration = Duration::from_secs(120);

#[derive(serde::Serialize)]
#[serde(rename_all = "camelCase")]
struct Message {
    event_type: &'static str,
    event_id: String,
    payload: Box<RawValue>,
}

/// Ids as the platform makes them.
fn ids(site: &Site) -> Ids {
    Ids::new(site.clock.clone(), Arc::new(SystemRandom))
}

/// A message as the platform sends it, about a subject of its own.
fn message(ids: &Ids) -> Result<(Uuid, serde_json::Value), RigError> {
    let subject = ids.uuid_v7();
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

/// Sends as fast as answers come.
pub(super) async fn throughput(options: &Options) -> Result<(), RigError> {
    let (site, server) = Site::set_up(options.store, &[]).await?;
    let path = format!("/api/v1/app/{}/msg/", site.application);
    let (next, ids) = (Arc::new(AtomicU64::new(0)), ids(&site));
    let (begin, cpu_before) = (Instant::now(), process::cpu_time(server.id())?);
    let mut senders = JoinSet::new();
    for _ in 0..options.connections {
        let (provider, path, messages) = (site.provider.clone(), path.clone(), options.messages);
        let (next, ids) = (next.clone(), ids.clone());
        senders.spawn(async move {
            loop {
                if next.fetch_add(1, Ordering::Relaxed) >= messages {
                    return Ok::<_, RigError>(());
                }
                provider.post(&path, &message(&ids)?.1).await?;
            }
        });
    }
    while let Some(sender) = senders.join_next().await {
        sender??;
    }
    let accepted = begin.elapsed();
    let wanted = options.messages as usize;
    site.receiver.wait_until(DRAIN_MAX, |record| record.arrivals().len() >= wanted).await;
    let elapsed = begin.elapsed();
    let received = site.receiver.read(|record| record.arrivals().len() as u64);
    let cpu = process::cpu_time(server.id())?.saturating_sub(cpu_before);
    say(&format!(
        "throughput   {received} messages over {} connections: {:.0} accepted/s, {:.0} delivered/s, {:.0} µs of server CPU each, \
         peak {} MiB",
        options.connections,
        options.messages as f64 / accepted.as_secs_f64(),
        received as f64 / elapsed.as_secs_f64(),
        cpu.as_micros() as f64 / received.max(1) as f64,
        process::peak_memory_mib(server.id())?,
    ));
    Ok(())
}

/// Sends at a fixed rate, whether answers come or not.
pub(super) async fn at_rate(options: &Options) -> Result<(), RigError> {
    let (site, server) = Site::set_up(options.store, &[]).await?;
    let path = format!("/api/v1/app/{}/msg/", site.application);
    let times: Arc<Mutex<HashMap<Uuid, Sent>>> = Arc::default();
    note_receipts(&site, times.clone());
    let (count, ids) = (options.rate * options.seconds, ids(&site));
    let cpu_before = process::cpu_time(server.id())?;
    let begin = tokio::time::Instant::now();
    let mut senders = JoinSet::new();
    for number in 0..count {
        tokio::time::sleep_until(begin + Duration::from_secs_f64(number as f64 / options.rate as f64)).await;
        let (subject, body) = message(&ids)?;
        let (provider, path, times) = (site.provider.clone(), path.clone(), times.clone());
        lock(&times).insert(subject, Sent { at: Instant::now(), accepted: None, received: None });
        senders.spawn(async move {
            let answer = provider.post(&path, &body).await;
            if let Some(sent) = lock(&times).get_mut(&subject) {
                sent.accepted = Some(Instant::now());
            }
            answer.map(drop)
        });
    }
    while let Some(sender) = senders.join_next().await {
        sender??;
    }
    site.receiver.wait_until(DRAIN_MAX, |record| record.arrivals().len() as u64 >= count).await;
    let cpu = process::cpu_time(server.id())?.saturating_sub(cpu_before);
    let (way, answer) = spans(&times)?;
    say(&format!(
        "at {}/s     {} messages in {} s: sending to receipt p50 {:.2} ms, p99 {:.2} ms; sending to acknowledgement p50 {:.2} ms, \
         p99 {:.2} ms; {:.0} µs of server CPU each, peak {} MiB",
        options.rate,
        way.len(),
        options.seconds,
        milliseconds(way.value_at_quantile(0.5)),
        milliseconds(way.value_at_quantile(0.99)),
        milliseconds(answer.value_at_quantile(0.5)),
        milliseconds(answer.value_at_quantile(0.99)),
        cpu.as_micros() as f64 / count as f64,
        process::peak_memory_mib(server.id())?,
    ));
    Ok(())
}

struct Sent {
    at: Instant,
    accepted: Option<Instant>,
    received: Option<Instant>,
}

type Times = Arc<Mutex<HashMap<Uuid, Sent>>>;

fn lock(times: &Times) -> std::sync::MutexGuard<'_, HashMap<Uuid, Sent>> {
    times.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Notes when each message is received, by the process's own steady clock.
fn note_receipts(site: &Site, times: Times) {
    site.receiver.on_arrival(move |arrival| {
        if let Some(sent) = lock(&times).get_mut(&arrival.subject) {
            sent.received = Some(Instant::now());
        }
    });
}

fn spans(times: &Times) -> Result<(Histogram<u64>, Histogram<u64>), RigError> {
    let (mut way, mut answer) = (histogram()?, histogram()?);
    for sent in lock(times).values() {
        let span = |until: Option<Instant>| until.map(|until| until.duration_since(sent.at).as_micros() as u64);
        span(sent.received).into_iter().for_each(|micros| way.saturating_record(micros));
        span(sent.accepted).into_iter().for_each(|micros| answer.saturating_record(micros));
    }
    Ok((way, answer))
}
