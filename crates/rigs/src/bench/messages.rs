//! Messages sent to the provider's API and received at endpoints: throughput, and the time from sending to receipt.

use std::time::Instant;

use consumer::Receiver;

use super::load::{DRAIN_MAX, Sender, Times};
use super::{Options, milliseconds, process};
use crate::site::Site;
use crate::{RigError, say};

/// Portions that a flood is sent in, each timed: whether the last goes as fast as the first tells what a growing table costs.
const PORTIONS: u64 = 10;

/// Sends as fast as answers come.
pub(super) async fn throughput(options: &Options) -> Result<(), RigError> {
    let (site, server) = Site::set_up(options.store, &[]).await?;
    let mut further = Vec::new();
    for _ in 1..options.fan_out {
        further.push(site.add_receiver(&site.application).await?);
    }
    let receivers: Vec<&Receiver> = std::iter::once(&site.receiver).chain(&further).collect();
    let (begin, cpu_before) = (Instant::now(), process::cpu_time(server.id())?);
    let (sender, mut rates) = (Sender::to(&site, &site.application), Vec::new());
    for portion in 0..PORTIONS {
        let count = options.messages * (portion + 1) / PORTIONS - options.messages * portion / PORTIONS;
        let begin = Instant::now();
        sender.flood(count, options.connections).await?;
        rates.push(count as f64 / begin.elapsed().as_secs_f64());
    }
    let accepted = begin.elapsed();
    let wanted = options.messages as usize;
    let mut received = 0;
    for receiver in receivers {
        receiver.wait_until(DRAIN_MAX, |record| record.arrivals().len() >= wanted).await;
        received += receiver.read(|record| record.arrivals().len() as u64);
    }
    let elapsed = begin.elapsed();
    let cpu = process::cpu_time(server.id())?.saturating_sub(cpu_before);
    say(&format!(
        "throughput   {} messages over {} connections to {} endpoint(s): {:.0} accepted/s, {:.0} delivered/s, \
         {:.1} µs of server CPU for each delivery, peak {} MiB; its tenths {} accepted/s",
        options.messages,
        options.connections,
        options.fan_out,
        options.messages as f64 / accepted.as_secs_f64(),
        received as f64 / elapsed.as_secs_f64(),
        cpu.as_micros() as f64 / received.max(1) as f64,
        process::peak_memory_mib(server.id())?,
        rates.iter().map(|rate| format!("{rate:.0}")).collect::<Vec<_>>().join(", "),
    ));
    Ok(())
}

/// Sends at a fixed rate.
pub(super) async fn at_rate(options: &Options) -> Result<(), RigError> {
    let (site, server) = Site::set_up(options.store, &[]).await?;
    let times = Times::of(&site);
    let cpu_before = process::cpu_time(server.id())?;
    let sender = Sender::to(&site, &site.application);
    let spans = sender.at_rate(&site, &times, options.rate, options.seconds).await?;
    let cpu = process::cpu_time(server.id())?.saturating_sub(cpu_before);
    say(&format!(
        "at {}/s     {} messages in {} s: sending to receipt p50 {:.2} ms, p99 {:.2} ms; sending to acknowledgement p50 {:.2} ms, \
         p99 {:.2} ms; {:.0} µs of server CPU each, peak {} MiB",
        options.rate,
        spans.to_receipt.len(),
        options.seconds,
        milliseconds(spans.to_receipt.value_at_quantile(0.5)),
        milliseconds(spans.to_receipt.value_at_quantile(0.99)),
        milliseconds(spans.to_answer.value_at_quantile(0.5)),
        milliseconds(spans.to_answer.value_at_quantile(0.99)),
        cpu.as_micros() as f64 / (options.rate * options.seconds) as f64,
        process::peak_memory_mib(server.id())?,
    ));
    Ok(())
}
