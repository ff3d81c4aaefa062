//! Rigs, which `cargo xtask` runs: `bench`, `crash`, `failover`, `restore`, `proxy-test`, `screenshots`, `upgrade-test` and
//! `watch-test`.
//!
//! They drive the real binary over HTTP; some run a receiver, and compare the received webhooks with the committed events. They
//! print measurements. `crash` and `failover` fail when a committed event did not arrive or an acknowledged change is gone, `restore`
//! when a restored installation has not what the original had, and `watch` when a metric, a query or an alert is not as documented.

mod bench;
mod crash;
mod failover;
mod http_io;
mod proxies;
mod restore;
mod sales;
mod screenshots;
mod site;
mod tally;
mod upgrade;
mod watch;

use std::process::ExitCode;

use clap::{Parser, Subcommand};

/// Benchmark, crash and screenshot rigs of Lotwire.
#[derive(Debug, Parser)]
struct Cli {
    #[command(subcommand)]
    rig: Rig,
}

#[derive(Debug, Subcommand)]
enum Rig {
    /// Kill a server during sales, repeatedly, and check that every committed event arrives.
    Crash(crash::Options),
    /// Bid, sell and let lots end on two nodes while another program makes their database fail, and compare the records.
    Failover(failover::Options),
    /// Measure deliveries, ends of items, bids, live updates and lists under load.
    Bench(bench::Options),
    /// Back up an installation during a sale, restore it elsewhere, and compare both.
    Restore(restore::Options),
    /// Use a server through reverse proxies, with the examples of the guide.
    Proxies(proxies::Options),
    /// Take pictures of one page of each kind: light and dark, desktop and phone.
    Screenshots(screenshots::Options),
    /// Upgrade an installation during sales, and go back.
    Upgrade(upgrade::Options),
    /// Let Prometheus watch a sale with faults: metrics, queries of the dashboard, and alerts.
    Watch(watch::Options),
}

/// The same allocator as the server's, because generator and receiver share the cores with the server.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

#[tokio::main]
async fn main() -> ExitCode {
    let filter = tracing_subscriber::EnvFilter::try_from_default_env().unwrap_or_else(|_| "error".into());
    tracing_subscriber::fmt().with_env_filter(filter).with_writer(std::io::stderr).init();
    let outcome = match Cli::parse().rig {
        Rig::Crash(options) => crash::run(&options).await,
        Rig::Failover(options) => failover::run(&options).await,
        Rig::Bench(options) => bench::run(&options).await,
        Rig::Restore(options) => restore::run(&options).await,
        Rig::Proxies(options) => proxies::run(&options).await,
        Rig::Screenshots(options) => screenshots::run(&options).await,
        Rig::Upgrade(options) => upgrade::run(&options).await,
        Rig::Watch(options) => watch::run(&options).await,
    };
    match outcome {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            say(&format!("rigs: {error}"));
            ExitCode::FAILURE
        }
    }
}

/// Why a rig failed.
type RigError = Box<dyn std::error::Error + Send + Sync>;

#[expect(clippy::print_stdout, reason = "a rig prints its measurements on the terminal")]
fn say(text: &str) {
    println!("{text}");
}
