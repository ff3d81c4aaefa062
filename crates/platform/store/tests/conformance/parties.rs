//! The registers of houses.

use contract::models::CurrencyCode;
use platform_core::audit::LogKind;
use platform_core::port::{
    Money, Party, PartyBlock, PartyDetails, PartyFilter, PartyWrite, Registration, RegistrationStatus,
    RegistrationWrite, StoreError, Versioned, search_form,
};
use platform_rules::{LogHash, LogHead};

use super::given::{Shared, at, auction_uuid, caller_uuid, customer_uuid, page, sale, whole};

/// A bidder of the first house, with characters that need escaping in SQL and JSON.
fn party(number: usize, name: &str) -> Party {
    Party {
        uuid: caller_uuid(300 + number),
        customer: customer_uuid(1),
        details: PartyDetails {
            name: name.into(),
            is_bidder: true,
            reference: Some(format!("C-{number}")),
            email: Some(format!("bidder{number}@example.com")),
            phone: Some(format!("+49 (0)30 100{number}")),
            limit: Some(Money { amount: 5_000, currency: "GBP".parse::<CurrencyCode>().unwrap() }),
            note: Some("ruft an, 'nach 18 Uhr' \"%_".into()),
            ..PartyDetails::default()
        },
        identity: None,
        block: None,
        actor: "user:1".into(),
        version: 1,
        created_at: at(1),
        updated_at: at(2),
        log: LogHead { number: 1, hash: LogHash([7; 32]) },
    }
}

async fn enter(store: &Shared, expected_version: i64, state: Party) -> Result<(), StoreError> {
    store.put_party(PartyWrite { party: Versioned { expected_version, state }, log: Vec::new() }).await
}

fn words(text: &str) -> PartyFilter {
    PartyFilter { words: text.split(' ').map(search_form).collect(), ..PartyFilter::default() }
}

async fn names(store: &Shared, filter: &PartyFilter) -> Vec<String> {
    let found = store.parties(customer_uuid(1), filter, whole()).await.unwrap();
    let count = store.count_parties(customer_uuid(1), filter).await.unwrap();
    assert_eq!(count, found.len() as u64, "{filter:?}");
    found.into_iter().map(|party| party.details.name).collect()
}

pub(super) async fn a_party_reads_back_and_changes_by_its_version(store: Shared) {
    let first = party(1, "Jörg O'Bieter");
    enter(&store, 0, first.clone()).await.unwrap();
    assert_eq!(store.party(first.uuid).await.unwrap(), Some(first.clone()));
    assert_eq!(store.party(caller_uuid(399)).await.unwrap(), None);
    let found = store.parties_of(&[caller_uuid(399), first.uuid]).await.unwrap();
    assert_eq!(found, std::slice::from_ref(&first));
    assert_eq!(store.inconsistent_columns(LogKind::Party, first.uuid).await.unwrap(), [""; 0]);

    let block = PartyBlock { reason: "did not pay".into(), actor: "user:2".into(), at: at(3) };
    let blocked = Party { block: Some(block), version: 2, ..first.clone() };
    enter(&store, 1, blocked.clone()).await.unwrap();
    assert!(matches!(enter(&store, 1, blocked.clone()).await, Err(StoreError::Conflict)));
    assert_eq!(store.party(first.uuid).await.unwrap(), Some(blocked));
    let unknown = Party { version: 2, ..party(9, "Unknown") };
    assert!(matches!(enter(&store, 1, unknown).await, Err(StoreError::Conflict)));
    assert_eq!(store.all_parties(whole()).await.unwrap().len(), 1);
}

pub(super) async fn a_reference_is_unique_in_its_house(store: Shared) {
    enter(&store, 0, party(1, "Ada")).await.unwrap();
    let same = Party { uuid: caller_uuid(302), ..party(1, "Bo") };
    assert!(matches!(enter(&store, 0, same.clone()).await, Err(StoreError::Taken("reference"))));
    let elsewhere = Party { customer: customer_uuid(2), ..same.clone() };
    enter(&store, 0, elsewhere.clone()).await.unwrap();
    let unnamed = |number| {
        let details = PartyDetails { reference: None, ..party(number, "Cy").details };
        Party { details, ..party(number, "Cy") }
    };
    enter(&store, 0, unnamed(3)).await.unwrap();
    enter(&store, 0, unnamed(4)).await.unwrap();
    let by_reference = |house, reference: &'static str| store.party_by_reference(house, reference);
    assert_eq!(by_reference(customer_uuid(1), "C-1").await.unwrap(), Some(party(1, "Ada")));
    assert_eq!(by_reference(customer_uuid(2), "C-1").await.unwrap(), Some(elsewhere));
    assert_eq!(by_reference(customer_uuid(1), "C-\0").await.unwrap(), None);
    // A change to a reference that another record has changes nothing.
    let taken = PartyDetails { reference: Some("C-1".into()), ..unnamed(3).details };
    let changed = Party { details: taken, version: 2, ..unnamed(3) };
    assert!(matches!(enter(&store, 1, changed).await, Err(StoreError::Taken("reference"))));
    assert_eq!(store.party(unnamed(3).uuid).await.unwrap(), Some(unnamed(3)));
}

