//! Corrections, moved ends and relistings by the rules: the store returns the state that the rules decided.

use contract::ItemStatus;
use contract::models::UrlAttachmentApiModel;
use platform_core::port::{Change, StoreError};
use platform_rules::item::{ItemEdit, NewLot, edit, move_plan, relist};
use platform_rules::{Auction, AuctionEdit, Hidden, Item, ItemCounts};

use super::given::{
    Shared, at, auction, auction_uuid, commit, item, item_uuid, next, next_auction, page, sale, silent,
};

fn picture() -> UrlAttachmentApiModel {
    UrlAttachmentApiModel::from_json(r#"{"url":"https://images.example/Öl.jpg","label":"Rückseite"}"#).unwrap()
}

pub(super) async fn a_corrected_auction_and_item_are_stored_as_the_rules_decided(store: Shared) {
    sale(&store, 2).await;
    let mut sale = store.auction(auction(1).uuid).await.unwrap().unwrap();
    let counts = store.item_counts(sale.uuid).await.unwrap();
    let wanted = AuctionEdit {
        title: Some("Möbel & Uhren".into()),
        attachments: Some(vec![picture()]),
        extension_seconds: Some(None),
        ..AuctionEdit::default()
    };
    let changes = platform_rules::edit::edit(&sale, &counts, wanted).unwrap();
    let mut lot = store.item(item_uuid(1)).await.unwrap().unwrap();
    let wanted = ItemEdit {
        lot_number: Some("1B".into()),
        attachments: Some(vec![picture()]),
        reserve: Some(None),
        low_estimate: Some(Some(9_000)),
        ..ItemEdit::default()
    };
    let mut of_lot = edit(&sale, &lot, wanted).unwrap();
    of_lot.extend(move_plan(&sale, &lot, Some(at(60_000)), Some("Stromausfall"), at(10)).unwrap());
    changes.iter().for_each(|change| sale.apply(change));
    of_lot.iter().for_each(|change| lot.apply(change));
    let change =
        Change { auction: Some(next_auction(sale.clone())), items: vec![next(lot.clone())], ..Change::default() };
    commit(&store, change).await.unwrap();
    (sale.version, lot.version) = (sale.version + 1, lot.version + 1);
    assert_eq!(store.auction(sale.uuid).await.unwrap(), Some(sale));
    assert_eq!(store.item(lot.uuid).await.unwrap(), Some(lot.clone()));
    assert_eq!(lot.effective_end_time, Some(at(60_000)));
    // The timer uses the new end.
    assert_eq!(store.next_end().await.unwrap(), item(2).effective_end_time);
}

pub(super) async fn the_categories_of_a_sale_follow_its_lots(store: Shared) {
    sale(&store, 4).await;
    let sale = store.auction(auction(1).uuid).await.unwrap().unwrap();
    let categories = async |limit| store.item_categories(sale.uuid, &[ItemStatus::Live], limit).await.unwrap();
    assert_eq!(categories(10).await, [""; 0]);
    let put = async |number: usize, category: Option<&str>| {
        let mut lot = store.item(item_uuid(number)).await.unwrap().unwrap();
        let wanted = ItemEdit { category: Some(category.map(str::to_owned)), ..ItemEdit::default() };
        edit(&sale, &lot, wanted).unwrap().iter().for_each(|change| lot.apply(change));
        commit(&store, silent(lot.clone())).await.unwrap();
        assert_eq!(store.item(lot.uuid).await.unwrap().unwrap().category.as_deref(), category);
    };
    for (number, category) in [(1, "Möbel"), (2, "Uhren"), (3, "Möbel"), (4, "glass")] {
        put(number, Some(category)).await;
    }
    assert_eq!(categories(10).await, ["Möbel", "Uhren", "glass"]);
    assert_eq!(categories(2).await, ["Möbel", "Uhren"]);
    put(2, None).await;
    put(4, Some("Uhren")).await;
    assert_eq!(categories(10).await, ["Möbel", "Uhren"]);
    // Lots of another sale, and those of other statuses, count nothing.
    assert_eq!(store.item_categories(auction_uuid(2), &[ItemStatus::Live], 10).await.unwrap(), [""; 0]);
    assert_eq!(store.item_categories(sale.uuid, &[ItemStatus::Sold], 10).await.unwrap(), [""; 0]);
}

pub(super) async fn a_corrected_lot_number_is_refused_while_another_item_has_it(store: Shared) {
    sale(&store, 2).await;
    let sale = store.auction(auction(1).uuid).await.unwrap().unwrap();
    let before = store.item(item_uuid(1)).await.unwrap().unwrap();
    let mut lot = before.clone();
    let wanted = ItemEdit { lot_number: Some("2A".into()), ..ItemEdit::default() };
    edit(&sale, &lot, wanted).unwrap().iter().for_each(|change| lot.apply(change));
    let refused = commit(&store, silent(lot)).await;
    assert!(matches!(refused, Err(StoreError::Taken("lotNumber"))), "{refused:?}");
    assert_eq!(store.item(item_uuid(1)).await.unwrap(), Some(before));
}

pub(super) async fn items_of_one_change_exchange_lot_numbers_and_places(store: Shared) {
    sale(&store, 3).await;
    let sale = store.auction(auction(1).uuid).await.unwrap().unwrap();
    let lots = [1, 2, 3].map(item_uuid);
    let mut items = Vec::new();
    for uuid in lots {
        items.push(store.item(uuid).await.unwrap().unwrap());
    }
    // Each item gets the position and lot number of the next one, and the last item those of the first.
    let exchanged = |items: &[Item]| -> Vec<Item> {
        let places = items.iter().cycle().skip(1);
        let moved = items.iter().zip(places).map(|(item, next)| Item {
            position: next.position,
            lot_number: next.lot_number.clone(),
            ..item.clone()
        });
        moved.collect()
    };
    let change = |items: Vec<Item>| Change {
        auction: Some(next_auction(sale.clone())),
        items: items.into_iter().map(next).collect(),
        ..Change::default()
    };
    let before = items.clone();
    commit(&store, change(exchanged(&items))).await.unwrap();
    for (item, next) in before.iter().zip(before.iter().cycle().skip(1)) {
        let stored = store.item(item.uuid).await.unwrap().unwrap();
        assert_eq!((stored.position, &stored.lot_number), (next.position, &next.lot_number));
        let found = store.item_by_lot_number(sale.uuid, &next.lot_number).await.unwrap().unwrap();
        assert_eq!(found.uuid, item.uuid);
    }
    let order: Vec<i64> =
        store.items(sale.uuid, page(None, 10)).await.unwrap().iter().map(|item| item.position).collect();
    assert_eq!(order, [1, 2, 3]);
    // A change with two equal lot numbers is refused as a whole.
    let sale = store.auction(sale.uuid).await.unwrap().unwrap();
    items.clear();
    for uuid in lots {
        items.push(store.item(uuid).await.unwrap().unwrap());
    }
    let mut wrong = exchanged(&items[..2]);
    wrong[1].lot_number = items[2].lot_number.clone();
    let change =
        Change { auction: Some(next_auction(sale)), items: wrong.into_iter().map(next).collect(), ..Change::default() };
    let refused = commit(&store, change).await;
    assert!(matches!(refused, Err(StoreError::Taken("lotNumber"))), "{refused:?}");
    for item in items {
        assert_eq!(store.item(item.uuid).await.unwrap(), Some(item));
    }
}

pub(super) async fn a_relisting_writes_both_items_or_neither(store: Shared) {
    sale(&store, 1).await;
    let into = Auction { uuid: auction_uuid(2), ..auction(2) };
    commit(&store, Change { auction: Some(next_auction(into.clone())), ..Change::default() }).await.unwrap();
    let from = store.auction(auction(1).uuid).await.unwrap().unwrap();
    let mut unsold = store.item(item_uuid(1)).await.unwrap().unwrap();
    (unsold.status, unsold.sequence) = (ItemStatus::Unsold, 1);
    commit(&store, silent(unsold)).await.unwrap();
    let unsold = store.item(item_uuid(1)).await.unwrap().unwrap();
    let lot = NewLot { uuid: item_uuid(9), lot_number: "7".into(), position: 0, status: ItemStatus::Draft };
    let relisting = relist((&from, &unsold), &into, lot, at(20)).unwrap();
    let mut old = unsold.clone();
    let mut new = relisting.item;
    relisting.unsold.iter().for_each(|change| old.apply(change));
    relisting.created.iter().for_each(|change| new.apply(change));
    let change = |old: &Item| Change { items: vec![next(old.clone()), next(new.clone())], ..Change::default() };
    let stale = commit(&store, change(&Item { version: old.version - 1, ..old.clone() })).await;
    assert!(matches!(stale, Err(StoreError::Conflict)), "{stale:?}");
    assert_eq!(store.item(new.uuid).await.unwrap(), None);
    commit(&store, change(&old)).await.unwrap();
    let old = store.item(old.uuid).await.unwrap().unwrap();
    let found = store.items(into.uuid, page(None, 10)).await.unwrap();
    assert_eq!((found[0].relisted_from, old.relisted_as), (Some(old.uuid), Some(new.uuid)));
    assert_eq!((found[0].reserve, found[0].status), (Some(Hidden::new(12_000)), ItemStatus::Draft));
    assert_eq!(store.item_counts(into.uuid).await.unwrap(), ItemCounts { total: 1, ..ItemCounts::default() });
}
