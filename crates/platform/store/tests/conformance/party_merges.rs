//! Likely duplicates in the registers of houses, and records that were merged.

use platform_core::audit::LogKind;
use platform_core::port::{
    Change, DistinctParties, MergedInto, Page, Party, PartyDetails, PartyErasure, PartyFilter, PartyMergeWrite,
    PartyWrite, Registration, StoreError, Versioned,
};
use platform_rules::Item;
use uuid::Uuid;

use super::given::{Shared, at, auction, auction_uuid, caller_uuid, commit, created, customer_uuid, item, page, sale};
use super::parties::{enter, names, party, registration, words, write};

/// A record without contact, which matches no other one.
fn record(number: usize, name: &str) -> Party {
    let details = PartyDetails { email: None, phone: None, ..party(number, name).details };
    Party { details, ..party(number, name) }
}

fn with_email(number: usize, name: &str, email: &str) -> Party {
    let details = PartyDetails { email: Some(email.into()), ..record(number, name).details };
    Party { details, ..record(number, name) }
}

/// The record after it was merged into another one.
pub(super) fn merged_into(state: &Party, into: Uuid) -> Party {
    let merged = MergedInto { into, actor: "user:2".into(), at: at(5) };
    Party { merged: Some(merged), version: state.version + 1, ..state.clone() }
}

fn merge(kept: Party, merged: Party, registrations: Vec<(i64, Registration)>) -> PartyMergeWrite {
    let written =
        |state: Party| PartyWrite { party: Versioned { expected_version: state.version - 1, state }, log: Vec::new() };
    PartyMergeWrite {
        kept: kept.uuid,
        merged: merged.uuid,
        parties: vec![written(kept), written(merged)],
        registrations: registrations.into_iter().map(|(version, state)| write(version, state)).collect(),
    }
}

async fn pairs(store: &Shared) -> Vec<[Uuid; 2]> {
    store.matching_pairs(customer_uuid(1), page(None, 100)).await.unwrap()
}

async fn keep_apart(store: &Shared, pair: [usize; 2]) {
    let (customer, pair) = (customer_uuid(1), pair.map(|number| caller_uuid(300 + number)));
    store.keep_apart(DistinctParties { customer, pair, actor: "user:1".into(), at: at(3) }).await.unwrap();
}

fn uuids(numbers: &[usize]) -> Vec<Uuid> {
    numbers.iter().map(|number| caller_uuid(300 + number)).collect()
}

pub(super) async fn pairs_share_a_key_and_are_not_kept_apart(store: Shared) {
    for (number, email) in [(1, "Ada@example.com"), (2, "ada@example.com"), (3, "bo@example.com")] {
        enter(&store, 0, with_email(number, "Ada", email)).await.unwrap();
    }
    let elsewhere = Party { customer: customer_uuid(2), ..with_email(4, "Ada", "ada@example.com") };
    enter(&store, 0, elsewhere).await.unwrap();
    let pair = [caller_uuid(301), caller_uuid(302)];
    assert_eq!(pairs(&store).await, [pair]);
    let matching = async |keys: &[&str], limit| {
        let keys: Vec<String> = keys.iter().map(|key| (*key).to_owned()).collect();
        let found = store.parties_matching(customer_uuid(1), &keys, limit).await.unwrap();
        let mut found: Vec<Uuid> = found.into_iter().map(|party| party.uuid).collect();
        found.sort_unstable();
        found
    };
    assert_eq!(matching(&["email:ada@example.com", "email:nobody\0"], 9).await, pair);
    assert_eq!(matching(&["email:ada@example.com", "email:bo@example.com"], 1).await, uuids(&[2, 3]));
    assert_eq!(matching(&[], 9).await, uuids(&[]));

    // A record that changes matches by its new details.
    let moved = Party { version: 2, ..with_email(2, "Ada", "bo@example.com") };
    enter(&store, 1, moved).await.unwrap();
    assert_eq!(pairs(&store).await, [[caller_uuid(302), caller_uuid(303)]]);
    assert_eq!(store.inconsistent_columns(LogKind::Party, caller_uuid(302)).await.unwrap(), [""; 0]);

    keep_apart(&store, [3, 2]).await;
    keep_apart(&store, [2, 3]).await;
    assert_eq!(pairs(&store).await, <[[Uuid; 2]; 0]>::default());
    assert_eq!(store.kept_apart_from(caller_uuid(303)).await.unwrap(), uuids(&[2]));
    assert_eq!(store.kept_apart_from(caller_uuid(302)).await.unwrap(), uuids(&[3]));

    // An erased record matches nothing.
    enter(&store, 0, with_email(5, "Cy", "bo@example.com")).await.unwrap();
    assert_eq!(pairs(&store).await, [[caller_uuid(303), caller_uuid(305)]]);
    let erasure = PartyErasure { actor: "user:3".into(), at: at(4), kept_until: None };
    let gone = Party { erasure: Some(erasure), version: 2, ..with_email(5, "Cy", "bo@example.com") };
    enter(&store, 1, gone).await.unwrap();
    assert_eq!(pairs(&store).await, <[[Uuid; 2]; 0]>::default());
    assert_eq!(store.refresh_match_keys(customer_uuid(1), 9).await.unwrap(), 0);
}

