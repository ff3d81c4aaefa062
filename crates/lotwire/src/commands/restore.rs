//! Runs `lotwire restore`: puts a backup into an empty data directory and checks it.

use std::path::Path;
use std::process::ExitCode;

use indicatif::{ProgressBar, ProgressStyle};
use jiff::Timestamp;
use kit_engine::OlderTables;
use kit_engine::sqlite::check_file;
use kit_runtime::clock::SystemClock;
use kit_runtime::hold::Hold;
use kit_runtime::vault::Secret;
use platform_core::verification::{Anchor, VerifyReport};
use serde_json::json;
use tempfile::TempDir;

use super::{passphrase, pluralise, print, print_json};
use crate::backup::{
    Contents, IMAGES, KEY_FILE, Manifest, PLATFORM_FILE, PROVIDER_FILE, PlatformPoint, SEALED_KEY_FILE, SealedKey,
    Work, WorkFolder, complete, copy_hashed, databases_in, private_folder, sync_folder, write_private,
};
use crate::cli::Restore;
use crate::config::Config;
use crate::data_dir_lock::{UNFINISHED_RESTORE, lock_installation};
use crate::error::{CommandError, ErrorContext as _};
use crate::hold::InstalledWings;
use crate::node::{NodeServices, open_platform_with};

/// What may be in the data directory before: the key, lock files, and what a killed restore left.
const EXPECTED: [&str; 6] =
    [KEY_FILE, "platform.lock", "provider.lock", "platform.db.migrate", "provider.db.migrate", UNFINISHED_RESTORE];

/// How much of the audit log a restore checks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Depth {
    /// The log in the order of writing.
    Log,
    /// Every auction, item and registration too.
    All,
}

pub(super) async fn run(config: &Config, options: &Restore) -> Result<ExitCode, CommandError> {
    let Some(backup) = &options.backup else {
        return mark(config, options).await;
    };
    let manifest = Manifest::read(backup)?;
    let key_text = match &options.with_key {
        Some(file) => Some(open_key(backup, &manifest, file)?),
        None => None,
    };
    if options.verify {
        let beside = backup.canonicalize().context("reading the backup's path")?;
        let beside = beside.parent().unwrap_or(Path::new("/")).to_owned();
        let folder = WorkFolder::create(&beside, Work::Check)?;
        let verified = restore(backup, &manifest, folder.path(), Depth::All).await?;
        return report(options, &manifest, folder.path(), verified.as_ref());
    }
    if !config.database.url.is_empty() {
        return Err(CommandError::new(
            "a backup by `lotwire backup` is of SQLite files, but the configuration names a PostgreSQL database. Restore \
             without database.url, or restore the PostgreSQL database with its own tools and then run `lotwire restore --mark`",
        ));
    }
    private_folder(&config.data_dir)?;
    // A server that starts meanwhile is refused, and a restore beside a running one.
    let _locks = lock_installation(config, &SystemClock).await?;
    require_empty(&config.data_dir)?;
    if key_text.is_some() && config.data_dir.join(KEY_FILE).exists() {
        return Err(CommandError::new(format!(
            "{} has a {KEY_FILE}, which is not replaced. Move it away, or leave --with-key out",
            config.data_dir.display()
        )));
    }
    let staging = config.data_dir.join(UNFINISHED_RESTORE);
    // Left by a restore that was killed.
    if staging.exists() {
        std::fs::remove_dir_all(&staging).context(format!("deleting {}", staging.display()))?;
    }
    let restored = into_staging(backup, &manifest, &staging, key_text.as_ref()).await;
    if restored.is_err() {
        let _ = std::fs::remove_dir_all(&staging);
    }
    let verified = restored?;
    // No server starts while the folder exists, and each database in it is on hold already.
    for name in [KEY_FILE, IMAGES, PROVIDER_FILE, PLATFORM_FILE] {
        let from = staging.join(name);
        if from.exists() {
            let to = config.data_dir.join(name);
            std::fs::rename(&from, &to).context(format!("moving {} to {}", from.display(), to.display()))?;
        }
    }
    sync_folder(&config.data_dir)?;
    std::fs::remove_dir_all(&staging).context(format!("deleting {}", staging.display()))?;
    sync_folder(&config.data_dir)?;
    report(options, &manifest, &config.data_dir, verified.as_ref())
}

