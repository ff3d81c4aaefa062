//! The manifest of a backup: what it has, when it was made, and what a check of it has to find.

use std::collections::BTreeMap;
use std::io::Write as _;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};

use jiff::Timestamp;
use kit_engine::sqlite::{FileContents, file_contents};
use serde::{Deserialize, Serialize};

use super::{IMAGES, PLATFORM_FILE, PROVIDER_FILE, SEALED_KEY_FILE, read_text};
use crate::error::{CommandError, ErrorContext as _};

/// Name of the manifest. It is written last, so a folder without it is not a backup.
pub(crate) const MANIFEST: &str = "manifest.json";

/// Beginning and format of a backup's name.
const NAME_BEGINNING: &str = "lotwire-";
const NAME: &str = "lotwire-%Y%m%dT%H%M%SZ";

/// Bytes of the largest manifest: millions of images.
const BYTES_MAX: u64 = 1 << 30;

/// Version of the format. A later format has a higher number.
const FORMAT: u32 = 1;

/// The name of the folder of a backup.
pub(crate) fn backup_name(at: Timestamp) -> String {
    at.strftime(NAME).to_string()
}

/// The complete backups in a folder, the oldest first.
pub(crate) fn backups_in(dir: &Path) -> Result<Vec<PathBuf>, CommandError> {
    let doing = || format!("reading {}", dir.display());
    let mut backups = Vec::new();
    for entry in std::fs::read_dir(dir).context(doing())? {
        let path = entry.context(doing())?.path();
        let is_named = path.file_name().is_some_and(|name| name.to_string_lossy().starts_with(NAME_BEGINNING));
        if is_named && path.join(MANIFEST).is_file() {
            backups.push(path);
        }
    }
    // The names begin with the time.
    backups.sort();
    Ok(backups)
}

/// The manifest, as JSON.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Manifest {
    /// [`FORMAT`] of the program that wrote it.
    pub(crate) format: u32,
    /// Version of that program.
    pub(crate) version: String,
    /// The moment of which the databases are.
    pub(crate) at: Timestamp,
    /// The platform's logs at that moment; none when the installation has no platform.
    pub(crate) platform: Option<PlatformPoint>,
    /// What each database has, by the name of its file.
    pub(crate) databases: BTreeMap<String, Contents>,
    /// All files but the manifest.
    pub(crate) files: Vec<BackupFile>,
}

/// Where the platform's logs ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct PlatformPoint {
    /// Entries of the audit log.
    pub(crate) log_entries: u64,
    /// The audit log's anchor, as `lotwire verify --log` prints it.
    pub(crate) anchor: String,
    /// Cursor of the journal's last entry; 0 before the first.
    pub(crate) journal_cursor: i64,
}

/// What a database has.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Contents {
    /// Number of the last migration.
    pub(crate) schema_version: i32,
    /// Rows of each table.
    pub(crate) rows: BTreeMap<String, u64>,
}

impl Contents {
    /// Counts the rows of a database file.
    pub(crate) fn of(path: &Path) -> Result<Self, CommandError> {
        let found = file_contents(path).context(format!("counting the rows of {}", path.display()))?;
        let FileContents { schema_version, rows } = found;
        Ok(Self { schema_version, rows })
    }
}

/// A file of the backup.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct BackupFile {
    /// Path below the backup, with `/` between its parts.
    pub(crate) path: String,
    pub(crate) bytes: u64,
    /// SHA-256 of the content, in hexadecimal digits.
    pub(crate) sha256: String,
}

impl Manifest {
    /// A manifest in the present format.
    pub(crate) fn new(
        at: Timestamp,
        platform: Option<PlatformPoint>,
        databases: BTreeMap<String, Contents>,
        files: Vec<BackupFile>,
    ) -> Self {
        Self { format: FORMAT, version: env!("CARGO_PKG_VERSION").to_owned(), at, platform, databases, files }
    }