pub(super) async fn a_key_of_many_records_gives_few_pairs(store: Shared) {
    for number in 1..=6 {
        enter(&store, 0, with_email(number, "Office", "office@example.com")).await.unwrap();
    }
    let pair = |one: usize, two: usize| [caller_uuid(300 + one), caller_uuid(300 + two)];
    assert_eq!(pairs(&store).await, [pair(5, 6), pair(4, 5), pair(3, 4), pair(2, 3), pair(1, 2)]);
    let listed = async |after, limit| store.matching_pairs(customer_uuid(1), page(after, limit)).await.unwrap();
    assert_eq!(listed(None, 2).await, [pair(5, 6), pair(4, 5)]);
    assert_eq!(listed(Some(pair(4, 5)), 2).await, [pair(3, 4), pair(2, 3)]);
    assert_eq!(listed(Some(pair(2, 3)), 2).await, [pair(1, 2)]);
    assert_eq!(listed(Some(pair(1, 2)), 2).await, Vec::<[Uuid; 2]>::new());
    // A record that is kept apart from its neighbour is compared with the one before.
    keep_apart(&store, [5, 6]).await;
    assert_eq!(listed(None, 2).await, [pair(4, 6), pair(4, 5)]);
    assert_eq!(listed(Some(pair(4, 6)), 1).await, [pair(4, 5)], "another pair of the same older record");
}

pub(super) async fn a_merge_is_written_as_a_whole_or_not_at_all(store: Shared) {
    sale(&store, 1).await;
    let (ada, bo) = (record(1, "Ada"), record(2, "Bo"));
    for state in [&ada, &bo] {
        enter(&store, 0, state.clone()).await.unwrap();
    }
    let registered = registration(1, 1, "12", &bo);
    store.put_registration(write(0, registered.clone())).await.unwrap();
    // The references change places.
    let swapped = |state: &Party, reference: &str| {
        let details = PartyDetails { reference: Some(reference.into()), ..state.details.clone() };
        Party { details, ..state.clone() }
    };
    let kept = |version| Party { version, ..swapped(&ada, "C-2") };
    let left = merged_into(&swapped(&bo, "C-1"), ada.uuid);
    let followed = |version| Registration { version, party: Some(ada.uuid), ..registered.clone() };
    for refused in [
        merge(kept(5), left.clone(), vec![(1, followed(2))]),
        merge(kept(2), left.clone(), vec![(7, followed(8))]),
        merge(kept(2), Party { version: 9, ..left.clone() }, vec![(1, followed(2))]),
    ] {
        assert!(matches!(store.merge_parties(refused).await, Err(StoreError::Conflict)));
        assert_eq!(store.party(ada.uuid).await.unwrap(), Some(ada.clone()));
        assert_eq!(store.party(bo.uuid).await.unwrap(), Some(bo.clone()));
        assert_eq!(store.party_by_reference(customer_uuid(1), "C-1").await.unwrap(), Some(ada.clone()));
        assert_eq!(store.registration(registered.uuid).await.unwrap(), Some(registered.clone()));
    }
    enter(&store, 0, record(3, "Cy")).await.unwrap();
    let taken = merge(Party { version: 2, ..swapped(&ada, "C-3") }, left.clone(), Vec::new());
    assert!(matches!(store.merge_parties(taken).await, Err(StoreError::Taken("reference"))));

    store.merge_parties(merge(kept(2), left.clone(), vec![(1, followed(2))])).await.unwrap();
    assert_eq!(store.party(ada.uuid).await.unwrap(), Some(kept(2)));
    assert_eq!(store.party(bo.uuid).await.unwrap(), Some(left.clone()));
    let stored = store.registration(registered.uuid).await.unwrap().unwrap();
    assert_eq!((stored.version, stored.party), (2, Some(ada.uuid)));
    for record in [ada.uuid, bo.uuid] {
        assert_eq!(store.inconsistent_columns(LogKind::Party, record).await.unwrap(), [""; 0]);
        assert_eq!(store.records_of_person(record).await.unwrap(), [ada.uuid, bo.uuid]);
    }
    assert_eq!(store.merged_records(&[bo.uuid, ada.uuid, ada.uuid]).await.unwrap(), [left]);
    assert_eq!(store.records_of_person(caller_uuid(399)).await.unwrap(), [caller_uuid(399)]);
}

