//! The registers of houses.

use contract::models::CurrencyCode;
use jiff::Timestamp;
use platform_core::audit::LogKind;
use platform_core::port::{
    Change, LogEntry, Money, NAMESAKES_MAX, Party, PartyBlock, PartyDetails, PartyErasure, PartyErasureWrite,
    PartyFilter, PartyWrite, Registration, RegistrationStatus, RegistrationWrite, RemainingValues, StoreError,
    TelephoneBooking, Versioned, search_form,
};
use platform_rules::{Item, LogHash, LogHead};
use uuid::Uuid;

use super::given::{
    Shared, at, auction, auction_uuid, caller_uuid, commit, created, customer_uuid, item, item_uuid, page, sale,
    silent, whole,
};

/// A bidder of the first house, with characters that need escaping in SQL and JSON.
pub(super) fn party(number: usize, name: &str) -> Party {
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
        erasure: None,
        merged: None,
        actor: "user:1".into(),
        version: 1,
        created_at: at(1),
        updated_at: at(2),
        log: LogHead { number: 1, hash: LogHash([7; 32]) },
    }
}

pub(super) fn registration(number: usize, auction: usize, paddle: &str, party: &Party) -> Registration {
    Registration {
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
    }
}

pub(super) fn write(expected_version: i64, state: Registration) -> RegistrationWrite {
    RegistrationWrite {
        registration: Versioned { expected_version, state },
        log: Vec::new(),
        answer: None,
        mail: None,
        notice_cause: None,
        limit_decided: None,
    }
}

pub(super) async fn enter(store: &Shared, expected_version: i64, state: Party) -> Result<(), StoreError> {
    store.put_party(PartyWrite { party: Versioned { expected_version, state }, log: Vec::new() }).await
}

pub(super) fn words(text: &str) -> PartyFilter {
    PartyFilter { words: text.split(' ').map(search_form).collect(), ..PartyFilter::default() }
}

