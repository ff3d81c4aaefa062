//! Accounts, keys, answers, applications, event types, endpoints.

use provider_core::model::{ApiKey, Application, Endpoint, EventType};
use provider_core::port::{Answer, IdempotentAnswer, Order};

use super::given::*;

pub(super) async fn api_keys_belong_to_an_account_and_are_found_by_their_hash(store: Shared) {
    let key = |number: usize, account: usize| ApiKey {
        id: id("key", number),
        account: id("org", account),
        name: format!("Key {number}"),
        hash: [number as u8; 32],
        created_at: at(3),
        expires_at: (number == 2).then(|| at(9_000)),
        last_used_at: None,
        last_used_from: None,
        scopes: None,
    };
    assert_eq!(reason(store.create_api_key(key(1, 1), entry(1)).await.unwrap_err()), "not found");
    store.create_account(account(1)).await.unwrap();
    store.create_account(account(2)).await.unwrap();
    for (number, account) in [(1, 1), (2, 2), (3, 1)] {
        store.create_api_key(key(number, account), entry(1)).await.unwrap();
    }
    assert_eq!(store.account(&id("org", 2)).await.unwrap(), Some(account(2)));
    assert_eq!(store.account(&id("org", 3)).await.unwrap(), None);
    assert_eq!(store.accounts(whole(Order::Ascending)).await.unwrap(), [account(1), account(2)]);
    assert_eq!(store.api_key_by_hash([2; 32]).await.unwrap(), Some(key(2, 2)));
    assert_eq!(store.api_keys(&id("org", 1), whole(Order::Descending)).await.unwrap(), [key(3, 1), key(1, 1)]);

    assert!(!store.delete_api_key(&id("org", 1), &id("key", 2), entry(2)).await.unwrap(), "it is another account's");
    assert!(store.delete_api_key(&id("org", 2), &id("key", 2), entry(2)).await.unwrap());
    assert!(!store.delete_api_key(&id("org", 2), &id("key", 2), entry(2)).await.unwrap());
    assert_eq!(store.api_key_by_hash([2; 32]).await.unwrap(), None);
}

pub(super) async fn an_answer_is_kept_with_its_write_and_once(store: Shared) {
    let kept = IdempotentAnswer {
        account: id("org", 1),
        key: "auto_1".to_owned(),
        request_hash: [7; 32],
        answer: Answer::Body { status: 201, body: "{\"id\":\"app_1\"}".to_owned() },
        at: at(5),
    };
    store.create_account(account(1)).await.unwrap();
    store.create_application(application(1), Some(kept.clone())).await.unwrap();
    assert_eq!(store.idempotent_answer(&id("org", 1), "auto_1").await.unwrap(), Some(kept.clone()));
    assert_eq!(store.idempotent_answer(&id("org", 2), "auto_1").await.unwrap(), None, "a key is its account's");

    let again = Some(kept.clone());
    let refused = store.create_application(application(2), again.clone()).await.unwrap_err();
    assert_eq!(reason(refused), "replayed");
    assert_eq!(store.application(&id("org", 1), &id("app", 2)).await.unwrap(), None);
    assert_eq!(reason(store.create_event_type(event_type("A"), again.clone()).await.unwrap_err()), "replayed");
    assert_eq!(reason(store.upsert_event_types(vec![event_type("A")], again.clone()).await.unwrap_err()), "replayed");
    assert_eq!(store.event_type(&id("org", 1), "A").await.unwrap(), None);
    assert_eq!(reason(store.create_endpoint(endpoint(1), usize::MAX, again).await.unwrap_err()), "replayed");
    assert_eq!(store.endpoint(&id("app", 1), &id("ep", 1)).await.unwrap(), None);
    assert_eq!(version(&store).await, 1);

    // A write that is refused keeps no answer.
    let other = IdempotentAnswer { key: "auto_2".to_owned(), ..kept };
    let same_uid = Application { id: id("app", 3), ..application(1) };
    assert_eq!(reason(store.create_application(same_uid, Some(other)).await.unwrap_err()), "taken uid");
    assert_eq!(store.idempotent_answer(&id("org", 1), "auto_2").await.unwrap(), None);
}

pub(super) async fn old_answers_are_forgotten_a_few_at_a_time(store: Shared) {
    let version = routes(&store, 0).await;
    for number in 1..=6 {
        let mut message = sent(number, version, &[]);
        message.answer = Some(answer(&format!("key {number}"), number, at(number as i64 * 1_000)));
        store.accept(vec![message], at(0)).await.unwrap().remove(0).unwrap();
    }
    assert_eq!(store.delete_expired_answers(at(4_000), 2).await.unwrap(), 2);
    assert_eq!(store.delete_expired_answers(at(4_000), 2).await.unwrap(), 1);
    assert_eq!(store.delete_expired_answers(at(4_000), 2).await.unwrap(), 0);
    for number in 1..=6 {
        let found = store.idempotent_answer(&id("org", 1), &format!("key {number}")).await.unwrap();
        assert_eq!(found.is_some(), number >= 4, "key {number}");
    }
}

pub(super) async fn an_application_is_found_by_id_or_uid_within_its_account(store: Shared) {
    store.create_account(account(1)).await.unwrap();
    store.create_account(account(2)).await.unwrap();
    store.create_application(application(1), None).await.unwrap();
    let elsewhere = Application { account: id("org", 2), id: id("app", 2), ..application(1) };
    store.create_application(elsewhere.clone(), None).await.unwrap();

    for name in [&*id("app", 1), "customer-1"] {
        assert_eq!(store.application(&id("org", 1), name).await.unwrap(), Some(application(1)));
    }
    assert_eq!(store.application(&id("org", 2), "customer-1").await.unwrap(), Some(elsewhere));
    assert_eq!(store.application(&id("org", 2), &id("app", 1)).await.unwrap(), None);
    assert_eq!(store.applications(&id("org", 1), whole(Order::Ascending)).await.unwrap(), [application(1)]);
}

