//! Links to the screens of webcasts, and their exchange rates.

use jiff::civil::date;
use platform_core::port::{AccessChange, AccessChangeResult, GuideRate, ScreenKind, ScreenLink};

use super::given::{Shared, at, auction, auction_uuid, caller_uuid, commit, created};

fn link(webcast: usize, kind: ScreenKind, number: usize) -> ScreenLink {
    ScreenLink {
        uuid: caller_uuid(number),
        auction: auction_uuid(webcast),
        kind,
        shows_reserve: kind == ScreenKind::Speaker,
        hash: [number as u8; 32],
        created_at: at(5),
        created_by: "user:ada".into(),
        expires_at: at(50),
        last_used_at: None,
        predecessor: None,
    }
}

async fn apply(store: &Shared, change: AccessChange) -> AccessChangeResult {
    store.apply_access_change(change, "{}".to_owned()).await.unwrap()
}

pub(super) async fn a_webcast_has_one_link_of_each_kind(store: Shared) {
    let room = link(1, ScreenKind::Room, 1);
    let speaker = link(1, ScreenKind::Speaker, 2);
    for one in [&room, &speaker, &link(2, ScreenKind::Room, 3)] {
        assert_eq!(apply(&store, AccessChange::PutScreenLink(one.clone())).await, AccessChangeResult::Done);
    }
    assert_eq!(store.screen_links(auction_uuid(1)).await.unwrap(), [room.clone(), speaker.clone()]);
    store.touch_screen_link(room.hash, at(9)).await.unwrap();
    store.touch_screen_link([99; 32], at(9)).await.unwrap();
    let used = ScreenLink { last_used_at: Some(at(9)), ..room.clone() };
    assert_eq!(store.screen_link_by_hash(room.hash).await.unwrap(), Some(used));

    let other = link(1, ScreenKind::Room, 4);
    apply(&store, AccessChange::PutScreenLink(other.clone())).await;
    assert_eq!(store.screen_link_by_hash(room.hash).await.unwrap(), None, "replaced");
    assert_eq!(store.screen_links(auction_uuid(1)).await.unwrap(), [other, speaker.clone()]);

    let entries = store.access_log_head().await.unwrap().number;
    let revoke = || AccessChange::RevokeScreenLink(auction_uuid(1), ScreenKind::Room);
    assert_eq!(apply(&store, revoke()).await, AccessChangeResult::Done);
    assert_eq!(apply(&store, revoke()).await, AccessChangeResult::Unchanged);
    assert_eq!(
        store.access_log_head().await.unwrap().number,
        entries + 1,
        "a revocation has more or less than one entry"
    );
    assert_eq!(store.screen_links(auction_uuid(1)).await.unwrap(), [speaker]);
    assert_eq!(store.screen_links(auction_uuid(2)).await.unwrap().len(), 1);
}

fn rate(currency: &str, millionths: i64) -> GuideRate {
    GuideRate { currency: currency.into(), millionths, date: date(2026, 11, 25) }
}

pub(super) async fn guide_rates_are_replaced_and_limited(store: Shared) {
    commit(&store, created(auction(1))).await.unwrap();
    let sale = auction_uuid(1);
    for (currency, millionths) in [("USD", 1_273_400), ("EUR", 1_170_000)] {
        assert!(store.put_guide_rate(sale, rate(currency, millionths), 2).await.unwrap());
    }
    assert!(
        !store.put_guide_rate(sale, rate("JPY", 190_000_000), 2).await.unwrap(),
        "the limit of two rates was exceeded"
    );
    assert!(store.put_guide_rate(sale, rate("USD", 1_280_000), 2).await.unwrap(), "replaced");
    let kept = [rate("EUR", 1_170_000), rate("USD", 1_280_000)];
    assert_eq!(store.guide_rates(sale).await.unwrap(), kept);
    assert!(store.guide_rates(auction_uuid(2)).await.unwrap().is_empty());
    assert!(store.remove_guide_rate(sale, "EUR").await.unwrap());
    assert!(!store.remove_guide_rate(sale, "EUR").await.unwrap());
    assert_eq!(store.guide_rates(sale).await.unwrap(), kept[1..]);
}