pub(super) async fn names(store: &Shared, filter: &PartyFilter) -> Vec<String> {
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
    let entered =
        [registration(1, 1, "12", &first), registration(2, 2, "12", &other), registration(3, 2, "77", &first)];
    for state in &entered {
        store.put_registration(write(0, state.clone())).await.unwrap();
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

fn entry(state: &Party, number: i64, concealed: Option<&str>) -> LogEntry {
    let (subject, hash) = (state.uuid, LogHash([number.to_le_bytes()[0]; 32]));
    LogEntry {
        subject,
        number,
        content: format!("{{\"number\":{number}}}"),
        concealed: concealed.map(Into::into),
        hash,
    }
}

fn erased(state: &Party, kept_until: Option<Timestamp>) -> Party {
    let erasure = PartyErasure { actor: "user:3".into(), at: at(4), kept_until };
    Party { details: PartyDetails::default(), erasure: Some(erasure), version: state.version + 1, ..state.clone() }
}

pub(super) async fn an_erasure_is_written_as_a_whole_or_not_at_all(store: Shared) {
    sale(&store, 1).await;
    let (state, other) = (party(1, "Ada"), party(2, "Bo"));
    enter(&store, 0, other.clone()).await.unwrap();
    let log = vec![entry(&state, 1, Some("{\"a\":1}")), entry(&state, 2, Some("{\"b\":2}")), entry(&state, 3, None)];
    let new = Versioned { expected_version: 0, state: state.clone() };
    store.put_party(PartyWrite { party: new, log: log.clone() }).await.unwrap();
    let (ada, bo) = (registration(1, 1, "12", &state), registration(2, 1, "13", &other));
    for registered in [&ada, &bo] {
        store.put_registration(write(0, registered.clone())).await.unwrap();
        let paddle = registered.paddle.clone();
        let (telephone, line, changed_by) = ("+49 30 1001".into(), String::new(), "user:1".into());
        let (auction, item) = (auction_uuid(1), caller_uuid(500));
        let booking = TelephoneBooking { auction, item, paddle, telephone, line, changed_at: at(1), changed_by };
        assert!(store.put_telephone_booking(booking, 10).await.unwrap());
    }
    let remaining = vec![
        RemainingValues { subject: state.uuid, number: 1, concealed: None },
        RemainingValues { subject: state.uuid, number: 2, concealed: Some("{}".into()) },
    ];
    let erasure = |expected_version| {
        let gone = erased(&state, None);
        let log = vec![entry(&gone, 4, None)];
        let parties = vec![PartyWrite { party: Versioned { expected_version: 1, state: gone }, log }];
        let registrations =
            vec![write(expected_version, Registration { version: expected_version + 1, ..ada.clone() })];
        PartyErasureWrite { parties, registrations, remaining: remaining.clone() }
    };
    let concealed = async || {
        let entries = store.log_entries(state.uuid, whole()).await.unwrap();
        entries.into_iter().map(|entry| entry.concealed).collect::<Vec<_>>()
    };
    // A registration changed meanwhile: nothing is written.
    assert!(matches!(store.erase_party(erasure(7)).await, Err(StoreError::Conflict)));
    assert_eq!(store.party(state.uuid).await.unwrap(), Some(state.clone()));
    assert_eq!(concealed().await, [Some("{\"a\":1}".into()), Some("{\"b\":2}".into()), None]);
    assert_eq!(store.telephone_bookings(auction_uuid(1)).await.unwrap().len(), 2);

    store.erase_party(erasure(1)).await.unwrap();
    assert_eq!(store.party(state.uuid).await.unwrap(), Some(erased(&state, None)));
    assert_eq!(concealed().await, [None, Some("{}".into()), None, None]);
    let entries = store.log_entries(state.uuid, whole()).await.unwrap();
    let rest = entries.into_iter().map(|entry| (entry.number, entry.content, entry.hash)).take(3);
    assert_eq!(
        rest.collect::<Vec<_>>(),
        log.into_iter().map(|it| (it.number, it.content, it.hash)).collect::<Vec<_>>()
    );
    assert_eq!(store.registration(ada.uuid).await.unwrap().map(|registration| registration.version), Some(2));
    let booked = store.telephone_bookings(auction_uuid(1)).await.unwrap();
    assert_eq!(booked.iter().map(|booking| booking.paddle.as_str()).collect::<Vec<_>>(), ["13"]);
    // The party changed meanwhile: its registrations stay, too.
    assert!(matches!(store.erase_party(erasure(2)).await, Err(StoreError::Conflict)));
    assert_eq!(store.registration(ada.uuid).await.unwrap().map(|registration| registration.version), Some(2));
}

pub(super) async fn an_erased_party_is_in_no_list_and_its_kept_details_fall_due(store: Shared) {
    sale(&store, 1).await;
    for (number, kept_until) in [(1, None), (2, Some(at(20))), (3, Some(at(10))), (4, Some(at(30)))] {
        let state = party(number, "Ada");
        enter(&store, 0, state.clone()).await.unwrap();
        store.put_registration(write(0, registration(number, 1, &number.to_string(), &state))).await.unwrap();
        let gone = erased(&state, kept_until);
        let parties =
            vec![PartyWrite { party: Versioned { expected_version: 1, state: gone.clone() }, log: Vec::new() }];
        let (registrations, remaining) = (Vec::new(), Vec::new());
        store.erase_party(PartyErasureWrite { parties, registrations, remaining }).await.unwrap();
        assert_eq!(store.inconsistent_columns(LogKind::Party, gone.uuid).await.unwrap(), [""; 0]);
    }
    enter(&store, 0, party(5, "Bo")).await.unwrap();
    assert_eq!(names(&store, &PartyFilter::default()).await, ["Bo"]);
    assert_eq!(names(&store, &words("ada")).await, [""; 0]);
    let paddle = PartyFilter { paddle: Some("2".into()), ..words("2") };
    assert_eq!(names(&store, &paddle).await, [""; 0]);
    let due = async |now, limit| {
        let due = store.parties_kept_until(now, limit).await.unwrap();
        due.into_iter().map(|party| party.uuid).collect::<Vec<_>>()
    };
    assert_eq!(due(at(9), 10).await, <[Uuid; 0]>::default());
    assert_eq!(due(at(20), 10).await, [caller_uuid(303), caller_uuid(302)]);
    assert_eq!(due(at(40), 1).await, [caller_uuid(303)]);
    // Its reference is free again.
    let again = PartyDetails { reference: Some("C-1".into()), ..party(6, "Cy").details };
    enter(&store, 0, Party { details: again, ..party(6, "Cy") }).await.unwrap();
}

pub(super) async fn the_items_of_a_consignor_are_those_of_the_house(store: Shared) {
    sale(&store, 3).await;
    let vendor = caller_uuid(301);
    let of = async |house, after, limit| {
        let found = store.consigned_items(house, vendor, page(after, limit)).await.unwrap();
        found.into_iter().map(|item| item.uuid).collect::<Vec<_>>()
    };
    assert_eq!(of(customer_uuid(1), None, 10).await, <[Uuid; 0]>::default());
    for (number, vendor) in [(1, vendor), (3, vendor), (2, caller_uuid(302))] {
        let stored = store.item(item_uuid(number)).await.unwrap().unwrap();
        let consigned = Item { vendor: Some(vendor), ..stored };
        store.commit(vec![silent(consigned)], None).await.unwrap().remove(0).unwrap();
    }
    let wanted = [item_uuid(1), item_uuid(3)];
    assert_eq!(of(customer_uuid(1), None, 10).await, wanted);
    assert_eq!(of(customer_uuid(1), None, 1).await, wanted[..1]);
    assert_eq!(of(customer_uuid(1), Some(wanted[0]), 10).await, wanted[1..]);
    assert_eq!(of(customer_uuid(2), None, 10).await, <[Uuid; 0]>::default());
}

pub(super) async fn parties_are_found_by_reference_and_consignors_by_name(store: Shared) {
    let consignor = |number, name| {
        let mut party = party(number, name);
        party.details.is_consignor = true;
        party
    };
    enter(&store, 0, consignor(1, "Jörg O'Bieter")).await.unwrap();
    enter(&store, 0, party(2, "Jorg o'bieter")).await.unwrap();
    enter(&store, 0, party(3, "Cy")).await.unwrap();
    let other = Party { customer: customer_uuid(2), ..consignor(4, "Jörg O'Bieter") };
    enter(&store, 0, other).await.unwrap();
    for number in 10..18 {
        enter(&store, 0, consignor(number, "Namesake")).await.unwrap();
    }
    let texts = |texts: &[&str]| -> Vec<String> { texts.iter().map(|text| (*text).to_owned()).collect() };
    let called = async |names: &[&str], references: &[&str]| {
        let found = store.parties_called(customer_uuid(1), &texts(names), &texts(references)).await.unwrap();
        let mut names: Vec<String> = found.iter().map(Party::label).collect();
        names.sort();
        names
    };
    assert_eq!(called(&["jorg o'bieter", "cy", "nobody\0"], &[]).await, ["Jörg O'Bieter (C-1)"], "no bidder");
    assert_eq!(called(&["nobody"], &["C-3", "c-1", "C-4", "C\0"]).await, ["Cy (C-3)"]);
    assert_eq!(called(&[], &[]).await, [""; 0]);
    assert_eq!(called(&["namesake"], &[]).await.len(), NAMESAKES_MAX);
}

pub(super) async fn several_parties_are_written_or_none(store: Shared) {
    let write = |expected_version, state| PartyWrite { party: Versioned { expected_version, state }, log: Vec::new() };
    store.put_parties(vec![write(0, party(1, "Ada")), write(0, party(2, "Bo"))]).await.unwrap();
    let renamed = |name: &str| Party { version: 2, ..party(1, name) };
    let taken = Party { uuid: caller_uuid(309), ..party(2, "Taken") };
    let refused = store.put_parties(vec![write(1, renamed("Ida")), write(0, taken)]).await;
    assert!(matches!(refused, Err(StoreError::Taken("reference"))), "{refused:?}");
    let refused = store.put_parties(vec![write(0, party(3, "Cy")), write(7, party(2, "Bob"))]).await;
    assert!(matches!(refused, Err(StoreError::Conflict)), "{refused:?}");
    assert_eq!(names(&store, &PartyFilter::default()).await, ["Ada", "Bo"]);
    store.put_parties(vec![write(1, renamed("Ida")), write(0, party(3, "Cy"))]).await.unwrap();
    assert_eq!(names(&store, &PartyFilter::default()).await, ["Bo", "Cy", "Ida"]);
}

pub(super) async fn the_items_of_a_vendor_are_listed_by_auction(store: Shared) {
    let vendor = caller_uuid(301);
    let of = |number, auction, position, vendor| Item {
        auction: auction_uuid(auction),
        position,
        lot_number: format!("{}", position + 1),
        vendor,
        ..item(number)
    };
    commit(&store, created(auction(1))).await.unwrap();
    commit(&store, created(auction(2))).await.unwrap();
    let items = [of(1, 1, 0, Some(vendor)), of(2, 1, 1, None), of(3, 1, 2, Some(vendor)), of(4, 2, 0, Some(vendor))];
    for item in &items {
        let new = Versioned { expected_version: 0, state: Item { version: 1, ..item.clone() } };
        commit(&store, Change { items: vec![new], ..Change::default() }).await.unwrap();
    }
    let auctions = async |after, limit| store.auctions_of_vendor(vendor, page(after, limit)).await.unwrap();
    assert_eq!(auctions(None, 9).await, [auction_uuid(2), auction_uuid(1)]);
    assert_eq!(auctions(None, 1).await, [auction_uuid(2)]);
    assert_eq!(auctions(Some(auction_uuid(2)), 9).await, [auction_uuid(1)]);
    let numbers = async |vendor, auction, limit| {
        let found = store.items_of_vendor(vendor, auction_uuid(auction), limit).await.unwrap();
        found.into_iter().map(|item| item.lot_number).collect::<Vec<_>>()
    };
    assert_eq!(numbers(vendor, 1, 9).await, ["1", "3"]);
    assert_eq!(numbers(vendor, 1, 1).await, ["1"]);
    // The vendor of an item changes, alone and together with other items.
    let changed = |item: &Item, version, vendor| {
        let state = Item { version: version + 1, vendor, ..item.clone() };
        Versioned { expected_version: version, state }
    };
    let change = Change { items: vec![changed(&items[1], 1, Some(vendor))], ..Change::default() };
    commit(&store, change).await.unwrap();
    assert_eq!(numbers(vendor, 1, 9).await, ["1", "2", "3"]);
    let both = vec![changed(&items[0], 1, None), changed(&items[1], 2, Some(caller_uuid(302)))];
    commit(&store, Change { items: both, ..Change::default() }).await.unwrap();
    assert_eq!(numbers(vendor, 1, 9).await, ["3"]);
    assert_eq!(numbers(caller_uuid(302), 1, 9).await, ["2"]);
    let stale = Change { items: vec![changed(&items[2], 7, None)], ..Change::default() };
    assert!(matches!(commit(&store, stale).await, Err(StoreError::Conflict)));
}
