//! `verify` finds every edit of the tables that bypasses the platform, on both SQL stores. The test reads the columns from
//! the tables, so that it includes a new column automatically.

use std::sync::Arc;

use contract::ItemStatus;
use platform_core::audit::chain;
use platform_core::bidders::{
    MergeChoices, NewRegistration, PartyInput, RecordPair, RegistrationDecision, RegistrationPatch,
};
use platform_core::port::{Page, PartyDetails, RegistrationStatus, Store};
use platform_core::verification::Anchor;
use platform_rules::{AuctionKind, LogHash};
use serde_json::Value;
use uuid::Uuid;

use crate::model::run;
use crate::raw_database::{Kind, RawDatabase, edited, quoted};
use crate::sale::Command;
use crate::states::{edited_state, leaves};
use crate::test_sale::TestSale;

/// Columns that are not verified: row numbers belong to the engine, only the order of cursors matters, and spending
/// versions are not logged.
const NOT_LOGGED: [&str; 3] = ["no", "cursor", "spending_version"];
/// The tables that the log covers, with the key columns of a row.
const TABLES: [(&str, &str, Option<&str>); 7] = [
    ("auctions", "uuid", None),
    ("items", "uuid", None),
    ("registrations", "uuid", None),
    ("parties", "uuid", None),
    ("bids", "item", Some("number")),
    ("journal", "subject", Some("sequence")),
    ("audit_log", "subject", Some("number")),
];

/// Runs each story on each SQL store.
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
    every_edited_field_is_found,
    every_deleted_row_is_found,
    the_report_names_the_broken_entry,
    exchanged_entries_are_found,
    a_forged_entry_or_head_is_found,
    a_deleted_registration_with_bids_is_found,
    a_deleted_bidder_item_is_found,
    an_edited_match_key_is_found_and_missing_ones_are_written_again,
}

async fn every_edited_field_is_found(rig: TamperRig) {
    let mut edits = 0;
    let mut missed = Vec::new();
    for (table, ..) in TABLES {
        for (key, column, kind) in rig.fields(table).await {
            for (what, edited) in rig.edits_of(table, &key, (&column, kind)).await {
                let before = rig.value(table, &key, &column).await;
                rig.put(table, &key, (&column, &edited)).await;
                if rig.broken().await.is_empty() {
                    missed.push(format!("{table}.{column}{what} of {key:?}"));
                }
                rig.put(table, &key.with(&column, edited), (&column, &before)).await;
                edits += 1;
            }
        }
    }
    assert_eq!(rig.broken().await, Vec::<String>::new(), "an edit was not reversed completely");
    assert_eq!(missed, Vec::<String>::new(), "of {edits}");
    assert!(edits > 350, "{edits}");
}

async fn every_deleted_row_is_found(rig: TamperRig) {
    for (table, ..) in TABLES {
        for key in rig.keys(table).await {
            let place = key.place();
            rig.database.execute(&format!("CREATE TABLE kept AS SELECT * FROM {table} WHERE {place}")).await;
            assert_eq!(rig.database.execute(&format!("DELETE FROM {table} WHERE {place}")).await, 1);
            assert!(!rig.broken().await.is_empty(), "{table} {key:?}");
            rig.database.execute(&format!("INSERT INTO {table} SELECT * FROM kept")).await;
            rig.database.execute("DROP TABLE kept").await;
        }
    }
    assert_eq!(rig.broken().await, Vec::<String>::new(), "an edit was not reversed completely");
}

async fn the_report_names_the_broken_entry(rig: TamperRig) {
    let edit = "UPDATE audit_log SET content = replace(content, '300', '301') WHERE content LIKE '%\"amount\":300%'";
    assert!(rig.database.execute(edit).await > 0);
    let found = rig.broken().await;
    let expected = "its hash is not that of its content and the entry before";
    assert!(found[0].starts_with("Some(") && found[0].ends_with(expected), "{found:?}");
    let back = "UPDATE audit_log SET content = replace(content, '301', '300') WHERE content LIKE '%\"amount\":301%'";
    rig.database.execute(back).await;
    for (subject, last) in rig.heads().await {
        let forget = format!("DELETE FROM audit_log WHERE subject = {subject} AND number = {last}");
        assert_eq!(rig.database.execute(&forget).await, 1);
    }
    let found = rig.broken().await;
    assert!(found.len() >= 6 && found.iter().all(|found| found.contains("missing")), "{found:?}");
}

