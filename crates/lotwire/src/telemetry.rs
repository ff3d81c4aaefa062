//! Logging: on standard error, so that standard output is the command's own.

use tracing_subscriber::EnvFilter;

use crate::cli::Command;
use crate::config::{Log, LogFormat};
use crate::fault::{Fault, While as _};

/// Starts logging. Commands that talk to a person log warnings only; a server logs what the configuration says.
pub(crate) fn start(log: &Log, command: &Command) -> Result<(), Fault> {
    let level = if matches!(command, Command::Serve(_)) { log.level.as_str() } else { "warn" };
    let filter = EnvFilter::try_new(level).while_("log.level")?;
    let lines = tracing_subscriber::fmt().with_env_filter(filter).with_writer(std::io::stderr);
    match log.format {
        LogFormat::Text => lines.init(),
        LogFormat::Json => lines.json().init(),
    }
    Ok(())
}
