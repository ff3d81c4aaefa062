//! Timed auctions from the first lot to their end.

use std::time::Duration;

use contract::{AuctionStatus, ItemStatus};
use platform_core::bidding::bids::NewBid;
use platform_core::catalogue::{CatalogueImport, ImportMode};
use platform_core::port::Page;
use platform_core::sales::auctions::NewAuction;
use platform_core::sales::item_ends::ItemEndWorker;
use platform_core::sales::new_item::NewItem;
use platform_core::{PlatformConfig, PlatformError};
use platform_rules::{Item, Stagger};
use uuid::Uuid;

use crate::fixture::{TestPlatform, node};

async fn bid(fixture: &TestPlatform, item: Uuid, amount: i64) -> Result<Item, PlatformError> {
    let new = NewBid { bidder: "paddle 7".into(), amount };
    Ok(fixture.platform.place_bid(&fixture.caller, item, &new, None, None).await?.fresh()?.item)
}

async fn status(fixture: &TestPlatform, item: Uuid) -> ItemStatus {
    fixture.platform.item(&fixture.caller, item).await.unwrap().0.status
}

#[tokio::test]
async fn items_of_a_timed_auction_end_at_their_time_and_not_before() {
    let fixture = TestPlatform::new().await;
    let reserved = NewItem { reserve: Some(5_000), ..NewItem::new("2", "A chair") };
    let items = vec![NewItem::new("1", "A table"), reserved, NewItem::new("3", "A lamp")];
    let new = NewAuction {
        stagger: Some(Stagger { seconds: 10, items: 2 }),
        ..fixture.timed(Duration::from_secs(60), items)
    };
    let created = fixture.create(&new).await;
    let [table, chair, lamp] = [0, 1, 2].map(|index| created.items[index].uuid);
    bid(&fixture, table, 100).await.unwrap();
    bid(&fixture, chair, 100).await.unwrap();

    let mut timer = ItemEndWorker::new(fixture.platform.clone());
    fixture.clock.advance(Duration::from_millis(59_999));
    assert_eq!(timer.run_once(fixture.platform.now()).await.unwrap().items, 0);
    fixture.clock.advance(Duration::from_millis(1));
    assert_eq!(timer.run_once(fixture.platform.now()).await.unwrap().items, 2);
    assert_eq!(status(&fixture, table).await, ItemStatus::Sold);
    assert_eq!(status(&fixture, chair).await, ItemStatus::Unsold);
    assert_eq!(status(&fixture, lamp).await, ItemStatus::Live);
    let refused = bid(&fixture, table, 500).await.unwrap_err();
    assert_eq!(refused.code(), "item_not_live");

    // No worker runs at the end of the third item.
    fixture.clock.advance(Duration::from_secs(3_600));
    assert_eq!(timer.run_once(fixture.platform.now()).await.unwrap().items, 1);
    let expected = ["LIVE created", "UNSOLD end_reached, announced"];
    assert_eq!(fixture.journal_of(lamp).await, expected);
}

#[tokio::test]
async fn two_nodes_end_each_item_once() {
    let fixture = TestPlatform::new().await;
    let items = (0..50).map(|lot| NewItem::new(lot.to_string(), "A lot")).collect();
    let new = NewAuction {
        stagger: Some(Stagger { seconds: 1, items: 10 }),
        ..fixture.timed(Duration::from_secs(60), items)
    };
    let created = fixture.create(&new).await;
    let other = node(&fixture.store, &fixture.clock, PlatformConfig::default(), 2);
    let mut one = ItemEndWorker::new(fixture.platform.clone());
    let mut two = ItemEndWorker::new(other);
    fixture.clock.advance(Duration::from_secs(60));
    let mut ended = 0;
    for _ in 0..40 {
        let now = fixture.platform.now();
        let (first, second) = tokio::join!(one.run_once(now), two.run_once(now));
        ended += first.unwrap().items + second.unwrap().items;
        fixture.clock.advance(Duration::from_millis(250));
    }
    assert_eq!(ended, 50);
    for item in created.items {
        let expected = ["LIVE created", "UNSOLD end_reached, announced"];
        assert_eq!(fixture.journal_of(item.uuid).await, expected);
    }
}