async fn exchanged_entries_are_found(rig: TamperRig) {
    let number =
        |from: i64, to: i64| format!("UPDATE audit_log SET number = {to} WHERE number = {from} AND subject = ");
    for (subject, last) in rig.heads().await.into_iter().filter(|(_, last)| *last > 2) {
        let swap = async || {
            for (from, to) in [(last - 1, -1), (last, last - 1), (-1, last)] {
                assert_eq!(rig.database.execute(&format!("{}{subject}", number(from, to))).await, 1);
            }
        };
        swap().await;
        let found = rig.broken().await;
        let wanted = format!("Some({}) its hash is not that of its content", last - 1);
        assert!(found.iter().any(|found| found.starts_with(&wanted)), "{found:?}");
        swap().await;
    }
    assert_eq!(rig.broken().await, Vec::<String>::new(), "an edit was not reversed completely");
}

async fn a_forged_entry_or_head_is_found(rig: TamperRig) {
    for (subject, last) in rig.heads().await.into_iter().filter(|(_, last)| *last > 1) {
        let of_entry = |number: i64| format!("FROM audit_log WHERE subject = {subject} AND number = {number}");
        let content = rig.database.one(&format!("SELECT content {}", of_entry(last))).await;
        let forged = content.replacen("\"actor\":\"", "\"actor\":\"not ", 1);
        assert_ne!(forged, content);
        let before = match &rig.database {
            RawDatabase::Sqlite(_) => "lower(hex(hash))",
            RawDatabase::Postgres(_) => "encode(hash, 'hex')",
        };
        let previous = rig.database.one(&format!("SELECT {before} {}", of_entry(last - 1))).await;
        let hash = chain(LogHash::parse(&previous).unwrap(), &forged).to_string();
        let place = format!("WHERE subject = {subject} AND number = {last}");
        let kept = format!("SELECT {} {}", rig.database.literal("hash"), of_entry(last));
        let kept = rig.database.one(&kept).await;
        let put = async |content: &str, hash: &str| {
            let update = format!("UPDATE audit_log SET content = {}, hash = {hash} {place}", quoted(content));
            assert_eq!(rig.database.execute(&update).await, 1);
        };
        // The chain of hashes is intact, but its end differs from the head in the state.
        put(&forged, &rig.database.bytes(&hash)).await;
        let found = rig.broken().await;
        let wanted = format!("Some({last}) its hash differs from the one in the state");
        assert!(found.contains(&wanted), "{found:?}");
        put(&content, &kept).await;
    }
    assert_eq!(rig.broken().await, Vec::<String>::new(), "an edit was not reversed completely");
}

async fn a_deleted_registration_with_bids_is_found(rig: TamperRig) {
    for (table, column) in [("audit_log", "subject"), ("registrations", "uuid")] {
        assert!(rig.database.execute(&format!("DELETE FROM {table} WHERE {column} = {}", rig.ada)).await > 0);
    }
    let found = rig.broken().await;
    let wanted = "a bid was accepted under entry 1 of registration";
    assert!(found.iter().any(|found| found.contains(wanted)), "{found:?}");
    assert!(found.iter().all(|found| found.contains(wanted) || found.contains("of the log")), "{found:?}");
}

async fn a_deleted_bidder_item_is_found(rig: TamperRig) {
    for paddle in ["2", "3"] {
        rig.database
            .execute(&format!("CREATE TABLE kept AS SELECT * FROM bidder_items WHERE paddle = '{paddle}'"))
            .await;
        assert!(rig.database.execute(&format!("DELETE FROM bidder_items WHERE paddle = '{paddle}'")).await > 0);
        let found = rig.broken().await;
        let wanted = format!("the bidder item of paddle {paddle} is missing");
        assert!(found.iter().any(|found| found.contains(&wanted)), "{found:?}");
        rig.database.execute("INSERT INTO bidder_items SELECT * FROM kept").await;
        rig.database.execute("DROP TABLE kept").await;
    }
    assert_eq!(rig.broken().await, Vec::<String>::new(), "an edit was not reversed completely");
}

