//! Permissions of the database files: only the user of the server may open them, because they contain customers' data.
//!
//! SQLite gives new `-wal`, `-shm` and `-journal` files the mode of the database file.

use std::fs::{OpenOptions, Permissions};
use std::os::unix::fs::{OpenOptionsExt as _, PermissionsExt as _};
use std::path::Path;

const MODE: u32 = 0o600;
/// Permission bits of the group and of other users.
const OTHERS: u32 = 0o077;
/// Suffixes of the files of a database.
const FILES: [&str; 4] = ["", "-wal", "-shm", "-journal"];

/// Creates the file with mode 600 if it does not exist, and removes the permissions of other users from existing files.
/// If that fails, it logs what the operator has to do. Other errors are reported when SQLite opens the file.
pub(super) fn make_private(path: &Path) {
    // SQLite treats an empty file as a new database.
    let _ = OpenOptions::new().write(true).create_new(true).mode(MODE).open(path);
    for suffix in FILES {
        let mut name = path.as_os_str().to_owned();
        name.push(suffix);
        restrict_to_owner(Path::new(&name));
    }
}

fn restrict_to_owner(file: &Path) {
    let Ok(metadata) = std::fs::metadata(file) else { return };
    let mode = metadata.permissions().mode() & 0o777;
    if mode & OTHERS == 0 {
        return;
    }
    let path = file.display();
    let old_mode = format!("{mode:04o}");
    match std::fs::set_permissions(file, Permissions::from_mode(mode & !OTHERS)) {
        Ok(()) => {
            tracing::warn!(%path, old_mode, "other users could open a database file; the server removed their \
            permissions")
        }
        Err(error) => {
            tracing::warn!(%path, old_mode, %error, "other users can open a database file; run chmod 600 on it");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::open;
    use super::*;

    fn modes(path: &Path) -> Vec<u32> {
        let mode = |suffix| {
            let file = format!("{}{suffix}", path.display());
            std::fs::metadata(file).unwrap().permissions().mode() & 0o777
        };
        ["", "-wal", "-shm"].map(mode).into()
    }

    #[tokio::test]
    async fn only_the_owner_may_open_new_and_existing_files() {
        let dir = tempfile::tempdir().unwrap();
        std::fs::set_permissions(dir.path(), Permissions::from_mode(0o755)).unwrap();
        let path = dir.path().join("a.db");
        let first = open(&path);
        assert_eq!(modes(&path), [MODE; 3]);
        // Older servers created the files with these permissions.
        for suffix in ["", "-wal", "-shm"] {
            let file = format!("{}{suffix}", path.display());
            std::fs::set_permissions(file, Permissions::from_mode(0o664)).unwrap();
        }
        let _second = open(&path);
        assert_eq!(modes(&path), [MODE; 3]);
        drop(first);
    }
}
