//! Which files the data directory has, and whether they belong together.

use std::io::ErrorKind;
use std::path::Path;

use crate::backup::{KEY_FILE, PLATFORM_FILE, PROVIDER_FILE, databases_in};
use crate::config::{Config, Role};
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

/// Refuses an installation without its sealing key. Otherwise the process would create a key that opens none of the secrets in the
/// databases.
pub(crate) fn require_key(config: &Config) -> Result<(), CommandError> {
    if !config.secrets.key.is_empty() || has_file(&config.data_dir, KEY_FILE)? {
        return Ok(());
    }
    Err(CommandError::new(format!(
        "{} contains no file {KEY_FILE}, and secrets.key is not configured. Copy the file from the data directory that was \
         backed up, or from the place where you keep a copy",
        config.data_dir.display()
    )))
}

/// Before a server starts on SQLite: refuses databases without their key, and warns of a database that is missing beside the other.
pub(crate) fn check_files(config: &Config) -> Result<(), CommandError> {
    let databases = databases_in(&config.data_dir);
    if !config.database.url.is_empty() || databases.is_empty() {
        return Ok(());
    }
    require_key(config)?;
    for (role, file) in [(Role::Platform, PLATFORM_FILE), (Role::Provider, PROVIDER_FILE)] {
        if config.runs(role) && !databases.contains(&file) {
            tracing::warn!(
                "{file} does not exist beside {}, so the server creates an empty one. If it was lost, stop the server, and \
                 restore a backup",
                databases.join(", ")
            );
        }
    }
    Ok(())
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