/// Restores into a folder in the data directory, checks the copies and puts them on hold.
async fn into_staging(
    backup: &Path,
    manifest: &Manifest,
    staging: &Path,
    key_text: Option<&Secret>,
) -> Result<Option<VerifyReport>, CommandError> {
    private_folder(staging)?;
    if let Some(text) = key_text {
        write_private(&staging.join(KEY_FILE), text.expose()).context(format!("writing {KEY_FILE}"))?;
    }
    let verified = restore(backup, manifest, staging, Depth::Log).await?;
    let (copy, services, _keys) = copy_services(staging)?;
    put_on_hold(&copy, &services, Some(manifest.at)).await?;
    remove_lock_files(staging)?;
    for database in databases_in(staging) {
        complete(&staging.join(database)).await?;
    }
    Ok(verified)
}

/// Puts an installation on hold that was restored with other tools.
async fn mark(config: &Config, options: &Restore) -> Result<ExitCode, CommandError> {
    let (_, services, _keys) = copy_services(&config.data_dir)?;
    if let Some(at) = options.backup_at.filter(|at| *at > services.clock.now()) {
        return Err(CommandError::new(format!(
            "--backup-at {at} is in the future. Give the time of which the backup is"
        )));
    }
    // On SQLite, a running server holds the locks until it stops. On PostgreSQL any node may run on another machine.
    let _locks = lock_installation(config, services.clock.as_ref()).await?;
    options.confirmation.ask(|| {
        "Put the installation on hold? Do it only after a restore and while no node runs: no node starts until \
         `lotwire resume`."
            .to_owned()
    })?;
    put_on_hold(config, &services, options.backup_at).await?;
    match options.json {
        true => print_json(&json!({ "isOnHold": true, "backupAt": options.backup_at }))?,
        false => print("The installation is on hold. To see what it would do, and to go on, run `lotwire resume`."),
    }
    Ok(ExitCode::SUCCESS)
}

async fn put_on_hold(
    config: &Config,
    services: &NodeServices,
    backup_at: Option<Timestamp>,
) -> Result<(), CommandError> {
    let installed = InstalledWings::open(OlderTables::Upgrade, config, services).await?;
    installed.wings().begin_hold(Hold { backup_at, since: services.clock.now() }).await
}

/// Refuses a data directory with files, which a restore would mix with its own.
fn require_empty(data_dir: &Path) -> Result<(), CommandError> {
    let entries = match std::fs::read_dir(data_dir) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(()),
        entries => entries.context(format!("reading {}", data_dir.display()))?,
    };
    for entry in entries {
        let name = entry.context(format!("reading {}", data_dir.display()))?.file_name();
        if !EXPECTED.iter().any(|expected| name == *expected) {
            return Err(CommandError::new(format!(
                "{} is not empty: it has {}. Nothing was changed. Stop the server, move its data directory away, and restore \
                 into an empty one; only {KEY_FILE} may be there",
                data_dir.display(),
                name.display()
            )));
        }
    }
    Ok(())
}

/// Copies all files of a backup to an empty folder and checks them.
async fn restore(
    backup: &Path,
    manifest: &Manifest,
    to: &Path,
    depth: Depth,
) -> Result<Option<VerifyReport>, CommandError> {
    copy(backup, manifest, to)?;
    for database in databases_in(to) {
        check_file(&to.join(database)).context(format!("checking {database}"))?;
        require_contents(&to.join(database), manifest.databases.get(database))?;
    }
    match &manifest.platform {
        Some(point) => verify(to, point, depth).await.map(Some),
        None => Ok(None),
    }
}

/// Refuses a database that has other rows than the manifest says.
fn require_contents(path: &Path, expected: Option<&Contents>) -> Result<(), CommandError> {
    let found = Contents::of(path)?;
    let Some(expected) = expected.filter(|expected| **expected != found) else { return Ok(()) };
    let differs = |(table, rows): &(&String, &u64)| found.rows.get(*table) != Some(*rows);
    let table = expected.rows.iter().find(differs).map_or("the schema", |(table, _)| table.as_str());
    Err(CommandError::new(format!(
        "{} does not have what the manifest says: {table} differs. Use another backup",
        path.display()
    )))
}

/// The text of the keys that a backup has, opened with the passphrase in a file.
fn open_key(backup: &Path, manifest: &Manifest, passphrase_file: &Path) -> Result<Secret, CommandError> {
    if !manifest.has_key() {
        return Err(CommandError::new(format!(
            "the backup has no {SEALED_KEY_FILE}: it was made without --with-key. Put {KEY_FILE} into the data directory yourself"
        )));
    }
    SealedKey::read(backup)?.open(&passphrase(passphrase_file)?)
}

