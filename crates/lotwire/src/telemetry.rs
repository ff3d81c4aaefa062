//! Logging to standard error. Standard output has only the result of the command.

use std::io::IsTerminal as _;

use tracing::{Level, Metadata};
use tracing_subscriber::EnvFilter;
use tracing_subscriber::filter::filter_fn;
use tracing_subscriber::layer::SubscriberExt as _;
use tracing_subscriber::util::SubscriberInitExt as _;

use crate::cli::Command;
use crate::config::{Log, LogFormat};
use crate::error::{CommandError, ErrorContext as _};

/// The migration library logs every step at `info` on every start.
const QUIET_MIGRATIONS: &str = "refinery_core=warn";

/// The PostgreSQL client logs the parameters of each statement below `info`: keys and payloads among them. No
/// `log.level` shows those lines.
const LOGS_PARAMETERS: &str = "tokio_postgres";

/// The pool logs each broken connection, which is every connection after a restart of PostgreSQL. The listening
/// connection already logs the outage once.
const LOGS_EACH_CONNECTION: &str = "deadpool.postgres";

/// Starts logging. `serve` logs at `log.level`; every other command logs warnings and errors only.
pub(crate) fn start(log: &Log, command: &Command) -> Result<(), CommandError> {
    let level = if matches!(command, Command::Serve(_)) { log.level.as_str() } else { "warn" };
    // It comes first, so that a directive in `log.level` can override it.
    let filter = EnvFilter::try_new(format!("{QUIET_MIGRATIONS},{level}")).context("log.level")?;
    let is_terminal = std::io::stderr().is_terminal();
    // A line that can't be written (a full disk, a closed pipe) is lost. By default the library reports that with
    // `eprintln!`, which panics in this case and would stop the task that logged.
    let lines = tracing_subscriber::fmt().log_internal_errors(false);
    let lines = lines.with_env_filter(filter).with_writer(std::io::stderr).with_ansi(is_terminal);
    match log.format {
        LogFormat::Text => lines.finish().with(filter_fn(may_be_logged)).init(),
        LogFormat::Json => lines.json().finish().with(filter_fn(may_be_logged)).init(),
    }
    Ok(())
}

fn may_be_logged(line: &Metadata<'_>) -> bool {
    (*line.level() <= Level::INFO || !line.target().starts_with(LOGS_PARAMETERS))
        && line.target() != LOGS_EACH_CONNECTION
}
