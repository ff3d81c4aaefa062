//! Plans of the lists on tables whose rows all have the same values, where PostgreSQL's statistics help least.

use tokio_postgres::SimpleQueryMessage;

use super::*;
use crate::postgres::customers::OF_CUSTOMER as WHERE_CUSTOMER;
use crate::postgres::registrations::REGISTRATIONS;
use crate::postgres::{api_keys, journal, outbox, registrations};
use kit_engine::postgres::{Postgres, PostgresConfig};

/// Maximum number of blocks that a page may read. It looks up each of its ten rows, and descends into each range of the
/// index.
const BLOCKS_MAX: u64 = 150;

/// 6,000 rows of each table, of one customer and with one status. The UUID number `n` of kind `k` is
/// `01a2kkkk-0000-7000-8000-nnnnnnnnnnnn`.
const FILL: &str = r#"
CREATE FUNCTION pg_temp.u(kind integer, n bigint) RETURNS uuid LANGUAGE sql IMMUTABLE AS $$
    SELECT ('01a2' || lpad(to_hex(kind), 4, '0') || '-0000-7000-8000-' || lpad(to_hex(n), 12, '0'))::uuid $$;
INSERT INTO auctions (uuid, customer, auctioneer, kind, status, version, state)
    SELECT pg_temp.u(2, n), pg_temp.u(1, 1), pg_temp.u(3, 1), 1, 4, 1, repeat('state ', 100) FROM generate_series(1, 6000) n;
INSERT INTO items (uuid, auction, position, lot_number, status, has_bids, version, state)
    SELECT pg_temp.u(4, n), pg_temp.u(2, 1), n, n::text, 4, false, 1, repeat('state ', 100) FROM generate_series(1, 6000) n;
INSERT INTO registrations (uuid, auction, paddle, status, spending_version, version, state)
    SELECT pg_temp.u(5, n), pg_temp.u(2, 1), n::text, 2, 1, 1, repeat('state ', 50) FROM generate_series(1, 6000) n;
INSERT INTO auctioneers (uuid, customer, name, created_at_ms, profile, version)
    SELECT pg_temp.u(3, n), pg_temp.u(1, 1), n::text, 0, repeat('profile ', 50), 1 FROM generate_series(1, 6000) n;
INSERT INTO api_keys (uuid, hash, customer, name, scopes, created_at_ms)
    SELECT pg_temp.u(6, n), sha256(n::text::bytea), pg_temp.u(1, 1), repeat('key ', 100), '[]', 0 FROM generate_series(1, 6000) n;
INSERT INTO journal (cursor, customer, subject, kind, sequence, to_status, cause, actor, at_ms, body)
    SELECT n, pg_temp.u(1, 1), pg_temp.u(4, n), 2, 1, 'DRAFT', 'imported', repeat('key ', 50), 0,
        CASE WHEN n <= 1000 OR n > 11000 THEN '{}' END FROM generate_series(1, 12000) n;
INSERT INTO quarantine (customer, cursor, attempts, error, at_ms)
    SELECT pg_temp.u(1, 1), n, 1, 'refused', 0 FROM generate_series(1, 6000) n;
INSERT INTO announced_again (cursor, restore_number) SELECT n, 1 FROM generate_series(1, 6000) n;
"#;

/// Rows that are newer than the statistics: auction 3 with its items and bidders.
const LATER: &str = r#"
INSERT INTO items (uuid, auction, position, lot_number, status, has_bids, version, state)
    SELECT pg_temp.u(4, 10000 + n), pg_temp.u(2, 3), n, n::text, 4, false, 1, repeat('state ', 100) FROM generate_series(1, 6000) n;
INSERT INTO registrations (uuid, auction, paddle, status, spending_version, version, state)
    SELECT pg_temp.u(5, 10000 + n), pg_temp.u(2, 3), n::text, 2, 1, 1, repeat('state ', 50) FROM generate_series(1, 6000) n;
