//! The lists of the administration pages.

use contract::ItemStatus;
use platform_core::audit::LogEntry;
use platform_core::port::{Change, JournalWindow};
use platform_rules::LogHash;

use super::given::{Shared, auction, auction_uuid, commit, created, customer_uuid, ends, item_uuid, sale, silent};

pub(super) async fn auctions_are_read_newest_first(store: Shared) {
    for number in 1..=4 {
        let mut auction = auction(number);
        auction.customer = customer_uuid(1 + number % 2);
        commit(&store, created(auction)).await.unwrap();
    }
    let latest = |customer: Option<usize>, before: Option<usize>, limit| {
        let store = store.clone();
        async move {
            let found = store.latest_auctions(customer.map(customer_uuid), before.map(auction_uuid), limit).await;
            found.unwrap().into_iter().map(|auction| auction.uuid).collect::<Vec<_>>()
        }
    };
    assert_eq!(latest(None, None, 9).await, [4, 3, 2, 1].map(auction_uuid));
    assert_eq!(latest(None, Some(4), 2).await, [3, 2].map(auction_uuid));
    assert_eq!(latest(Some(2), None, 9).await, [3, 1].map(auction_uuid));
    assert_eq!(latest(Some(1), Some(4), 9).await, [2].map(auction_uuid));
    assert!(latest(Some(9), None, 9).await.is_empty());
}

pub(super) async fn the_journal_of_an_auction_includes_only_its_items(store: Shared) {
    sale(&store, 2).await;
    let first = ends(&store, 1, ItemStatus::Sold).await;
    commit(&store, created(auction(2))).await.unwrap();
    let second = ends(&store, 2, ItemStatus::Unsold).await;
    let journal = |before, from, limit| {
        let store = store.clone();
        async move {
            let found = store.journal_of_auction(auction_uuid(1), JournalWindow { before, from, limit }).await.unwrap();
            found.into_iter().map(|row| row.cursor).collect::<Vec<_>>()
        }
    };
    let all = journal(second + 1, 0, 99).await;
    assert_eq!(all[..2], [second, first], "the order is not newest first, or includes another auction");
    assert_eq!(journal(second + 1, 0, 1).await, [second]);
    assert_eq!(journal(second, 0, 1).await, [first]);
    assert_eq!(journal(second + 1, second, 99).await, [second], "the window includes a later row");
    let other = store.journal_of_auction(auction_uuid(2), JournalWindow { before: second, from: 0, limit: 9 });
    assert_eq!(other.await.unwrap().len(), 1);
}

pub(super) async fn the_corrections_of_an_auction_are_read_from_the_audit_log(store: Shared) {
    sale(&store, 3).await;
    let entry = |item: usize, number: i64, cause: &str| LogEntry {
        subject: item_uuid(item),
        number,
        content: format!(r#"{{"number":{number},"cause":"{cause}","reason":"Größe '12'"}}"#),
        concealed: (number == 2).then(|| "{}".to_owned()),
        hash: LogHash([u8::try_from(item).unwrap(); 32]),
    };
    // The words in the reason of a person are no cause.
    let quoted = LogEntry {
        content: r#"{"cause":"edited","reason":"\"cause\":\"buyer_changed\""}"#.into(),
        ..entry(3, 1, "edited")
    };
    let (price, buyer) = (entry(1, 2, "hammer_price_corrected"), entry(2, 1, "buyer_changed"));
    for (item, log) in [
        (1, vec![entry(1, 1, "sold_in_ring"), price.clone()]),
        (2, vec![buyer.clone(), entry(2, 2, "buyer_did_not_pay")]),
        (3, vec![quoted]),
    ] {
        let found = store.item(item_uuid(item)).await.unwrap().unwrap();
        commit(&store, Change { log, ..silent(found) }).await.unwrap();
    }
    assert_eq!(store.corrections_of_auction(auction_uuid(1), 9).await.unwrap(), [buyer.clone(), price]);
    assert_eq!(store.corrections_of_auction(auction_uuid(1), 1).await.unwrap(), [buyer]);
    assert_eq!(store.corrections_of_auction(auction_uuid(2), 9).await.unwrap(), []);
}