async fn an_edited_match_key_is_found_and_missing_ones_are_written_again(rig: TamperRig) {
    let holders = "SELECT count(*)::text FROM party_keys WHERE key = 'email:ada@example.com'";
    let count = async || match &rig.database {
        RawDatabase::Sqlite(_) => rig.database.one(&holders.replace("count(*)::text", "CAST(count(*) AS text)")).await,
        RawDatabase::Postgres(_) => rig.database.one(holders).await,
    };
    assert_eq!(count().await, "1");
    let rename = |from: &str, to: &str| format!("UPDATE party_keys SET key = '{to}' WHERE key = '{from}'");
    assert_eq!(rig.database.execute(&rename("email:ada@example.com", "email:eve@example.com")).await, 1);
    let found = rig.broken().await;
    assert!(found.iter().any(|found| found.contains("party_keys.key differs from its state")), "{found:?}");
    // Keys that an earlier program left out are no fault, and the next comparison writes them.
    for edit in ["DELETE FROM party_keys", "UPDATE parties SET keys_version = NULL"] {
        assert!(rig.database.execute(edit).await > 0);
    }
    assert_eq!(rig.broken().await, Vec::<String>::new());
    let sale = &rig.sale;
    let customers = sale.platform.customers(&sale.caller, Page { after: None, limit: 9 }).await.unwrap();
    for customer in customers {
        sale.platform.likely_pairs(&sale.caller, customer.uuid, None).await.unwrap();
    }
    assert_eq!(count().await, "1");
    assert_eq!(rig.broken().await, Vec::<String>::new());
}

/// A sale with both kinds of auction, and a direct connection to its tables.
pub(crate) struct TamperRig {
    pub(crate) sale: TestSale,
    pub(crate) database: RawDatabase,
    /// Literals of the timed item and of a registration with bids.
    pub(crate) chair: String,
    ada: String,
}

impl TamperRig {
    pub(crate) async fn new(store: Arc<dyn Store>, database: RawDatabase) -> Self {
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
        let details = PartyDetails {
            name: "Ada O'Hara".to_owned(),
            is_bidder: true,
            reference: Some("B-1".to_owned()),
            ..PartyDetails::default()
        };
        let input = PartyInput { details, document: Some("passport".to_owned()) };
        let house = created.auction.customer;
        let party = sale.platform.create_party(&sale.caller, house, &input).await.unwrap().uuid;
        sale.platform.block_party(&sale.caller, party, "did not pay", None).await.unwrap();
        merge_one(&sale, house, auction, party).await;
        let table = sale.auction(AuctionKind::Webcast, 1).await.items[0].uuid;
        erase_one(&sale, created.auction.customer, sale.item(table).await.1.uuid).await;
        let room = Command::RoomBid { paddle: "7".into(), amount: 300 };
        for command in [Command::Send, room, Command::Sell, Command::Correct, Command::Send] {
            assert!(run(&sale, table, &command).await, "{command:?}");
        }
        assert!(run(&sale, chair, &Command::End).await);
        assert_eq!(sale.broken().await, Vec::<String>::new());
        let (chair, ada) = (literal(&database, chair), literal(&database, ada));
        Self { sale, database, chair, ada }
    }

