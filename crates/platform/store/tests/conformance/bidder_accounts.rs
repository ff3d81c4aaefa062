//! Accounts of bidders: links, sessions, changes with a record of the register, acceptances and watched items.

use kit_identity::sessions::SessionsToEnd;
use kit_identity::user::Change;
use platform_core::port::{
    AcceptedConditions, BidderAccount, BidderAccountChange, BidderDetails, BidderLink, BidderProfile, BidderSession,
    Language, NoticeKind, PartyWrite, StoreError, Versioned, WatchedItem,
};
use uuid::Uuid;

use super::given::{Shared, at, auction_uuid, caller_uuid, customer_uuid, item_uuid, page};
use super::parties::{party, registration, write};

fn link(customer: usize, email: &str, hash: u8, expires_at: i64) -> BidderLink {
    BidderLink { customer: customer_uuid(customer), email: email.into(), hash: [hash; 32], expires_at: at(expires_at) }
}

/// An account with characters that need escaping in SQL and JSON.
pub(super) fn account(number: usize, customer: usize, email: &str) -> BidderAccount {
    let details = BidderDetails {
        name: "Jörg O'Bieter \"jun.\"".into(),
        phone: Some("+49 (0)30 '1'".into()),
        language: Some(Language::German),
        time_zone: Some("Europe/Berlin".into()),
        no_mails_about: [NoticeKind::Outbid].into(),
        ..BidderDetails::default()
    };
    let profile = BidderProfile { customer: customer_uuid(customer), party: None, details };
    BidderAccount::new(caller_uuid(400 + number), email.into(), "$argon2id$1".into(), at(10), profile)
}

pub(super) fn session(number: usize, account: &BidderAccount, last_used_at: i64) -> BidderSession {
    let hash = [100 + u8::try_from(number).unwrap(); 32];
    BidderSession {
        id: caller_uuid(500 + number),
        hash,
        user: account.id,
        address: Some("192.0.2.1".into()),
        browser: None,
        created_at: at(20),
        expires_at: at(1_000),
        last_used_at: at(last_used_at),
    }
}

fn changed(account: BidderAccount) -> BidderAccountChange {
    BidderAccountChange { change: Change::to(account), link: None, party: None }
}

pub(super) async fn open(store: &Shared, account: &BidderAccount) {
    let code = [u8::try_from(account.id.as_u128() & 0xff).unwrap(); 32];
    let link = BidderLink {
        customer: account.profile.customer,
        email: account.email.clone(),
        hash: code,
        expires_at: at(900),
    };
    store.put_bidder_link(link).await.unwrap();
    store.open_bidder_account(account.clone(), code, at(10)).await.unwrap();
}

pub(super) async fn an_account_is_opened_once_with_a_link_to_its_address(store: Shared) {
    let ann = account(1, 1, "ann@example.com");
    store.put_bidder_link(link(1, "ann@example.com", 1, 100)).await.unwrap();
    store.put_bidder_link(link(2, "ann@example.com", 3, 100)).await.unwrap();
    store.put_bidder_link(link(1, "ann@example.com", 2, 200)).await.unwrap();
    assert_eq!(store.bidder_link([1; 32]).await.unwrap(), Some(link(1, "ann@example.com", 1, 100)));
    assert_eq!(store.bidder_link([2; 32]).await.unwrap(), Some(link(1, "ann@example.com", 2, 200)));
    let opened = async |account: &BidderAccount, hash: u8, now: i64| {
        store.open_bidder_account(account.clone(), [hash; 32], at(now)).await
    };
    assert!(matches!(opened(&ann, 9, 10).await, Err(StoreError::Conflict)), "no such link");
    assert!(matches!(opened(&ann, 2, 200).await, Err(StoreError::Conflict)), "it has expired");
    opened(&ann, 2, 199).await.unwrap();
    assert!(matches!(opened(&ann, 2, 199).await, Err(StoreError::Conflict)), "it was used");
    assert_eq!(store.bidder_link([1; 32]).await.unwrap(), None, "one that is used ends the others");
    assert!(store.bidder_link([3; 32]).await.unwrap().is_some(), "of its house");
    assert_eq!(store.bidder_account(ann.id).await.unwrap(), Some(ann.clone()));
    assert_eq!(store.bidder_account_by_email(customer_uuid(1), "ann@example.com").await.unwrap(), Some(ann));
    assert_eq!(store.bidder_account_by_email(customer_uuid(2), "ann@example.com").await.unwrap(), None);
    assert_eq!(store.bidder_account_by_email(customer_uuid(1), "a\0").await.unwrap(), None);
    // Another account with the address uses up no link.
    store.put_bidder_link(link(1, "ann@example.com", 4, 300)).await.unwrap();
    let second = account(2, 1, "ann@example.com");
    assert!(matches!(opened(&second, 4, 10).await, Err(StoreError::Taken("email"))));
    assert!(store.bidder_link([4; 32]).await.unwrap().is_some());
    opened(&account(3, 2, "ann@example.com"), 3, 10).await.unwrap();
}

