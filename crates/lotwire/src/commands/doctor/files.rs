//! Checks the files in the data directory: no database is damaged, and other users of the machine can't read them.

use std::fmt::Display;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use super::CheckResult;
use crate::config::Config;

/// Maximum number of checked files.
const FILES_MAX: usize = 1_000;
/// Maximum number of listed files.
const LISTED_MAX: usize = 10;

/// Reads the whole database file with `check` and looks for damage. Databases in PostgreSQL have no file.
pub(super) fn check_database<E: Display>(
    config: &Config,
    name: &str,
    check: impl FnOnce(&Path) -> Result<(), E>,
) -> Result<(), String> {
    if !config.database.url.is_empty() {
        return Ok(());
    }
    let path = config.data_dir.join(name);
    check(&path).map_err(|error| format!("{}: {error}", path.display()))
}

/// Files that other users can read now, as name and mode. Empty if other users can't enter the directory.
pub(super) fn exposed(data_dir: &Path) -> Vec<String> {
    let mode = |path: &Path| std::fs::metadata(path).map(|metadata| metadata.permissions().mode() & 0o777).unwrap_or(0);
    if mode(data_dir) & 0o011 == 0 {
        return Vec::new();
    }
    let Ok(entries) = std::fs::read_dir(data_dir) else { return Vec::new() };
    let files = entries.take(FILES_MAX).filter_map(Result::ok).filter(|entry| entry.path().is_file());
    let shown = |entry: std::fs::DirEntry| {
        let mode = mode(&entry.path());
        let name = entry.file_name().to_string_lossy().into_owned();
        // A lock file contains only a process id.
        (mode & 0o044 != 0 && !name.ends_with(".lock")).then(|| format!("{name} ({mode:04o})"))
    };
    let mut exposed: Vec<String> = files.filter_map(shown).collect();
    exposed.sort();
    exposed
}

/// The finding. `before` lists the files that other users could read when the command began. Opening a database removes
/// the access of other users to its file.
pub(super) fn finding(data_dir: &Path, before: &[String]) -> CheckResult {
    let now = exposed(data_dir);
    if !now.is_empty() {
        return Err(format!(
            "other users of this machine can read {}, which contain payloads, responses and names. Run chmod 600 on \
             the files, or chmod 700 on the directory",
            list_files(&now)
        ));
    }
    if !before.is_empty() {
        return Err(format!(
            "other users of this machine could read {} until now, which contain payloads, responses and names. This \
             command has corrected the file modes; run it again to confirm",
            list_files(before)
        ));
    }
    Ok("other users can't read them".to_owned())
}

fn list_files(files: &[String]) -> String {
    let rest = files.len().saturating_sub(LISTED_MAX);
    let named = files[..files.len() - rest].join(", ");
    if rest == 0 { named } else { format!("{named} and {rest} more") }
}

#[cfg(test)]
mod tests {
    use std::fs::Permissions;

    use super::*;

    #[test]
    fn files_that_other_users_can_read_are_reported_until_their_modes_are_corrected() {
        let dir = tempfile::tempdir().unwrap();
        let set = |name: &str, mode| {
            std::fs::set_permissions(dir.path().join(name), Permissions::from_mode(mode)).unwrap();
        };
        for name in ["provider.db", "copy.db", "provider.lock"] {
            std::fs::write(dir.path().join(name), "x").unwrap();
            set(name, 0o644);
        }
        set("", 0o755);
        let before = exposed(dir.path());
        assert_eq!(before, ["copy.db (0644)", "provider.db (0644)"]);
        set("provider.db", 0o600);
        let finding_now = finding(dir.path(), &before).unwrap_err();
        assert!(finding_now.contains("can read copy.db (0644), which"), "{finding_now}");
        assert!(finding_now.contains("chmod 600"), "{finding_now}");
        set("copy.db", 0o600);
        assert!(
            finding(dir.path(), &before)
                .unwrap_err()
                .contains("could read copy.db (0644), provider.db (0644) until now")
        );
        assert!(finding(dir.path(), &[]).is_ok());
        set("copy.db", 0o644);
        set("", 0o700);
        assert!(finding(dir.path(), &[]).is_ok(), "other users can't enter the directory");
    }
}
