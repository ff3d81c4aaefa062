//! The copy of SQLite databases that a server of a new version makes before it upgrades their tables, so that an operator can go
//! back to the version before. It is a backup without images: `lotwire restore` of the version before puts it back.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

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

/// Copies the databases, if this process is about to upgrade one of them. An earlier copy is deleted then: it is of a version that
/// this one did not follow.
///
/// Errors: the disk has no room for the copy, or a file can't be read or written. Nothing was upgraded then.
pub(crate) async fn make(config: &Config) -> Result<(), CommandError> {
    if !config.database.url.is_empty() {
        return Ok(());
    }
    let upgrades = upgrades(config)?;
    if upgrades.is_empty() {
        return Ok(());
    }
    if !config.upgrade_copy {
        tracing::warn!(upgrades = upgrades.join(", "), "upgrading the tables without a copy: upgrade_copy is false");
        return Ok(());
    }
    let folder = config.data_dir.join(FOLDER);
    private_folder(&folder)?;
    let databases = databases_in(&config.data_dir);
    require_room(&config.data_dir, &databases)?;
    let path = copy(&config.data_dir, &databases, &folder).await?;
    for earlier in backups_in(&folder)?.into_iter().filter(|earlier| *earlier != path) {
        std::fs::remove_dir_all(&earlier).context(format!("deleting {}", earlier.display()))?;
    }
    tracing::info!(
        upgrades = upgrades.join(", "),
        copy = %path.display(),
        "upgrading the tables; to go back to the version before, see \"Go back\" in docs/operate/install.md"
    );
    Ok(())
}

/// The databases of this node that have older tables, such as `platform.db from version 1 to 2`.
fn upgrades(config: &Config) -> Result<Vec<String>, CommandError> {
    let mut upgrades = Vec::new();
    let mut add = |file: &str, versions: Option<(i32, i32)>| {
        upgrades.extend(versions.map(|(found, needed)| format!("{file} from version {found} to {needed}")));
    };
    let doing = |file: &str| format!("reading the version of {file}");
    if config.runs(Role::Platform) {
        let versions = platform_store::sqlite::older_version(&config.data_dir.join(PLATFORM_FILE));
        add(PLATFORM_FILE, versions.context(doing(PLATFORM_FILE))?);
    }
    if config.runs(Role::Provider) {
        let versions = provider_store::sqlite::older_version(&config.data_dir.join(PROVIDER_FILE));
        add(PROVIDER_FILE, versions.context(doing(PROVIDER_FILE))?);
    }
    Ok(upgrades)
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
            "the tables have to be upgraded, and before that the server copies the databases. {} MiB are free in {}, and {} \
             are needed. Make room, or back up to another disk with the version before and set upgrade_copy = false. Nothing \
             was changed",
            free / MIB,
            data_dir.display(),
            needed.div_ceil(MIB)
        )));
    }
    Ok(())
}

/// Makes the copy in `folder` and returns its path.
async fn copy(data_dir: &Path, databases: &[&'static str], folder: &Path) -> Result<PathBuf, CommandError> {
    let partial = WorkFolder::create(folder, Work::Backup)?;
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
    let path = folder.join(backup_name(copied.at));
    partial.keep_as(&path)?;
    sync_folder(folder)?;
    Ok(path)
}
