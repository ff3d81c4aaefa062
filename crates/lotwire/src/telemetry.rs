//! Logging: on standard error, so that standard output is the command's own.

use std::io::IsTerminal as _;

use tracing_subscriber::EnvFilter;

use crate::cli::Command;
use crate::config::{Log, LogFormat};
use crate::fault::{Fault, While as _};

/// Migrations tell of each step at `info`, which is every start.
const QUIETER: &str = "refinery_core=warn";

/// Starts logging. Commands that talk to a person log warnings only; a server logs what the configuration says.
pub(crate) fn start(log: &Log, command: &Command) -> Result<(), Fault> {
    let level = if matches!(command, Command::Serve(_)) { log.level.as_str() } else { "warn" };
    // Named first, so that whoever asks for more of it in `log.level` gets it.
    let filter = EnvFilter::try_new(format!("{QUIETER},{level}")).while_("log.level")?;
    let is_terminal = std::io::stderr().is_terminal();
    let lines = tracing_subscriber::fmt().with_env_filter(filter).with_writer(std::io::stderr).with_ansi(is_terminal);
    match log.format {
        LogFormat::Text => lines.init(),
        LogFormat::Json => lines.json().init(),
    }
    Ok(())
}
