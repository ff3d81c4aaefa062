//! Benchmark and crash rig: `cargo xtask bench` and `cargo xtask crash`.
//!
//! Both drive the real binary from outside, over HTTP, with a receiver of their own, and hold what arrived against what
//! the platform committed. They print figures; only `crash` judges: it fails when something committed did not arrive.

mod bench;
mod crash;
mod http_io;
mod site;

use std::process::ExitCode;

use clap::{Parser, Subcommand};

/// Benchmark and crash rig of Lotwire.
#[derive(Debug, Parser)]
struct Cli {
    #[command(subcommand)]
    rig: Rig,
}

#[derive(Debug, Subcommand)]
enum Rig {
    /// Kill a server in mid-sale again and again, and count what arrives.
    Crash(crash::Options),
    /// Measure the way of a message and the ending of items at load.
    Bench(bench::Options),
}

/// The generator and the receiver share the cores with what they measure.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

#[tokio::main]
async fn main() -> ExitCode {
    let filter = tracing_subscriber::EnvFilter::try_from_default_env().unwrap_or_else(|_| "error".into());
    tracing_subscriber::fmt().with_env_filter(filter).with_writer(std::io::stderr).init();
    let outcome = match Cli::parse().rig {
        Rig::Crash(options) => crash::run(&options).await,
        Rig::Bench(options) => bench::run(&options).await,
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

/// Why a rig could not do its work.
type RigError = Box<dyn std::error::Error + Send + Sync>;

#[expect(clippy::print_stdout, reason = "a rig's figures are for the person who runs it")]
fn say(text: &str) {
    println!("{text}");
}
