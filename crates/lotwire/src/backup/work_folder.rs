//! A temporary folder in which one command at a time works, beside backups.

use std::fs::{File, OpenOptions, Permissions, TryLockError};
use std::os::unix::fs::{OpenOptionsExt as _, PermissionsExt as _};
use std::path::Path;

use tempfile::TempDir;

use crate::error::{CommandError, ErrorContext as _};

/// A folder that is deleted when the value is dropped. If the process is killed, the next one deletes it.
pub(crate) struct WorkFolder {
    folder: TempDir,
    /// Held until the folder is deleted.
    _lock: File,
}

/// What works in a [`WorkFolder`].
#[derive(Debug, Clone, Copy)]
pub(crate) enum Work {
    /// A backup that is not complete.
    Backup,
    /// A backup that is restored to be checked.
    Check,
}

impl Work {
    fn prefix(self) -> &'static str {
        match self {
            Self::Backup => ".partial-",
            Self::Check => ".verify-",
        }
    }

    fn lock_name(self) -> &'static str {
        match self {
            Self::Backup => ".backup.lock",
            Self::Check => ".verify.lock",
        }
    }

    fn what(self) -> &'static str {
        match self {
            Self::Backup => "backup",
            Self::Check => "check of a backup",
        }
    }
}

impl WorkFolder {
    /// Creates a folder that only its owner can read in `dir`, and deletes what killed processes left there.
    ///
    /// Errors: another process works in `dir`, or `dir` can't be written.
    pub(crate) fn create(dir: &Path, work: Work) -> Result<Self, CommandError> {
        Self::try_create(dir, work)?.ok_or_else(|| {
            CommandError::new(format!(
                "another {} is running in {}. Run the command again when it has ended",
                work.what(),
                dir.display()
            ))
        })
    }

    /// As [`WorkFolder::create`]; none while another process works in `dir`.
    pub(crate) fn try_create(dir: &Path, work: Work) -> Result<Option<Self>, CommandError> {
        let path = dir.join(work.lock_name());
        let lock = OpenOptions::new().write(true).create(true).truncate(false).mode(0o600).open(&path);
        let lock = lock.context(format!("opening {}", path.display()))?;
        match lock.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => return Ok(None),
            Err(TryLockError::Error(error)) => return Err(error).context(format!("locking {}", path.display())),
        }
        delete_leftovers(dir, work)?;
        let mut builder = tempfile::Builder::new();
        builder.prefix(work.prefix()).permissions(Permissions::from_mode(0o700));
        let folder = builder.tempdir_in(dir).context(format!("creating a folder in {}", dir.display()))?;
        Ok(Some(Self { folder, _lock: lock }))
    }

    pub(crate) fn path(&self) -> &Path {
        self.folder.path()
    }

    /// Gives the folder its name, so that it stays.
    pub(crate) fn keep_as(self, path: &Path) -> Result<(), CommandError> {
        std::fs::rename(self.folder.keep(), path).context(format!("naming the folder {}", path.display()))
    }
}

fn delete_leftovers(dir: &Path, work: Work) -> Result<(), CommandError> {
    let doing = || format!("reading {}", dir.display());
    for entry in std::fs::read_dir(dir).context(doing())? {
        let entry = entry.context(doing())?;
        let is_left = entry.file_name().to_string_lossy().starts_with(work.prefix());
        if is_left && entry.file_type().context(doing())?.is_dir() {
            let path = entry.path();
            std::fs::remove_dir_all(&path).context(format!("deleting {}", path.display()))?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(dir: &Path) -> Vec<String> {
        let mut names: Vec<String> =
            std::fs::read_dir(dir).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }

    #[test]
    fn one_process_works_in_a_folder_and_deletes_what_a_killed_one_left() {
        let dir = tempfile::tempdir().unwrap();
        for left in [".partial-killed", ".verify-other", "lotwire-20261126T030000Z"] {
            std::fs::create_dir(dir.path().join(left)).unwrap();
        }
        let work = WorkFolder::create(dir.path(), Work::Backup).unwrap();
        assert!(!dir.path().join(".partial-killed").exists());
        let refused = WorkFolder::create(dir.path(), Work::Backup).err().unwrap().to_string();
        assert!(refused.contains("another backup is running"), "{refused}");
        drop(WorkFolder::create(dir.path(), Work::Check).unwrap());
        std::fs::write(work.path().join("file"), "content").unwrap();
        work.keep_as(&dir.path().join("kept")).unwrap();
        drop(WorkFolder::create(dir.path(), Work::Backup).unwrap());
        assert_eq!(names(dir.path()), [".backup.lock", ".verify.lock", "kept", "lotwire-20261126T030000Z"]);
        assert!(dir.path().join("kept/file").exists());
    }
}
