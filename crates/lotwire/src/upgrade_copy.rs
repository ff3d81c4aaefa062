//! The copy of SQLite databases that a server of a new version makes before it upgrades their tables, so that an operator can go
//! back to the version before. It is a backup without images: `lotwire restore` of the version before puts it back.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

use jiff::Timestamp;
use kit_engine::TableVersions;
use kit_runtime::clock::Clock;
use kit_runtime::disk_space::space_of;

use crate::backup::{
    Manifest, PLATFORM_FILE, PROVIDER_FILE, Work, WorkFolder, backup_name, backups_in, copy_databases, databases_in,
    describe, private_folder, progress_bar, sync_folder,
};
use crate::config::{Config, Role};
use crate::error::{CommandError, ErrorContext as _};

/// The folder of the copies, in the data directory.
const FOLDER: &str = "before-upgrade";
/// Bytes that are left free beside the copy, for what the migrations write.
const ROOM_BYTES: u64 = 64 << 20;
const MIB: u64 = 1 << 20;
/// Time between two looks at what another process does.
const WAIT_POLL: Duration = Duration::from_millis(200);

/// Copies the databases, if this process is about to upgrade one of them. The copy replaces that of an earlier upgrade. If an upgrade
/// was interrupted, or another process upgrades the other database, the copy that was made before both is kept.
///
/// Errors: the disk has no room for the copy, or a file can't be read or written. Nothing was upgraded then.
pub(crate) async fn make(config: &Config, clock: &dyn Clock) -> Result<(), CommandError> {
    if !config.database.url.is_empty() {
        return Ok(());
    }
    let tables = Tables::read(&config.data_dir)?;
    if !tables.are_upgraded_by(config) {
        return Ok(());
    }
    if !config.upgrade_copy {
        tracing::warn!("the tables are upgraded without a copy of the databases, because upgrade_copy is false");
        return Ok(());
    }
    let folder = config.data_dir.join(FOLDER);
    let doing = || format!("copying the databases into {} before their upgrade; nothing was changed", folder.display());
    let copy = before_upgrade(&config.data_dir, &folder, clock).await.context(doing())?;
    tracing::info!(
        copy = %copy.display(),
        "a copy of the databases from before the upgrade exists; see \"Go back\" in docs/operate/install.md"
    );
    Ok(())
}

/// The path of the copy that was made before this upgrade, which is made if it does not exist.
async fn before_upgrade(data_dir: &Path, folder: &Path, clock: &dyn Clock) -> Result<PathBuf, CommandError> {
    private_folder(folder)?;
    let known = backups_in(folder)?;
    let mut has_waited = false;
    let partial = loop {
        match WorkFolder::try_create(folder, Work::Backup)? {
            Some(partial) => break partial,
            None => {
                has_waited = true;
                clock.sleep_until(clock.now() + WAIT_POLL).await;
            }
        }
    };
    let earlier = backups_in(folder)?;
    let is_of_this_upgrade = |copy: &PathBuf| -> Result<bool, CommandError> {
        Ok(Tables::read(data_dir)?.are_partly_upgraded_since(&Manifest::read(copy)?))
    };
    if let Some(copy) = earlier.last()
        && ((has_waited && earlier != known) || is_of_this_upgrade(copy)?)
    {
        return Ok(copy.clone());
    }
    let databases = databases_in(data_dir);
    require_room(data_dir, &databases)?;
    let at = copy_into(&partial, data_dir, &databases).await?;
    // Another process may have copied, and upgraded its database while this one copied.
    if let Some(copy) = earlier.last()
        && is_of_this_upgrade(copy)?
    {
        return Ok(copy.clone());
    }
    let path = keep(partial, at, folder, clock).await?;
    for earlier in earlier {
        std::fs::remove_dir_all(&earlier).context(format!("deleting {}", earlier.display()))?;
    }
    Ok(path)
}