"#;

/// A UUID of [`FILL`] as SQL.
fn uuid(kind: u32, number: u64) -> String {
    format!("'01a2{kind:04x}-0000-7000-8000-{number:012x}'")
}

/// Statements with lists of values in SQL: no row matches, all rows match, or only the last rows match.
fn pages() -> Vec<(String, Vec<String>)> {
    let none = Uuid::nil().to_string();
    let last = uuid(2, 5_990);
    let everything = |status: &[i32]| {
        let of = AuctionFilter::default().combinations();
        let of = of.iter().filter(|(one, _, _)| status.contains(&one.code()));
        let (mut statuses, mut kinds, mut sandboxes) = (Vec::new(), Vec::new(), Vec::new());
        for (status, kind, sale_mode) in of {
            statuses.push(status.code().to_string());
            kinds.push(auction_kind_code(*kind).to_string());
            sandboxes.push((*sale_mode == SaleMode::Sandbox).to_string());
        }
        format!("'{{{}}}', '{{{}}}', '{{{}}}'", statuses.join(","), kinds.join(","), sandboxes.join(","))
    };
    let live = everything(&[4]);
    let others = everything(&[1, 2, 3, 5]);
    let all = everything(&[1, 2, 3, 4, 5, 6, 7, 8, 9]);
    let of_customer = |table: &str| format!("SELECT * FROM {table} {WHERE_CUSTOMER}");
    let of_customers = |kind| {
        let page = |customer, after: String| format!("{}, {after}, 10", uuid(1, customer));
        vec![page(2, format!("'{none}'")), page(2, uuid(kind, 10)), page(1, uuid(kind, 3_000))]
    };
    let (auction, another, later) = (uuid(2, 1), uuid(2, 2), uuid(2, 3));
    vec![
        (
            filtered_auctions_sql(""),
            vec![
                format!("{live}, '{none}', 10"),
                format!("{others}, '{none}', 10"),
                format!("{all}, {}, 10", uuid(2, 3_000)),
                format!("{all}, {last}, 10"),
            ],
        ),
        (
            filtered_auctions_sql(FILTER_BY_CUSTOMER),
            vec![
                format!("{all}, '{none}', 10, {}", uuid(1, 2)),
                format!("{others}, '{none}', 10, {}", uuid(1, 1)),
                format!("{all}, {last}, 10, {}", uuid(1, 1)),
            ],
        ),
        (
            filtered_auctions_sql(FILTER_BY_AUCTIONEER),
            vec![
                format!("{all}, '{none}', 10, {}", uuid(3, 2)),
                format!("{others}, '{none}', 10, {}", uuid(3, 1)),
                format!("{all}, {last}, 10, {}", uuid(3, 1)),
            ],
        ),
        (
            ITEMS_WITH_STATUS.to_owned(),
            vec![
                format!("{auction}, '{{9}}', 0, 10"),
                format!("{auction}, '{{1,2,3,5,6,7,8,9,10,11}}', 3000, 10"),
                format!("{auction}, '{{4}}', 0, 10"),
                format!("{auction}, '{{4}}', 5990, 10"),
                format!("{another}, '{{4}}', 0, 10"),
                format!("{later}, '{{9}}', 0, 10"),
                format!("{later}, '{{4}}', 5900, 10"),
            ],
        ),
        (
            ITEM_BY_LOT_NUMBER.to_owned(),
            [&auction, &another, &later]
                .iter()
                .flat_map(|of| [format!("{of}, '5990'"), format!("{of}, 'x'")])
                .collect(),
        ),
        (
            REGISTRATIONS.to_owned(),
            vec![
                format!("{auction}, '{{1,3,4}}', '{none}', 10"),
                format!("{auction}, '{{2}}', {}, 10", uuid(5, 3_000)),
                format!("{another}, '{{2}}', '{none}', 10"),
                format!("{later}, '{{2}}', {}, 10", uuid(5, 13_000)),
                format!("{later}, '{{1,3,4}}', '{none}', 10"),
            ],
        ),
        (
            registrations::OF_PADDLE.to_owned(),
            vec![format!("{auction}, '5990'"), format!("{later}, '5990'"), format!("{later}, 'x'")],
        ),
        (
            registrations::OF_AUCTION.to_owned(),
            vec![
                format!("{another}, '{none}', 10"),
                format!("{auction}, {}, 10", uuid(5, 3_000)),
                format!("{later}, '{none}', 10"),
            ],
        ),
        (of_customer("auctions"), of_customers(2)),
        (of_customer("auctioneers"), of_customers(3)),
        (format!("{} {WHERE_CUSTOMER}", api_keys::API_KEY), of_customers(6)),
        (
            format!("SELECT * FROM journal {} LIMIT $3", journal::ANNOUNCED),
            vec![
                format!("{}, 0, 10", uuid(1, 2)),
                format!("{}, 0, 10", uuid(1, 1)),
                // Few of the rows after this cursor were announced.
                format!("{}, 1000, 10", uuid(1, 1)),
            ],
        ),
        (outbox::QUARANTINED_OF.to_owned(), vec![uuid(4, 1), uuid(2, 1)]),
        (outbox::QUARANTINED.to_owned(), vec![format!("{}, 0, 10", uuid(1, 2)), format!("{}, 3000, 10", uuid(1, 1))]),
    ]
}

