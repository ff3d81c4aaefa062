//! Whatever single field is edited behind the platform's back, `verify` finds it. The fields are read from the tables
//! themselves, so that a new one is in the test as soon as it is in a table.

use std::fs;
use std::path::Path;

use auction::AuctionKind;
use contract::ItemStatus;
use runtime::clock::TestClock;
use rusqlite::types::Value as Sql;
use rusqlite::{Connection, params};
use serde_json::Value;

use crate::house::{House, broken, platform};
use crate::model::run;
use crate::sale::Command;

/// Row numbers are the engine's, and a cursor says nothing of a sale: only their order counts.
const NOT_LOGGED: [&str; 2] = ["no", "cursor"];

#[tokio::test]
async fn every_field_that_is_edited_is_found() {
    let (directory, db) = sale().await;
    let store = store::sqlite::open_platform(&directory.path().join("platform.db")).await.unwrap();
    let platform = platform(&store, &TestClock::default(), 3);
    let mut edits = 0;
    let mut missed = Vec::new();
    for table in ["auctions", "items", "bids", "journal", "log"] {
        for (key, column) in fields(&db, table) {
            for (what, edited) in edits_of(&db, table, &key, &column) {
                let before = value(&db, table, &key, &column);
                put(&db, table, &key, (&column, &edited));
                if broken(&platform).await.is_empty() {
                    missed.push(format!("{table}.{column}{what} of {key:?}"));
                }
                put(&db, table, &key.with(table, &column, edited), (&column, &before));
                edits += 1;
            }
        }
    }
    assert_eq!(broken(&platform).await, Vec::<String>::new(), "everything is as it was again");
    assert_eq!(missed, Vec::<String>::new(), "of {edits}");
    assert!(edits > 300, "{edits}");
}

#[tokio::test]
async fn every_row_that_is_gone_is_found() {
    let (directory, ground) = sale().await;
    for table in ["auctions", "items", "bids", "journal", "log"] {
        for key in keys(&ground, table) {
            let found = after(&directory, |db| {
                db.execute(&format!("DELETE FROM {table} WHERE {}", where_key(table)), params![key.0, key.1]).unwrap();
            })
            .await;
            assert!(!found.is_empty(), "{table} {key:?}");
        }
    }
}

#[tokio::test]
async fn the_entry_that_is_broken_is_named() {
    let (directory, _) = sale().await;
    let edited = "UPDATE log SET content = replace(content, '300', '301') WHERE content LIKE '%\"amount\":300%'";
    let found = after(&directory, |db| assert!(db.execute(edited, []).unwrap() > 0)).await;
    let expected = "its hash is not that of its content and the entry before";
    assert!(found[0].starts_with("Some(") && found[0].ends_with(expected), "{found:?}");
    // Written anew from there, hash and all: the next entry, or the head, does not fit.
    let found = after(&directory, |db| {
        let last = "SELECT max(number) FROM log WHERE subject = (SELECT item FROM bids LIMIT 1)";
        let last: i64 = db.query_row(last, [], |row| row.get(0)).unwrap();
        let forget = "DELETE FROM log WHERE number = ?1 AND subject = (SELECT item FROM bids LIMIT 1)";
        db.execute(forget, [last]).unwrap();
    })
    .await;
    assert!(found[0].contains("it is missing"), "{found:?}");
}

/// A sale of both kinds in a file, and a connection to read it with.
async fn sale() -> (tempfile::TempDir, Connection) {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("platform.db");
    let house = House::new(store::sqlite::open_platform(&path).await.unwrap(), 1).await;
    let chair = house.auction(AuctionKind::Timed, 1).await.items[0].uuid;
    let bid = |paddle: &str, amount| Command::Bid { paddle: paddle.into(), amount };
    let to = |to| Command::Status { to };
    for command in [bid("1", 300), bid("2", 200), to(ItemStatus::Suspended), to(ItemStatus::Live), bid("3", 500)] {
        assert!(run(&house, chair, &command).await, "{command:?}");
    }
    let table = house.auction(AuctionKind::Webcast, 1).await.items[0].uuid;
    let room = Command::RoomBid { paddle: "7".into(), amount: 300 };
    for command in [Command::Send, room, Command::Sell, Command::Correct, Command::Send] {
        assert!(run(&house, table, &command).await, "{command:?}");
    }
    assert!(run(&house, chair, &Command::End).await);
    assert_eq!(house.broken().await, Vec::<String>::new());
    drop(house);
    let db = Connection::open(&path).unwrap();
    db.execute_batch("PRAGMA wal_checkpoint(TRUNCATE); PRAGMA synchronous = OFF").unwrap();
    (directory, db)
}

/// What `verify` finds after an edit of a copy.
async fn after(directory: &tempfile::TempDir, edit: impl FnOnce(&Connection)) -> Vec<String> {
    let copied = tempfile::tempdir().unwrap();
    let path = copied.path().join("platform.db");
    fs::copy(directory.path().join("platform.db"), &path).unwrap();
    edit(&Connection::open(&path).unwrap());
    verify(&path).await
}

async fn verify(path: &Path) -> Vec<String> {
    let store = store::sqlite::open_platform(path).await.unwrap();
    broken(&platform(&store, &TestClock::default(), 3)).await
}

/// What a row is found by: the values of two columns.
#[derive(Debug, Clone)]
struct Key(Sql, Sql);