    /// The findings of `verify`.
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
            self.database.literal("subject")
        );
        let rows = self.database.rows(&select).await;
        rows.into_iter().map(|row| (row[0].clone(), row[1].parse().unwrap())).collect()
    }

    async fn keys(&self, table: &str) -> Vec<Key> {
        let (_, one, two) = TABLES.into_iter().find(|(name, ..)| *name == table).unwrap();
        let columns: Vec<&str> = [Some(one), two].into_iter().flatten().collect();
        let literals: Vec<String> = columns.iter().map(|column| self.database.literal(column)).collect();
        let rows = self.database.rows(&format!("SELECT {} FROM {table}", literals.join(", "))).await;
        let key = |row: Vec<String>| Key(columns.iter().map(|column| (*column).to_owned()).zip(row).collect());
        rows.into_iter().map(key).collect()
    }

    /// Every column of every row.
    async fn fields(&self, table: &str) -> Vec<(Key, String, Kind)> {
        let keys = self.keys(table).await;
        let columns = self.database.columns(table).await;
        let logged = columns.into_iter().filter(|(column, _)| !NOT_LOGGED.contains(&column.as_str()));
        logged.flat_map(|(column, kind)| keys.iter().map(move |key| (key.clone(), column.clone(), kind))).collect()
    }

    async fn value(&self, table: &str, key: &Key, column: &str) -> String {
        self.database.one(&format!("SELECT {} FROM {table} WHERE {}", self.database.literal(column), key.place())).await
    }

    async fn put(&self, table: &str, key: &Key, (column, value): (&str, &str)) {
        let update = format!("UPDATE {table} SET {column} = {value} WHERE {}", key.place());
        assert_eq!(self.database.execute(&update).await, 1, "{table}.{column}");
    }

    /// Different values for a column, as literals: one, or one for each part of a state.
    async fn edits_of(&self, table: &str, key: &Key, (column, kind): (&str, Kind)) -> Vec<(String, String)> {
        if column == "state" {
            let text = self.database.one(&format!("SELECT state FROM {table} WHERE {}", key.place())).await;
            let state: Value = serde_json::from_str(&text).unwrap();
            let edit = |pointer: String| {
                let edited = edited_state(state.clone(), &pointer).to_string();
                (pointer, quoted(&edited))
            };
            return leaves(&state).into_iter().map(edit).collect();
        }
        let now = self.value(table, key, column).await;
        let edited = match (now.as_str(), kind) {
            ("NULL", Kind::Bytes) => literal(&self.database, Uuid::from_u128(1)),
            (now, kind) => edited(now, kind),
        };
        vec![(String::new(), edited)]
    }
}

/// Enters a bidder with a registration under another record, and merges the record into this one.
async fn merge_one(sale: &TestSale, house: Uuid, auction: Uuid, kept: Uuid) {
    let details = PartyDetails {
        name: "Ada Ohara".to_owned(),
        is_bidder: true,
        reference: Some("B-2".to_owned()),
        email: Some("ada@example.com".to_owned()),
        ..PartyDetails::default()
    };
    let input = PartyInput { details, document: None };
    let merged = sale.platform.create_party(&sale.caller, house, &input).await.unwrap().uuid;
    let entry = NewRegistration {
        paddle: Some("77".to_owned()),
        party: Some(merged),
        name: None,
        email: None,
        limit: None,
        note: None,
        status: RegistrationStatus::Pending,
    };
    sale.platform.register_bidder(&sale.caller, auction, &entry, None).await.unwrap();
    let pair = RecordPair { kept, merged, versions: None };
    sale.platform.merge_parties(&sale.caller, pair, &MergeChoices::default()).await.unwrap();
}

/// Enters a bidder with a registration, and erases them.
async fn erase_one(sale: &TestSale, house: Uuid, auction: Uuid) {
    let details = PartyDetails { name: "Bob Erased".to_owned(), is_bidder: true, ..PartyDetails::default() };
    let input = PartyInput { details, document: Some("passport".to_owned()) };
    let party = sale.platform.create_party(&sale.caller, house, &input).await.unwrap().uuid;
    let entry = NewRegistration {
        paddle: Some("88".to_owned()),
        party: Some(party),
        name: None,
        email: None,
        limit: Some(100),
        note: None,
        status: RegistrationStatus::Approved,
    };
    sale.platform.register_bidder(&sale.caller, auction, &entry, None).await.unwrap();
    sale.platform.erase_party(&sale.caller, party, None).await.unwrap();
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

pub(crate) fn literal(database: &RawDatabase, uuid: Uuid) -> String {
    match database {
        RawDatabase::Sqlite(_) => database.bytes(&uuid.simple().to_string()),
        RawDatabase::Postgres(_) => format!("'{uuid}'"),
    }
}

/// The key of a row: columns with literals.
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
