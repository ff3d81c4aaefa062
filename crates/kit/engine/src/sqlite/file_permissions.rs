//! A database's files are for the user alone who runs the server: whatever was sent and answered is in them.
//!
//! SQLite gives the log and the index beside a database the database's own mode, so that is all that has to be right.

use std::fs::{OpenOptions, Permissions};
use std::os::unix::fs::{OpenOptionsExt as _, PermissionsExt as _};
use std::path::Path;

const MODE: u32 = 0o600;
/// Bits by which somebody else can do something with a file.
const OTHERS: u32 = 0o077;
/// The files of a database, by what their names end with.
const FILES: [&str; 4] = ["", "-wal", "-shm", "-journal"];

/// Makes the file with the mode that it is to have, if it is not there. One that is loses what its mode gives to others; where
/// that can't be done, the log says what to do. What else is wrong with the file is told when it is opened.
pub(super) fn make_private(path: &Path) {
    // An empty file is a new database.
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
    let (path, was) = (file.display(), format!("{mode:04o}"));
    match std::fs::set_permissions(file, Permissions::from_mode(mode & !OTHERS)) {
        Ok(()) => tracing::warn!(%path, was, "a database file could be opened by other users; now it can't"),
        Err(error) => {
            tracing::warn!(%path, was, %error, "a database file can be opened by other users: chmod 600 it");
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
    async fn files_are_for_one_user_alone_also_where_others_may_look_and_those_that_were_open_are_closed() {
        let dir = tempfile::tempdir().unwrap();
        std::fs::set_permissions(dir.path(), Permissions::from_mode(0o755)).unwrap();
        let path = dir.path().join("a.db");
        let first = open(&path);
        assert_eq!(modes(&path), [MODE; 3]);
        // While they are in use, as a server of an older version left them.
        for suffix in ["", "-wal", "-shm"] {
            let file = format!("{}{suffix}", path.display());
            std::fs::set_permissions(file, Permissions::from_mode(0o664)).unwrap();
        }
        let _second = open(&path);
        assert_eq!(modes(&path), [MODE; 3]);
        drop(first);
    }
}
