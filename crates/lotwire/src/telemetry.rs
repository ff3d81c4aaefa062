//! Logging: on standard error, so that standard output is the command's own.

use std::io::IsTerminal as _;

use tracing::{Level, Metadata};
use tracing_subscriber::EnvFilter;
use tracing_subscriber::filter::filter_fn;
use tracing_subscriber::layer::SubscriberExt as _;
use tracing_subscriber::util::SubscriberInitExt as _;

use crate::cli::Command;
use crate::config::{Log, LogFormat};
use crate::error::{CommandError, ErrorContext as _};

/// Migrations tell of each step at `info`, which is every start.
const QUIET_MIGRATIONS: &str = "refinery_core=warn";

/// A library that writes values of ours, keys and payloads among them, when it is asked for more than `info`: PostgreSQL's
/// client logs the parameters of each statement. No `log.level` gets those.
const LOGS_PARAMETERS: &str = "tokio_postgres";

/// The pool tells of each connection that is broken, which is all of them at once when the server is restarted. The listener's is told.
const LOGS_EACH_CONNECTION: &str = "deadpool.postgres";

/// Starts logging. Commands that talk to a person log warnings only; a server logs what the configuration says.
pub(crate) fn start(log: &Log, command: &Command) -> Result<(), CommandError> {
    let level = if matches!(command, Command::Serve(_)) { log.level.as_str() } else { "warn" };
    // Named first, so that whoever asks for more of it in `log.level` gets it.
    let filter = EnvFilter::try_new(format!("{QUIET_MIGRATIONS},{level}")).context("log.level")?;
    let is_terminal = std::io::stderr().is_terminal();
    // A line that can't be written, on a full disk or because its reader has gone, is lost. By default the library complains of it
    // with `eprintln!`, which panics then: whoever had something to say would die of it, in the middle of its work.
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
