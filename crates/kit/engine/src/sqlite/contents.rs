//! What a database file has: the version of its schema, and the number of rows of each table.

use std::collections::BTreeMap;
use std::path::Path;

use rusqlite::Connection;

use super::connect_reader;
use crate::EngineError;
use crate::table_versions::HISTORY_TABLE;

/// What a database file has. Two copies of one moment have the same.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileContents {
    /// Number of the last migration; 0 before the first.
    pub schema_version: i32,
    /// Rows of each table, by the table's name.
    pub rows: BTreeMap<String, u64>,
}

/// Counts the rows of each table of the file at `path`.
///
/// Errors: `Sqlite` if the file can't be read.
pub fn file_contents(path: &Path) -> Result<FileContents, EngineError> {
    let db = connect_reader(path)?;
    let tables: Vec<String> = db
        .prepare("SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\'")?
        .query_map((), |row| row.get(0))?
        .collect::<Result<_, _>>()?;
    let mut contents = FileContents { schema_version: 0, rows: BTreeMap::new() };
    for table in tables {
        if table == HISTORY_TABLE {
            contents.schema_version = schema_version(&db)?;
        } else {
            let count = format!("SELECT count(*) FROM \"{}\"", table.replace('"', "\"\""));
            let rows: i64 = db.query_row(&count, (), |row| row.get(0))?;
            contents.rows.insert(table, u64::try_from(rows).unwrap_or_default());
        }
    }
    Ok(contents)
}

fn schema_version(db: &Connection) -> Result<i32, EngineError> {
    let version = format!("SELECT coalesce(max(version), 0) FROM {HISTORY_TABLE}");
    Ok(db.query_row(&version, (), |row| row.get(0))?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_rows_of_each_table_are_counted_and_the_migrations_are_the_version() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("only.db");
        let db = Connection::open(&path).unwrap();
        db.pragma_update(None, "journal_mode", "WAL").unwrap();
        db.execute_batch(
            "CREATE TABLE lots (id INTEGER PRIMARY KEY AUTOINCREMENT); CREATE TABLE \"a \"\"b\" (id);
             INSERT INTO lots VALUES (1), (2)",
        )
        .unwrap();
        let rows = BTreeMap::from([("lots".to_owned(), 2), ("a \"b".to_owned(), 0)]);
        assert_eq!(file_contents(&path).unwrap(), FileContents { schema_version: 0, rows: rows.clone() });
        db.execute_batch(
            "CREATE TABLE refinery_schema_history (version INTEGER); INSERT INTO refinery_schema_history VALUES (1), (3)",
        )
        .unwrap();
        assert_eq!(file_contents(&path).unwrap(), FileContents { schema_version: 3, rows });
    }
}