pub(super) async fn parties_are_listed_by_name_and_found_by_their_words(store: Shared) {
    for (number, name) in [(1, "zola GmbH"), (2, "Müller & Söhne"), (3, "Émile Muller"), (4, "anders")] {
        enter(&store, 0, party(number, name)).await.unwrap();
    }
    let other = Party { customer: customer_uuid(2), ..party(5, "Muller elsewhere") };
    enter(&store, 0, other).await.unwrap();
    let consignor = PartyDetails { is_bidder: false, is_consignor: true, ..party(6, "Berta").details };
    let block = PartyBlock { reason: "unpaid".into(), actor: "user:2".into(), at: at(3) };
    enter(&store, 0, Party { details: consignor, block: Some(block), ..party(6, "Berta") }).await.unwrap();

    let all = PartyFilter::default();
    let sorted = ["anders", "Berta", "Émile Muller", "Müller & Söhne", "zola GmbH"];
    assert_eq!(names(&store, &all).await, sorted);
    let bidders = PartyFilter { is_bidder: true, ..all.clone() };
    assert_eq!(names(&store, &bidders).await, ["anders", "Émile Muller", "Müller & Söhne", "zola GmbH"]);
    assert_eq!(names(&store, &PartyFilter { is_consignor: true, ..all.clone() }).await, ["Berta"]);
    assert_eq!(names(&store, &PartyFilter { is_blocked: true, ..all.clone() }).await, ["Berta"]);
    assert_eq!(names(&store, &words("muller")).await, ["Émile Muller", "Müller & Söhne"]);
    assert_eq!(names(&store, &words("MÜLLER émi")).await, ["Émile Muller"]);
    assert_eq!(names(&store, &words("bidder4@EXAMPLE.com")).await, ["anders"]);
    assert_eq!(names(&store, &words("490301001")).await, ["zola GmbH"]);
    assert_eq!(names(&store, &words("c-6")).await, ["Berta"]);
    for nothing in ["%", "_", "m%r", "muller nothing", "\0"] {
        assert_eq!(names(&store, &words(nothing)).await, [""; 0], "{nothing}");
    }

    let mut paged = Vec::new();
    let mut after = None;
    loop {
        let found = store.parties(customer_uuid(1), &all, page(after, 2)).await.unwrap();
        let Some(last) = found.last() else { break };
        after = Some((last.keys().name, last.uuid));
        paged.extend(found.into_iter().map(|party| party.details.name));
    }
    assert_eq!(paged, sorted);
}

pub(super) async fn the_registrations_of_a_party_are_listed_and_found_by_paddle(store: Shared) {
    sale(&store, 1).await;
    let (first, other) = (party(1, "Ada"), party(2, "Bo"));
    for party in [&first, &other] {
        enter(&store, 0, party.clone()).await.unwrap();
    }
    let registration = |number: usize, auction: usize, paddle: &str, party: &Party| Registration {
        uuid: caller_uuid(100 + number),
        auction: auction_uuid(auction),
        customer: customer_uuid(1),
        paddle: paddle.into(),
        party: Some(party.uuid),
        name: None,
        email: None,
        limit: None,
        note: None,
        status: RegistrationStatus::Approved,
        reason: None,
        actor: "key:1".into(),
        version: 1,
        created_at: at(1),
        updated_at: at(2),
        log: LogHead::default(),
        spending_version: 1,
    };
    let entered =
        [registration(1, 1, "12", &first), registration(2, 2, "12", &other), registration(3, 2, "77", &first)];
    for state in &entered {
        let registration = Versioned { expected_version: 0, state: state.clone() };
        store.put_registration(RegistrationWrite { registration, log: Vec::new(), answer: None }).await.unwrap();
    }
    let of = |after, limit| store.registrations_of_party(first.uuid, page(after, limit));
    assert_eq!(of(None, 10).await.unwrap(), [entered[2].clone(), entered[0].clone()]);
    assert_eq!(of(Some(entered[2].uuid), 10).await.unwrap(), [entered[0].clone()]);
    assert_eq!(of(None, 1).await.unwrap(), [entered[2].clone()]);
    // Of the two auctions the first one exists, so its paddle is one of the house.
    let paddle = |paddle: &str| PartyFilter { paddle: Some(paddle.into()), ..words("no-name") };
    assert_eq!(names(&store, &paddle("12")).await, ["Ada"]);
    assert_eq!(names(&store, &paddle("1")).await, [""; 0]);
    assert_eq!(names(&store, &paddle("1\0")).await, [""; 0]);
}
