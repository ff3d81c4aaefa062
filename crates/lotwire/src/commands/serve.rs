//! Runs `lotwire serve`.

mod greeting;
pub(super) mod warnings;

use std::pin::pin;

use super::print;
use crate::config::{Config, LogFormat, Role};
use crate::error::CommandError;
use crate::node::{self, Node};
use crate::service_manager::{self, Starting};
use crate::setup_code::{self, SetupCode};

/// Runs until SIGINT or SIGTERM.
pub(super) async fn run(config: &Config) -> Result<(), CommandError> {
    for warning in warnings::of(config) {
        tracing::warn!("{warning}");
    }
    let starting = Starting::begin();
    // From here on a signal stops the server in order. While it starts, as during a migration, the process just ends.
    let mut stopped = pin!(node::shutdown_signal()?);
    let node = tokio::select! {
        node = Node::start(config) => node?,
        _ = &mut stopped => return Ok(()),
    };
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
    show_setup_code(config, &node).await?;
    starting.finish(&format!("platform {}, provider {}", node.platform_url(), node.provider_url()));
    stopped.await;
    tracing::info!("shutting down: requests and attempts under way finish first");
    service_manager::report_stopping(config.provider.drain_timeout.get());
    node.stop().await;
    Ok(())
}

/// Shows the code for the first administrator, or the file that has it, while there is no user.
async fn show_setup_code(config: &Config, node: &Node) -> Result<(), CommandError> {
    if !config.runs(Role::Platform) {
        return Ok(());
    }
    let code = node.create_setup_code().await?;
    let data_dir = greeting::absolute(&config.data_dir);
    let shown = setup_code::publish(&data_dir, code.as_ref(), setup_code::is_on_terminal(config))?;
    match (&shown, config.log.format) {
        (None, _) => {}
        (Some(shown), LogFormat::Text) => print(&shown.text(&node.platform_public_url(config))),
        (Some(SetupCode::Written(path)), _) => {
            tracing::info!(path = %path.display(), "no user exists yet: the file has a one-time code for /admin/set-up");
        }
        (Some(SetupCode::Shown(_)), _) => {}
    }
    Ok(())
}