pub(super) async fn a_change_of_an_account_is_whole_or_not_at_all(store: Shared) {
    let ann = account(1, 1, "ann@example.com");
    open(&store, &ann).await;
    let entry = party(1, "Ann");
    let mut with_party = ann.clone();
    with_party.profile.party = Some(entry.uuid);
    let written = || PartyWrite { party: Versioned { expected_version: 0, state: entry.clone() }, log: Vec::new() };
    let change = |link: Option<u8>| BidderAccountChange {
        party: Some(written()),
        link: link.map(|hash| ([hash; 32], at(50))),
        ..changed(with_party.clone())
    };
    assert!(matches!(store.change_bidder_account(change(Some(9))).await, Err(StoreError::Conflict)), "no such link");
    assert_eq!(store.party(entry.uuid).await.unwrap(), None, "the record was written without its account");
    store.put_bidder_link(link(1, "ann@example.com", 9, 60)).await.unwrap();
    store.change_bidder_account(change(Some(9))).await.unwrap();
    assert_eq!(store.party(entry.uuid).await.unwrap(), Some(entry.clone()));
    assert_eq!(store.bidder_link([9; 32]).await.unwrap(), None);
    let stored = store.bidder_account(ann.id).await.unwrap().unwrap();
    assert_eq!((stored.version, stored.profile.party), (2, Some(entry.uuid)));
    assert!(matches!(store.change_bidder_account(changed(ann.clone())).await, Err(StoreError::Conflict)));
    assert!(matches!(store.delete_bidder_account(ann.id, 1).await, Err(StoreError::Conflict)));

    for number in 1..=3 {
        store.begin_bidder_session(session(number, &stored, 20), 2, 20).await.unwrap();
    }
    let other = store.bidder_session(session(2, &stored, 20).hash).await.unwrap();
    assert_eq!(other.unwrap().0, session(2, &stored, 20));
    let kept = SessionsToEnd::AllBut(stored.id, session(3, &stored, 20).id);
    let change = BidderAccountChange { change: Change::to(stored).ending(kept), link: None, party: None };
    store.change_bidder_account(change).await.unwrap();
    let lasts = async |number| store.bidder_session(session(number, &ann, 20).hash).await.unwrap().is_some();
    assert_eq!((lasts(1).await, lasts(2).await, lasts(3).await), (false, false, true));
    let stored = store.bidder_account(ann.id).await.unwrap().unwrap();
    let own = async || store.bidder_accounts_of(&[Uuid::nil(), entry.uuid]).await.unwrap().len();
    assert_eq!(own().await, 1);
    let ending = SessionsToEnd::AllOf(stored.id);
    let closed = BidderAccount { disabled_at: Some(at(90)), ..stored };
    let change = Change::to(closed.clone()).ending(ending);
    store.change_bidder_account(BidderAccountChange { change, link: None, party: None }).await.unwrap();
    assert_eq!((own().await, lasts(3).await), (0, false));
    let stored = store.bidder_account(ann.id).await.unwrap().unwrap();
    assert_eq!(stored, BidderAccount { version: 4, ..closed });
    store.delete_bidder_account(ann.id, 4).await.unwrap();
    assert_eq!(store.bidder_account(ann.id).await.unwrap(), None);
}

