//! The effect of hanging and failing endpoints on a working one.

use std::time::{Duration, Instant};

use super::load::{DRAIN_MAX, Latencies, LoadGenerator, MessageTimes, Sender};
use super::{Options, milliseconds, process};
use crate::site::RigSite;
use crate::{RigError, say};

/// Number of hanging endpoints.
const HANGING: usize = 200;
/// Time between two messages to all hanging endpoints.
const HANGING_EVERY: Duration = Duration::from_millis(500);
/// Time until the maximum number of attempts hangs.
const WARM_UP: Duration = Duration::from_secs(5);

/// Measures a working endpoint beside many that accept connections but never respond.
pub(super) async fn hanging(options: &Options) -> Result<(), RigError> {
    let settings = [("PROVIDER__ENDPOINTS_PER_APPLICATION", "250")];
    let (site, _server) = RigSite::set_up(options.store, &settings).await?;
    let times = MessageTimes::of(&site);
    let sender = Sender::to(&site, &site.application);
    let quiet = sender.at_rate(&site, &times, options.rate, options.seconds).await?;

    let crowd = site.add_application("Hanging").await?;
    let mut hanging = Vec::new();
    for _ in 0..HANGING {
        let receiver = site.add_receiver(&crowd).await?;
        receiver.hold();
        hanging.push(receiver);
    }
    let to_crowd = Sender::to(&site, &crowd);
    let crowding = tokio::spawn(async move {
        loop {
            if to_crowd.send().await.is_err() {
                return;
            }
            tokio::time::sleep(HANGING_EVERY).await;
        }
    });
    tokio::time::sleep(WARM_UP).await;
    let beside = sender.at_rate(&site, &times, options.rate, options.seconds).await?;
    crowding.abort();
    say(&format!(
        "hanging      {HANGING} endpoints hang beside one that works: at {}/s its p50 is {:.2} ms and p99 {:.2} ms, alone {:.2} and \
         {:.2} ms ({:.1} times the p99)",
        options.rate,
        milliseconds(beside.to_receipt.value_at_quantile(0.5)),
        p99(&beside),
        milliseconds(quiet.to_receipt.value_at_quantile(0.5)),
        p99(&quiet),
        p99(&beside) / p99(&quiet),
    ));
    Ok(())
}

/// Measures a failing endpoint with many messages beside a working one, and its recovery.
pub(super) async fn backlog(options: &Options) -> Result<(), RigError> {
    let settings = [("PROVIDER__REQUEST_TIMEOUT", "2s"), ("PROVIDER__RETRY_SCHEDULE", "5s,5s,5s,5s,5s,5s,5s")];
    let (site, server) = RigSite::set_up(options.store, &settings).await?;
    let times = MessageTimes::of(&site);
    let sender = Sender::to(&site, &site.application);
    let quiet = sender.at_rate(&site, &times, options.rate, options.seconds).await?;
    let application = site.add_application("Dead").await?;
    let dead = site.add_sink(&application).await?;
    dead.hold();
    let begin = Instant::now();
    LoadGenerator::to(&site.launch, &site.provider_key, &application)
        .send(options.messages, options.connections)
        .await?;
    let filled = begin.elapsed();
    let beside = sender.at_rate(&site, &times, options.rate, options.seconds).await?;
    let peak_mib = process::peak_memory_mib(server.id())?;
    dead.release();
    let begin = Instant::now();
    dead.wait_for(options.messages, DRAIN_MAX).await?;
    let drained = begin.elapsed();
    let arrived = dead.received();
    say(&format!(
        "backlog      {} messages for a failing endpoint, accepted at {:.0}/s, peak {peak_mib} MiB; beside it at {}/s p99 {:.2} ms, alone \
         {:.2} ms; after its recovery {arrived} arrived in {:.1} s ({:.0}/s)",
        options.messages,
        options.messages as f64 / filled.as_secs_f64(),
        options.rate,
        p99(&beside),
        p99(&quiet),
        drained.as_secs_f64(),
        arrived as f64 / drained.as_secs_f64(),
    ));
    Ok(())
}

fn p99(latencies: &Latencies) -> f64 {
    milliseconds(latencies.to_receipt.value_at_quantile(0.99))
}
