//! Whatever is edited behind the platform's back, `verify` finds it, on both SQL stores. The fields are read from the
//! tables themselves, so that a new one is in the test as soon as it is in a table.

use std::sync::Arc;

use contract::ItemStatus;
use platform_core::audit::chain;
use platform_core::bidders::{NewRegistration, RegistrationDecision, RegistrationPatch};
use platform_core::port::{RegistrationStatus, Store};
use platform_core::verification::Anchor;
use platform_rules::{AuctionKind, LogHash};
use serde_json::Value;
use uuid::Uuid;

use crate::model::run;
use crate::raw_database::{Kind, RawDatabase, edited, quoted};
use crate::sale::Command;
use crate::states::{edited_state, leaves};
use crate::test_sale::TestSale;

/// Row numbers are the engine's, a cursor says nothing of a sale (only their order counts), and turns are counted, not
/// logged.
const NOT_LOGGED: [&str; 3] = ["no", "cursor", "spending_version"];
/// Tables that the log answers for, with what a row is found by.
const TABLES: [(&str, &str, Option<&str>); 6] = [
    ("auctions", "uuid", None),
    ("items", "uuid", None),
    ("registrations", "uuid", None),
    ("bids", "item", Some("number")),
    ("journal", "subject", Some("sequence")),
    ("audit_log", "subject", Some("number")),
];

/// A test of each story on each SQL store.
macro_rules! stories {
    ($($story:ident),+ $(,)?) => {
        mod sqlite {
            $(#[tokio::test] async fn $story() {
                let directory = tempfile::tempdir().unwrap();
                let path = directory.path().join("platform.db");
                let store = platform_store::sqlite::open(&path).await.unwrap();
                super::$story(super::TamperRig::new(store, super::RawDatabase::sqlite(&path)).await).await;
            })+
        }
        mod postgres {
            $(#[tokio::test(flavor = "multi_thread")] async fn $story() {
                let url = testkit::postgres::fresh_database().await.unwrap();
                let config = platform_store::postgres::PostgresConfig { url: url.clone(), pool_size: 4, ..Default::default() };
                let store = platform_store::postgres::open(&config).await.unwrap();
                super::$story(super::TamperRig::new(store, super::RawDatabase::postgres(&url).await).await).await;
            })+
        }
    };
}
pub(crate) use stories;

stories! {
    every_field_that_is_edited_is_found,
    every_row_that_is_gone_is_found,
    the_entry_that_is_broken_is_named,
    entries_that_change_places_are_found,
    a_forged_entry_or_head_is_found,
    a_registration_that_bids_were_taken_under_is_missed,
    a_stake_that_a_spending_limit_counts_by_is_missed,
}

async fn every_field_that_is_edited_is_found(ground: TamperRig) {
    let mut edits = 0;
    let mut missed = Vec::new();
    for (table, ..) in TABLES {
        for (key, column, kind) in ground.fields(table).await {
            for (what, edited) in ground.edits_of(table, &key, (&column, kind)).await {
                let before = ground.value(table, &key, &column).await;
                ground.put(table, &key, (&column, &edited)).await;
                if ground.broken().await.is_empty() {
                    missed.push(format!("{table}.{column}{what} of {key:?}"));
                }
                ground.put(table, &key.with(&column, edited), (&column, &before)).await;
                edits += 1;
            }
        }
    }
    assert_eq!(ground.broken().await, Vec::<String>::new(), "everything is as it was again");
    assert_eq!(missed, Vec::<String>::new(), "of {edits}");
    assert!(edits > 350, "{edits}");
}

async fn every_row_that_is_gone_is_found(ground: TamperRig) {
    for (table, ..) in TABLES {
        for key in ground.keys(table).await {
            let place = key.place();
            ground.behind.execute(&format!("CREATE TABLE kept AS SELECT * FROM {table} WHERE {place}")).await;
            assert_eq!(ground.behind.execute(&format!("DELETE FROM {table} WHERE {place}")).await, 1);
            assert!(!ground.broken().await.is_empty(), "{table} {key:?}");
            ground.behind.execute(&format!("INSERT INTO {table} SELECT * FROM kept")).await;
            ground.behind.execute("DROP TABLE kept").await;
        }
    }
    assert_eq!(ground.broken().await, Vec::<String>::new(), "everything is as it was again");
}