fn copy(backup: &Path, manifest: &Manifest, to: &Path) -> Result<(), CommandError> {
    let bar = ProgressBar::new(manifest.bytes());
    if let Ok(style) = ProgressStyle::with_template("{bar:30} {bytes} of {total_bytes}") {
        bar.set_style(style);
    }
    // A link in place of the folder would lead elsewhere.
    let images = backup.join(IMAGES);
    if images.is_symlink() {
        return Err(CommandError::new(format!("{} is a link. A backup has a folder there", images.display())));
    }
    for file in &manifest.files {
        let from = backup.join(&file.path);
        let found = std::fs::symlink_metadata(&from).context(format!("reading {}", from.display()))?;
        if !found.is_file() || found.len() != file.bytes {
            return Err(CommandError::new(format!(
                "{} is damaged: it is not a file of {} bytes, as the manifest says. Use another backup",
                from.display(),
                file.bytes
            )));
        }
        let (bytes, sha256) =
            copy_hashed(&from, &to.join(&file.path)).context(format!("copying {}", from.display()))?;
        if (bytes, &sha256) != (file.bytes, &file.sha256) {
            return Err(CommandError::new(format!(
                "{} is damaged: its checksum is not the one in the manifest. Use another backup",
                from.display()
            )));
        }
        bar.inc(bytes);
    }
    bar.finish_and_clear();
    Ok(())
}

/// Verifies the audit log of a copy against the anchor of its backup.
async fn verify(folder: &Path, point: &PlatformPoint, depth: Depth) -> Result<VerifyReport, CommandError> {
    let anchor: Anchor = point.anchor.parse().context("reading the anchor in the manifest")?;
    let (config, services, _keys) = copy_services(folder)?;
    let platform = open_platform_with(OlderTables::Upgrade, &config, &services).await?;
    let verified = match depth {
        Depth::Log => platform.verify_log(&[anchor], &|_| ()).await,
        Depth::All => platform.verify_all(&[anchor], &|_| ()).await,
    };
    let verified = verified.context("verifying the audit log")?;
    let journal_cursor = platform.journal_end().await.context("reading the journal")?;
    drop(platform);
    if journal_cursor != point.journal_cursor {
        return Err(CommandError::new(format!(
            "the journal ends at cursor {journal_cursor}, and the manifest says {}. Use another backup",
            point.journal_cursor
        )));
    }
    remove_lock_files(folder)?;
    match verified.broken.first() {
        Some(broken) => Err(CommandError::new(format!(
            "the audit log of the backup is broken: {} ({})",
            broken.what,
            pluralise(verified.broken.len(), "finding", "findings")
        ))),
        None => Ok(verified),
    }
}

/// A configuration and services for reading the databases in `folder`. Their sealing key is a new one in the returned folder: the
/// audit log is not sealed, and no key file is written beside the databases.
pub(super) fn copy_services(folder: &Path) -> Result<(Config, NodeServices, TempDir), CommandError> {
    let keys = tempfile::tempdir().context("creating a temporary folder")?;
    let services = NodeServices::new(&Config { data_dir: keys.path().to_owned(), ..Config::default() })?;
    Ok((Config { data_dir: folder.to_owned(), ..Config::default() }, services, keys))
}

/// Removes the files that opening a database leaves beside it.
pub(super) fn remove_lock_files(folder: &Path) -> Result<(), CommandError> {
    for name in [PLATFORM_FILE, PROVIDER_FILE] {
        match std::fs::remove_file(folder.join(format!("{name}.migrate"))) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                return Err(error).context(format!("deleting {name}.migrate"));
            }
            _ => {}
        }
    }
    Ok(())
}

fn report(
    options: &Restore,
    manifest: &Manifest,
    data_dir: &Path,
    verified: Option<&VerifyReport>,
) -> Result<ExitCode, CommandError> {
    if options.json {
        print_json(&json!({
            "intact": true,
            "at": manifest.at,
            "files": manifest.files.len(),
            "bytes": manifest.bytes(),
            "logEntries": verified.map(|verified| verified.log_entries),
            "dataDir": (!options.verify).then_some(data_dir),
        }))?;
        return Ok(ExitCode::SUCCESS);
    }
    let files = pluralise(manifest.files.len(), "file", "files");
    print(&format!("The backup of {} is intact: the checksums of {files} agree.", manifest.at));
    if let Some(verified) = verified {
        let entries = pluralise(verified.log_entries, "entry", "entries");
        print(&format!("The audit log holds against the backup's anchor: {entries}."));
    }
    if options.with_key.is_some() && options.verify {
        print("The passphrase opens the secret key.");
    }
    if !options.verify {
        print(&format!("Restored into {}. The installation is on hold.", data_dir.display()));
        if !data_dir.join(KEY_FILE).exists() {
            let with_key = if manifest.has_key() { ", or restore with --with-key" } else { "" };
            print(&format!("Put {KEY_FILE} into it{with_key}, or set secrets.key: the secrets were sealed with it."));
        }
        print("To see what it would do, and to go on, run `lotwire resume`. Then start the server.");
    }
    Ok(ExitCode::SUCCESS)
}
