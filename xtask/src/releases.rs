//! The list of releases in `packaging/releases.toml`, and `cargo xtask release`, which adds the present version to it.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::path::Path;
use std::process::Command;

use sha2::{Digest as _, Sha256};

use crate::{Failure, root, say};

/// The list.
pub(crate) const FILE: &str = "packaging/releases.toml";
/// The folders of the migrations, by wing: SQLite's and PostgreSQL's.
pub(crate) const FOLDERS: [[&str; 2]; 2] = [
    ["crates/platform/store/src/sqlite/migrations", "crates/platform/store/src/postgres/migrations"],
    ["crates/provider/store/src/sqlite/migrations", "crates/provider/store/src/postgres/migrations"],
];

/// A release.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Release {
    pub(crate) version: String,
    pub(crate) commit: String,
    /// SHA-256 of each migration, by its path in the repository.
    pub(crate) migrations: BTreeMap<String, String>,
}

/// Reads the list, the oldest release first.
pub(crate) fn read(root: &Path) -> Result<Vec<Release>, Failure> {
    let text = fs::read_to_string(root.join(FILE)).map_err(|error| format!("{FILE}: {error}"))?;
    parse(&text).map_err(|error| format!("{FILE}: {error}"))
}

fn parse(text: &str) -> Result<Vec<Release>, String> {
    let table: toml::Table = text.parse().map_err(|error| format!("{error}"))?;
    let Some(rows) = table.get("release") else { return Ok(Vec::new()) };
    let rows = rows.as_array().ok_or("`release` is not a list")?;
    rows.iter()
        .map(|row| release(row).ok_or_else(|| format!("a release has no version, commit or migrations: {row}")))
        .collect()
}

fn release(row: &toml::Value) -> Option<Release> {
    let text = |value: &toml::Value| value.as_str().map(str::to_owned);
    let migrations = row.get("migrations")?.as_table()?;
    Some(Release {
        version: text(row.get("version")?)?,
        commit: text(row.get("commit")?)?,
        migrations: migrations.iter().map(|(path, hash)| Some((path.clone(), text(hash)?))).collect::<Option<_>>()?,
    })
}

/// SHA-256 of all migrations in the work tree, by path.
pub(crate) fn migrations(root: &Path) -> Result<BTreeMap<String, String>, Failure> {
    let mut found = BTreeMap::new();
    for folder in FOLDERS.as_flattened() {
        for entry in fs::read_dir(root.join(folder)).map_err(|error| format!("{folder}: {error}"))? {
            let name = entry.map_err(|error| error.to_string())?.file_name().to_string_lossy().into_owned();
            let path = format!("{folder}/{name}");
            let text = fs::read(root.join(&path)).map_err(|error| format!("{path}: {error}"))?;
            found.insert(path, hash(&text));
        }
    }
    Ok(found)
}

/// SHA-256 in hexadecimal digits.
pub(crate) fn hash(text: &[u8]) -> String {
    Sha256::digest(text).iter().fold(String::new(), |mut hex, byte| {
        let _ = write!(hex, "{byte:02x}");
        hex
    })
}

/// `cargo xtask release`: adds the version of the work tree with its commit to the list.
pub(crate) fn run_task(arguments: &[String]) -> Result<(), Failure> {
    if !arguments.is_empty() {
        return Err("usage: cargo xtask release, on the commit that is the release".to_owned());
    }
    let (root, version) = (root(), env!("CARGO_PKG_VERSION"));
    if read(&root)?.iter().any(|release| release.version == version) {
        return Err(format!("{FILE} has {version} already: raise `version` in Cargo.toml and commit"));
    }
    if !git(&["status", "--porcelain"])?.is_empty() {
        return Err("the work tree has changes: commit them first, because a release is a commit".to_owned());
    }
    let row = Release {
        version: version.to_owned(),
        commit: git(&["rev-parse", "HEAD"])?.trim().to_owned(),
        migrations: migrations(&root)?,
    };
    let text = fs::read_to_string(root.join(FILE)).map_err(|error| format!("{FILE}: {error}"))?;
    fs::write(root.join(FILE), text + &row.to_toml()).map_err(|error| format!("{FILE}: {error}"))?;
    say(&format!("release: {FILE} has {version} at {}; commit it, and tag that commit v{version}", row.commit));
    Ok(())
}

impl Release {
    fn to_toml(&self) -> String {
        let mut text = format!(
            "\n[[release]]\nversion = \"{}\"\ncommit = \"{}\"\n\n[release.migrations]\n",
            self.version, self.commit
        );
        for (path, hash) in &self.migrations {
            let _ = writeln!(text, "\"{path}\" = \"{hash}\"");
        }
        text
    }
}

/// The output of a git command in the repository.
pub(crate) fn git(arguments: &[&str]) -> Result<String, Failure> {
    let output = Command::new("git").args(arguments).current_dir(root()).output();
    let output = output.map_err(|error| format!("git: {error}"))?;
    if !output.status.success() {
        return Err(format!("git {}: {}", arguments.join(" "), String::from_utf8_lossy(&output.stderr)));
    }
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_is_read_as_it_was_written() {
        let migrations = BTreeMap::from([("a/V1__lots.sql".to_owned(), hash(b"abc"))]);
        let row = Release { version: "0.1.0".to_owned(), commit: "c0ffee".to_owned(), migrations };
        assert!(row.to_toml().contains("ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"));
        assert_eq!(parse(&format!("# Text.\n{}{}", row.to_toml(), row.to_toml())).unwrap(), [row.clone(), row]);
        assert_eq!(parse("# Text.\n").unwrap(), []);
        assert!(parse("[[release]]\nversion = \"1\"").unwrap_err().contains("no version, commit or migrations"));
    }

    #[test]
    fn the_repository_has_a_list_and_migrations_of_both_engines() {
        read(&root()).unwrap();
        assert!(migrations(&root()).unwrap().len() >= 4);
    }
}
