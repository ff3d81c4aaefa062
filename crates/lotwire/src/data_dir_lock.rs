//! One server for each SQLite file. A second one would take what the first has under way for left behind by a crash, and
//! deliver it again. The kernel lets go of the lock when the process ends, however it ends.

use std::fs::{File, OpenOptions, TryLockError};
use std::io::{Read as _, Seek as _, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;

use crate::config::{Config, Role};
use crate::error::{CommandError, ErrorContext as _};

/// Bytes of a lock's file that are read: the number of a process.
const TEXT_BYTES_MAX: u64 = 32;

/// Kept for as long as this process serves a role from `data_dir`.
pub(crate) struct DataDirLock(#[expect(dead_code, reason = "it is held, and let go of with the value")] Option<File>);

/// Takes the role's lock in the data directory; management commands need none. On PostgreSQL there is nothing to take: any
/// number of nodes share it.
pub(crate) fn acquire(config: &Config, role: Role) -> Result<DataDirLock, CommandError> {
    if !config.database.url.is_empty() {
        return Ok(DataDirLock(None));
    }
    let name = match role {
        Role::Platform => "platform",
        Role::Provider => "provider",
    };
    take_file(&config.data_dir.join(format!("{name}.lock")), name).map(|file| DataDirLock(Some(file)))
}

fn take_file(path: &Path, name: &str) -> Result<File, CommandError> {
    let doing = || format!("locking {}", path.display());
    let mut file = OpenOptions::new()
        .create(true)
        .truncate(false)
        .read(true)
        .write(true)
        // Whoever can open it can take the lock.
        .mode(0o600)
        .open(path)
        .context(doing())?;
    match file.try_lock() {
        Ok(()) => {}
        Err(TryLockError::WouldBlock) => {
            let mut holder = String::new();
            let _ = (&mut file).take(TEXT_BYTES_MAX).read_to_string(&mut holder);
            let holder = holder.trim();
            let process = if holder.is_empty() { String::new() } else { format!(" (process {holder})") };
            return Err(CommandError::new(format!(
                "another lotwire{process} runs the {name} on {}: end it first, or give this one another data_dir; many \
                 nodes need PostgreSQL (database.url)",
                path.with_extension("db").display()
            )));
        }
        Err(TryLockError::Error(error)) => return Err(error).context(doing()),
    }
    // For people who ask who has it.
    file.set_len(0).and_then(|()| file.rewind()).context(doing())?;
    writeln!(file, "{}", std::process::id()).context(doing())?;
    Ok(file)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_second_server_is_told_who_has_the_file_until_the_first_ends() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("provider.lock");
        let first = take_file(&path, "provider").unwrap();
        let told = take_file(&path, "provider").unwrap_err().to_string();
        assert!(told.contains(&format!("process {}", std::process::id())) && told.contains("provider.db"), "{told}");
        drop(first);
        take_file(&path, "provider").unwrap();
    }
}
