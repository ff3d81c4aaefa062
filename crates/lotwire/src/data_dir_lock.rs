//! Lock files that allow one server for each SQLite file.
//!
//! A second server would treat the first one's deliveries under way as abandoned by a crash, and repeat them. The
//! kernel releases a lock when its process ends, also after a kill.

use std::fs::{File, OpenOptions, TryLockError};
use std::io::{Read as _, Seek as _, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

use kit_runtime::clock::Clock;

use crate::config::{Config, Role};
use crate::error::{CommandError, ErrorContext as _};

/// Maximum number of bytes read from a lock file, which contains a process id.
const TEXT_BYTES_MAX: u64 = 32;

/// Time in which a held lock may become free: a management command holds it for a moment to see whether a server runs.
const WAIT_MAX: Duration = Duration::from_secs(1);
/// Pause between two attempts to get the lock.
const RETRY_INTERVAL: Duration = Duration::from_millis(20);

/// A held lock. The server keeps it while it serves a role from `data_dir`.
pub(crate) struct DataDirLock(#[expect(dead_code, reason = "dropping the file releases the lock")] Option<File>);

/// Acquires the role's lock in the data directory. Management commands need no lock. With PostgreSQL there is no lock,
/// because any number of nodes share a database.
pub(crate) async fn acquire(config: &Config, role: Role, clock: &dyn Clock) -> Result<DataDirLock, CommandError> {
    if !config.database.url.is_empty() {
        return Ok(DataDirLock(None));
    }
    let (path, name) = (path(config, role), role.name());
    let deadline = clock.monotonic() + WAIT_MAX;
    while clock.monotonic() < deadline {
        if let Ok(file) = take_file(&path, name) {
            return Ok(DataDirLock(Some(file)));
        }
        clock.sleep_until(clock.now() + RETRY_INTERVAL).await;
    }
    take_file(&path, name).map(|file| DataDirLock(Some(file)))
}

/// The folder of a restore in the data directory. While it exists, the restore runs or was killed.
pub(crate) const UNFINISHED_RESTORE: &str = ".restoring";

/// Acquires the locks of both roles, so that no server runs or starts on the data directory.
pub(crate) async fn lock_installation(config: &Config, clock: &dyn Clock) -> Result<[DataDirLock; 2], CommandError> {
    Ok([acquire(config, Role::Platform, clock).await?, acquire(config, Role::Provider, clock).await?])
}

/// Refuses a data directory with an unfinished restore.
pub(crate) fn require_no_unfinished_restore(config: &Config) -> Result<(), CommandError> {
    let folder = config.data_dir.join(UNFINISHED_RESTORE);
    if !config.database.url.is_empty() || !folder.exists() {
        return Ok(());
    }
    Err(CommandError::new(format!(
        "{} has a restore that was not finished: {} exists. Run `lotwire restore` again. If it says that the directory is not \
         empty, first delete all but secret.key",
        config.data_dir.display(),
        folder.display()
    )))
}

/// The lock file that the server of a role holds.
pub(crate) fn path(config: &Config, role: Role) -> PathBuf {
    config.data_dir.join(format!("{}.lock", role.name()))
}

/// The process id of the server that holds the lock of a role. None without a server, and with PostgreSQL.
pub(crate) fn holder(config: &Config, role: Role) -> Option<u32> {
    let file = File::open(path(config, role)).ok()?;
    match file.try_lock_shared() {
        Err(TryLockError::WouldBlock) => holder_in(&file).parse().ok(),
        Ok(()) | Err(TryLockError::Error(_)) => None,
    }
}

/// The process id in a lock file; empty while its server writes it.
fn holder_in(file: &File) -> String {
    let mut text = String::new();
    let _ = file.take(TEXT_BYTES_MAX).read_to_string(&mut text);
    text.trim().to_owned()
}

fn take_file(path: &Path, name: &str) -> Result<File, CommandError> {
    let doing = || format!("locking {}", path.display());
    let mut file = OpenOptions::new()
        .create(true)
        .truncate(false)
        .read(true)
        .write(true)
        // Any process that can open the file could take the lock.
        .mode(0o600)
        .open(path)
        .context(doing())?;
    match file.try_lock() {
        Ok(()) => {}
        Err(TryLockError::WouldBlock) => {
            let holder = holder_in(&file);
            let process = if holder.is_empty() { String::new() } else { format!(" (process {holder})") };
            return Err(CommandError::new(format!(
                "another lotwire server{process} uses {}. Stop it, or choose another data_dir. To run several \
                 {name} nodes, use PostgreSQL (database.url)",
                path.with_extension("db").display()
            )));
        }
        Err(TryLockError::Error(error)) => return Err(error).context(doing()),
    }
    // The process id is for operators and for the error message above.
    file.set_len(0).and_then(|()| file.rewind()).context(doing())?;
    writeln!(file, "{}", std::process::id()).context(doing())?;
    Ok(file)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_second_server_is_refused_with_the_process_id_of_the_first_until_that_ends() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("provider.lock");
        let first = take_file(&path, "provider").unwrap();
        let refused = take_file(&path, "provider").unwrap_err().to_string();
        assert!(refused.contains(&format!("process {}", std::process::id())), "{refused}");
        assert!(refused.contains("provider.db"), "{refused}");
        let config = Config { data_dir: directory.path().to_owned(), ..Config::default() };
        assert_eq!(holder(&config, Role::Provider), Some(std::process::id()));
        drop(first);
        assert_eq!(holder(&config, Role::Provider), None);
        take_file(&path, "provider").unwrap();
    }
}
