//! The `lotwire` binary: command line, configuration, logging and wiring. It contains no business rule.
//!
//! - [`cli`] defines commands and flags; [`config`] loads the configuration.
//! - [`node`] connects platform and provider to their stores, listens and starts the workers.
//! - [`commands`] runs each command; [`demo`] is the demonstration.

mod address_file;
mod backup;
mod certificate_reload;
mod cli;
mod commands;
mod config;
mod data_dir;
mod data_dir_lock;
mod demo;
mod disk_reserve_metrics;
mod embedded_accounts;
mod embedded_provider;
mod error;
mod hold;
mod home;
mod last_backup;
mod node;
mod ready_event_types;
mod sealing_key;
mod server_proof;
mod service_manager;
mod setup_code;
mod telemetry;
mod trace_export;
mod upgrade_copy;

use std::num::NonZero;
use std::process::ExitCode;

use clap::Parser as _;

use crate::cli::{Cli, Command};
use crate::error::{CommandError, ErrorContext as _};

/// Deliveries allocate much, on many threads. mimalloc serves such a load with less CPU than the system's allocator.
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
    if let Command::ManualAndCompletions { directory } = &cli.command {
        return commands::command_line_files::run(directory);
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
    // A variable whose name or value is not Unicode is none of Lotwire's settings.
    let variables =
        std::env::vars_os().filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)));
    config::load(cli.common.config.as_deref(), variables, cli.overrides())
        .map_err(|error| CommandError::new(error.to_string()))
}

#[expect(clippy::print_stderr, reason = "the error of a failed command goes to the terminal")]
fn print_error(error: &CommandError) {
    eprintln!("lotwire: {error}");
}
