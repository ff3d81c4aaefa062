//! Concurrent calls.

use std::collections::BTreeSet;

use contract::ItemStatus;
use platform_core::port::{Change, Cursor, StartFrom, StoreError};

use super::access_changes::AccessChanges as _;
use super::given::{
    Shared, announced, answer, at, auction, auction_uuid, bid, caller_uuid, claims, commit, connected_sale, consumer,
    customer_uuid, ends, item, item_uuid, next_auction, page, sale, silent, whole,
};

pub(super) async fn of_two_commits_on_one_version_one_succeeds(store: Shared) {
    const BIDDERS: usize = 4;
    const BIDS: usize = 25;
    sale(&store, 1).await;
    let bidder = |store: Shared| async move {
        let mut accepted = 0;
        let mut conflicts = 0;
        while accepted < BIDS {
            let found = store.item(item_uuid(1)).await.unwrap().unwrap();
            let amount = found.price().unwrap_or(0) + 100;
            match commit(&store, bid(found, amount)).await {
                Ok(_) => accepted += 1,
                Err(StoreError::Conflict) => conflicts += 1,
                Err(other) => panic!("{other}"),
            }
            assert!(conflicts < 10_000, "10,000 tries failed with a conflict");
        }
    };
    let bidders: Vec<_> = (0..BIDDERS).map(|_| tokio::spawn(bidder(store.clone()))).collect();
    for bidder in bidders {
        bidder.await.unwrap();
    }
    let found = store.item(item_uuid(1)).await.unwrap().unwrap();
    let all = (BIDDERS * BIDS) as i64;
    assert_eq!((found.bid_count, found.version, found.price()), (all, all + 1, Some(all * 100)));
    let bids = store.bids(item_uuid(1), whole()).await.unwrap();
    assert!(bids.iter().zip(1..).all(|(bid, number)| bid.number == number && bid.amount == number * 100));
    assert_eq!(bids.len() as i64, all);
}

pub(super) async fn a_change_based_on_a_refused_one_is_refused(store: Shared) {
    sale(&store, 2).await;
    let [found, untouched] = [1, 2].map(item_uuid);
    let found = store.item(found).await.unwrap().unwrap();
    let untouched = store.item(untouched).await.unwrap().unwrap();
    let first = bid(found.clone(), 200);
    let second = bid(first.items[0].state.clone(), 300);
    // Another command moves the item to exactly the version that the second change expects.
    commit(&store, bid(found, 100)).await.unwrap();
    let answers = store.commit(vec![first, bid(untouched, 100), second], None).await.unwrap();
    assert!(matches!(answers[..], [Err(StoreError::Conflict), Ok(_), Err(StoreError::Conflict)]), "{answers:?}");
    let found = store.item(item_uuid(1)).await.unwrap().unwrap();
    assert_eq!((found.bid_count, found.price()), (1, Some(100)));
    assert_eq!(store.bids(item_uuid(1), whole()).await.unwrap().len(), 1);
}

pub(super) async fn of_concurrent_requests_with_one_key_one_is_committed(store: Shared) {
    sale(&store, 8).await;
    let request = |store: Shared, number: usize| async move {
        let found = store.item(item_uuid(number)).await.unwrap().unwrap();
        let change = Change { answer: Some(answer("k", &number.to_string(), at(1))), ..bid(found, 100) };
        commit(&store, change).await
    };
    let requests: Vec<_> = (1..=8).map(|number| tokio::spawn(request(store.clone(), number))).collect();
    let mut done = Vec::new();
    for (number, request) in (1..).zip(requests) {
        match request.await.unwrap() {
            Ok(_) => done.push(number),
            Err(error) => assert!(matches!(error, StoreError::Replayed), "{error}"),
        }
    }
    assert_eq!(done.len(), 1);
    let kept = store.idempotent_answer(super::given::caller_uuid(1), "k").await.unwrap().unwrap();
    assert_eq!(kept.body, done[0].to_string());
    assert_eq!(store.item_counts(super::given::auction_uuid(1)).await.unwrap().with_bids, 1);
}

