//! The database of a killed process verifies.

use std::fs;

use kit_runtime::clock::TestClock;
use platform_rules::AuctionKind;

use crate::model::run;
use crate::sale::Command;
use crate::test_sale::{TestSale, broken, platform};

#[tokio::test]
async fn a_database_of_a_killed_process_verifies_and_accepts_bids() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("platform.db");
    let sale = TestSale::new(platform_store::sqlite::open(&path).await.unwrap(), 1).await;
    let item = sale.auction(AuctionKind::Timed, 2).await.items[0].uuid;
    for (paddle, amount) in [("1", 300), ("2", 200), ("3", 500)] {
        assert!(run(&sale, item, &Command::Bid { paddle: paddle.into(), amount }).await);
    }
    // A copy of the files while the store is still open is the state that a killed process leaves.
    let copy = tempfile::tempdir().unwrap();
    for name in ["platform.db", "platform.db-wal"] {
        fs::copy(directory.path().join(name), copy.path().join(name)).unwrap();
    }
    let store = platform_store::sqlite::open(&copy.path().join("platform.db")).await.unwrap();
    let restarted = platform(&store, &TestClock::default(), 2);
    assert_eq!(broken(&restarted).await, Vec::<String>::new());
    let restarted = TestSale { platform: restarted, ..sale };
    assert!(run(&restarted, item, &Command::Bid { paddle: "4".into(), amount: 900 }).await);
    assert_eq!(restarted.broken().await, Vec::<String>::new());
    let (item, _) = restarted.item(item).await;
    assert_eq!((item.price(), item.bid_count), (Some(510), 4));
}