async fn the_entry_that_is_broken_is_named(ground: TamperRig) {
    let edit = "UPDATE audit_log SET content = replace(content, '300', '301') WHERE content LIKE '%\"amount\":300%'";
    assert!(ground.behind.execute(edit).await > 0);
    let found = ground.broken().await;
    let expected = "its hash is not that of its content and the entry before";
    assert!(found[0].starts_with("Some(") && found[0].ends_with(expected), "{found:?}");
    let back = "UPDATE audit_log SET content = replace(content, '301', '300') WHERE content LIKE '%\"amount\":301%'";
    ground.behind.execute(back).await;
    for (subject, last) in ground.heads().await {
        let forget = format!("DELETE FROM audit_log WHERE subject = {subject} AND number = {last}");
        assert_eq!(ground.behind.execute(&forget).await, 1);
    }
    let found = ground.broken().await;
    assert!(found.len() >= 6 && found.iter().all(|found| found.contains("missing")), "{found:?}");
}

async fn entries_that_change_places_are_found(ground: TamperRig) {
    let number =
        |from: i64, to: i64| format!("UPDATE audit_log SET number = {to} WHERE number = {from} AND subject = ");
    for (subject, last) in ground.heads().await.into_iter().filter(|(_, last)| *last > 2) {
        let swap = async || {
            for (from, to) in [(last - 1, -1), (last, last - 1), (-1, last)] {
                assert_eq!(ground.behind.execute(&format!("{}{subject}", number(from, to))).await, 1);
            }
        };
        swap().await;
        let found = ground.broken().await;
        let wanted = format!("Some({}) its hash is not that of its content", last - 1);
        assert!(found.iter().any(|found| found.starts_with(&wanted)), "{found:?}");
        swap().await;
    }
    assert_eq!(ground.broken().await, Vec::<String>::new(), "everything is as it was again");
}

async fn a_forged_entry_or_head_is_found(ground: TamperRig) {
    for (subject, last) in ground.heads().await.into_iter().filter(|(_, last)| *last > 1) {
        let of_entry = |number: i64| format!("FROM audit_log WHERE subject = {subject} AND number = {number}");
        let content = ground.behind.one(&format!("SELECT content {}", of_entry(last))).await;
        let forged = content.replacen("\"actor\":\"", "\"actor\":\"not ", 1);
        assert_ne!(forged, content);
        let before = match &ground.behind {
            RawDatabase::Sqlite(_) => "lower(hex(hash))",
            RawDatabase::Postgres(_) => "encode(hash, 'hex')",
        };
        let previous = ground.behind.one(&format!("SELECT {before} {}", of_entry(last - 1))).await;
        let hash = chain(LogHash::parse(&previous).unwrap(), &forged).to_string();
        let place = format!("WHERE subject = {subject} AND number = {last}");
        let kept = format!("SELECT {} {}", ground.behind.literal("hash"), of_entry(last));
        let kept = ground.behind.one(&kept).await;
        let put = async |content: &str, hash: &str| {
            let update = format!("UPDATE audit_log SET content = {}, hash = {hash} {place}", quoted(content));
            assert_eq!(ground.behind.execute(&update).await, 1);
        };
        // The chain is whole, and does not end where the state says.
        put(&forged, &ground.behind.bytes(&hash)).await;
        let found = ground.broken().await;
        let wanted = format!("Some({last}) its hash differs from the one in the state");
        assert!(found.contains(&wanted), "{found:?}");
        put(&content, &kept).await;
    }
    assert_eq!(ground.broken().await, Vec::<String>::new(), "everything is as it was again");
}

