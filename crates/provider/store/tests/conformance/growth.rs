//! Growth: a store whose messages are deleted after their retention keeps the size that the kept messages need.

use provider_core::model::Message;
use provider_core::port::NewMessage;

use super::given::*;

const DAYS: usize = 12;
/// Days of messages that are kept.
const KEPT_DAYS: usize = 3;
const MESSAGES_A_DAY: usize = 500;
const PAYLOAD_BYTES: usize = 2_000;
const BATCH: usize = 100;

/// A text that PostgreSQL can't compress much.
fn payload(number: usize) -> String {
    let digits = |place: usize| (number * PAYLOAD_BYTES + place).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let text: String = (0..PAYLOAD_BYTES / 16).map(|place| format!("{:016x}", digits(place))).collect();
    format!(r#"{{"text":"{text}"}}"#)
}

/// A day: messages are accepted and delivered, and those after their retention are deleted, as the retention job does.
async fn pass_a_day(store: &Shared, day: usize, version: i64) {
    let first = day * MESSAGES_A_DAY + 1;
    for batch in (first..first + MESSAGES_A_DAY).step_by(BATCH) {
        let numbers = batch..batch + BATCH;
        let messages = numbers.clone().map(|number| {
            let sent = sent(number, version, &[(1, None)]);
            let payload = Some(payload(number).into_bytes().into());
            NewMessage { message: Message { payload, event_id: None, ..sent.message }, ..sent }
        });
        accepted(store, messages.collect(), at(10)).await;
        assert_eq!(claim_all(&**store, 1, 1, 20, BATCH).await.len(), BATCH);
        let records = numbers.map(|number| succeeded(attempt(number, number, 1, at(20))));
        store.record_attempts(records.collect(), NO_DELAY).await.unwrap();
    }
    let Some(oldest_kept) = (day + 1).checked_sub(KEPT_DAYS) else { return };
    let before = id("msg", oldest_kept * MESSAGES_A_DAY + 1);
    while store.delete_old_attempts(&before, BATCH).await.unwrap() == BATCH {}
    while store.delete_old_messages(&before, BATCH).await.unwrap() == BATCH {}
}

/// After the first deletions the size stays the same.
fn assert_flat(sizes: &[u64]) {
    let (steady, last) = (sizes[KEPT_DAYS + 1], *sizes[KEPT_DAYS + 1..].iter().max().unwrap());
    assert!(last <= steady + steady / 10, "the store grows: {sizes:?}");
    assert!(steady > (KEPT_DAYS * MESSAGES_A_DAY * PAYLOAD_BYTES) as u64, "{sizes:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_sqlite_file_stays_flat_over_days() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("provider.db");
    let store = provider_store::sqlite::open(&path).await.unwrap();
    let version = routes(&store, 1).await;
    let file = rusqlite::Connection::open(&path).unwrap();
    let mut sizes = Vec::new();
    for day in 0..DAYS {
        pass_a_day(&store, day, version).await;
        let pages: i64 = file.query_row("PRAGMA page_count", (), |row| row.get(0)).unwrap();
        sizes.push(pages as u64 * 4_096);
    }
    assert_flat(&sizes);
}

/// PostgreSQL's autovacuum makes the room of deleted rows usable again; the test runs the same VACUUM after each day.
#[tokio::test(flavor = "multi_thread")]
async fn postgresql_tables_stay_flat_over_days() {
    let config = database().await;
    let store = provider_store::postgres::open(&config).await.unwrap();
    let version = routes(&store, 1).await;
    let (client, connection) = tokio_postgres::connect(&config.url, tokio_postgres::NoTls).await.unwrap();
    tokio::spawn(connection);
    let mut sizes = Vec::new();
    for day in 0..DAYS {
        pass_a_day(&store, day, version).await;
        for table in ["messages", "attempts", "deliveries"] {
            client.batch_execute(&format!("VACUUM provider.{table}")).await.unwrap();
        }
        let size = "SELECT sum(pg_total_relation_size('provider.' || name))::bigint \
             FROM unnest(ARRAY['messages', 'attempts', 'deliveries']) name";
        let bytes: i64 = client.query_one(size, &[]).await.unwrap().get(0);
        sizes.push(bytes as u64);
    }
    assert_flat(&sizes);
}