pub(super) async fn what_is_listed_for_a_person_is_that_of_all_records(store: Shared) {
    let consignor = |number, name| {
        let mut state = record(number, name);
        state.details.is_consignor = true;
        state
    };
    let (ada, bell, other) = (consignor(1, "Ada"), consignor(2, "Bell"), consignor(3, "Cy"));
    for state in [&ada, &bell, &other] {
        enter(&store, 0, state.clone()).await.unwrap();
    }
    for number in [1, 2, 3] {
        commit(&store, created(auction(number))).await.unwrap();
    }
    let lots = [(1, 1, 0, &bell), (2, 1, 1, &ada), (3, 1, 2, &other), (4, 2, 0, &bell), (5, 3, 0, &ada)];
    for (number, sale, position, of) in lots {
        let lot = Item {
            auction: auction_uuid(sale),
            position,
            lot_number: format!("{number}"),
            vendor: Some(of.uuid),
            version: 1,
            ..item(number)
        };
        let new = Versioned { expected_version: 0, state: lot };
        commit(&store, Change { items: vec![new], ..Change::default() }).await.unwrap();
    }
    for (number, sale, paddle, of) in [(1, 1, "12", &ada), (2, 1, "15", &bell), (3, 2, "7", &bell), (4, 2, "8", &other)]
    {
        store.put_registration(write(0, registration(number, sale, paddle, of))).await.unwrap();
    }
    let merged = merge(Party { version: 2, ..ada.clone() }, merged_into(&bell, ada.uuid), Vec::new());
    store.merge_parties(merged).await.unwrap();

    for record in [ada.uuid, bell.uuid] {
        let registrations = async |after, limit| {
            let found = store.registrations_of_party(record, page(after, limit)).await.unwrap();
            found.into_iter().map(|registration| registration.paddle).collect::<Vec<_>>()
        };
        assert_eq!(registrations(None, 9).await, ["7", "15", "12"]);
        assert_eq!(registrations(None, 2).await, ["7", "15"]);
        assert_eq!(registrations(Some(caller_uuid(102)), 9).await, ["12"]);
        let auctions = async |after, limit| store.auctions_of_vendor(record, page(after, limit)).await.unwrap();
        assert_eq!(auctions(None, 9).await, [auction_uuid(3), auction_uuid(2), auction_uuid(1)]);
        assert_eq!(auctions(Some(auction_uuid(3)), 1).await, [auction_uuid(2)]);
        let lots = async |limit| {
            let found = store.items_of_vendor(record, auction_uuid(1), limit).await.unwrap();
            found.into_iter().map(|item| item.lot_number).collect::<Vec<_>>()
        };
        assert_eq!((lots(9).await, lots(1).await), (vec!["1".into(), "2".into()], vec!["1".to_owned()]));
    }
    // Lists have the record that stayed, found by what either record has.
    assert_eq!(names(&store, &PartyFilter::default()).await, ["Ada", "Cy"]);
    assert_eq!(names(&store, &words("bell")).await, ["Ada"]);
    for paddle in ["7", "12", "15"] {
        let filter = PartyFilter { paddle: Some(paddle.into()), ..words("no-name") };
        assert_eq!(names(&store, &filter).await, ["Ada"], "{paddle}");
    }
    // The name and the reference of the merged record still name it.
    let called = store.parties_called(customer_uuid(1), &["bell".into()], &["C-2".into()]).await.unwrap();
    assert!(called.len() == 2 && called.iter().all(|party| party.record() == ada.uuid), "{called:?}");
    let all = store.all_parties(Page { after: None, limit: 9 }).await.unwrap();
    assert_eq!(all.len(), 3);
}

pub(super) async fn a_merge_keeps_apart_what_was_apart_from_the_merged_record(store: Shared) {
    for number in 1..=4 {
        enter(&store, 0, with_email(number, "Ada", "ada@example.com")).await.unwrap();
    }
    keep_apart(&store, [1, 3]).await;
    keep_apart(&store, [3, 4]).await;
    keep_apart(&store, [2, 3]).await;
    let state = |number| with_email(number, "Ada", "ada@example.com");
    let kept = Party { version: 2, ..state(2) };
    let merged = merged_into(&state(3), caller_uuid(302));
    store.merge_parties(merge(kept, merged, Vec::new())).await.unwrap();
    let mut apart = store.kept_apart_from(caller_uuid(302)).await.unwrap();
    apart.sort_unstable();
    assert_eq!(apart, uuids(&[1, 3, 4]));
    assert_eq!(pairs(&store).await, [[caller_uuid(301), caller_uuid(304)]]);
}
