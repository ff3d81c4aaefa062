//! Decides by the version of existing tables whether a program uses them as they are, upgrades them or refuses them; for both engines.
//!
//! The number of the last migration is the version of the tables. The table [`COMPATIBILITY_TABLE`] has one row: the oldest version
//! whose programs can use the tables. A migration that removes what such programs use raises it.

use refinery::error::Kind;
use refinery::{Error, Migration, Runner};

use crate::EngineError;

/// The table of the migrations that a database has, as refinery names it.
pub(crate) const HISTORY_TABLE: &str = "refinery_schema_history";
/// The table with the oldest version whose programs can use the tables. The first migration of each store creates it.
pub(crate) const COMPATIBILITY_TABLE: &str = "schema_compatibility";

/// What to do with tables of an older version. Missing tables are always created.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OlderTables {
    /// Upgrade them: the server, and a program that restores a backup.
    Upgrade,
    /// Refuse them: a command, which may run beside servers of the older version.
    Refuse,
}

/// The version of existing tables, and the one that a program has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TableVersions {
    /// The number of the last migration of the tables.
    pub found: i32,
    /// The number of the program's last migration.
    pub known: i32,
}

impl TableVersions {
    /// Whether the program upgrades the tables.
    pub fn is_older(self) -> bool {
        self.found < self.known
    }
}

/// The tables that a database has.
#[derive(Debug)]
pub(crate) struct FoundTables {
    pub(crate) applied: Vec<Migration>,
    /// None in a database of a build that had no such row.
    pub(crate) compatible_from: Option<i32>,
}

/// What a program does with the tables of a database.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Step {
    /// Apply the migrations that are missing, each in its own transaction.
    Migrate,
    /// A newer version migrated them, and this one can use them.
    UseNewer,
}

/// The version that the last migration leaves.
pub(crate) fn latest_version(migrations: &Runner) -> i32 {
    version_of(migrations.get_migrations())
}

/// The version of tables with these migrations; 0 without any.
pub(crate) fn version_of(migrations: &[Migration]) -> i32 {
    migrations.iter().map(Migration::version).max().unwrap_or_default()
}

/// Decides what a program with `migrations` does with the tables `found`. `tables` names them and their database.
///
/// Errors: `TablesAreOlder`, and `Unsupported` if a newer version made them unusable for this one.
pub(crate) fn step(
    found: &FoundTables,
    migrations: &Runner,
    older: OlderTables,
    tables: &str,
) -> Result<Step, EngineError> {
    let (version, known) = (version_of(&found.applied), latest_version(migrations));
    if version < known {
        if found.applied.is_empty() {
            return Ok(Step::Migrate);
        }
        if older == OlderTables::Refuse {
            return Err(EngineError::TablesAreOlder { tables: tables.to_owned(), found: version, needed: known });
        }
        tracing::info!(tables, from = version, to = known, "upgrading the tables");
        return Ok(Step::Migrate);
    }
    // With the same version the attempt finds nothing to do, but a server that is read-only. With another build's migrations it fails,
    // and `refusal` names one of them.
    let has_all = migrations.get_migrations().iter().all(|migration| found.applied.contains(migration));
    if version == known || !has_all {
        return Ok(Step::Migrate);
    }
    let compatible_from = found.compatible_from.unwrap_or(version);
    if compatible_from > known {
        return Err(EngineError::Unsupported(too_new(tables, version, compatible_from, known)));
    }
    Ok(Step::UseNewer)
}

/// Why a program can't go on with tables that a newer version migrated.
pub(crate) fn too_new(tables: &str, version: i32, compatible_from: i32, known: i32) -> String {
    format!(
        "{tables} have version {version}, which programs for version {compatible_from} or later can use, and this lotwire \
         knows versions up to {known}; start the newer lotwire that migrated them, or restore a backup that was made \
         before the upgrade"
    )
}

/// Why tables with other migrations than these can't be used, and what to do; none for other errors. `tables` names the
/// tables and their database, and `new_database` says how to start with a new one.
pub(crate) fn refusal(error: &Error, tables: &str, new_database: &str) -> Option<EngineError> {
    let text = match error.kind() {
        Kind::MissingVersion(migration) | Kind::DivergentVersion(migration, _) => format!(
            "{tables} were created by an earlier or another build of lotwire (its migration {migration} differs from \
             the one known here), and this build can't read them; start with a new database: {new_database}, or start \
             the lotwire that created them"
        ),
        _ => return None,
    };
    Some(EngineError::Unsupported(text))
}
