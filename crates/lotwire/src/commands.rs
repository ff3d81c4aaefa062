//! What each command does. Management commands open the store themselves, so they work while a server runs, and without.

mod api_key;
mod catalogue;
pub(crate) mod config;
mod customer_publishing;
mod customers;
mod doctor;
pub(crate) mod openapi;
mod provider;
mod secrets;
mod serve;
mod user;
mod verify;

use std::fmt::Display;
use std::io::{IsTerminal as _, Write as _};
use std::process::ExitCode;

use serde::Serialize;

use crate::cli::{Cli, Command, Confirmation};
use crate::config::{Config, Resolved};
use crate::demo;
use crate::error::{CommandError, ErrorContext as _};

/// Runs the command and says how the process ends.
pub(crate) async fn run(cli: &Cli, resolved: Resolved) -> Result<ExitCode, CommandError> {
    let config = resolved.config;
    match &cli.command {
        Command::Demo(options) => {
            let data_dir_given = resolved.origins.contains_key("data_dir");
            return demo::run(options, config, data_dir_given).await;
        }
        Command::Serve(_) => serve::run(&config).await?,
        Command::Provider(command) => provider::run(&config, command).await?,
        Command::Customer(command) => customers::run(&config, command).await?,
        Command::Key(command) => api_key::run(&config, command).await?,
        Command::User(command) => user::run(&config, command).await?,
        Command::Catalogue(command) => return catalogue::run(&config, command).await,
        Command::Verify(options) => return verify::run(&config, options).await,
        Command::Secrets(command) => return secrets::run(&config, command).await,
        Command::Doctor => return doctor::run(&config).await,
        Command::Config(_) | Command::Openapi { .. } | Command::Asyncapi => {
            return Err(CommandError::new("handled before the runtime starts"));
        }
    }
    Ok(ExitCode::SUCCESS)
}

/// For commands that make nothing: with a mistyped directory a list would be empty, a check would find nothing wrong, and a new
/// database would be left there.
fn require_database(config: &Config, file: &str) -> Result<(), CommandError> {
    let path = config.data_dir.join(file);
    if !config.database.url.is_empty() || path.exists() {
        return Ok(());
    }
    Err(CommandError::new(format!(
        "there is no {}: is --data-dir the server's? `lotwire serve` makes one, and so do the commands that create something",
        path.display()
    )))
}

/// So many of something: `1 error`, `2 errors`.
pub(crate) fn pluralise<N: Display + PartialEq + From<u8>>(number: N, one: &str, many: &str) -> String {
    let what = if number == N::from(1) { one } else { many };
    format!("{number} {what}")
}

/// Prints a command's result. Whoever reads it may stop reading (`| head`), which is no fault.
pub(crate) fn print(text: &str) {
    let _ = writeln!(std::io::stdout(), "{text}");
}

/// Prints what a person should know beside a command's result.
fn warn(text: &str) {
    let _ = writeln!(std::io::stderr(), "{text}");
}

/// Prints a command's result as one JSON line.
fn print_json(value: &impl Serialize) -> Result<(), CommandError> {
    print(&serde_json::to_string(value).context("writing JSON")?);
    Ok(())
}

/// Asks the person at the terminal before something that can't be undone. Where there is none, nothing is done.
fn ask(question: &str) -> Result<(), CommandError> {
    let stdin = std::io::stdin();
    if !stdin.is_terminal() {
        return Err(CommandError::new(format!("{question} Nothing was done: say --yes where there is nobody to ask")));
    }
    print(&format!("{question} [y/N]"));
    let mut answer = String::new();
    stdin.read_line(&mut answer).context("reading the answer")?;
    match answer.trim().to_ascii_lowercase().as_str() {
        "y" | "yes" => Ok(()),
        _ => Err(CommandError::new("nothing was done")),
    }
}

impl Confirmation {
    /// Asks, unless the command line has said yes already.
    fn ask(&self, question: impl FnOnce() -> String) -> Result<(), CommandError> {
        if self.yes { Ok(()) } else { ask(&question()) }
    }
}

/// Reads a secret from standard input: everything up to the end, without the line break that tools add.
fn secret_from_stdin(what: &str) -> Result<String, CommandError> {
    let text = std::io::read_to_string(std::io::stdin()).context(format!("reading {what} from standard input"))?;
    secret_from(&text, what)
}

fn secret_from(text: &str, what: &str) -> Result<String, CommandError> {
    let text = text.trim_end_matches(['\r', '\n']);
    if text.is_empty() {
        return Err(CommandError::new(format!("{what} is empty")));
    }
    Ok(text.to_owned())
}