#[tokio::test]
async fn a_worker_sleeps_until_the_next_end() {
    let fixture = TestPlatform::new().await;
    let tasks = kit_runtime::tasks::Tasks::new();
    fixture.platform.spawn_workers(&tasks);
    fixture.asleep(6).await;
    let created = fixture.create(&fixture.timed(Duration::from_millis(700), vec![NewItem::new("1", "A table")])).await;
    let end = created.items[0].effective_end_time.unwrap();
    // The new end has woken the timer, which now sleeps until that end.
    while fixture.clock.next_sleeper() != Some(end) {
        tokio::task::yield_now().await;
    }
    fixture.clock.set(end);
    while status(&fixture, created.items[0].uuid).await == ItemStatus::Live {
        tokio::task::yield_now().await;
    }
    tasks.shutdown(Duration::from_secs(5)).await.unwrap();
}

#[tokio::test]
async fn concurrent_bids_are_accepted_or_refused_as_too_low() {
    let fixture = TestPlatform::new().await;
    let created = fixture.create(&fixture.timed(Duration::from_secs(60), vec![NewItem::new("1", "A table")])).await;
    let item = created.items[0].uuid;
    let bids = (1..=6).map(|step| {
        let platform = fixture.platform.clone();
        let caller = fixture.caller.clone();
        tokio::spawn(async move {
            let new = NewBid { bidder: format!("paddle {step}"), amount: step * 1_000 };
            platform.place_bid(&caller, item, &new, None, None).await
        })
    });
    let mut accepted = 0;
    for bid in bids.collect::<Vec<_>>() {
        match bid.await.unwrap() {
            Ok(_) => accepted += 1,
            Err(error) => assert_eq!(error.code(), "bid_too_low"),
        }
    }
    let (_, all) = fixture.platform.bids(&fixture.caller, item, Page { after: None, limit: 10 }).await.unwrap();
    assert_eq!(all.len(), accepted);
    assert!(all.is_sorted_by(|one, next| one.number + 1 == next.number));
    // The highest maximum leads, at the price that the rules derive from the order of the bids.
    let (found, _) = fixture.platform.item(&fixture.caller, item).await.unwrap();
    let standing = found.standing.unwrap();
    assert_eq!((standing.bidder.as_str(), standing.maximum.reveal()), ("paddle 6", 6_000));
    let second_maximum = all.iter().map(|bid| bid.maximum.reveal()).filter(|maximum| *maximum < 6_000).max();
    assert_eq!(
        standing.amount,
        second_maximum.map_or(100, |second| (second + if second < 5_000 { 200 } else { 500 }).min(6_000))
    );
}

#[tokio::test]
async fn the_items_of_a_draft_go_live_with_it() {
    let fixture = TestPlatform::new().await;
    let items = vec![NewItem::new("1", "A table"), NewItem::new("2", "A chair")];
    let new = NewAuction { status: AuctionStatus::Preview, ..fixture.timed(Duration::from_secs(60), items) };
    let created = fixture.create(&new).await;
    let auction = created.auction.uuid;
    let live = fixture.platform.change_auction_status(
        &fixture.caller,
        auction,
        AuctionStatus::Live,
        Some(created.auction.version),
        None,
    );
    assert_eq!(live.await.unwrap().fresh().unwrap().auction.status, AuctionStatus::Live);
    for item in &created.items {
        assert_eq!(status(&fixture, item.uuid).await, ItemStatus::Live);
    }
    let change_status =
        |to, version| fixture.platform.change_auction_status(&fixture.caller, auction, to, version, None);
    let return_to_preview = |version| change_status(AuctionStatus::Preview, version);
    return_to_preview(None).await.unwrap();
    for item in &created.items {
        assert_eq!(
            status(&fixture, item.uuid).await,
            ItemStatus::Draft,
            "an item stayed live in an auction that is not"
        );
    }
    change_status(AuctionStatus::Live, None).await.unwrap();
    assert_eq!(status(&fixture, created.items[1].uuid).await, ItemStatus::Live);
    // An auction with bids can't return to PREVIEW. Version 1 is outdated.
    bid(&fixture, created.items[0].uuid, 100).await.unwrap();
    assert_eq!(return_to_preview(None).await.unwrap_err().code(), "auction_has_bids");
    assert_eq!(return_to_preview(Some(1)).await.unwrap_err().code(), "precondition_failed");
}

