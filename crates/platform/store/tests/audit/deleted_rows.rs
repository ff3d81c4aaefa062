//! What is taken away with everything that belonged to it: holes show it, and anchors that were noted before.

use std::time::Duration;

use platform_rules::AuctionKind;
use uuid::Uuid;

use crate::raw_database::RawDatabase;
use crate::tampering::{TamperRig, literal, stories};

/// Where an item has rows.
const OF_AN_ITEM: [(&str, &str); 5] =
    [("items", "uuid"), ("bids", "item"), ("bidder_items", "item"), ("journal", "subject"), ("audit_log", "subject")];

stories! {
    a_lot_that_is_gone_with_all_of_its_rows_leaves_holes,
    a_lot_that_is_gone_without_a_trace_is_found_by_an_anchor_of_before,
    a_lot_in_the_middle_of_an_auction_is_missed,
    rows_that_a_lot_leaves_behind_are_found,
    an_anchor_holds_whatever_comes_after_it,
    the_end_of_a_log_that_was_cut_off_is_missed_by_its_anchor,
}

async fn a_lot_that_is_gone_with_all_of_its_rows_leaves_holes(ground: TamperRig) {
    let chair = ground.chair.clone();
    take_away(&ground, &chair).await;
    let found = ground.broken().await;
    assert!(found.iter().any(|found| found.contains("of the journal")), "{found:?}");
    let in_the_log = found.iter().any(|found| found.contains("of the log"));
    assert_eq!(in_the_log, matches!(ground.behind, RawDatabase::Sqlite(_)), "{found:?}");
}

async fn a_lot_that_is_gone_without_a_trace_is_found_by_an_anchor_of_before(ground: TamperRig) {
    let before = ground.anchor().await;
    // The sale continues, so the log grows.
    ground.sale.auction(AuctionKind::Timed, 20).await;
    let chair = ground.chair.clone();
    take_away(&ground, &chair).await;
    // An attacker who can delete rows can close the gaps, too.
    for (table, number) in [("journal", "cursor"), ("audit_log", "no")] {
        ground.behind.execute(&format!("UPDATE {table} SET {number} = -{number}")).await;
        let close = format!(
            "UPDATE {table} SET {number} = ranked.place FROM \
             (SELECT {number} AS old, row_number() OVER (ORDER BY {number} DESC) AS place FROM {table}) AS ranked \
             WHERE {table}.{number} = ranked.old"
        );
        ground.behind.execute(&close).await;
    }
    assert_eq!(ground.broken().await, Vec::<String>::new(), "that is how far a look at the books alone goes");
    let verified = ground.sale.platform.verify_all(&[before], &|_| ()).await.unwrap();
    assert_eq!((verified.anchors_held, verified.broken.len()), (0, 1), "{verified:?}");
    let what = &verified.broken[0].what;
    assert!(what.starts_with(&format!("the log differs from the anchor {before}")), "{what}");
}

async fn a_lot_in_the_middle_of_an_auction_is_missed(ground: TamperRig) {
    let created = ground.sale.auction(AuctionKind::Timed, 4).await;
    let lots: Vec<String> = created.items.iter().map(|item| literal(&ground.behind, item.uuid)).collect();
    take_away(&ground, &lots[1]).await;
    let found = ground.broken().await;
    let wanted = "None the item at place 1 of its running order is missing".to_owned();
    assert!(found.contains(&wanted), "{found:?}");
    take_away(&ground, &lots[2]).await;
    let found = ground.broken().await;
    let wanted = "None the items at places 1 to 2 of its running order are missing".to_owned();
    assert!(found.contains(&wanted), "{found:?}");
}

async fn rows_that_a_lot_leaves_behind_are_found(ground: TamperRig) {
    for (table, column) in [("items", "uuid"), ("audit_log", "subject")] {
        assert!(ground.behind.execute(&format!("DELETE FROM {table} WHERE {column} = {}", ground.chair)).await > 0);
    }
    for (table, column) in [("bids", "item"), ("bidder_items", "item"), ("journal", "subject")] {
        let found = ground.broken().await;
        let wanted = format!("None a row of the table {table} refers to a row that does not exist");
        assert!(found.contains(&wanted), "{found:?}");
        assert!(ground.behind.execute(&format!("DELETE FROM {table} WHERE {column} = {}", ground.chair)).await > 0);
    }
}