    /// Writes the manifest of the backup in `folder` and waits until it is on disk.
    pub(crate) fn write(&self, folder: &Path) -> Result<(), CommandError> {
        let path = folder.join(MANIFEST);
        let doing = || format!("writing {}", path.display());
        let text = serde_json::to_string_pretty(self).context(doing())?;
        let mut options = std::fs::OpenOptions::new();
        let file = options.write(true).create(true).truncate(true).mode(0o600).open(&path);
        file.and_then(|mut file| file.write_all((text + "\n").as_bytes())).context(doing())?;
        std::fs::File::open(&path).and_then(|file| file.sync_all()).context(doing())
    }

    /// Reads the manifest of the backup in `folder`.
    pub(crate) fn read(folder: &Path) -> Result<Self, CommandError> {
        let path = folder.join(MANIFEST);
        let text = match read_text(&path, BYTES_MAX) {
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
                return Err(CommandError::new(format!(
                    "{} is no complete backup: it has no file {MANIFEST}. Name the folder that `lotwire backup` printed",
                    folder.display()
                )));
            }
            read => read.context(format!("reading {}", path.display()))?,
        };
        let manifest: Self = serde_json::from_str(&text).context(format!("reading {}", path.display()))?;
        if manifest.format > FORMAT {
            return Err(CommandError::new(format!(
                "the backup has format {}, and this lotwire reads formats up to {FORMAT}. Use lotwire {} or later",
                manifest.format, manifest.version
            )));
        }
        match manifest.files.iter().find(|file| !file.is_expected()) {
            Some(file) => Err(CommandError::new(format!(
                "{}: {:?} is not a file that a backup has. The manifest was changed; do not restore it",
                path.display(),
                file.path
            ))),
            None => Ok(manifest),
        }
    }

    /// Whether the backup has the secret key, sealed with a passphrase.
    pub(crate) fn has_key(&self) -> bool {
        self.files.iter().any(|file| file.path == SEALED_KEY_FILE)
    }

    /// Bytes of all files.
    pub(crate) fn bytes(&self) -> u64 {
        self.files.iter().fold(0, |bytes, file| bytes.saturating_add(file.bytes))
    }
}

impl BackupFile {
    /// Whether the path is that of a database, of the sealed key, or of an image in a folder, so that a changed manifest writes
    /// nothing else.
    fn is_expected(&self) -> bool {
        let is_name = |part: &str| {
            let mut bytes = part.bytes();
            !part.is_empty()
                && !part.starts_with('.')
                && bytes.all(|byte| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte))
        };
        match self.path.strip_prefix(IMAGES).and_then(|below| below.strip_prefix('/')) {
            Some(below) => below.split('/').all(is_name),
            None => [PLATFORM_FILE, PROVIDER_FILE, SEALED_KEY_FILE].contains(&&*self.path),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn manifest(path: &str) -> Manifest {
        let file = BackupFile { path: path.to_owned(), bytes: 3, sha256: "00".to_owned() };
        Manifest::new(Timestamp::UNIX_EPOCH, None, BTreeMap::new(), vec![file])
    }

    #[test]
    fn a_manifest_is_read_as_it_was_written() {
        let folder = tempfile::tempdir().unwrap();
        let written = manifest("images/ab/cd-full");
        written.write(folder.path()).unwrap();
        assert_eq!(Manifest::read(folder.path()).unwrap(), written);
    }

    #[test]
    fn a_path_out_of_the_backup_a_later_format_and_a_missing_manifest_are_refused() {
        let folder = tempfile::tempdir().unwrap();
        let missing = Manifest::read(folder.path()).unwrap_err().to_string();
        assert!(missing.contains("no complete backup"), "{missing}");
        for path in [
            "../platform.db",
            "/etc/passwd",
            "images/../../x",
            "",
            "secret.key",
            "platform.db-wal",
            "images/a\\b",
            "images//x",
        ] {
            manifest(path).write(folder.path()).unwrap();
            let refused = Manifest::read(folder.path()).unwrap_err().to_string();
            assert!(refused.contains("is not a file that a backup has"), "{refused}");
        }
        Manifest { format: 2, ..manifest(PLATFORM_FILE) }.write(folder.path()).unwrap();
        let refused = Manifest::read(folder.path()).unwrap_err().to_string();
        assert!(refused.contains("format 2"), "{refused}");
    }
}