async fn a_registration_that_bids_were_taken_under_is_missed(ground: TamperRig) {
    for (table, column) in [("audit_log", "subject"), ("registrations", "uuid")] {
        assert!(ground.behind.execute(&format!("DELETE FROM {table} WHERE {column} = {}", ground.ada)).await > 0);
    }
    let found = ground.broken().await;
    let wanted = "a bid was accepted under entry 1 of registration";
    assert!(found.iter().any(|found| found.contains(wanted)), "{found:?}");
    assert!(found.iter().all(|found| found.contains(wanted) || found.contains("of the log")), "{found:?}");
}

async fn a_stake_that_a_spending_limit_counts_by_is_missed(ground: TamperRig) {
    for paddle in ["2", "3"] {
        ground
            .behind
            .execute(&format!("CREATE TABLE kept AS SELECT * FROM bidder_items WHERE paddle = '{paddle}'"))
            .await;
        assert!(ground.behind.execute(&format!("DELETE FROM bidder_items WHERE paddle = '{paddle}'")).await > 0);
        let found = ground.broken().await;
        let wanted = format!("the bidder item of paddle {paddle} is missing");
        assert!(found.iter().any(|found| found.contains(&wanted)), "{found:?}");
        ground.behind.execute("INSERT INTO bidder_items SELECT * FROM kept").await;
        ground.behind.execute("DROP TABLE kept").await;
    }
    assert_eq!(ground.broken().await, Vec::<String>::new(), "everything is as it was again");
}

/// A sale of both kinds, and a way to its tables.
pub(crate) struct TamperRig {
    pub(crate) sale: TestSale,
    pub(crate) behind: RawDatabase,
    /// Literals of the timed item and of a registration with bids.
    pub(crate) chair: String,
    ada: String,
}

impl TamperRig {
    pub(crate) async fn new(store: Arc<dyn Store>, behind: RawDatabase) -> Self {
        let sale = TestSale::new(store, 1).await;
        let created = sale.auction(AuctionKind::Timed, 1).await;
        let (auction, chair) = (created.auction.uuid, created.items[0].uuid);
        let ada = register(&sale, auction, "2", Some(5_000)).await;
        let bob = register(&sale, auction, "3", None).await;
        let bid = |paddle: &str, amount| Command::Bid { paddle: paddle.into(), amount };
        let to = |to| Command::Status { to };
        for command in [bid("1", 300), bid("2", 200), to(ItemStatus::Suspended), to(ItemStatus::Live), bid("3", 500)] {
            assert!(run(&sale, chair, &command).await, "{command:?}");
        }
        for (to, reason) in [(RegistrationStatus::Suspended, Some("Did not pay")), (RegistrationStatus::Approved, None)]
        {
            let step = RegistrationDecision { to, reason: reason.map(str::to_owned) };
            let step = sale.platform.change_registration_status(&sale.caller, (auction, bob), &step, None, None);
            step.await.unwrap();
        }
        let patch = RegistrationPatch { limit: Some(Some(9_000)), ..RegistrationPatch::default() };
        sale.platform.change_registration(&sale.caller, (auction, bob), &patch, None).await.unwrap();
        assert!(run(&sale, chair, &bid("3", 700)).await);
        let table = sale.auction(AuctionKind::Webcast, 1).await.items[0].uuid;
        let room = Command::RoomBid { paddle: "7".into(), amount: 300 };
        for command in [Command::Send, room, Command::Sell, Command::Correct, Command::Send] {
            assert!(run(&sale, table, &command).await, "{command:?}");
        }
        assert!(run(&sale, chair, &Command::End).await);
        assert_eq!(sale.broken().await, Vec::<String>::new());
        let (chair, ada) = (literal(&behind, chair), literal(&behind, ada));
        Self { sale, behind, chair, ada }
    }

    /// What `verify` finds.
    pub(crate) async fn broken(&self) -> Vec<String> {
        crate::test_sale::broken(&self.sale.platform).await
    }

    pub(crate) async fn anchor(&self) -> Anchor {
        self.sale.platform.verify_all(&[], &|_| ()).await.unwrap().anchor.unwrap()
    }

    /// Subjects of the log with the numbers of their last entries.
    async fn heads(&self) -> Vec<(String, i64)> {
        let select = format!(
            "SELECT {}, CAST(max(number) AS text) FROM audit_log GROUP BY subject",
            self.behind.literal("subject")
        );
        let rows = self.behind.rows(&select).await;
        rows.into_iter().map(|row| (row[0].clone(), row[1].parse().unwrap())).collect()
    }

