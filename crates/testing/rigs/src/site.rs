//! The environment of a rig: a new store, a launch of the real binary, and a set-up customer.

use std::ops::Deref;
use std::path::Path;

use clap::ValueEnum;
use testkit::server::{Launch, Server, built_binary};

use crate::RigError;
use crate::http_io::Sink;

/// The server's database engine.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Engine {
    Sqlite,
    Postgres,
}

/// A set-up customer and the launch of its server, which can be started again.
pub(crate) struct RigSite {
    site: testkit::site::CustomerSite,
    pub(crate) launch: Launch,
    data: tempfile::TempDir,
}

impl RigSite {
    /// Sets up a customer on a new store. Returns the running server too.
    pub(crate) async fn set_up(engine: Engine, settings: &[(&str, &str)]) -> Result<(Self, Server), RigError> {
        Self::set_up_with(&built_binary("lotwire")?, engine, settings).await
    }

    /// Does the same with another binary.
    pub(crate) async fn set_up_with(
        binary: &Path,
        engine: Engine,
        settings: &[(&str, &str)],
    ) -> Result<(Self, Server), RigError> {
        let database = match engine {
            Engine::Sqlite => None,
            Engine::Postgres => Some(testkit::postgres::fresh_database().await?),
        };
        Self::start(binary, database.as_deref(), settings).await
    }

    /// Does the same on an empty PostgreSQL database; without one, on SQLite.
    pub(crate) async fn set_up_on(
        database: Option<&str>,
        settings: &[(&str, &str)],
    ) -> Result<(Self, Server), RigError> {
        Self::start(&built_binary("lotwire")?, database, settings).await
    }

    async fn start(
        binary: &Path,
        database: Option<&str>,
        settings: &[(&str, &str)],
    ) -> Result<(Self, Server), RigError> {
        let data = tempfile::tempdir()?;
        let mut launch = Launch::new(binary.to_owned(), data.path())?.set("SECRETS__KEY", &"5a".repeat(32));
        if let Some(url) = database {
            launch = launch.database(url);
        }
        for (key, value) in settings {
            launch = launch.set(key, value);
        }
        let server = launch.start(&testkit::site::http_client()).await?;
        let site = testkit::site::CustomerSite::set_up(&launch, &launch).await?;
        Ok((RigSite { site, launch, data }, server))
    }

    /// The data directory of the launch.
    pub(crate) fn folder(&self) -> &Path {
        self.data.path()
    }

    /// Sends the next requests to the platform of another node.
    pub(crate) fn use_platform(&mut self, node: &Launch) {
        self.site.platform = self.site.platform.at(node.platform_url());
    }

    /// Moves the customer's endpoint to a lightweight receiver for benchmarks, which keeps no record of the messages.
    pub(crate) async fn use_sink(&self) -> Result<Sink, RigError> {
        let listener = Sink::listen().await?;
        let secret = self.site.move_endpoint(&format!("http://{}/", listener.1)).await?;
        Sink::answer(listener, Some(&secret))
    }

    /// Adds an endpoint with a lightweight receiver to an application.
    pub(crate) async fn add_sink(&self, application: &str) -> Result<Sink, RigError> {
        let listener = Sink::listen().await?;
        let secret = self.site.add_endpoint(application, &format!("http://{}/", listener.1)).await?;
        Sink::answer(listener, Some(&secret))
    }
}

impl Deref for RigSite {
    type Target = testkit::site::CustomerSite;

    fn deref(&self) -> &Self::Target {
        &self.site
    }
}
