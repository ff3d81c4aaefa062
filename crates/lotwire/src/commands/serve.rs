//! Runs `lotwire serve`.

use crate::config::{Config, Role};
use crate::error::CommandError;
use crate::node::{self, Node};

/// Runs until SIGINT or SIGTERM.
pub(super) async fn run(config: &Config) -> Result<(), CommandError> {
    for warning in warnings(config) {
        tracing::warn!("{warning}");
    }
    let node = Node::start(config).await?;
    let store = if config.database.url.is_empty() { "SQLite" } else { "PostgreSQL" };
    tracing::info!(platform = node.platform_url(), provider = node.provider_url(), store, "ready");
    node::shutdown_signal()?.await;
    tracing::info!("shutting down: requests and attempts under way finish first");
    node.stop().await;
    Ok(())
}

/// Warnings about valid settings that are usually mistakes.
fn warnings(config: &Config) -> Vec<&'static str> {
    let mut warnings = Vec::new();
    if !config.database.url.is_empty() && config.secrets.key.is_empty() {
        warnings.push(
            "secrets.key is not set, so the file secret.key in this node's data directory seals secrets. Nodes that \
             share a database need the same secrets.key",
        );
    }
    if config.runs(Role::Provider) && config.provider.retry_schedule.is_empty() {
        warnings.push(
            "provider.retry_schedule is empty: a delivery fails with its first failed attempt. Remove the setting to \
             retry for about 28 hours",
        );
    }
    warnings
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_that_are_usually_mistakes_cause_a_warning() {
        assert_eq!(warnings(&Config::default()), [""; 0]);
        let mut config = Config::default();
        config.provider.retry_schedule.clear();
        assert!(warnings(&config)[0].contains("retry_schedule"));
        config.roles = vec![Role::Platform];
        config.database.url = "postgres://db/lotwire".to_owned();
        assert!(warnings(&config).len() == 1 && warnings(&config)[0].contains("secrets.key"));
    }
}