#[tokio::test]
async fn an_auction_with_a_lot_whose_end_has_passed_can_not_go_live() {
    let fixture = TestPlatform::new().await;
    let ended = NewItem { end_time: Some(jiff::Timestamp::UNIX_EPOCH), ..NewItem::new("2", "A chair") };
    let items = vec![NewItem::new("1", "A table"), ended];
    let new = NewAuction { status: AuctionStatus::Preview, ..fixture.timed(Duration::from_secs(60), items) };
    let created = fixture.create(&new).await;
    let live =
        fixture.platform.change_auction_status(&fixture.caller, created.auction.uuid, AuctionStatus::Live, None, None);
    let refused = live.await.unwrap_err();
    assert_eq!(refused.code(), "invalid");
    assert!(refused.to_string().contains("start: 2;"), "{refused}");
    assert_eq!(status(&fixture, created.items[0].uuid).await, ItemStatus::Draft);
}

#[tokio::test]
async fn a_catalogue_is_imported_completely_or_not_at_all() {
    let fixture = TestPlatform::new().await;
    let auction = fixture.draft().await;
    let import = |mode, text: &'static str| {
        let import = CatalogueImport { auction: auction.uuid, mode, status: ItemStatus::Draft, expected_version: None };
        let fixture = &fixture;
        async move {
            fixture
                .platform
                .import_catalogue(&fixture.caller, import, text.as_bytes(), None)
                .await
                .unwrap()
                .fresh()
                .unwrap()
        }
    };
    let count = async || fixture.platform.item_counts(&fixture.caller, auction.uuid).await.unwrap().total;

    let report = import(ImportMode::Import, "lot_number,title\n1,A\n2,\n").await;
    assert_eq!((report.items, report.error_count, count().await), (0, 1, 0));
    let report = import(ImportMode::DryRun, "lot_number,title\n1,A\n2,B\n").await;
    assert_eq!((report.items, report.error_count, count().await), (2, 0, 0));
    let report = import(ImportMode::Import, "lot_number,title\n1,A\n2,B\n").await;
    assert_eq!((report.items, report.error_count, count().await), (2, 0, 2));
    let report = import(ImportMode::Import, "lot_number,title\n3,C\n2,B\n").await;
    assert_eq!((report.items, report.error_count, count().await), (0, 1, 2));
    assert_eq!((report.errors[0].line, report.errors[0].column.as_deref()), (3, Some("lot_number")));
}

#[tokio::test]
async fn items_added_at_the_same_time_get_positions_without_gaps() {
    let fixture = TestPlatform::new().await;
    let auction = fixture.draft().await;
    let additions = (0..6).map(|batch| {
        let platform = fixture.platform.clone();
        let caller = fixture.caller.clone();
        let auction = auction.uuid;
        tokio::spawn(async move {
            let items: Vec<NewItem> = (0..5).map(|lot| NewItem::new(format!("{batch}-{lot}"), "A lot")).collect();
            platform.add_items(&caller, auction, &items, None, None).await.map(drop)
        })
    });
    for addition in additions.collect::<Vec<_>>() {
        addition.await.unwrap().unwrap();
    }
    let items = fixture.platform.items(&fixture.caller, auction.uuid, Page { after: None, limit: 100 }).await.unwrap();
    let positions: Vec<i64> = items.iter().map(|item| item.position).collect();
    assert_eq!(positions, (0..30).collect::<Vec<i64>>());
    let duplicate = [NewItem::new("0-0", "Again")];
    let refused = fixture.platform.add_items(&fixture.caller, auction.uuid, &duplicate, None, None).await.unwrap_err();
    assert_eq!(refused.code(), "taken");
}
