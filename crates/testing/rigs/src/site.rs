//! What a rig works on: a fresh store, a launch of the real binary, and a customer who is set up.

use std::ops::Deref;

use clap::ValueEnum;
use testkit::server::{Launch, Server, built_binary};

use crate::RigError;
use crate::http_io::Sink;

/// Which database engine the server uses.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Engine {
    Sqlite,
    Postgres,
}

/// A customer's site with the launch of its server, which may be started any number of times.
pub(crate) struct RigSite {
    site: testkit::site::CustomerSite,
    pub(crate) launch: Launch,
    _data: tempfile::TempDir,
}

impl RigSite {
    /// Sets a customer up on a fresh store; the server that it was done with runs on.
    pub(crate) async fn set_up(engine: Engine, settings: &[(&str, &str)]) -> Result<(Self, Server), RigError> {
        let data = tempfile::tempdir()?;
        let mut launch = Launch::new(built_binary("lotwire")?, data.path())?.set("SECRETS__KEY", &"5a".repeat(32));
        if engine == Engine::Postgres {
            launch = launch.database(&testkit::postgres::fresh_database().await?);
        }
        for (key, value) in settings {
            launch = launch.set(key, value);
        }
        let server = launch.start(&testkit::site::http_client()).await?;
        let site = testkit::site::CustomerSite::set_up(&launch, &launch).await?;
        Ok((RigSite { site, launch, _data: data }, server))
    }

    /// BulkChangeStore the customer's endpoint to a receiver that takes what a benchmark sends, in place of the one that keeps a record.
    pub(crate) async fn use_sink(&self) -> Result<Sink, RigError> {
        let listener = Sink::listen().await?;
        let secret = self.site.move_endpoint(&format!("http://{}/", listener.1)).await?;
        Sink::answer(listener, Some(&secret))
    }

    /// A further endpoint of an application, with a receiver that takes what a benchmark sends.
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