/// The versions of the tables in each database file.
struct Tables(Vec<(Role, &'static str, TableVersions)>);

impl Tables {
    fn read(data_dir: &Path) -> Result<Self, CommandError> {
        let doing = |file: &str| format!("reading the version of {file}");
        let platform = platform_store::sqlite::table_versions(&data_dir.join(PLATFORM_FILE));
        let provider = provider_store::sqlite::table_versions(&data_dir.join(PROVIDER_FILE));
        let found = [
            (Role::Platform, PLATFORM_FILE, platform.context(doing(PLATFORM_FILE))?),
            (Role::Provider, PROVIDER_FILE, provider.context(doing(PROVIDER_FILE))?),
        ];
        Ok(Self(found.into_iter().filter_map(|(role, file, versions)| Some((role, file, versions?))).collect()))
    }

    fn are_upgraded_by(&self, config: &Config) -> bool {
        self.0.iter().any(|(role, _, versions)| config.runs(*role) && versions.is_older())
    }

    /// Whether this version made the copy, and has upgraded one of its databases since, but not those that are older now.
    fn are_partly_upgraded_since(&self, copy: &Manifest) -> bool {
        let copied = |file: &str| copy.databases.get(file).map(|contents| contents.schema_version);
        let (older, upgraded): (Vec<_>, Vec<_>) = self.0.iter().partition(|(_, _, versions)| versions.is_older());
        copy.version == env!("CARGO_PKG_VERSION")
            && older.iter().all(|(_, file, versions)| copied(file) == Some(versions.found))
            && upgraded.iter().any(|(_, file, versions)| copied(file).is_some_and(|version| version < versions.found))
    }
}

fn require_room(data_dir: &Path, databases: &[&str]) -> Result<(), CommandError> {
    let doing = || format!("reading {}", data_dir.display());
    let mut needed = ROOM_BYTES;
    for database in databases {
        needed += std::fs::metadata(data_dir.join(database)).context(doing())?.len();
    }
    let free = space_of(data_dir).context(doing())?.available_bytes;
    if free < needed {
        return Err(CommandError::new(format!(
            "{} MiB are free in {}, and {} are needed. Make room, or set upgrade_copy = false if you have a backup on another \
             disk",
            free / MIB,
            data_dir.display(),
            needed.div_ceil(MIB)
        )));
    }
    Ok(())
}

/// Makes the copy in `partial`, and returns when it was made.
async fn copy_into(
    partial: &WorkFolder,
    data_dir: &Path,
    databases: &[&'static str],
) -> Result<Timestamp, CommandError> {
    let (source, names, to) = (data_dir.to_owned(), databases.to_vec(), partial.path().to_owned());
    let copied = tokio::task::spawn_blocking(move || {
        let bar = progress_bar();
        let copied = copy_databases(&source, &names, &to, &bar);
        bar.finish_and_clear();
        copied
    });
    let copied = copied.await.context("copying")??;
    let (mut files, mut contents) = (Vec::new(), BTreeMap::new());
    for database in databases {
        let (file, found) = describe(partial.path(), database).await?;
        contents.insert(file.path.clone(), found);
        files.push(file);
    }
    // The platform's logs can't be read before the upgrade, so the copy has no anchor.
    Manifest::new(copied.at, None, contents, files).write(partial.path())?;
    Ok(copied.at)
}

/// Gives the finished copy its name in `folder`, and returns its path.
async fn keep(partial: WorkFolder, at: Timestamp, folder: &Path, clock: &dyn Clock) -> Result<PathBuf, CommandError> {
    let mut path = folder.join(backup_name(at));
    // A process that was killed may have made one in this second.
    while path.exists() {
        clock.sleep_until(clock.now() + WAIT_POLL).await;
        path = folder.join(backup_name(clock.now()));
    }
    partial.keep_as(&path)?;
    sync_folder(folder)?;
    Ok(path)
}
