//! Registrations of bidders, their spending versions, and the items on which they have bid.

use contract::ItemStatus;
use platform_core::audit::{LogEntry, LogKind};
use platform_core::port::{
    BidderItem, Change, ExpectedRegistration, Registration, RegistrationStatus, RegistrationWrite, SpendingVersion,
    StoreError, Versioned,
};
use platform_rules::{LogHash, LogHead};
use uuid::Uuid;

use super::given::{
    Shared, answer, at, auction_uuid, bid, caller_uuid, commit, customer_uuid, item_uuid, page, sale, silent, whole,
};

/// The paddle that [`bid`] bids with.
const PADDLE: &str = "paddle-7";

/// A registration for the first auction, with characters that need escaping in SQL and JSON.
fn registration(number: usize, paddle: &str) -> Registration {
    Registration {
        uuid: caller_uuid(100 + number),
        auction: auction_uuid(1),
        customer: customer_uuid(1),
        paddle: paddle.into(),
        party: Some(caller_uuid(200 + number)),
        name: Some("Jörg O'Bieter \"jun.\"".into()),
        email: Some("jörg@example.com".into()),
        limit: Some(1_000),
        note: Some("ruft an, 'nach 18 Uhr'".into()),
        status: RegistrationStatus::Approved,
        reason: Some("zurückgestellt".into()),
        actor: "key:1".into(),
        version: 1,
        created_at: at(1),
        updated_at: at(2),
        log: LogHead { number: 1, hash: LogHash([7; 32]) },
        spending_version: 1,
    }
}

async fn enter(store: &Shared, expected_version: i64, state: Registration) -> Result<(), StoreError> {
    let registration = Versioned { expected_version, state };
    store
        .put_registration(RegistrationWrite {
            registration,
            log: Vec::new(),
            answer: None,
            mail: None,
            notice_cause: None,
            limit_decided: None,
        })
        .await
}

pub(super) async fn a_registration_reads_back_and_changes_by_its_version(store: Shared) {
    let first = registration(1, "12");
    enter(&store, 0, first.clone()).await.unwrap();
    assert_eq!(store.registration(first.uuid).await.unwrap(), Some(first.clone()));
    assert_eq!(store.registration_by_paddle(auction_uuid(1), "12").await.unwrap(), Some(first.clone()));
    assert_eq!(store.registration_by_paddle(auction_uuid(2), "12").await.unwrap(), None);
    assert_eq!(store.registration_by_paddle(auction_uuid(1), "1\0").await.unwrap(), None);

    let suspended = Registration {
        status: RegistrationStatus::Suspended,
        party: None,
        limit: None,
        version: 2,
        spending_version: 2,
        ..first.clone()
    };
    enter(&store, 1, suspended.clone()).await.unwrap();
    assert!(matches!(enter(&store, 1, suspended.clone()).await, Err(StoreError::Conflict)));
    assert_eq!(store.registration(first.uuid).await.unwrap(), Some(suspended));
    let unknown = Registration { version: 2, ..registration(9, "99") };
    assert!(matches!(enter(&store, 1, unknown).await, Err(StoreError::Conflict)));
}

pub(super) async fn a_paddle_and_a_party_are_registered_once_in_an_auction(store: Shared) {
    enter(&store, 0, registration(1, "12")).await.unwrap();
    let same_paddle = Registration { party: None, ..registration(2, "12") };
    assert!(matches!(enter(&store, 0, same_paddle.clone()).await, Err(StoreError::Taken("paddle"))));
    let same_party = Registration { party: registration(1, "").party, ..registration(2, "13") };
    assert!(matches!(enter(&store, 0, same_party.clone()).await, Err(StoreError::Taken("party"))));
    enter(&store, 0, Registration { auction: auction_uuid(2), ..same_paddle }).await.unwrap();
    enter(&store, 0, Registration { uuid: caller_uuid(103), auction: auction_uuid(2), ..same_party }).await.unwrap();
    // Several registrations without a party are allowed.
    for number in 4..6 {
        enter(&store, 0, Registration { party: None, ..registration(number, &format!("P{number}")) }).await.unwrap();
    }
    let entry = |state: Registration| RegistrationWrite {
        registration: Versioned { expected_version: 0, state },
        log: Vec::new(),
        answer: Some(answer("k", "first", at(1))),
        mail: None,
        notice_cause: None,
        limit_decided: None,
    };
    store.put_registration(entry(registration(6, "20"))).await.unwrap();
    assert!(matches!(store.put_registration(entry(registration(7, "21"))).await, Err(StoreError::Replayed)));
    assert_eq!(store.registration_by_paddle(auction_uuid(1), "21").await.unwrap(), None);
    // A refused registration stores no answer.
    let mut refused = entry(registration(8, "20"));
    refused.answer = Some(answer("other", "refused", at(1)));
    assert!(matches!(store.put_registration(refused).await, Err(StoreError::Taken("paddle"))));
    assert_eq!(store.idempotent_answer(caller_uuid(1), "other").await.unwrap(), None);
}

