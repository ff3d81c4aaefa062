//! Direct access to the tables, past the platform, with one interface for both SQL stores. Values are SQL literals.

use std::path::Path;
use std::sync::Mutex;

use rusqlite::Connection;
use tokio_postgres::{Client, NoTls, SimpleQueryMessage};

/// A database connection of an attacker with write access, beside the store.
pub(crate) enum RawDatabase {
    Sqlite(Mutex<Connection>),
    Postgres(Client),
}

/// The type of a column.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Number,
    Text,
    /// Bytes or a UUID.
    Bytes,
    /// A boolean; in SQLite a number.
    Truth,
}

impl RawDatabase {
    pub(crate) fn sqlite(path: &Path) -> Self {
        let db = Connection::open(path).unwrap();
        db.execute_batch("PRAGMA synchronous = OFF").unwrap();
        Self::Sqlite(Mutex::new(db))
    }

    pub(crate) async fn postgres(url: &str) -> Self {
        let (client, connection) = tokio_postgres::connect(url, NoTls).await.unwrap();
        tokio::spawn(connection);
        client.batch_execute("SET search_path = platform; SET synchronous_commit = off").await.unwrap();
        Self::Postgres(client)
    }

    /// The number of rows that a statement wrote.
    pub(crate) async fn execute(&self, sql: &str) -> u64 {
        match self {
            Self::Sqlite(db) => db.lock().unwrap().execute(sql, []).map(|rows| rows as u64),
            Self::Postgres(client) => return simple(client, sql).await.1,
        }
        .unwrap_or_else(|error| panic!("{sql}: {error}"))
    }

    /// Rows of texts.
    pub(crate) async fn rows(&self, sql: &str) -> Vec<Vec<String>> {
        match self {
            Self::Sqlite(db) => {
                let db = db.lock().unwrap();
                let mut select = db.prepare(sql).unwrap();
                let width = select.column_count();
                let rows = select.query_map([], |row| (0..width).map(|place| row.get(place)).collect()).unwrap();
                rows.collect::<Result<_, _>>().unwrap()
            }
            Self::Postgres(client) => simple(client, sql).await.0,
        }
    }

    /// The single text that a query returns.
    pub(crate) async fn one(&self, sql: &str) -> String {
        let rows = self.rows(sql).await;
        rows.first().and_then(|row| row.first()).cloned().unwrap_or_else(|| panic!("{sql}: nothing"))
    }

    /// An expression that returns the value of a column as a literal.
    pub(crate) fn literal(&self, column: &str) -> String {
        match self {
            Self::Sqlite(_) => format!("quote({column})"),
            Self::Postgres(_) => format!("quote_nullable({column})"),
        }
    }

    /// A text in hexadecimal digits as a literal of bytes.
    pub(crate) fn bytes(&self, hexadecimal: &str) -> String {
        match self {
            Self::Sqlite(_) => format!("X'{hexadecimal}'"),
            Self::Postgres(_) => format!("'\\x{hexadecimal}'"),
        }
    }

    /// Columns of a table.
    pub(crate) async fn columns(&self, table: &str) -> Vec<(String, Kind)> {
        let select = match self {
            Self::Sqlite(_) => format!("SELECT name, type FROM pragma_table_info('{table}')"),
            Self::Postgres(_) => format!(
                "SELECT column_name, data_type FROM information_schema.columns \
                 WHERE table_schema = 'platform' AND table_name = '{table}'"
            ),
        };
        let kind = |name: &str, kind: &str| match kind {
            _ if ["has_bids", "sandbox", "is_bidder", "is_consignor", "is_blocked"].contains(&name) => Kind::Truth,
            "INTEGER" | "integer" | "bigint" | "smallint" => Kind::Number,
            "TEXT" | "text" => Kind::Text,
            "BLOB" | "bytea" | "uuid" => Kind::Bytes,
            other => panic!("{table}.{name} is {other}"),
        };
        let columns = self.rows(&select).await;
        columns.into_iter().map(|row| (row[0].clone(), kind(&row[0], &row[1]))).collect()
    }
}

async fn simple(client: &Client, sql: &str) -> (Vec<Vec<String>>, u64) {
    let messages = client.simple_query(sql).await.unwrap_or_else(|error| panic!("{sql}: {error}"));
    let mut rows = Vec::new();
    let mut written = 0;
    for message in messages {
        match message {
            SimpleQueryMessage::Row(row) => {
                rows.push((0..row.len()).map(|place| row.get(place).unwrap_or_default().to_owned()).collect());
            }
            SimpleQueryMessage::CommandComplete(count) => written = count,
            _ => {}
        }
    }
    (rows, written)
}

/// A value that differs from the literal, fits the type of the column, and occurs in no other row.
pub(crate) fn edited(literal: &str, kind: Kind) -> String {
    match (literal, kind) {
        ("NULL", Kind::Number) => "1".to_owned(),
        ("NULL", Kind::Text) => "'{}'".to_owned(),
        ("NULL", _) => panic!("a NULL in a column of bytes can't be edited"),
        (_, Kind::Truth) if literal.contains('t') || literal.contains('f') => {
            if literal.contains('t') { "'f'" } else { "'t'" }.to_owned()
        }
        (_, Kind::Truth) => if literal == "0" { "1" } else { "0" }.to_owned(),
        // A distant number, because a number of another row would violate a unique constraint.
        (_, Kind::Number) => (literal.trim_matches('\'').parse::<i64>().unwrap() + 1_000).to_string(),
        (_, Kind::Text) => format!("{}x'", literal.strip_suffix('\'').unwrap()),
        (_, Kind::Bytes) => {
            let (rest, last) = literal.strip_suffix('\'').unwrap().split_at(literal.len() - 2);
            format!("{rest}{}'", if last == "5" { "6" } else { "5" })
        }
    }
}

/// A text as a literal.
pub(crate) fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', "''"))
}
