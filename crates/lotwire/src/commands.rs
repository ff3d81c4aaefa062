//! Runs the commands. Management commands open the store themselves, so they work with or without a running server.

mod api_key;
mod application_client;
mod backup;
mod catalogue;
pub(crate) mod command_line_files;
pub(crate) mod config;
mod customer_publishing;
mod customers;
mod doctor;
mod health;
mod listen;
pub(crate) mod openapi;
mod provider;
mod publishing_state;
mod restore;
mod resume;
mod sale;
mod secrets;
mod serve;
mod similar_applications;
mod support_bundle;
mod trigger;
mod user;
mod verify;

use std::fmt::Display;
use std::io::{IsTerminal as _, Write as _};
use std::path::Path;
use std::process::ExitCode;

use ipnet::IpNet;
use kit_runtime::vault::Secret;
use serde::Serialize;

use crate::cli::{Cli, Command, Confirmation};
use crate::config::{Config, Resolved};
use crate::data_dir::has_file;
use crate::demo;
use crate::error::{CommandError, ErrorContext as _};

/// Runs a command and returns the exit status.
pub(crate) async fn run(cli: &Cli, resolved: Resolved) -> Result<ExitCode, CommandError> {
    let config = resolved.config.clone();
    if cli.command.needs_data_dir() {
        require_data_dir(&config)?;
    }
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
        Command::Backup(options) => backup::run(&config, options).await?,
        Command::Restore(options) => return restore::run(&config, options).await,
        Command::Resume(options) => resume::run(&config, options).await?,
        Command::Secrets(command) => return secrets::run(&config, command).await,
        Command::Listen(options) => return listen::run(&config, options).await,
        Command::Trigger(options) => trigger::run(&config, options).await?,
        Command::Sale(options) => sale::run(&config, options).await?,
        Command::Doctor => return doctor::run(&config).await,
        Command::SupportBundle(options) => support_bundle::run(&resolved, options).await?,
        Command::Health => return health::run(&config).await,
        Command::Config(_) | Command::Openapi { .. } | Command::Asyncapi | Command::ManualAndCompletions { .. } => {
            return Err(CommandError::new("this command runs before the async runtime starts"));
        }
    }
    Ok(ExitCode::SUCCESS)
}

/// Refuses a missing data directory. A command with a mistyped directory would otherwise create one with a sealing key
/// of its own. With PostgreSQL and secrets.key, no command reads the directory.
fn require_data_dir(config: &Config) -> Result<(), CommandError> {
    let is_unused = !config.database.url.is_empty() && !config.secrets.key.is_empty();
    if is_unused || config.data_dir.is_dir() {
        return Ok(());
    }
    Err(CommandError::new(format!(
        "the data directory {} does not exist. `lotwire serve` creates it: start the server first. If the server uses \
         another directory, name it with --data-dir or data_dir",
        config.data_dir.display()
    )))
}

/// Refuses a missing database. Without this check, a command with a mistyped directory would create an empty database
/// and report an empty list. Commands that create something do not call it.
fn require_database(config: &Config, file: &str) -> Result<(), CommandError> {
    if !config.database.url.is_empty() || has_file(&config.data_dir, file)? {
        return Ok(());
    }
    Err(CommandError::new(format!(
        "{} does not exist. Is --data-dir the server's? `lotwire serve` creates the database, and so do the `create` \
         commands",
        config.data_dir.join(file).display()
    )))
}

/// A number with the noun in the right form: `1 error`, `2 errors`.
pub(crate) fn pluralise<N: Display + PartialEq + From<u8>>(number: N, one: &str, many: &str) -> String {
    let noun = if number == N::from(1) { one } else { many };
    format!("{number} {noun}")
}

/// How the operator allows deliveries to an address that is not of the public internet.
pub(crate) fn subnet_remedy(allowed: &[IpNet]) -> String {
    let configured: Vec<String> = allowed.iter().map(IpNet::to_string).collect();
    let configured = if configured.is_empty() { "none".to_owned() } else { configured.join(", ") };
    format!(
        "To allow the address, start the server with its subnet in provider.allow_subnets, such as \
         LOTWIRE_PROVIDER__ALLOW_SUBNETS=127.0.0.0/8 for this machine (this configuration has {configured})"
    )
}

/// Prints a command's result. A closed pipe (`| head`) is not an error.
pub(crate) fn print(text: &str) {
    let _ = writeln!(std::io::stdout(), "{text}");
}

/// Prints a hint on standard error, so that a script reads only the result on standard output.
fn hint(text: &str) {
    warn(text);
}

/// Prints a warning on standard error, beside the command's result.
fn warn(text: &str) {
    let _ = writeln!(std::io::stderr(), "{text}");
}

/// Prints a command's result as one JSON line.
fn print_json(value: &impl Serialize) -> Result<(), CommandError> {
    print(&serde_json::to_string(value).context("writing JSON")?);
    Ok(())
}

/// Asks the operator to confirm an irreversible command. Without a terminal, the command is refused.
fn ask(question: &str) -> Result<(), CommandError> {
    let stdin = std::io::stdin();
    if !stdin.is_terminal() {
        return Err(CommandError::new(format!(
            "{question} Nothing was done, because standard input is not a terminal. To confirm, add --yes"
        )));
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
    /// Asks for confirmation, unless the command line has `--yes`.
    fn ask(&self, question: impl FnOnce() -> String) -> Result<(), CommandError> {
        if self.yes { Ok(()) } else { ask(&question()) }
    }
}

/// Reads a secret from standard input up to its end, without trailing line breaks.
fn secret_from_stdin(name: &str) -> Result<String, CommandError> {
    let text = std::io::read_to_string(std::io::stdin()).context(format!("reading {name} from standard input"))?;
    secret_from(&text, name)
}

/// Reads a passphrase from a file, or from standard input when its name is `-`. Line breaks at its end do not count.
fn passphrase(file: &Path) -> Result<Secret, CommandError> {
    let text = match file == Path::new("-") {
        true => secret_from_stdin("the passphrase")?,
        false => {
            let text =
                std::fs::read_to_string(file).context(format!("reading the passphrase in {}", file.display()))?;
            secret_from(&text, "the passphrase")?
        }
    };
    Ok(Secret::new(text.into_bytes()))
}

fn secret_from(text: &str, name: &str) -> Result<String, CommandError> {
    let text = text.trim_end_matches(['\r', '\n']);
    if text.is_empty() {
        return Err(CommandError::new(format!("{name} is empty")));
    }
    Ok(text.to_owned())
}