/// Ends the items of a range, one commit each.
async fn end_one_by_one(store: Shared, numbers: std::ops::RangeInclusive<usize>) -> Vec<Cursor> {
    let mut cursors = Vec::new();
    for number in numbers {
        cursors.push(ends(&store, number, ItemStatus::Sold).await);
    }
    cursors
}

/// Two tasks that concurrently end items 1 to 50 and 51 to 100.
fn two_writers(store: &Shared) -> [tokio::task::JoinHandle<Vec<Cursor>>; 2] {
    [1..=50, 51..=100].map(|numbers| tokio::spawn(end_one_by_one(store.clone(), numbers)))
}

pub(super) async fn a_reader_of_the_feed_misses_no_event(store: Shared) {
    sale(&store, 100).await;
    let tail = tokio::spawn({
        let store = store.clone();
        async move {
            let mut seen: Vec<Cursor> = Vec::new();
            while seen.len() < 100 {
                let after = seen.last().copied();
                let rows = store.events_after(customer_uuid(1), page(after, 7)).await.unwrap();
                seen.extend(rows.into_iter().map(|row| row.cursor));
                tokio::task::yield_now().await;
            }
            seen
        }
    });
    let mut written = Vec::new();
    for writer in two_writers(&store) {
        let cursors = writer.await.unwrap();
        assert!(cursors.is_sorted(), "the cursors of one writer do not rise");
        written.extend(cursors);
    }
    written.sort_unstable();
    let found = store.events_after(customer_uuid(1), whole()).await.unwrap();
    assert_eq!(found.into_iter().map(|row| row.cursor).collect::<Vec<_>>(), written);
    // A reader that had skipped a row would wait for it without end.
    let seen = tokio::time::timeout(std::time::Duration::from_secs(20), tail).await.expect("the reader skipped a row");
    assert_eq!(seen.unwrap(), written);
}

pub(super) async fn a_concurrent_connection_neither_loses_nor_repeats_events(store: Shared) {
    sale(&store, 100).await;
    let writers = two_writers(&store);
    // Wait for ten committed events, so that the connection is made between events.
    let before = loop {
        let rows = store.events_after(customer_uuid(1), whole()).await.unwrap();
        match rows.get(9) {
            Some(row) => break row.cursor,
            None => tokio::task::yield_now().await,
        }
    };
    store.put_consumer(consumer(1), StartFrom::Cursor(before)).await.unwrap();
    for writer in writers {
        writer.await.unwrap();
    }
    let all = store.events_after(customer_uuid(1), page(Some(before), 1_000)).await.unwrap();
    assert!(!all.is_empty());
    let cursors: Vec<Cursor> = all.into_iter().map(|row| row.cursor).collect();
    assert_eq!(claims(&store, 1, at(100_000)).await, cursors);
    assert_eq!(store.backlog(customer_uuid(1)).await.unwrap().pending, cursors.len() as u64);
}

pub(super) async fn concurrent_claims_share_the_rows(store: Shared) {
    connected_sale(&store, 60).await;
    let mut changes = Vec::new();
    for number in 1..=60 {
        changes.push(announced(store.item(item_uuid(number)).await.unwrap().unwrap(), ItemStatus::Sold, at(1)));
    }
    let results = store.commit(changes, None).await.unwrap();
    let committed: BTreeSet<Cursor> = results.into_iter().flat_map(|result| result.unwrap().cursors).collect();
    assert_eq!(committed.len(), 60);
    let claimer = |store: Shared, number: usize| async move {
        let mut mine = Vec::new();
        loop {
            let claimed = store.claim_outbox(super::given::node(number), customer_uuid(1), at(9), 7).await.unwrap();
            if claimed.is_empty() {
                return mine;
            }
            mine.extend(claimed.into_iter().map(|event| event.cursor));
        }
    };
    let nodes: Vec<_> = (1..=3).map(|number| tokio::spawn(claimer(store.clone(), number))).collect();
    let mut shared = Vec::new();
    for node in nodes {
        shared.extend(node.await.unwrap());
    }
    assert_eq!(shared.len(), 60, "a row was claimed twice");
    assert_eq!(shared.into_iter().collect::<BTreeSet<_>>(), committed);
}

