//! Runs `lotwire backup`: copies the databases and images of an installation on SQLite while a server uses them.

use std::collections::BTreeMap;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::time::Duration;

use jiff::Timestamp;
use kit_runtime::random::SystemRandom;
use kit_runtime::vault::Vault;
use serde_json::json;

use super::{passphrase, pluralise, print, print_json};
use crate::backup::{
    BackupFile, CopiedAt, IMAGES, Manifest, PLATFORM_FILE, PlatformPoint, SEALED_KEY_FILE, SealedKey, Work, WorkFolder,
    backup_name, backups_in, copy_databases, copy_hashed, databases_in, describe, files_below, hash_of, private_folder,
    progress_bar, sync_folder, write_private,
};
use crate::cli::Backup;
use crate::config::Config;
use crate::error::{CommandError, ErrorContext as _};
use crate::last_backup;
use crate::node::open_platform;

pub(super) async fn run(config: &Config, options: &Backup) -> Result<(), CommandError> {
    if !config.database.url.is_empty() {
        return Err(CommandError::new(
            "the installation uses PostgreSQL. Back it up with pg_dump, or with a base backup and archived WAL; see \
             docs/operate/backups.md",
        ));
    }
    std::fs::read_dir(&config.data_dir).context(format!("reading {}", config.data_dir.display()))?;
    let databases = databases_in(&config.data_dir);
    if databases.is_empty() {
        let dir = config.data_dir.display();
        return Err(CommandError::new(format!("{dir} contains no database. Is --data-dir the server's?")));
    }
    private_folder(&options.dir)?;
    require_apart(&config.data_dir, &options.dir)?;
    // Sealed first, so that a wrong passphrase costs no time.
    let sealed_key = match &options.with_key {
        Some(file) => Some(sealed_key(config, file)?),
        None => None,
    };
    // Complete when it has its name. The folder is removed if the backup fails.
    let partial = WorkFolder::create(&options.dir, Work::Backup)?;
    let (source, to, files) = (config.data_dir.clone(), partial.path().to_owned(), databases.clone());
    let copied = tokio::task::spawn_blocking(move || copy(&source, &files, &to)).await.context("copying")??;
    let platform = if databases.contains(&PLATFORM_FILE) { Some(log_end(partial.path()).await?) } else { None };
    let mut files = copied.images;
    let mut contents = BTreeMap::new();
    for database in &databases {
        let (file, found) = describe(partial.path(), database).await?;
        contents.insert(file.path.clone(), found);
        files.push(file);
    }
    if let Some(sealed) = &sealed_key {
        let path = partial.path().join(SEALED_KEY_FILE);
        write_private(&path, sealed.to_json()?.as_bytes()).context(format!("writing {}", path.display()))?;
        let (bytes, sha256) = hash_of(&path).context(format!("reading {}", path.display()))?;
        files.push(BackupFile { path: SEALED_KEY_FILE.to_owned(), bytes, sha256 });
    }
    let manifest = Manifest::new(copied.at, platform, contents, files);
    manifest.write(partial.path())?;
    let path = options.dir.join(backup_name(copied.at));
    if path.exists() {
        return Err(CommandError::new(format!("{} exists: another backup was made in this second", path.display())));
    }
    partial.keep_as(&path)?;
    sync_folder(&options.dir)?;
    last_backup::write(&config.data_dir, copied.at)?;
    let deleted = match options.keep {
        Some(keep) => delete_older(&options.dir, keep)?,
        None => Vec::new(),
    };
    report(options, &path, &manifest, copied.locked_for, &deleted)
}

fn report(
    options: &Backup,
    path: &Path,
    manifest: &Manifest,
    locked_for: Duration,
    deleted: &[PathBuf],
) -> Result<(), CommandError> {
    if options.json {
        return print_json(&json!({
            "path": path,
            "at": manifest.at,
            "bytes": manifest.bytes(),
            "files": manifest.files.len(),
            "lockedMs": locked_for.as_secs_f64() * 1_000.0,
            "anchor": manifest.platform.as_ref().map(|platform| &platform.anchor),
            "deleted": deleted,
        }));
    }
    let files = pluralise(manifest.files.len(), "file", "files");
    print(&format!("{}: {files}, {} MB, as of {}.", path.display(), manifest.bytes().div_ceil(1_000_000), manifest.at));
    print(&format!("Writers waited for {:.2} ms. The copies were checked.", locked_for.as_secs_f64() * 1_000.0));
    if let Some(platform) = &manifest.platform {
        print(&format!("Anchor {}", platform.anchor));
    }
    print(if manifest.has_key() {
        "The secret key is in the backup, sealed with the passphrase: keep the passphrase in another place."
    } else {
        "The secret key is not in the backup: keep secret.key in another place, or add --with-key."
    });
    for path in deleted {
        print(&format!("Deleted {}", path.display()));
    }
    Ok(())
}

