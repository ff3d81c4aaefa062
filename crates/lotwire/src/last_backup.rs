//! The time of the last backup, in a file of the data directory: `lotwire backup` writes it and the server shows it in its
//! metrics.

use std::io::Write as _;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;

use jiff::Timestamp;

use crate::error::{CommandError, ErrorContext as _};

const FILE: &str = "last-backup";

/// Records that a backup of `at` is complete.
pub(crate) fn write(data_dir: &Path, at: Timestamp) -> Result<(), CommandError> {
    let path = data_dir.join(FILE);
    let writing = || format!("the backup is complete, but its time could not be written to {}", path.display());
    // Renamed into place, so that the server never reads half of it.
    let new = path.with_extension(std::process::id().to_string());
    let mut options = std::fs::OpenOptions::new();
    let mut file = options.create(true).truncate(true).write(true).mode(0o600).open(&new).context(writing())?;
    writeln!(file, "{at}").context(writing())?;
    std::fs::rename(&new, &path).context(writing())
}

/// The time of the last backup; none if no backup was made.
pub(crate) fn read(data_dir: &Path) -> Option<Timestamp> {
    std::fs::read_to_string(data_dir.join(FILE)).ok()?.trim().parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_time_is_read() {
        let folder = tempfile::tempdir().unwrap();
        assert_eq!(read(folder.path()), None);
        for at in ["2027-03-08T18:09:00.5Z", "2027-03-09T18:09:00Z"] {
            let at = at.parse().unwrap();
            write(folder.path(), at).unwrap();
            assert_eq!(read(folder.path()), Some(at));
        }
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
        std::fs::write(folder.path().join(FILE), "yesterday").unwrap();
        assert_eq!(read(folder.path()), None);
    }
}