async fn an_anchor_holds_whatever_comes_after_it(ground: TamperRig) {
    let platform = &ground.sale.platform;
    let mut noted = Vec::new();
    for _ in 0..3 {
        noted.push(ground.anchor().await);
        assert_eq!(ground.anchor().await, noted[noted.len() - 1], "looking changes nothing");
        ground.sale.auction(AuctionKind::Webcast, 2).await;
    }
    let verified = platform.verify_log(&noted, &|_| ()).await.unwrap();
    assert_eq!((verified.anchors_held, verified.broken.len()), (3, 0), "{verified:?}");
    assert!(verified.anchor.unwrap().position > noted[2].position);
    // Of several anchors, the report names the two between which the change happened.
    let last = format!("(SELECT max(no) FROM audit_log WHERE no <= {})", noted[1].position);
    ground.behind.execute(&format!("UPDATE audit_log SET content = content || ' ' WHERE no = {last}")).await;
    let verified = platform.verify_log(&noted, &|_| ()).await.unwrap();
    let what: Vec<&str> = verified.broken.iter().map(|broken| broken.what.as_str()).collect();
    assert_eq!((verified.anchors_held, what.len()), (1, 2), "{what:?}");
    assert!(what[0].contains(&noted[1].to_string()) && what[0].ends_with(&format!("after {}", noted[0])), "{what:?}");
}

async fn the_end_of_a_log_that_was_cut_off_is_missed_by_its_anchor(ground: TamperRig) {
    let noted = ground.anchor().await;
    ground.behind.execute(&format!("DELETE FROM audit_log WHERE no = {}", noted.position)).await;
    let verified = ground.sale.platform.verify_log(&[noted], &|_| ()).await.unwrap();
    let what = &verified.broken[0].what;
    assert!(what.contains(&format!("before the anchor {noted}: its last entries were deleted")), "{what}");
}

#[tokio::test(flavor = "multi_thread")]
async fn an_anchor_waits_for_entries_that_become_visible_below_it() {
    let url = testkit::postgres::fresh_database().await.unwrap();
    let config = platform_store::postgres::PostgresConfig { url: url.clone(), pool_size: 4, ..Default::default() };
    let store = platform_store::postgres::open(&config).await.unwrap();
    let ground = TamperRig::new(store, RawDatabase::postgres(&url).await).await;
    // Another transaction's entry has its position, but is not committed.
    let slow = RawDatabase::postgres(&url).await;
    let entry = format!("'{}', 1, '{{}}', decode(repeat('00', 32), 'hex')", Uuid::from_u128(7));
    slow.execute("BEGIN").await;
    slow.execute(&format!("INSERT INTO audit_log (subject, number, content, hash) VALUES ({entry})")).await;
    ground.sale.auction(AuctionKind::Timed, 1).await;
    let platform = ground.sale.platform.clone();
    let mut look = tokio::spawn(async move { platform.verify_log(&[], &|_| ()).await.unwrap() });
    let early = tokio::time::timeout(Duration::from_millis(300), &mut look).await;
    assert!(early.is_err(), "it does not wait: {early:?}");
    slow.execute("COMMIT").await;
    let verified = look.await.unwrap();
    let all = ground.behind.one("SELECT CAST(count(*) AS text) FROM audit_log").await;
    assert_eq!(verified.log_entries.to_string(), all, "the slow one is among them");
    let again = ground.sale.platform.verify_log(&[verified.anchor.unwrap()], &|_| ()).await.unwrap();
    assert_eq!((again.anchors_held, again.broken.len()), (1, 0), "{again:?}");
}

async fn take_away(ground: &TamperRig, item: &str) {
    for (table, column) in OF_AN_ITEM {
        ground.behind.execute(&format!("DELETE FROM {table} WHERE {column} = {item}")).await;
    }
}