    async fn keys(&self, table: &str) -> Vec<Key> {
        let (_, one, two) = TABLES.into_iter().find(|(name, ..)| *name == table).unwrap();
        let columns: Vec<&str> = [Some(one), two].into_iter().flatten().collect();
        let literals: Vec<String> = columns.iter().map(|column| self.behind.literal(column)).collect();
        let rows = self.behind.rows(&format!("SELECT {} FROM {table}", literals.join(", "))).await;
        let key = |row: Vec<String>| Key(columns.iter().map(|column| (*column).to_owned()).zip(row).collect());
        rows.into_iter().map(key).collect()
    }

    /// Every field of every row.
    async fn fields(&self, table: &str) -> Vec<(Key, String, Kind)> {
        let keys = self.keys(table).await;
        let columns = self.behind.columns(table).await;
        let logged = columns.into_iter().filter(|(column, _)| !NOT_LOGGED.contains(&column.as_str()));
        logged.flat_map(|(column, kind)| keys.iter().map(move |key| (key.clone(), column.clone(), kind))).collect()
    }

    async fn value(&self, table: &str, key: &Key, column: &str) -> String {
        self.behind.one(&format!("SELECT {} FROM {table} WHERE {}", self.behind.literal(column), key.place())).await
    }

    async fn put(&self, table: &str, key: &Key, (column, value): (&str, &str)) {
        let update = format!("UPDATE {table} SET {column} = {value} WHERE {}", key.place());
        assert_eq!(self.behind.execute(&update).await, 1, "{table}.{column}");
    }

    /// Other values for a field, as literals: one, or one for each part of a state.
    async fn edits_of(&self, table: &str, key: &Key, (column, kind): (&str, Kind)) -> Vec<(String, String)> {
        if column == "state" {
            let text = self.behind.one(&format!("SELECT state FROM {table} WHERE {}", key.place())).await;
            let state: Value = serde_json::from_str(&text).unwrap();
            let edit = |pointer: String| {
                let edited = edited_state(state.clone(), &pointer).to_string();
                (pointer, quoted(&edited))
            };
            return leaves(&state).into_iter().map(edit).collect();
        }
        let now = self.value(table, key, column).await;
        let edited = match (now.as_str(), kind) {
            ("NULL", Kind::Bytes) => literal(&self.behind, Uuid::from_u128(1)),
            (now, kind) => edited(now, kind),
        };
        vec![(String::new(), edited)]
    }
}

async fn register(sale: &TestSale, auction: Uuid, paddle: &str, limit: Option<i64>) -> Uuid {
    let entry = NewRegistration {
        paddle: Some(paddle.to_owned()),
        party: Some(Uuid::from_u128(u128::from(paddle.as_bytes()[0]))),
        name: Some("Ada O'Hara".to_owned()),
        email: None,
        limit,
        note: None,
        status: RegistrationStatus::Approved,
    };
    let registered = sale.platform.register_bidder(&sale.caller, auction, &entry, None).await.unwrap();
    registered.fresh().unwrap().uuid
}

pub(crate) fn literal(behind: &RawDatabase, uuid: Uuid) -> String {
    match behind {
        RawDatabase::Sqlite(_) => behind.bytes(&uuid.simple().to_string()),
        RawDatabase::Postgres(_) => format!("'{uuid}'"),
    }
}

/// What a row is found by: columns with literals.
#[derive(Debug, Clone)]
struct Key(Vec<(String, String)>);

impl Key {
    fn place(&self) -> String {
        let conditions: Vec<String> = self.0.iter().map(|(column, value)| format!("{column} = {value}")).collect();
        conditions.join(" AND ")
    }

    /// The key of the row after an edit of a column.
    fn with(&self, column: &str, edited: String) -> Self {
        let edit = |(name, value): &(String, String)| {
            (name.clone(), if name == column { edited.clone() } else { value.clone() })
        };
        Key(self.0.iter().map(edit).collect())
    }
}
