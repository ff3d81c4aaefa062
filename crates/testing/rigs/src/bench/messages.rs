//! Messages sent to the provider's API and received at endpoints: throughput, and the time from sending to receipt.

use std::time::Instant;

use super::load::{DRAIN_MAX, LoadGenerator, MessageTimes, Sender};
use super::{Options, milliseconds, process};
use crate::http_io::Sink;
use crate::site::RigSite;
use crate::{RigError, say};

/// Number of portions of the throughput measurement, each timed. A slower last portion shows the cost of a growing
/// table.
const PORTIONS: u64 = 10;
/// Messages sent directly from the generator to a receiver, to measure the machine.
const BASELINE_MESSAGES: u64 = 200_000;

/// Measures a closed loop.
pub(super) async fn throughput(options: &Options) -> Result<(), RigError> {
    let straight = baseline(options).await?;
    let (site, server) = RigSite::set_up(options.store, &[]).await?;
    let application = site.add_application("Flooded").await?;
    let mut sinks = Vec::new();
    for _ in 0..options.fan_out {
        sinks.push(site.add_sink(&application).await?);
    }
    let begin = Instant::now();
    let cpu_before = process::cpu_time(server.id())?;
    let generator = LoadGenerator::to(&site.launch, &site.provider_key, &application);
    let mut rates = Vec::new();
    for portion in 0..PORTIONS {
        let count = options.messages * (portion + 1) / PORTIONS - options.messages * portion / PORTIONS;
        let begin = Instant::now();
        generator.send(count, options.connections).await?;
        rates.push(count as f64 / begin.elapsed().as_secs_f64());
    }
    let accepted = begin.elapsed();
    for sink in &sinks {
        sink.wait_for(options.messages, DRAIN_MAX).await?;
    }
    let elapsed = begin.elapsed();
    let cpu = process::cpu_time(server.id())?.saturating_sub(cpu_before);
    let delivered = sinks.iter().map(Sink::received).sum::<u64>();
    let cpu_each = cpu.as_micros() as f64 / delivered.max(1) as f64;
    say(&format!(
        "throughput   {} messages over {} connections to {} endpoint(s): {:.0} accepted/s, {:.0} delivered/s, {} copies; \
         {cpu_each:.1} µs of server CPU for each delivery, {:.1} times a straight exchange ({:.0}/s, {:.1} µs of CPU for both sides); \
         peak {} MiB; its tenths {} accepted/s",
        options.messages,
        options.connections,
        options.fan_out,
        options.messages as f64 / accepted.as_secs_f64(),
        delivered as f64 / elapsed.as_secs_f64(),
        sinks.iter().map(Sink::duplicates).sum::<u64>(),
        cpu_each / straight.cpu_micros,
        straight.rate,
        straight.cpu_micros,
        process::peak_memory_mib(server.id())?,
        rates.iter().map(|rate| format!("{rate:.0}")).collect::<Vec<_>>().join(", "),
    ));
    Ok(())
}

/// The rate and CPU of generator and receiver alone, which shows how fast the machine is at the moment.
struct Baseline {
    rate: f64,
    cpu_micros: f64,
}

async fn baseline(options: &Options) -> Result<Baseline, RigError> {
    let sink = Sink::answer(Sink::listen().await?, None)?;
    let begin = Instant::now();
    let cpu_before = process::cpu_time(std::process::id())?;
    LoadGenerator::direct_to(&sink).send(BASELINE_MESSAGES, options.connections).await?;
    let cpu = process::cpu_time(std::process::id())?.saturating_sub(cpu_before);
    Ok(Baseline {
        rate: BASELINE_MESSAGES as f64 / begin.elapsed().as_secs_f64(),
        cpu_micros: cpu.as_micros() as f64 / BASELINE_MESSAGES as f64,
    })
}

/// Measures an open loop at a fixed rate.
pub(super) async fn at_rate(options: &Options) -> Result<(), RigError> {
    let (site, server) = RigSite::set_up(options.store, &[]).await?;
    let times = MessageTimes::of(&site);
    let cpu_before = process::cpu_time(server.id())?;
    let sender = Sender::to(&site, &site.application);
    let latencies = sender.at_rate(&site, &times, options.rate, options.seconds).await?;
    let cpu = process::cpu_time(server.id())?.saturating_sub(cpu_before);
    say(&format!(
        "at {}/s     {} messages in {} s: sending to receipt p50 {:.2} ms, p99 {:.2} ms; sending to acknowledgement p50 {:.2} ms, \
         p99 {:.2} ms; {:.0} µs of server CPU each, peak {} MiB",
        options.rate,
        latencies.to_receipt.len(),
        options.seconds,
        milliseconds(latencies.to_receipt.value_at_quantile(0.5)),
        milliseconds(latencies.to_receipt.value_at_quantile(0.99)),
        milliseconds(latencies.to_answer.value_at_quantile(0.5)),
        milliseconds(latencies.to_answer.value_at_quantile(0.99)),
        cpu.as_micros() as f64 / (options.rate * options.seconds) as f64,
        process::peak_memory_mib(server.id())?,
    ));
    Ok(())
}
