//! The ways to back up and restore: `lotwire backup` for SQLite; `pg_dump`, and archived WAL, for PostgreSQL.

use std::path::PathBuf;
use std::process::Command;
use std::time::{Duration, Instant};

use jiff::Timestamp;
use tempfile::TempDir;
use testkit::postgres::{DedicatedServer, PointInTime, Settings};
use testkit::server::{Launch, Server};

use super::{Way, text};
use crate::RigError;
use crate::site::RigSite;

const DATABASE: &str = "lotwire";
const RESTORED_DATABASE: &str = "restored";
/// Time in which a server restores the archived WAL, and between two looks whether it has.
const RECOVERY_MAX: Duration = Duration::from_secs(120);
const RECOVERY_POLL: Duration = Duration::from_millis(100);

/// An installation that is backed up.
pub(super) struct Original {
    way: Way,
    site: RigSite,
    server: Option<Server>,
    postgres: Option<DedicatedServer>,
    folder: TempDir,
}

/// A backup.
pub(super) struct MadeBackup {
    /// The moment of which it is.
    pub(super) at: Timestamp,
    pub(super) took: Duration,
    /// Milliseconds in which no other process could write, where known.
    pub(super) locked_ms: Option<f64>,
    /// The folder or the file; with archived WAL, the server's directory.
    path: PathBuf,
}

/// A restored installation on hold. No server runs.
pub(super) struct Restored {
    pub(super) launch: Launch,
    pub(super) bids: u64,
    /// The server that was restored from the archive.
    _postgres: Option<DedicatedServer>,
}

impl Original {
    pub(super) async fn start(way: Way) -> Result<Self, RigError> {
        let postgres = match way {
            Way::Lotwire => None,
            Way::PgDump | Way::Archive => Some(DedicatedServer::start(&Settings::with_archive())?),
        };
        let database = match &postgres {
            Some(server) => {
                server.sql(&format!("CREATE DATABASE {DATABASE}"))?;
                Some(server.url(DATABASE))
            }
            None => None,
        };
        let (site, server) = RigSite::set_up_on(database.as_deref(), &[("PLATFORM__RATE_LIMIT", "0")]).await?;
        Ok(Self { way, site, server: Some(server), postgres, folder: tempfile::tempdir()? })
    }

    pub(super) fn site(&self) -> &RigSite {
        &self.site
    }

    /// What a way needs before the load: archived WAL continues a base backup.
    pub(super) fn prepare(&mut self) -> Result<(), RigError> {
        match (self.way, &mut self.postgres) {
            (Way::Archive, Some(server)) => Ok(server.base_backup()?),
            _ => Ok(()),
        }
    }

    /// Backs up, while the server runs. With archived WAL, it notes the moment.
    pub(super) async fn back_up(&self) -> Result<MadeBackup, RigError> {
        let (at, begin) = (self.site.clock.now(), Instant::now());
        let made = |path, locked_ms| MadeBackup { at, took: begin.elapsed(), locked_ms, path };
        match (self.way, &self.postgres) {
            (Way::Archive, Some(server)) => Ok(made(server.directory().to_owned(), None)),
            (Way::PgDump, Some(server)) => {
                let file = self.folder.path().join("dump");
                let mut dump = server.client("pg_dump")?;
                dump.args(["--format=custom", "--file"]).arg(&file).arg(DATABASE);
                run(dump).await?;
                Ok(made(file, None))
            }
            _ => {
                let (launch, folder) = (self.site.launch.clone(), self.folder.path().join("backups"));
                let answer = tokio::task::spawn_blocking(move || {
                    launch.run_command(&["backup", &folder.display().to_string(), "--json"])
                });
                let answer = answer.await??;
                let backup = made(text(&answer, "path")?.into(), answer["lockedMs"].as_f64());
                Ok(MadeBackup { at: text(&answer, "at")?.parse()?, ..backup })
            }
        }
    }

    pub(super) fn kill(&mut self) {
        if let Some(server) = self.server.take() {
            server.kill();
        }
    }

    /// Restores into a new directory or database, and puts it on hold. The original's server was killed.
    pub(super) async fn restore(&mut self, backup: &MadeBackup) -> Result<Restored, RigError> {
        let launch = self.site.launch.node_in(&self.folder.path().join("restored"))?;
        match (self.way, &mut self.postgres) {
            (Way::Archive, Some(server)) => {
                server.sql("SELECT pg_switch_wal()")?;
                server.stop()?;
                let restored = PointInTime {
                    directory: backup.path.clone(),
                    time: backup.at.strftime("%F %T%.6f+00").to_string(),
                };
                let restored = DedicatedServer::start(&Settings { restored: Some(restored), ..Settings::default() })?;
                wait_for_recovery(&restored).await?;
                let launch = launch.database_instead(&restored.url(DATABASE));
                let bids = count_bids(&restored, DATABASE).await?;
                mark(&launch, backup)?;
                Ok(Restored { launch, bids, _postgres: Some(restored) })
            }
            (Way::PgDump, Some(server)) => {
                server.sql(&format!("CREATE DATABASE {RESTORED_DATABASE}"))?;
                let mut restore = server.client("pg_restore")?;
                restore.args(["--exit-on-error", "--dbname", RESTORED_DATABASE]).arg(&backup.path);
                run(restore).await?;
                let launch = launch.database_instead(&server.url(RESTORED_DATABASE));
                let bids = count_bids(server, RESTORED_DATABASE).await?;
                mark(&launch, backup)?;
                Ok(Restored { launch, bids, _postgres: None })
            }
            _ => {
                let folder = backup.path.display().to_string();
                launch.run_command(&["restore", &folder, "--json"])?;
                let manifest = std::fs::read_to_string(backup.path.join("manifest.json"))?;
                let manifest: serde_json::Value = serde_json::from_str(&manifest)?;
                let bids =
                    manifest["databases"]["platform.db"]["rows"]["bids"].as_u64().ok_or("no bids are counted")?;
                Ok(Restored { launch, bids, _postgres: None })
            }
        }
    }
}

/// Puts a database on hold that was restored with PostgreSQL's tools.
fn mark(launch: &Launch, backup: &MadeBackup) -> Result<(), RigError> {
    let at = backup.at.to_string();
    launch.run_command(&["restore", "--mark", "--backup-at", &at, "--yes", "--json"])?;
    Ok(())
}

async fn wait_for_recovery(server: &DedicatedServer) -> Result<(), RigError> {
    let deadline = Instant::now() + RECOVERY_MAX;
    while server.sql("SELECT pg_is_in_recovery()")? == "t" {
        if Instant::now() > deadline {
            return Err("the server did not restore the archived WAL in time".into());
        }
        tokio::time::sleep(RECOVERY_POLL).await;
    }
    Ok(())
}

async fn count_bids(server: &DedicatedServer, database: &str) -> Result<u64, RigError> {
    let mut count = server.client("psql")?;
    count.args(["-XAt", "-c", "SELECT count(*) FROM platform.bids", database]);
    Ok(run(count).await?.trim().parse()?)
}

/// Runs a program and returns its output.
async fn run(mut command: Command) -> Result<String, RigError> {
    let output = tokio::task::spawn_blocking(move || command.output()).await??;
    if !output.status.success() {
        return Err(String::from_utf8_lossy(&output.stderr).into());
    }
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}
