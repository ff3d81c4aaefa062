//! Deleted rows: gaps in the numbering show them, and anchors that were recorded before.

use std::time::Duration;

use platform_rules::AuctionKind;
use uuid::Uuid;

use crate::raw_database::RawDatabase;
use crate::tampering::{TamperRig, literal, stories};

/// The tables with rows of an item, and the column that names the item.
const OF_AN_ITEM: [(&str, &str); 5] =
    [("items", "uuid"), ("bids", "item"), ("bidder_items", "item"), ("journal", "subject"), ("audit_log", "subject")];

stories! {
    a_lot_deleted_with_all_of_its_rows_leaves_gaps,
    an_earlier_anchor_shows_that_a_lot_was_deleted_without_gaps,
    a_deleted_lot_in_the_middle_of_an_auction_is_found,
    remaining_rows_of_a_deleted_lot_are_found,
    an_anchor_holds_when_the_log_grows,
    an_anchor_shows_that_the_log_was_truncated,
}

async fn a_lot_deleted_with_all_of_its_rows_leaves_gaps(rig: TamperRig) {
    let chair = rig.chair.clone();
    delete_item(&rig, &chair).await;
    let found = rig.broken().await;
    assert!(found.iter().any(|found| found.contains("of the journal")), "{found:?}");
    let in_the_log = found.iter().any(|found| found.contains("of the log"));
    assert_eq!(in_the_log, matches!(rig.database, RawDatabase::Sqlite(_)), "{found:?}");
}

async fn an_earlier_anchor_shows_that_a_lot_was_deleted_without_gaps(rig: TamperRig) {
    let before = rig.anchor().await;
    // The sale continues, so the log grows.
    rig.sale.auction(AuctionKind::Timed, 20).await;
    let chair = rig.chair.clone();
    delete_item(&rig, &chair).await;
    // An attacker who can delete rows can also renumber the others, so that no gap remains.
    for (table, number) in [("journal", "cursor"), ("audit_log", "no")] {
        rig.database.execute(&format!("UPDATE {table} SET {number} = -{number}")).await;
        let close = format!(
            "UPDATE {table} SET {number} = ranked.place FROM \
             (SELECT {number} AS old, row_number() OVER (ORDER BY {number} DESC) AS place FROM {table}) AS ranked \
             WHERE {table}.{number} = ranked.old"
        );
        rig.database.execute(&close).await;
    }
    assert_eq!(
        rig.broken().await,
        Vec::<String>::new(),
        "without an anchor, the verification finds a deletion that leaves no gap"
    );
    let verified = rig.sale.platform.verify_all(&[before], &|_| ()).await.unwrap();
    assert_eq!((verified.anchors_held, verified.broken.len()), (0, 1), "{verified:?}");
    let what = &verified.broken[0].what;
    assert!(what.starts_with(&format!("the log differs from the anchor {before}")), "{what}");
}

async fn a_deleted_lot_in_the_middle_of_an_auction_is_found(rig: TamperRig) {
    let created = rig.sale.auction(AuctionKind::Timed, 4).await;
    let lots: Vec<String> = created.items.iter().map(|item| literal(&rig.database, item.uuid)).collect();
    delete_item(&rig, &lots[1]).await;
    let found = rig.broken().await;
    let wanted = "None the item at place 1 of its running order is missing".to_owned();
    assert!(found.contains(&wanted), "{found:?}");
    delete_item(&rig, &lots[2]).await;
    let found = rig.broken().await;
    let wanted = "None the items at places 1 to 2 of its running order are missing".to_owned();
    assert!(found.contains(&wanted), "{found:?}");
}

async fn remaining_rows_of_a_deleted_lot_are_found(rig: TamperRig) {
    for (table, column) in [("items", "uuid"), ("audit_log", "subject")] {
        assert!(rig.database.execute(&format!("DELETE FROM {table} WHERE {column} = {}", rig.chair)).await > 0);
    }
    for (table, column) in [("bids", "item"), ("bidder_items", "item"), ("journal", "subject")] {
        let found = rig.broken().await;
        let wanted = format!("None a row of the table {table} refers to a row that does not exist");
        assert!(found.contains(&wanted), "{found:?}");
        assert!(rig.database.execute(&format!("DELETE FROM {table} WHERE {column} = {}", rig.chair)).await > 0);
    }
}