pub(super) async fn an_application_that_changes_keeps_its_creation_and_gets_a_version(store: Shared) {
    store.create_account(account(1)).await.unwrap();
    store.create_application(application(1), None).await.unwrap();
    store.create_application(application(2), None).await.unwrap();
    let changed = Application {
        uid: None,
        name: "Renamed".to_owned(),
        throttle_rate: None,
        metadata: Default::default(),
        version: 99,
        created_at: at(70),
        updated_at: at(80),
        ..application(1)
    };
    update_application(&*store, changed.clone()).await.unwrap();
    let expected = Application { version: 2, created_at: at(1), ..changed.clone() };
    assert_eq!(store.application(&id("org", 1), &id("app", 1)).await.unwrap(), Some(expected));

    let taken = Application { uid: application(2).uid, ..changed.clone() };
    assert_eq!(reason(update_application(&*store, taken).await.unwrap_err()), "taken uid");
    let elsewhere = Application { account: id("org", 2), ..changed.clone() };
    assert_eq!(reason(update_application(&*store, elsewhere).await.unwrap_err()), "not found");
    update_application(&*store, Application { uid: application(1).uid, ..changed }).await.unwrap();
}

pub(super) async fn event_types_are_listed_by_name_and_put_over_each_other(store: Shared) {
    store.create_account(account(1)).await.unwrap();
    for name in ["b.two", "A_ONE", "a.one"] {
        store.create_event_type(event_type(name), None).await.unwrap();
    }
    assert_eq!(reason(store.create_event_type(event_type("b.two"), None).await.unwrap_err()), "taken name");
    let archived = EventType { archived: true, schemas: None, updated_at: at(9), ..event_type("a.one") };
    store.upsert_event_types(vec![archived.clone()], None).await.unwrap();
    store.upsert_event_types(vec![event_type("c")], None).await.unwrap();
    let listed = store.event_types(&id("org", 1), whole(Order::Ascending)).await.unwrap();
    assert_eq!(listed, [event_type("A_ONE"), archived.clone(), event_type("b.two"), event_type("c")]);
    assert_eq!(store.event_type(&id("org", 1), "a.one").await.unwrap(), Some(archived));
    assert_eq!(store.event_type(&id("org", 2), "a.one").await.unwrap(), None);
    assert!(store.delete_event_type(&id("org", 1), "c").await.unwrap());
    assert!(!store.delete_event_type(&id("org", 1), "c").await.unwrap());
}

pub(super) async fn an_endpoint_change_raises_the_applications_version(store: Shared) {
    assert_eq!(reason(store.create_endpoint(endpoint(1), usize::MAX, None).await.unwrap_err()), "not found");
    assert_eq!(routes(&store, 2).await, 3);
    let (application, endpoints) = store.snapshot(&id("app", 1)).await.unwrap().unwrap();
    assert_eq!((application.version, endpoints), (3, vec![endpoint(1), endpoint(2)]));
    for name in [&*id("ep", 2), "receiver-2"] {
        assert_eq!(store.endpoint(&id("app", 1), name).await.unwrap(), Some(endpoint(2)));
    }
    assert_eq!(store.endpoint(&id("app", 2), &id("ep", 2)).await.unwrap(), None);

    let same_uid = Endpoint { id: id("ep", 3), ..endpoint(2) };
    assert_eq!(reason(store.create_endpoint(same_uid, usize::MAX, None).await.unwrap_err()), "taken uid");
    assert_eq!(version(&store).await, 3);

    let changed = Endpoint {
        disabled: true,
        filter_types: None,
        channels: Some(vec!["north".to_owned()]),
        throttle_rate: Some(9),
        metadata: [("region".to_owned(), "Zürich".to_owned())].into(),
        version: std::num::NonZeroU16::new(7).unwrap(),
        old_secrets: Vec::new(),
        failing_since: Some(at(40)),
        created_at: at(70),
        updated_at: at(80),
        ..endpoint(2)
    };
    update_endpoint(&*store, changed.clone()).await.unwrap();
    // The store notes since when it is disabled, and keeps that through later changes.
    let expected = Endpoint { created_at: at(1), disabled_at: Some(at(80)), ..changed.clone() };
    assert_eq!(store.endpoint(&id("app", 1), &id("ep", 2)).await.unwrap(), Some(expected));
    assert_eq!(version(&store).await, 4);

    let taken = Endpoint { uid: endpoint(1).uid, ..changed.clone() };
    assert_eq!(reason(update_endpoint(&*store, taken).await.unwrap_err()), "taken uid");
    let missing = Endpoint { id: id("ep", 9), uid: None, ..changed };
    assert_eq!(reason(update_endpoint(&*store, missing).await.unwrap_err()), "not found");
    assert_eq!(version(&store).await, 4);

    assert!(store.delete_endpoint(&id("app", 1), &id("ep", 2)).await.unwrap());
    assert!(!store.delete_endpoint(&id("app", 1), &id("ep", 2)).await.unwrap());
    assert_eq!(version(&store).await, 5);
    assert_eq!(store.endpoints(&id("app", 1), whole(Order::Descending)).await.unwrap(), [endpoint(1)]);
}

pub(super) async fn a_ping_reads_and_writes(store: Shared) {
    store.ping().await.unwrap();
    store.ping().await.unwrap();
}