pub(super) async fn sessions_of_bidders_begin_at_a_version_and_end_by_age_and_number(store: Shared) {
    let ann = account(1, 1, "ann@example.com");
    open(&store, &ann).await;
    let begun = async |number, version| store.begin_bidder_session(session(number, &ann, 30), version, 2).await;
    assert!(matches!(begun(1, 2).await, Err(StoreError::Conflict)));
    for number in 1..=3 {
        begun(number, 1).await.unwrap();
    }
    let lasts = async |number| store.bidder_session(session(number, &ann, 30).hash).await.unwrap();
    assert!(lasts(1).await.is_none(), "a third session ends the oldest");
    let (_, account) = lasts(2).await.unwrap();
    assert_eq!(account.signed_in_at, Some(at(20)));
    store.touch_bidder_session(session(2, &ann, 30).id, at(70)).await.unwrap();
    store.touch_bidder_session(session(2, &ann, 30).id, at(60)).await.unwrap();
    assert_eq!(lasts(2).await.unwrap().0.last_used_at, at(70));
    store.put_bidder_link(link(1, "bo@example.com", 7, 40)).await.unwrap();
    assert_eq!(store.delete_expired_bidder_access(at(50), at(31), 9).await.unwrap(), 2, "one unused, one old link");
    assert!(lasts(3).await.is_none() && lasts(2).await.is_some());
    store.end_bidder_session(session(2, &ann, 30).id).await.unwrap();
    assert!(lasts(2).await.is_none());
}

pub(super) async fn acceptances_and_watched_items_are_those_of_one_account(store: Shared) {
    let (ann, bo) = (account(1, 1, "ann@example.com"), account(2, 1, "bo@example.com"));
    open(&store, &ann).await;
    open(&store, &bo).await;
    let accepted = |number, ms| AcceptedConditions { account: ann.id, auction: auction_uuid(1), number, at: at(ms) };
    assert_eq!(store.accepted_conditions(ann.id, auction_uuid(1)).await.unwrap(), None);
    for (number, ms) in [(1, 5), (3, 6)] {
        store.accept_conditions(accepted(number, ms)).await.unwrap();
        assert_eq!(store.accepted_conditions(ann.id, auction_uuid(1)).await.unwrap(), Some(accepted(number, ms)));
    }
    assert_eq!(store.accepted_conditions(bo.id, auction_uuid(1)).await.unwrap(), None);

    let watched = |account: Uuid, auction: usize, item: usize, ms| WatchedItem {
        account,
        auction: auction_uuid(auction),
        item: item_uuid(item),
        at: at(ms),
    };
    let watch = async |entry| store.watch_item(entry, 2).await.unwrap();
    assert!(watch(watched(ann.id, 1, 1, 1)).await && watch(watched(ann.id, 2, 2, 2)).await);
    assert!(watch(watched(ann.id, 1, 1, 9)).await, "it is watched already");
    assert!(!watch(watched(ann.id, 1, 3, 3)).await, "two are the maximum");
    assert!(watch(watched(bo.id, 1, 3, 3)).await);
    let list = async |auction| store.watched_items(ann.id, auction, 9).await.unwrap();
    assert_eq!(list(None).await, [watched(ann.id, 2, 2, 2), watched(ann.id, 1, 1, 1)]);
    assert_eq!(list(Some(auction_uuid(1))).await, [watched(ann.id, 1, 1, 1)]);
    store.unwatch_item(ann.id, item_uuid(1)).await.unwrap();
    assert_eq!(list(None).await, [watched(ann.id, 2, 2, 2)]);
    store.delete_bidder_account(ann.id, 1).await.unwrap();
    assert_eq!(list(None).await, []);
    assert_eq!(store.watched_items(bo.id, None, 9).await.unwrap().len(), 1);
}

pub(super) async fn the_registration_of_a_person_is_found_under_each_of_their_records(store: Shared) {
    let (kept, merged) = (party(1, "Ada"), party(2, "Ada"));
    for state in [&kept, &merged] {
        let party = Versioned { expected_version: 0, state: state.clone() };
        store.put_party(PartyWrite { party, log: Vec::new() }).await.unwrap();
    }
    let own = registration(1, 1, "12", &merged);
    store.put_registration(write(0, own.clone())).await.unwrap();
    let found = async |party| store.registration_of_party(auction_uuid(1), party).await.unwrap().map(|own| own.uuid);
    assert_eq!((found(kept.uuid).await, found(merged.uuid).await), (None, Some(own.uuid)));
    let merge = super::party_merges::merged_into(&merged, kept.uuid);
    let party = Versioned { expected_version: 1, state: merge };
    store.put_party(PartyWrite { party, log: Vec::new() }).await.unwrap();
    assert_eq!((found(kept.uuid).await, found(merged.uuid).await), (Some(own.uuid), Some(own.uuid)));
    assert_eq!(store.registration_of_party(auction_uuid(2), kept.uuid).await.unwrap(), None);
    assert_eq!(store.registrations_of_party(kept.uuid, page(None, 9)).await.unwrap().len(), 1);
}
