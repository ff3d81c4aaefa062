//! `lotwire serve`.

use crate::config::Config;
use crate::fault::Fault;
use crate::node::{self, Node};

/// Runs until SIGINT or SIGTERM.
pub(super) async fn run(config: &Config) -> Result<(), Fault> {
    if !config.database.url.is_empty() && config.secrets.key.is_empty() {
        tracing::warn!(
            "secrets are sealed with a key of this machine's data directory; nodes that share a database need the same \
             secrets.key in their configuration"
        );
    }
    let node = Node::start(config).await?;
    let store = if config.database.url.is_empty() { "SQLite" } else { "PostgreSQL" };
    tracing::info!(platform = node.platform_url(), provider = node.provider_url(), store, "ready");
    node::interrupted().await;
    tracing::info!("stopping: what is under way is finished first");
    node.stop().await;
    Ok(())
}