pub(super) async fn a_registration_is_written_with_its_log_or_not_at_all(store: Shared) {
    let (first, other) = (registration(1, "12"), registration(2, "12"));
    let entry = |state: &Registration| LogEntry {
        subject: state.uuid,
        number: 1,
        content: "{\"name\":\"concealed:…\"}".into(),
        concealed: Some("{}".into()),
        hash: LogHash([7; 32]),
    };
    let written = |state: &Registration| RegistrationWrite {
        registration: Versioned { expected_version: 0, state: state.clone() },
        log: vec![entry(state)],
        answer: None,
        mail: None,
        notice_cause: None,
        limit_decided: None,
    };
    store.put_registration(written(&first)).await.unwrap();
    assert!(matches!(store.put_registration(written(&other)).await, Err(StoreError::Taken("paddle"))));
    assert_eq!(store.log_entries(first.uuid, page(None, 5)).await.unwrap(), [entry(&first)]);
    assert!(store.log_entries(other.uuid, page(None, 5)).await.unwrap().is_empty());
    assert_eq!(store.inconsistent_columns(LogKind::Registration, first.uuid).await.unwrap(), [""; 0]);
}

pub(super) async fn registrations_are_listed_in_order_and_paddle_numbers_rise(store: Shared) {
    assert_eq!(store.highest_paddle(auction_uuid(1)).await.unwrap(), 0);
    let paddles = ["7", "A9", "0012", "4000000000", ""];
    for (number, paddle) in (1..).zip(paddles) {
        enter(&store, 0, registration(number, paddle)).await.unwrap();
    }
    enter(&store, 0, Registration { auction: auction_uuid(2), ..registration(9, "80") }).await.unwrap();
    assert_eq!(store.highest_paddle(auction_uuid(1)).await.unwrap(), 12);
    // The name of a bidder can be added later.
    enter(&store, 0, Registration { name: None, ..registration(6, "late") }).await.unwrap();
    let wanted = ["7", "80", "late", "none", "1\0"].map(str::to_owned);
    let mut named = store.registrations_of_paddles(auction_uuid(1), &wanted).await.unwrap();
    named.sort_by_key(|found| found.uuid);
    assert_eq!(named, [registration(1, "7"), Registration { name: None, ..registration(6, "late") }]);
    let listed = |rows: Vec<Registration>| rows.into_iter().map(|row| row.paddle).collect::<Vec<_>>();
    assert_eq!(listed(store.registrations(auction_uuid(1), whole()).await.unwrap())[..5], paddles);
    for (paddle, similar) in [
        ("0007", Some("7")),
        ("a9", Some("A9")),
        ("12", Some("0012")),
        ("7", None),
        ("70", None),
        ("late ", None),
        ("7\0", None),
    ] {
        let found = store.similar_registration(auction_uuid(1), paddle).await.unwrap();
        assert_eq!(found.as_ref().map(|found| found.paddle.as_str()), similar, "{paddle:?}");
    }
    assert_eq!(store.similar_registration(auction_uuid(2), "07").await.unwrap(), None);
    let after = registration(2, "").uuid;
    assert_eq!(listed(store.registrations(auction_uuid(1), page(Some(after), 2)).await.unwrap()), &paddles[2..4]);
}

fn stake(number: usize, paddle: &str) -> BidderItem {
    BidderItem { auction: auction_uuid(1), paddle: paddle.into(), item: item_uuid(number) }
}

