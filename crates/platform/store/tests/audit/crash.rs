//! What a process that was killed left on disk verifies.

use std::fs;

use kit_runtime::clock::TestClock;
use platform_rules::AuctionKind;

use crate::model::run;
use crate::sale::Command;
use crate::test_sale::{TestSale, broken, platform};

#[tokio::test]
async fn a_file_that_was_left_in_the_middle_of_a_sale_verifies_and_goes_on() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("platform.db");
    let sale = TestSale::new(platform_store::sqlite::open(&path).await.unwrap(), 1).await;
    let item = sale.auction(AuctionKind::Timed, 2).await.items[0].uuid;
    for (paddle, amount) in [("1", 300), ("2", 200), ("3", 500)] {
        assert!(run(&sale, item, &Command::Bid { paddle: paddle.into(), amount }).await);
    }
    // What is on disk, while the store is still open: what a killed process leaves.
    let left = tempfile::tempdir().unwrap();
    for name in ["platform.db", "platform.db-wal"] {
        fs::copy(directory.path().join(name), left.path().join(name)).unwrap();
    }
    let store = platform_store::sqlite::open(&left.path().join("platform.db")).await.unwrap();
    let again = platform(&store, &TestClock::default(), 2);
    assert_eq!(broken(&again).await, Vec::<String>::new());
    let again = TestSale { platform: again, ..sale };
    assert!(run(&again, item, &Command::Bid { paddle: "4".into(), amount: 900 }).await);
    assert_eq!(again.broken().await, Vec::<String>::new());
    let (item, _) = again.item(item).await;
    assert_eq!((item.price(), item.bid_count), (Some(510), 4));
}