/// Number of blocks that a plan read. The root node counts the blocks of the whole plan.
fn blocks(plan: &str) -> u64 {
    let line = plan.lines().find_map(|line| line.trim().strip_prefix("Buffers: shared")).unwrap_or_default();
    line.split_whitespace()
        .filter_map(|part| part.split_once('='))
        .filter_map(|(_, count)| count.parse::<u64>().ok())
        .sum()
}

/// Number of rows that a plan read and did not use. The first row of a range may be a row that the query does not want.
fn removed(plan: &str) -> u64 {
    let counts = plan.lines().filter_map(|line| line.trim().strip_prefix("Rows Removed by Filter: "));
    counts.filter_map(|count| count.parse::<u64>().ok()).sum()
}

#[tokio::test]
async fn a_page_costs_what_is_on_it_however_alike_all_rows_are() {
    let config =
        PostgresConfig { url: testkit::postgres::fresh_database().await.unwrap(), pool_size: 4, ..Default::default() };
    let migrations = crate::postgres::migrations::migrations::runner();
    let postgres = Postgres::open(&config, "platform", migrations).await.unwrap();
    let connection = postgres.client().await.unwrap();
    let client = connection.statements().unwrap();
    client.batch_execute(FILL).await.unwrap();
    client.batch_execute("VACUUM ANALYZE").await.unwrap();
    client.batch_execute(LATER).await.unwrap();
    for (number, (select, pages)) in pages().iter().enumerate() {
        client.batch_execute(&format!("PREPARE list_{number} AS {select}")).await.unwrap();
        for (plans, page) in ["generic", "custom"].iter().flat_map(|plans| pages.iter().map(move |page| (plans, page)))
        {
            client.batch_execute(&format!("SET plan_cache_mode = force_{plans}_plan")).await.unwrap();
            let explain = format!("EXPLAIN (ANALYZE, BUFFERS) EXECUTE list_{number} ({page})");
            let lines = client.simple_query(&explain).await.unwrap();
            let lines = lines.iter().filter_map(|line| match line {
                SimpleQueryMessage::Row(row) => row.get(0),
                _ => None,
            });
            let plan = lines.collect::<Vec<_>>().join("\n");
            assert!(plan.contains("Execution Time"), "{plan}");
            let is_cheap = blocks(&plan) <= BLOCKS_MAX && removed(&plan) <= 1;
            assert!(is_cheap, "{} blocks, {plans} plan, {page} of {select}:\n{plan}", blocks(&plan));
        }
    }
}
