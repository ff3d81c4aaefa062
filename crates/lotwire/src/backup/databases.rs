//! The database files of a backup: copied as of one moment, checked and described.

use std::path::{Path, PathBuf};
use std::time::Duration;

use indicatif::{ProgressBar, ProgressStyle};
use jiff::Timestamp;
use kit_engine::sqlite::{Snapshots, check_file, complete_file};
use kit_runtime::clock::{Clock as _, SystemClock};

use super::{BackupFile, Contents, PLATFORM_FILE, PROVIDER_FILE, hash_of};
use crate::error::{CommandError, ErrorContext as _};

/// Time in which this process closes a database, and between two looks whether it has.
const CLOSED_WITHIN: Duration = Duration::from_secs(10);
const CLOSED_POLL: Duration = Duration::from_millis(20);

/// When the databases were copied.
pub(crate) struct CopiedAt {
    pub(crate) at: Timestamp,
    /// The time in which no process could write.
    pub(crate) locked_for: Duration,
}

/// The database files that a data directory has.
pub(crate) fn databases_in(data_dir: &Path) -> Vec<&'static str> {
    [PLATFORM_FILE, PROVIDER_FILE].into_iter().filter(|file| data_dir.join(file).exists()).collect()
}

/// Copies databases of `source` as they are at one moment. Blocks the thread.
pub(crate) fn copy_databases(
    source: &Path,
    databases: &[&str],
    to: &Path,
    bar: &ProgressBar,
) -> Result<CopiedAt, CommandError> {
    let paths: Vec<PathBuf> = databases.iter().map(|file| source.join(file)).collect();
    let refs: Vec<&Path> = paths.iter().map(PathBuf::as_path).collect();
    let at = SystemClock.now();
    let snapshots = Snapshots::open(&refs).context("opening snapshots of the databases")?;
    for (path, database) in paths.iter().zip(databases) {
        bar.set_message((*database).to_owned());
        let copied = snapshots.copy(path, &to.join(database), |copied| {
            bar.set_length(copied.of_pages);
            bar.set_position(copied.pages);
        });
        copied.context(format!("copying {}", path.display()))?;
    }
    Ok(CopiedAt { at, locked_for: snapshots.locked_for })
}

/// A bar for [`copy_databases`], on standard error if that is a terminal.
pub(crate) fn progress_bar() -> ProgressBar {
    let bar = ProgressBar::new(0);
    if let Ok(style) = ProgressStyle::with_template("{msg} {bar:30} {percent} %") {
        bar.set_style(style);
    }
    bar
}

/// Checks a copy of a database, which no other process uses, and describes it for the manifest.
pub(crate) async fn describe(folder: &Path, database: &str) -> Result<(BackupFile, Contents), CommandError> {
    let path = folder.join(database);
    // This process may still be closing it.
    complete(&path).await?;
    check_file(&path).context(format!("checking the copy of {database}"))?;
    let (bytes, sha256) = hash_of(&path).context(format!("reading {}", path.display()))?;
    let contents = Contents::of(&path)?;
    complete(&path).await?;
    Ok((BackupFile { path: database.to_owned(), bytes, sha256 }, contents))
}

/// Waits until this process has closed a database, so that the file has everything, and can be moved.
pub(crate) async fn complete(path: &Path) -> Result<(), CommandError> {
    let deadline = SystemClock.monotonic() + CLOSED_WITHIN;
    while !complete_file(path).context(format!("completing {}", path.display()))? {
        if SystemClock.monotonic() > deadline {
            return Err(CommandError::new(format!("{} is open in another process. Close it there", path.display())));
        }
        SystemClock.sleep_until(SystemClock.now() + CLOSED_POLL).await;
    }
    Ok(())
}