pub(super) async fn of_concurrent_commits_only_the_refused_ones_fail(store: Shared) {
    const ITEMS: usize = 60;
    sale(&store, ITEMS).await;
    store.keep_answer(answer("used", "before", at(1))).await.unwrap();
    let mut calls = Vec::new();
    for number in 1..=ITEMS {
        let found = store.item(item_uuid(number)).await.unwrap().unwrap();
        let first = bid(found.clone(), 100);
        let second = bid(first.items[0].state.clone(), 200);
        let key = |key: &str| Some(answer(key, "bid", at(1)));
        calls.push(match number % 6 {
            // Another commit was first: the first change conflicts, and so does the second, which is based on it.
            1 => {
                commit(&store, bid(found, 50)).await.unwrap();
                vec![first, second]
            }
            // The first change succeeds. The idempotency key of the second was used before.
            2 => vec![first, Change { answer: key("used"), ..second }],
            3 => vec![Change { answer: key(&format!("own {number}")), ..first }, second],
            // The item does not exist.
            4 => vec![silent(platform_item(found, ITEMS + number))],
            _ => vec![first, second],
        });
    }
    let commits = calls.into_iter().map(|changes| {
        let store = store.clone();
        tokio::spawn(async move { store.commit(changes, None).await.unwrap() })
    });
    let commits: Vec<_> = commits.collect();
    for (number, call) in (1..).zip(commits) {
        let answers = call.await.unwrap();
        let is_expected = match number % 6 {
            1 => matches!(answers[..], [Err(StoreError::Conflict), Err(StoreError::Conflict)]),
            2 => matches!(answers[..], [Ok(_), Err(StoreError::Replayed)]),
            4 => matches!(answers[..], [Err(StoreError::Conflict)]),
            _ => matches!(answers[..], [Ok(_), Ok(_)]),
        };
        assert!(is_expected, "{number}: {answers:?}");
        let (bids, price) = match number % 6 {
            1 => (1, Some(50)),
            2 => (1, Some(100)),
            4 => (0, None),
            _ => (2, Some(200)),
        };
        let found = store.item(item_uuid(number)).await.unwrap().unwrap();
        assert_eq!((found.bid_count, found.price()), (bids, price), "{number}");
        assert_eq!(store.bids(found.uuid, whole()).await.unwrap().len() as i64, bids);
        let kept = store.idempotent_answer(caller_uuid(1), &format!("own {number}")).await.unwrap();
        assert_eq!(kept.is_some(), number % 6 == 3);
    }
}

/// An item that is not stored, with the version of a stored one.
fn platform_item(found: platform_rules::Item, number: usize) -> platform_rules::Item {
    platform_rules::Item { version: found.version, ..item(number) }
}

pub(super) async fn concurrent_reads_return_each_requested_lot(store: Shared) {
    sale(&store, 20).await;
    let other = Change { auction: Some(next_auction(auction(2))), ..Change::default() };
    commit(&store, other).await.unwrap();
    let elsewhere = platform_rules::Item { auction: auction_uuid(2), ..item(21) };
    commit(&store, silent(elsewhere)).await.unwrap();
    let reads: Vec<_> = (1..=24)
        .map(|number| {
            let store = store.clone();
            tokio::spawn(async move { store.item_with_auction(item_uuid(number)).await.unwrap() })
        })
        .collect();
    for (number, read) in (1..).zip(reads) {
        let found = read.await.unwrap().map(|(item, auction)| (item.uuid, auction.uuid));
        let of = if number == 21 { 2 } else { 1 };
        assert_eq!(found, (number <= 21).then(|| (item_uuid(number), auction_uuid(of))));
    }
}