impl Key {
    /// The key of the row after an edit of a column.
    fn with(&self, table: &str, column: &str, edited: Sql) -> Self {
        let (one, two) = key_columns(table);
        let Key(first, second) = self.clone();
        if column == one {
            Key(edited, second)
        } else if column == two {
            Key(first, edited)
        } else {
            Key(first, second)
        }
    }
}

fn key_columns(table: &str) -> (&'static str, &'static str) {
    match table {
        "bids" => ("item", "number"),
        "journal" => ("subject", "sequence"),
        "log" => ("subject", "number"),
        _ => ("uuid", "no"),
    }
}

fn where_key(table: &str) -> String {
    let (one, two) = key_columns(table);
    format!("{one} = ?1 AND {two} = ?2")
}

fn keys(db: &Connection, table: &str) -> Vec<Key> {
    let (one, two) = key_columns(table);
    let mut select = db.prepare(&format!("SELECT {one}, {two} FROM {table}")).unwrap();
    let keys = select.query_map([], |row| Ok(Key(row.get(0)?, row.get(1)?))).unwrap();
    keys.collect::<Result<_, _>>().unwrap()
}

/// Every field of every row.
fn fields(db: &Connection, table: &str) -> Vec<(Key, String)> {
    let mut columns = db.prepare("SELECT name FROM pragma_table_info(?1)").unwrap();
    let columns: Vec<String> = columns.query_map([table], |row| row.get(0)).unwrap().collect::<Result<_, _>>().unwrap();
    let logged = columns.into_iter().filter(|column| !NOT_LOGGED.contains(&column.as_str()));
    let keys = keys(db, table);
    logged.flat_map(|column| keys.iter().map(move |key| (key.clone(), column.clone()))).collect()
}

fn value(db: &Connection, table: &str, key: &Key, column: &str) -> Sql {
    let select = format!("SELECT {column} FROM {table} WHERE {}", where_key(table));
    db.query_row(&select, params![key.0, key.1], |row| row.get(0)).unwrap()
}

fn put(db: &Connection, table: &str, key: &Key, (column, value): (&str, &Sql)) {
    let update = format!("UPDATE {table} SET {column} = ?3 WHERE {}", where_key(table));
    assert_eq!(db.execute(&update, params![key.0, key.1, value]).unwrap(), 1, "{table}.{column}");
}

/// Other values for a field: one, or one for each part of a state.
fn edits_of(db: &Connection, table: &str, key: &Key, column: &str) -> Vec<(String, Sql)> {
    let now = value(db, table, key, column);
    if let (Sql::Text(text), "state") = (&now, column) {
        let state: Value = serde_json::from_str(text).unwrap();
        let edit = |pointer: String| {
            let edited = edited_state(state.clone(), &pointer);
            (pointer, Sql::Text(edited.to_string()))
        };
        return leaves(&state).into_iter().map(edit).collect();
    }
    let kind: String = db
        .query_row("SELECT type FROM pragma_table_info(?1) WHERE name = ?2", [table, column], |row| row.get(0))
        .unwrap();
    let edited = match (now, kind.as_str()) {
        (Sql::Integer(number), _) if column == "has_bids" => Sql::Integer(1 - number),
        // Far away: a number that another row has could not be written.
        (Sql::Integer(number), _) => Sql::Integer(number + 1_000),
        (Sql::Text(text), _) => Sql::Text(format!("{text}x")),
        (Sql::Blob(mut bytes), _) => {
            bytes[7] ^= 0x55;
            Sql::Blob(bytes)
        }
        (_, "INTEGER") => Sql::Integer(1),
        _ => Sql::Text("{}".to_owned()),
    };
    vec![(String::new(), edited)]
}

/// JSON pointers to everything in a state that has no parts.
fn leaves(state: &Value) -> Vec<String> {
    fn walk(value: &Value, pointer: &str, found: &mut Vec<String>) {
        match value {
            Value::Object(fields) => {
                fields.iter().for_each(|(field, value)| walk(value, &format!("{pointer}/{field}"), found));
            }
            Value::Array(values) if !values.is_empty() => {
                values.iter().enumerate().for_each(|(place, value)| walk(value, &format!("{pointer}/{place}"), found));
            }
            _ => found.push(pointer.to_owned()),
        }
    }
    let mut found = Vec::new();
    walk(state, "", &mut found);
    found
}

fn edited_state(mut state: Value, pointer: &str) -> Value {
    let leaf = state.pointer_mut(pointer).unwrap();
    *leaf = match leaf.take() {
        Value::Null => Value::from(1),
        Value::Bool(bool) => Value::Bool(!bool),
        Value::Number(number) => Value::from(number.as_i64().unwrap() + 1),
        Value::String(text) => edited_text(&text),
        Value::Array(_) | Value::Object(_) => Value::from("x"),
    };
    state
}

/// Another text that can be read as what it was, where that is a UUID or a hash.
fn edited_text(text: &str) -> Value {
    let last = if text.ends_with('0') { "1" } else { "0" };
    let is_hexadecimal = text.len() >= 36 && text.bytes().all(|byte| byte.is_ascii_hexdigit() || byte == b'-');
    Value::from(if is_hexadecimal { format!("{}{last}", &text[..text.len() - 1]) } else { format!("{text}x") })
}
