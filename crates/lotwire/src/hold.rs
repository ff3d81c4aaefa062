//! The hold after a restore, over both wings of an installation.

use kit_engine::OlderTables;
use kit_runtime::hold::Hold;
use platform_core::Platform;
use provider_core::Provider;

use crate::backup::{PLATFORM_FILE, PROVIDER_FILE};
use crate::config::Config;
use crate::data_dir::has_file;
use crate::error::{CommandError, ErrorContext as _};
use crate::node::{NodeServices, open_platform_with, open_provider_with};

/// The wings whose databases exist, opened for a management command.
pub(crate) struct InstalledWings {
    pub(crate) platform: Option<Platform>,
    pub(crate) provider: Option<Provider>,
}

impl InstalledWings {
    pub(crate) async fn open(
        older: OlderTables,
        config: &Config,
        services: &NodeServices,
    ) -> Result<Self, CommandError> {
        let on_postgres = !config.database.url.is_empty();
        let exists = |file: &str| if on_postgres { Ok(true) } else { has_file(&config.data_dir, file) };
        let platform =
            if exists(PLATFORM_FILE)? { Some(open_platform_with(older, config, services).await?) } else { None };
        let provider =
            if exists(PROVIDER_FILE)? { Some(open_provider_with(older, config, services).await?) } else { None };
        if platform.is_none() && provider.is_none() {
            let dir = config.data_dir.display();
            return Err(CommandError::new(format!("{dir} contains no database. Is --data-dir the server's?")));
        }
        Ok(Self { platform, provider })
    }

    pub(crate) fn wings(&self) -> Wings<'_> {
        Wings { platform: self.platform.as_ref(), provider: self.provider.as_ref() }
    }
}

/// The wings of which this process has the databases.
pub(crate) struct Wings<'a> {
    pub(crate) platform: Option<&'a Platform>,
    pub(crate) provider: Option<&'a Provider>,
}

impl Wings<'_> {
    /// The hold of either wing.
    pub(crate) async fn hold(&self) -> Result<Option<Hold>, CommandError> {
        let doing = "reading the hold";
        if let Some(platform) = self.platform
            && let Some(hold) = platform.hold().await.context(doing)?
        {
            return Ok(Some(hold));
        }
        match self.provider {
            Some(provider) => provider.hold().await.context(doing),
            None => Ok(None),
        }
    }

    /// Puts both wings on hold.
    pub(crate) async fn begin_hold(&self, hold: Hold) -> Result<(), CommandError> {
        let doing = "storing the hold";
        if let Some(platform) = self.platform {
            platform.put_on_hold(hold).await.context(doing)?;
        }
        match self.provider {
            Some(provider) => provider.put_on_hold(hold).await.context(doing),
            None => Ok(()),
        }
    }

    /// Ends the hold of both wings.
    pub(crate) async fn end_hold(&self) -> Result<(), CommandError> {
        let doing = "ending the hold";
        if let Some(platform) = self.platform {
            platform.end_hold().await.context(doing)?;
        }
        match self.provider {
            Some(provider) => provider.end_hold().await.context(doing),
            None => Ok(()),
        }
    }

    /// Refuses to work while the installation is on hold.
    pub(crate) async fn require_no_hold(&self) -> Result<(), CommandError> {
        let Some(hold) = self.hold().await? else { return Ok(()) };
        Err(CommandError::new(format!(
            "{} The server does not start, because it would end lots, publish events and deliver webhooks as of then. To see \
             what it would do, and to go on, run `lotwire resume`",
            sentence(&hold)
        )))
    }
}

/// One sentence that names the time of the restore and of its backup.
pub(crate) fn sentence(hold: &Hold) -> String {
    let of = hold.backup_at.map(|at| format!(" of {at}")).unwrap_or_default();
    format!("The installation was restored at {} from a backup{of}, and is on hold.", hold.since)
}
