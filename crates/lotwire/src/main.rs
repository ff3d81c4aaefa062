//! Lotwire: the binary. Command line, configuration, telemetry, wiring; no rule of its own.
//!
//! [`cli`] names the commands, [`config`] says what they work with, [`node`] wires platform and provider to their stores,
//! [`commands`] and [`demo`] do the work.

mod cli;
mod commands;
mod config;
mod data_dir_lock;
mod demo;
mod error;
mod node;
mod sealing_key;
mod telemetry;

use std::num::NonZero;
use std::process::ExitCode;

use clap::Parser as _;

use crate::cli::{Cli, Command};
use crate::error::{CommandError, ErrorContext as _};

/// With the system's allocator a delivery costs a tenth more CPU (docs/benchmarks.md).
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    let cli = Cli::parse();
    match run(&cli) {
        Ok(code) => code,
        Err(error) => {
            print_error(&error);
            ExitCode::FAILURE
        }
    }
}

fn run(cli: &Cli) -> Result<ExitCode, CommandError> {
    if let Command::Config(command) = &cli.command {
        return commands::config::run(cli, command);
    }
    if let Command::Openapi { api } = &cli.command {
        return commands::openapi::run(*api);
    }
    if let Command::Asyncapi = &cli.command {
        return commands::openapi::run_asyncapi();
    }
    let resolved = load(cli)?;
    telemetry::start(&resolved.config.log, &cli.command)?;
    let cores = std::thread::available_parallelism().map_or(1, NonZero::get);
    let mut runtime = tokio::runtime::Builder::new_multi_thread();
    runtime.worker_threads(resolved.config.threads(cores)).enable_all();
    let runtime = runtime.build().context("starting the runtime")?;
    runtime.block_on(commands::run(cli, resolved))
}

fn load(cli: &Cli) -> Result<config::Resolved, CommandError> {
    // A variable that is not Unicode can't be one of ours.
    let variables =
        std::env::vars_os().filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)));
    config::load(cli.common.config.as_deref(), variables, cli.overrides())
        .map_err(|error| CommandError::new(error.to_string()))
}

#[expect(clippy::print_stderr, reason = "the last word of a command that failed")]
fn print_error(error: &CommandError) {
    eprintln!("lotwire: {error}");
}
