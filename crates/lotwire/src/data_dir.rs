//! Which files the data directory has.

use std::io::ErrorKind;
use std::path::Path;

use crate::error::{CommandError, ErrorContext as _};

/// Whether the data directory has a file.
///
/// Errors: this user may not look into the directory, which is another answer than that the file does not exist.
pub(crate) fn has_file(data_dir: &Path, file: &str) -> Result<bool, CommandError> {
    match data_dir.join(file).try_exists() {
        Err(error) if error.kind() == ErrorKind::PermissionDenied => Err(CommandError::new(format!(
            "this user can't read {}. Run the command as the server's user, such as `sudo -u lotwire lotwire …`",
            data_dir.display()
        ))),
        found => found.context(format!("reading {}", data_dir.display())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_missing_file_is_told_from_a_folder_that_cannot_be_read() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("platform.db"), "").unwrap();
        assert!(has_file(folder.path(), "platform.db").unwrap());
        assert!(!has_file(folder.path(), "provider.db").unwrap());
        assert!(!has_file(&folder.path().join("missing"), "provider.db").unwrap());
        // A name that is too long for the file system is neither.
        assert!(has_file(folder.path(), &"a".repeat(300)).unwrap_err().to_string().contains("reading"));
    }
}
