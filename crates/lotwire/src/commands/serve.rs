//! `lotwire serve`.

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
    tracing::info!("stopping: what is under way is finished first");
    node.stop().await;
    Ok(())
}

/// What can be meant, and mostly isn't.
fn warnings(config: &Config) -> Vec<&'static str> {
    let mut warnings = Vec::new();
    if !config.database.url.is_empty() && config.secrets.key.is_empty() {
        warnings.push(
            "secrets are sealed with a key of this machine's data directory; nodes that share a database need the same \
             secrets.key in their configuration",
        );
    }
    if config.runs(Role::Provider) && config.provider.retry_schedule.is_empty() {
        warnings.push(
            "provider.retry_schedule is empty: a delivery is given up when its first attempt fails. Leave it out for retries \
             over 28 hours",
        );
    }
    warnings
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_mostly_a_mistake_is_warned_of() {
        assert_eq!(warnings(&Config::default()), [""; 0]);
        let mut config = Config::default();
        config.provider.retry_schedule.clear();
        assert!(warnings(&config)[0].contains("retry_schedule"));
        config.roles = vec![Role::Platform];
        config.database.url = "postgres://db/lotwire".to_owned();
        assert!(warnings(&config).len() == 1 && warnings(&config)[0].contains("secrets.key"));
    }
}