/// The time of the copied databases, and the copied images.
struct CopiedFiles {
    at: Timestamp,
    locked_for: Duration,
    images: Vec<BackupFile>,
}

/// Copies the databases of one moment, and then the images: an image is in its file before it is in the database.
fn copy(source: &Path, databases: &[&str], to: &Path) -> Result<CopiedFiles, CommandError> {
    let bar = progress_bar();
    let CopiedAt { at, locked_for } = copy_databases(source, databases, to, &bar)?;
    let found = files_below(&source.join(IMAGES)).context("reading the folder images")?;
    bar.set_message(IMAGES);
    bar.set_length(found.len() as u64);
    bar.set_position(0);
    let mut images = Vec::with_capacity(found.len());
    for below in found {
        let below = Path::new(IMAGES).join(below);
        let copied = copy_hashed(&source.join(&below), &to.join(&below));
        bar.inc(1);
        match copied {
            Ok((bytes, sha256)) => images.push(BackupFile { path: below.display().to_string(), bytes, sha256 }),
            // The last item that had the image was deleted meanwhile.
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {}
            Err(error) => return Err(error).context(format!("copying {}", below.display())),
        }
    }
    bar.finish_and_clear();
    Ok(CopiedFiles { at, locked_for, images })
}

/// Reads the whole audit log of the copy.
async fn log_end(folder: &Path) -> Result<PlatformPoint, CommandError> {
    let (config, services, _keys) = super::restore::copy_services(folder)?;
    let platform = open_platform(&config, &services).await?;
    let verified = platform.verify_log(&[], &|_| ()).await.context("reading the audit log of the copy")?;
    let journal_cursor = platform.journal_end().await.context("reading the journal of the copy")?;
    drop(platform);
    super::restore::remove_lock_files(folder)?;
    if let Some(broken) = verified.broken.first() {
        return Err(CommandError::new(format!(
            "the audit log is broken: {}. Run `lotwire verify --all` on the server's data directory",
            broken.what
        )));
    }
    let anchor = verified.anchor.map(|anchor| anchor.to_string()).unwrap_or_default();
    Ok(PlatformPoint { log_entries: verified.log_entries, anchor, journal_cursor })
}

/// Seals the installation's secret key with the passphrase in a file, or from standard input.
fn sealed_key(config: &Config, passphrase_file: &Path) -> Result<SealedKey, CommandError> {
    let passphrase = passphrase(passphrase_file)?;
    let configured = Some(config.secrets.key.as_str()).filter(|key| !key.is_empty());
    let text = Vault::key_text(configured, &config.data_dir).context("reading the secret key")?;
    SealedKey::seal(&text, &passphrase, &SystemRandom)
}

/// Deletes all but the newest complete backups of a folder, and returns their paths.
fn delete_older(dir: &Path, keep: NonZeroUsize) -> Result<Vec<PathBuf>, CommandError> {
    let mut backups = backups_in(dir)?;
    backups.truncate(backups.len().saturating_sub(keep.get()));
    for path in &backups {
        std::fs::remove_dir_all(path).context(format!("deleting {}", path.display()))?;
    }
    Ok(backups)
}

/// Refuses a folder in the data directory: who moves or deletes that would move or delete the backups.
fn require_apart(data_dir: &Path, dir: &Path) -> Result<(), CommandError> {
    let whole = |path: &Path| path.canonicalize().context(format!("reading {}", path.display()));
    if whole(dir)?.starts_with(whole(data_dir)?) {
        return Err(CommandError::new(format!(
            "{} is in the data directory {}. Choose a folder elsewhere, on another disk if possible",
            dir.display(),
            data_dir.display()
        )));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::backup::manifest::MANIFEST;

    #[test]
    fn the_newest_backups_are_left_and_other_folders_are_not_touched() {
        let folder = tempfile::tempdir().unwrap();
        let make = |name: &str, complete: bool| {
            let path = folder.path().join(name);
            std::fs::create_dir(&path).unwrap();
            if complete {
                std::fs::write(path.join(MANIFEST), "{}").unwrap();
            }
            path
        };
        let days = ["lotwire-20261124T030000Z", "lotwire-20261125T030000Z", "lotwire-20261126T030000Z"];
        let made = days.map(|name| make(name, true));
        let others = [make("lotwire-notes", false), make("images", true)];
        let deleted = delete_older(folder.path(), NonZeroUsize::new(2).unwrap()).unwrap();
        assert_eq!(deleted, [made[0].clone()]);
        assert!(!made[0].exists() && made[1].exists() && made[2].exists());
        assert!(others.iter().all(|path| path.exists()));
        assert!(delete_older(folder.path(), NonZeroUsize::new(9).unwrap()).unwrap().is_empty());
    }
}