pub(super) async fn the_committed_amount_of_a_bidder_is_computed_from_bidder_items(store: Shared) {
    sale(&store, 5).await;
    let committed_amount =
        async |except: Option<Uuid>| store.committed_amount(auction_uuid(1), PADDLE, except).await.unwrap();
    for number in 1..=4 {
        let found = store.item(item_uuid(number)).await.unwrap().unwrap();
        let change = bid(found, number as i64 * 100);
        // The bidder item of the last one is recorded later.
        let bidder_items = if number < 4 { vec![stake(number, PADDLE), stake(number, "other")] } else { Vec::new() };
        commit(&store, Change { bidder_items, ..change }).await.unwrap();
    }
    // Maxima are seven higher than prices.
    assert_eq!(committed_amount(None).await, 107 + 207 + 307);
    store.record_bidder_items(vec![stake(4, PADDLE), stake(1, PADDLE), stake(5, PADDLE)]).await.unwrap();
    assert_eq!(committed_amount(None).await, 107 + 207 + 307 + 407);
    assert_eq!(committed_amount(Some(item_uuid(2))).await, 107 + 307 + 407);
    assert_eq!(store.committed_amount(auction_uuid(1), "other", None).await.unwrap(), 0);
    assert_eq!(store.committed_amount(auction_uuid(2), PADDLE, None).await.unwrap(), 0);
    // A sold item commits its price, an unsold one nothing.
    for (number, status) in [(1, ItemStatus::Sold), (2, ItemStatus::Unsold), (3, ItemStatus::Suspended)] {
        let mut item = store.item(item_uuid(number)).await.unwrap().unwrap();
        item.status = status;
        commit(&store, silent(item)).await.unwrap();
    }
    assert_eq!(committed_amount(None).await, 100 + 307 + 407);
}

pub(super) async fn a_spending_version_is_used_once(store: Shared) {
    sale(&store, 3).await;
    let bidder = registration(1, PADDLE);
    enter(&store, 0, bidder.clone()).await.unwrap();
    let spending_version = |seen| Some(SpendingVersion { registration: bidder.uuid, expected: seen });
    let on = async |number, seen| {
        let found = store.item(item_uuid(number)).await.unwrap().unwrap();
        let change = Change {
            spending_version: spending_version(seen),
            bidder_items: vec![stake(number, PADDLE)],
            ..bid(found, 100)
        };
        Change { answer: Some(answer(&format!("k{number}.{seen}"), "made", at(1))), ..change }
    };
    // Of two bids in one batch with the same spending version, only the first is stored.
    let results = store.commit(vec![on(1, 1).await, on(2, 1).await, on(3, 2).await], None).await.unwrap();
    assert!(matches!(results.as_slice(), [Ok(_), Err(StoreError::Conflict), Ok(_)]), "{results:?}");
    assert_eq!(store.item(item_uuid(2)).await.unwrap().unwrap().price(), None);
    assert_eq!(store.idempotent_answer(caller_uuid(1), "k2.1").await.unwrap(), None);
    assert_eq!(store.registration(bidder.uuid).await.unwrap().unwrap().spending_version, 3);
    // A bid that is refused for another reason does not raise the spending version.
    let stale = Change { spending_version: spending_version(3), ..bid(super::given::item(1), 100) };
    assert!(matches!(commit(&store, stale).await, Err(StoreError::Conflict)));
    // A change of the registration raises the spending version, too.
    enter(&store, 1, Registration { version: 2, ..bidder.clone() }).await.unwrap();
    assert!(matches!(commit(&store, on(2, 3).await).await, Err(StoreError::Conflict)));
    commit(&store, on(2, 4).await).await.unwrap();
    let nobodys = Change {
        spending_version: Some(SpendingVersion { registration: caller_uuid(1), expected: 1 }),
        ..on(2, 5).await
    };
    assert!(matches!(commit(&store, nobodys).await, Err(StoreError::Conflict)));
}

pub(super) async fn bids_on_many_items_at_once_stay_within_a_limit(store: Shared) {
    const ITEMS: usize = 12;
    sale(&store, ITEMS).await;
    let bidder = registration(1, PADDLE);
    enter(&store, 0, bidder.clone()).await.unwrap();
    // Nine bids of 107 fit into 1,000.
    let place = |store: Shared, number: usize| async move {
        for _ in 0..1_000 {
            let seen = store.registration_by_paddle(auction_uuid(1), PADDLE).await.unwrap().unwrap();
            let found = store.item(item_uuid(number)).await.unwrap().unwrap();
            let bound = store.committed_amount(auction_uuid(1), PADDLE, Some(found.uuid)).await.unwrap();
            if bound + 107 > seen.limit.unwrap() {
                return false;
            }
            let spending_version = Some(SpendingVersion { registration: seen.uuid, expected: seen.spending_version });
            match commit(
                &store,
                Change { spending_version, bidder_items: vec![stake(number, PADDLE)], ..bid(found, 100) },
            )
            .await
            {
                Ok(_) => return true,
                Err(StoreError::Conflict) => {}
                Err(other) => panic!("{other}"),
            }
        }
        panic!("1,000 tries failed with a conflict");
    };
    let bids: Vec<_> = (1..=ITEMS).map(|number| tokio::spawn(place(store.clone(), number))).collect();
    let mut made = 0;
    for bid in bids {
        made += i64::from(bid.await.unwrap());
    }
    assert_eq!(made, 9);
    assert_eq!(store.committed_amount(auction_uuid(1), PADDLE, None).await.unwrap(), 9 * 107);
}