async fn an_anchor_holds_when_the_log_grows(rig: TamperRig) {
    let platform = &rig.sale.platform;
    let mut noted = Vec::new();
    for _ in 0..3 {
        noted.push(rig.anchor().await);
        assert_eq!(rig.anchor().await, noted[noted.len() - 1], "reading the anchor changed it");
        rig.sale.auction(AuctionKind::Webcast, 2).await;
    }
    let verified = platform.verify_log(&noted, &|_| ()).await.unwrap();
    assert_eq!((verified.anchors_held, verified.broken.len()), (3, 0), "{verified:?}");
    assert!(verified.anchor.unwrap().position > noted[2].position);
    // Of several anchors, the report names the two between which the change happened.
    let last = format!("(SELECT max(no) FROM audit_log WHERE no <= {})", noted[1].position);
    rig.database.execute(&format!("UPDATE audit_log SET content = content || ' ' WHERE no = {last}")).await;
    let verified = platform.verify_log(&noted, &|_| ()).await.unwrap();
    let what: Vec<&str> = verified.broken.iter().map(|broken| broken.what.as_str()).collect();
    assert_eq!((verified.anchors_held, what.len()), (1, 2), "{what:?}");
    assert!(what[0].contains(&noted[1].to_string()) && what[0].ends_with(&format!("after {}", noted[0])), "{what:?}");
}

async fn an_anchor_shows_that_the_log_was_truncated(rig: TamperRig) {
    let noted = rig.anchor().await;
    rig.database.execute(&format!("DELETE FROM audit_log WHERE no = {}", noted.position)).await;
    let verified = rig.sale.platform.verify_log(&[noted], &|_| ()).await.unwrap();
    let what = &verified.broken[0].what;
    assert!(what.contains(&format!("before the anchor {noted}: its last entries were deleted")), "{what}");
}

#[tokio::test(flavor = "multi_thread")]
async fn an_anchor_waits_for_entries_that_become_visible_below_it() {
    let url = testkit::postgres::fresh_database().await.unwrap();
    let config = platform_store::postgres::PostgresConfig { url: url.clone(), pool_size: 4, ..Default::default() };
    let store = platform_store::postgres::open(&config).await.unwrap();
    let rig = TamperRig::new(store, RawDatabase::postgres(&url).await).await;
    // The entry of another transaction has its position, and is not committed.
    let slow = RawDatabase::postgres(&url).await;
    let entry = format!("'{}', 1, '{{}}', decode(repeat('00', 32), 'hex')", Uuid::from_u128(7));
    slow.execute("BEGIN").await;
    slow.execute(&format!("INSERT INTO audit_log (subject, number, content, hash) VALUES ({entry})")).await;
    rig.sale.auction(AuctionKind::Timed, 1).await;
    let platform = rig.sale.platform.clone();
    let mut verification = tokio::spawn(async move { platform.verify_log(&[], &|_| ()).await.unwrap() });
    let timed_out = tokio::time::timeout(Duration::from_millis(300), &mut verification).await;
    assert!(timed_out.is_err(), "the verification did not wait: {timed_out:?}");
    slow.execute("COMMIT").await;
    let verified = verification.await.unwrap();
    let all = rig.database.one("SELECT CAST(count(*) AS text) FROM audit_log").await;
    assert_eq!(verified.log_entries.to_string(), all, "the entry of the slow transaction was not verified");
    let verified_again = rig.sale.platform.verify_log(&[verified.anchor.unwrap()], &|_| ()).await.unwrap();
    assert_eq!((verified_again.anchors_held, verified_again.broken.len()), (1, 0), "{verified_again:?}");
}

async fn delete_item(rig: &TamperRig, item: &str) {
    for (table, column) in OF_AN_ITEM {
        rig.database.execute(&format!("DELETE FROM {table} WHERE {column} = {item}")).await;
    }
}
