//! Runs `lotwire provider`: accounts, API keys, applications, endpoints, alert recipients and waiting deliveries of the embedded
//! provider.

mod account;
mod alert_recipient;
mod application;
mod endpoint;
mod key;
pub(super) mod resolve;
mod stuck;
mod tail;
mod unblock;
mod wait_reason;

use provider_core::page::{CursorKey, PageQuery};
use provider_core::{ListPage, PageRequest, ProviderError};

use super::{hint, pluralise, print, print_json, require_database};
use crate::address_file;
use crate::cli::{Provider as Command, ProviderAccount};
use crate::config::{Config, Role};
use crate::error::{CommandError, ErrorContext as _};
use crate::node::{NodeServices, open_provider};

/// Maximum number of listed rows.
const LIST_MAX: usize = 10_000;

pub(super) async fn run(config: &Config, command: &Command) -> Result<(), CommandError> {
    if let Command::Tail(options) = command {
        return tail::run(config, options).await;
    }
    if !matches!(command, Command::Account(ProviderAccount::Create { .. })) {
        require_database(config, "provider.db")?;
    }
    let config = &with_server_address(config);
    let services = NodeServices::new(config)?;
    let provider = open_provider(config, &services).await?;
    match command {
        Command::Account(command) => account::run(&provider, command).await,
        Command::Key(command) => key::run(&provider, &services, command).await,
        Command::Application(command) => application::run(&provider, command).await,
        Command::Endpoint(command) => endpoint::run(&provider, command).await,
        Command::AlertRecipient(command) => alert_recipient::run(&provider, command).await,
        Command::Stuck(options) => stuck::run(&provider, &services, options).await,
        Command::Tail(options) => tail::run(config, options).await,
    }
}

/// The configuration with the address of the running server, if no public URL is set. Links begin with it.
fn with_server_address(config: &Config) -> Config {
    let mut config = config.clone();
    if config.provider.public_url.is_empty()
        && let Some(url) = address_file::read(&config.data_dir, Role::Provider)
    {
        config.provider.public_url = url;
    }
    config
}

/// Reads a list page by page, up to [`LIST_MAX`] rows.
pub(super) async fn all<T>(
    key: CursorKey,
    doing: &str,
    page: impl AsyncFn(&PageRequest) -> Result<ListPage<T>, ProviderError>,
) -> Result<Vec<T>, CommandError> {
    let (mut rows, mut iterator) = (Vec::new(), None::<String>);
    while rows.len() < LIST_MAX {
        let query = PageQuery { limit: Some("250"), iterator: iterator.as_deref(), order: None };
        let request = PageRequest::parse(query, key).context(doing)?;
        let slice = page(&request).await.context(doing)?;
        rows.extend(slice.data);
        iterator = slice.iterator;
        if slice.done || iterator.is_none() {
            break;
        }
    }
    rows.truncate(LIST_MAX);
    Ok(rows)
}

/// The text, or a dash for a missing value.
fn or_dash(text: Option<String>) -> String {
    text.unwrap_or_else(|| "-".to_owned())
}

/// Outside text on one line: control characters become spaces.
fn one_line(text: &str) -> String {
    text.chars().map(|character| if character.is_control() { ' ' } else { character }).collect()
}