pub(super) async fn a_bid_conflicts_when_its_registration_has_changed(store: Shared) {
    sale(&store, 2).await;
    let seen = async |number: usize, version: i64| {
        let found = store.item(item_uuid(number)).await.unwrap().unwrap();
        let registration = Some(ExpectedRegistration { auction: auction_uuid(1), paddle: PADDLE.into(), version });
        commit(&store, Change { registration, answer: Some(answer("k", "bid", at(1))), ..bid(found, 100) }).await
    };
    // No bidder is registered, and the command expected that (version 0).
    assert!(matches!(seen(1, 1).await, Err(StoreError::Conflict)));
    seen(1, 0).await.unwrap();
    store.delete_expired_answers(at(2), 10).await.unwrap();
    let bidder = Registration { limit: None, ..registration(1, PADDLE) };
    enter(&store, 0, bidder.clone()).await.unwrap();
    assert!(matches!(seen(1, 0).await, Err(StoreError::Conflict)), "the bid ignored a new registration");
    assert_eq!(store.idempotent_answer(caller_uuid(1), "k").await.unwrap(), None, "a refused bid stored its answer");
    let suspended = Registration { status: RegistrationStatus::Suspended, version: 2, spending_version: 2, ..bidder };
    enter(&store, 1, suspended.clone()).await.unwrap();
    assert!(matches!(seen(1, 1).await, Err(StoreError::Conflict)), "the bid ignored a suspension");
    let [one, two] = [1, 2].map(item_uuid);
    assert_eq!(store.item(one).await.unwrap().unwrap().bid_count, 1);
    // The expected registration is checked and stays unchanged; the bid on the other item is written.
    seen(2, 2).await.unwrap();
    assert_eq!(store.item(two).await.unwrap().unwrap().bid_count, 1);
    assert_eq!(store.registration_by_paddle(auction_uuid(1), PADDLE).await.unwrap(), Some(suspended));
}

pub(super) async fn a_paddle_can_change_until_it_has_a_bidder_item(store: Shared) {
    sale(&store, 2).await;
    let first = registration(1, "12");
    enter(&store, 0, first.clone()).await.unwrap();
    enter(&store, 0, registration(2, "13")).await.unwrap();
    let renamed = |paddle: &str, version| Registration { paddle: paddle.into(), version, ..first.clone() };
    assert!(matches!(enter(&store, 1, renamed("13", 2)).await, Err(StoreError::Taken("paddle"))));
    enter(&store, 1, renamed(PADDLE, 2)).await.unwrap();
    assert_eq!(store.registration_by_paddle(auction_uuid(1), "12").await.unwrap(), None);
    assert_eq!(store.registration_by_paddle(auction_uuid(1), PADDLE).await.unwrap().unwrap().uuid, first.uuid);
    assert_eq!((store.highest_paddle(auction_uuid(1)).await.unwrap()), 13);
    assert_eq!(store.inconsistent_columns(LogKind::Registration, first.uuid).await.unwrap(), [""; 0]);

    assert!(!store.has_bid(auction_uuid(1), PADDLE).await.unwrap());
    let found = store.item(item_uuid(1)).await.unwrap().unwrap();
    commit(&store, bid(found, 100)).await.unwrap();
    for (auction, paddle, has_bid) in [(1, PADDLE, true), (1, "13", false), (2, PADDLE, false), (1, "1\0", false)] {
        assert_eq!(store.has_bid(auction_uuid(auction), paddle).await.unwrap(), has_bid, "{paddle}");
    }
    // The bid itself does not block a rename in the store; its caller checks `has_bid` first. A recorded bidder item
    // blocks it.
    store.record_bidder_items(vec![stake(1, PADDLE)]).await.unwrap();
    assert!(matches!(enter(&store, 2, renamed("14", 3)).await, Err(StoreError::Conflict)));
    enter(&store, 2, Registration { name: Some("Other".into()), ..renamed(PADDLE, 3) }).await.unwrap();
}
