//! Describes tables that another build of the program created, for both engines.

use refinery::error::Kind;
use refinery::{Error, Migration, Runner};

use crate::EngineError;

/// The version that the last migration leaves.
pub(crate) fn latest_version(migrations: &Runner) -> i32 {
    migrations.get_migrations().iter().map(Migration::version).max().unwrap_or_default()
}

/// Why tables with other migrations than these can't be used, and what to do; none for other errors. `tables` names the
/// tables and their database, and `new_database` says how to start with a new one.
pub(crate) fn refusal(error: &Error, known: i32, tables: &str, new_database: &str) -> Option<EngineError> {
    let text = match error.kind() {
        Kind::MissingVersion(migration) if migration.version() > known => format!(
            "{tables} have version {}, and this lotwire knows versions up to {known}; start the newer lotwire that \
             migrated them, or restore an older backup",
            migration.version()
        ),
        Kind::MissingVersion(migration) | Kind::DivergentVersion(migration, _) => format!(
            "{tables} were created by an earlier or another build of lotwire (its migration {migration} differs from \
             the one known here), and this build can't read them; start with a new database: {new_database}, or start \
             the lotwire that created them"
        ),
        _ => return None,
    };
    Some(EngineError::Unsupported(text))
}
