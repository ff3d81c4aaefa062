//! Runs `lotwire serve`.

mod greeting;
mod warnings;

use super::print;
use crate::config::{Config, LogFormat};
use crate::error::CommandError;
use crate::node::{self, Node};

/// Runs until SIGINT or SIGTERM.
pub(super) async fn run(config: &Config) -> Result<(), CommandError> {
    for warning in warnings::of(config) {
        tracing::warn!("{warning}");
    }
    let node = Node::start(config).await?;
    let store = if config.database.url.is_empty() { "SQLite" } else { "PostgreSQL" };
    let data_dir = greeting::absolute(&config.data_dir);
    let version = env!("CARGO_PKG_VERSION");
    tracing::info!(
        version,
        data_dir = %data_dir.display(),
        platform = node.platform_url(),
        provider = node.provider_url(),
        store,
        "ready"
    );
    // With JSON logs a program reads the output.
    if config.log.format == LogFormat::Text {
        print(&greeting::text(config, &node.platform_url(), &node.provider_url(), node.is_empty().await?));
    }
    node::shutdown_signal()?.await;
    tracing::info!("shutting down: requests and attempts under way finish first");
    node.stop().await;
    Ok(())
}
