//! Files of the data directory that other users of the machine can read.

use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use super::CheckResult;

/// Files looked at, at most.
const FILES_MAX: usize = 1_000;
/// Files told of, at most.
const LISTED_MAX: usize = 10;

/// What others can read at this moment, each as its name and mode. Nothing when they can't get into the directory.
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
        // A lock names a process, and nothing else.
        (mode & 0o044 != 0 && !name.ends_with(".lock")).then(|| format!("{name} ({mode:04o})"))
    };
    let mut exposed: Vec<String> = files.filter_map(shown).collect();
    exposed.sort();
    exposed
}

/// What could be read when the command began, and what still can now that the databases were opened, which takes away what others
/// may do with them.
pub(super) fn finding(data_dir: &Path, before: &[String]) -> CheckResult {
    let now = exposed(data_dir);
    if !now.is_empty() {
        return Err(format!(
            "other users of this machine can read {}, and with them payloads, answers and names: chmod 600 them, or chmod 700 \
             the directory",
            list_files(&now)
        ));
    }
    if !before.is_empty() {
        return Err(format!(
            "other users of this machine could read {} until now, and with them payloads, answers and names; nobody else can any \
             more",
            list_files(before)
        ));
    }
    Ok("nobody else can read them".to_owned())
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
    fn what_others_can_read_is_told_until_it_is_theirs_no_more() {
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
        let told = finding(dir.path(), &before).unwrap_err();
        assert!(told.contains("can read copy.db (0644), and") && told.contains("chmod 600"), "{told}");
        set("copy.db", 0o600);
        assert!(
            finding(dir.path(), &before)
                .unwrap_err()
                .contains("could read copy.db (0644), provider.db (0644) until now")
        );
        assert!(finding(dir.path(), &[]).is_ok());
        set("copy.db", 0o644);
        set("", 0o700);
        assert!(finding(dir.path(), &[]).is_ok(), "nobody gets to it");
    }
}
