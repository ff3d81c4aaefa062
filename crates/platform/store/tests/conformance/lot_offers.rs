//! Offers of lots to bidders: a lot has one open offer, which ends once, and with the sale of the lot or not at all.

use contract::ItemStatus;
use platform_core::port::{
    CauseOfNotice, Change, EndedOffer, LotOffer, NoticeCause, OfferEnd, OfferOutcome, StoreError,
};
use platform_rules::Item;
use uuid::Uuid;

use super::given::{Shared, announced, at, auction_uuid, commit, item_uuid, sale, whole};

pub(super) fn offer(number: u128, item: usize, registration: u128, amount: i64) -> LotOffer {
    LotOffer {
        uuid: Uuid::from_u128(0x0190_0000_0000_7000_8000_0000_0000_0000 + number),
        auction: auction_uuid(1),
        item: item_uuid(item),
        registration: Uuid::from_u128(registration),
        amount,
        sequence: 3,
        offered_by: "user:'1'".into(),
        offered_at: at(10),
        until: at(500),
        ended: None,
    }
}

fn ended(offer: &LotOffer, outcome: OfferOutcome) -> EndedOffer {
    let end = OfferEnd { outcome, actor: "bidder:2".into(), at: at(50) };
    EndedOffer { offer: offer.uuid, end, note: format!("{{\"event\":\"{}\"}}", outcome.name()) }
}

pub(super) async fn a_lot_has_one_open_offer_which_ends_once(store: Shared) {
    let notes = async || {
        let rows = store.access_log(whole()).await.unwrap();
        rows.into_iter().map(|entry| entry.content).collect::<Vec<_>>()
    };
    let (first, other_lot) = (offer(1, 1, 7, 480), offer(2, 2, 7, 90));
    let what = CauseOfNotice::Offered { item: first.item, offer: first.uuid };
    let cause = NoticeCause { auction: first.auction, what, at: at(10) };
    store.put_offer(first.clone(), None, Some(cause.clone()), "a".into()).await.unwrap();
    store.put_offer(other_lot.clone(), None, None, "b".into()).await.unwrap();
    let second = offer(3, 1, 8, 500);
    let taken = store.put_offer(second.clone(), None, Some(cause.clone()), "c".into()).await;
    assert!(matches!(taken, Err(StoreError::Taken("offer"))), "{taken:?}");
    let taken = store.put_offer(second.clone(), Some(other_lot.uuid), None, "c".into()).await;
    assert!(matches!(taken, Err(StoreError::Taken("offer"))), "{taken:?}");
    assert_eq!(
        store.lot_offer(other_lot.uuid).await.unwrap(),
        Some(other_lot.clone()),
        "nothing of a refused offer stays"
    );
    let causes: Vec<NoticeCause> = store.open_causes(9).await.unwrap().into_iter().map(|open| open.cause).collect();
    assert_eq!((causes, notes().await), (vec![cause], vec!["a".to_owned(), "b".to_owned()]));

    // One that lapsed makes room.
    store.put_offer(second.clone(), Some(first.uuid), None, "c".into()).await.unwrap();
    let lapsed = store.lot_offer(first.uuid).await.unwrap().unwrap();
    assert_eq!(lapsed.ended.as_ref().map(|end| (end.outcome, end.at)), Some((OfferOutcome::Lapsed, at(10))));
    assert_eq!(store.offers_of_item(item_uuid(1), 9).await.unwrap(), [second.clone(), lapsed.clone()]);
    assert_eq!(store.offers_of_item(item_uuid(1), 1).await.unwrap(), std::slice::from_ref(&second));
    assert_eq!(store.offers_to(Uuid::from_u128(7), 9).await.unwrap(), [other_lot.clone(), lapsed.clone()]);
    let of_auction = store.offers_of_auction(auction_uuid(1), 2).await.unwrap();
    assert_eq!(of_auction, [second.clone(), other_lot]);
    assert_eq!(store.offers_of_auction(auction_uuid(2), 9).await.unwrap(), []);

    let declined = ended(&second, OfferOutcome::Declined);
    store.end_offer(declined.clone()).await.unwrap();
    let twice = store.end_offer(ended(&second, OfferOutcome::Withdrawn)).await;
    assert!(matches!(twice, Err(StoreError::Conflict)), "{twice:?}");
    let known = store.lot_offer(second.uuid).await.unwrap().unwrap();
    assert_eq!(known.ended, Some(declined.end));
    assert_eq!(notes().await[2..], ["c".to_owned(), declined.note]);
    store.put_offer(offer(4, 1, 8, 400), None, None, "d".into()).await.unwrap();
}

pub(super) async fn an_accepted_offer_ends_with_the_sale_of_its_lot_or_not_at_all(store: Shared) {
    sale(&store, 1).await;
    let lot = store.item(item_uuid(1)).await.unwrap().unwrap();
    let open = offer(1, 1, 7, 480);
    store.put_offer(open.clone(), None, None, "a".into()).await.unwrap();
    let accept = |of: &LotOffer, item: Item| Change {
        accepted_offer: Some(ended(of, OfferOutcome::Accepted)),
        ..announced(item, ItemStatus::Sold, at(50))
    };
    // The offer is unknown: the lot is not sold.
    let unknown = commit(&store, accept(&offer(9, 1, 7, 480), lot.clone())).await;
    assert!(matches!(unknown, Err(StoreError::Conflict)), "{unknown:?}");
    assert_eq!(store.item(lot.uuid).await.unwrap().unwrap().version, lot.version);
    // The lot has changed: the offer stays open.
    let older = Item { version: lot.version - 1, ..lot.clone() };
    let changed = commit(&store, accept(&open, older)).await;
    assert!(matches!(changed, Err(StoreError::Conflict)), "{changed:?}");
    assert_eq!(store.lot_offer(open.uuid).await.unwrap().unwrap().ended, None);
    commit(&store, accept(&open, lot.clone())).await.unwrap();
    let known = store.lot_offer(open.uuid).await.unwrap().unwrap();
    assert_eq!(known.ended.map(|end| end.outcome), Some(OfferOutcome::Accepted));
    let sold = store.item(lot.uuid).await.unwrap().unwrap();
    assert_eq!((sold.status, sold.version), (ItemStatus::Sold, lot.version + 1));
    let again = commit(&store, accept(&open, sold)).await;
    assert!(matches!(again, Err(StoreError::Conflict)), "{again:?}");
    let notes: Vec<String> = store.access_log(whole()).await.unwrap().into_iter().map(|entry| entry.content).collect();
    assert_eq!(notes, ["a".to_owned(), "{\"event\":\"accepted\"}".to_owned()]);
}
