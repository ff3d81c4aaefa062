//! Changes of what is configured as it was seen, applications by their endpoints, and counts.

use provider_core::model::counts::AttemptCounts;
use provider_core::model::{Application, Attempt, AttemptStatus, Endpoint, EventType};
use provider_core::port::{Answer, ApplicationExclusion, Cursor, IdempotentAnswer, Order};

use super::given::*;

pub(super) async fn what_changed_meanwhile_is_not_replaced(store: Shared) {
    let before = routes(&store, 1).await;
    let old = store.endpoint(&id("app", 1), &id("ep", 1)).await.unwrap().unwrap();
    let first = Endpoint { description: "first".to_owned(), ..old.clone() };
    store.replace_endpoint(old.clone(), first.clone(), None).await.unwrap();
    assert_eq!(version(&store).await, before + 1);
    let second = Endpoint { disabled: true, ..old.clone() };
    assert_eq!(reason(store.replace_endpoint(old.clone(), second.clone(), None).await.unwrap_err()), "stale");
    assert_eq!(store.endpoint(&id("app", 1), &id("ep", 1)).await.unwrap(), Some(first.clone()));
    // A failing attempt is such a change as well.
    accepted(&store, vec![sent(1, before + 1, &[(1, Some(1))])], at(0)).await;
    store.record_attempts(vec![failed(attempt(1, 1, 1, at(10)), 1, 5)].into(), NO_DELAY).await.unwrap();
    assert_eq!(reason(store.replace_endpoint(first, second.clone(), None).await.unwrap_err()), "stale");
    let missing = Endpoint { id: id("ep", 9), ..old };
    assert_eq!(reason(store.replace_endpoint(missing, second, None).await.unwrap_err()), "not found");

    let old = store.application(&id("org", 1), &id("app", 1)).await.unwrap().unwrap();
    let new = Application { name: "New".to_owned(), ..old.clone() };
    store.replace_application(old.clone(), new.clone()).await.unwrap();
    assert_eq!(reason(store.replace_application(old.clone(), new.clone()).await.unwrap_err()), "stale");
    assert_eq!(store.application(&id("org", 1), &id("app", 1)).await.unwrap().unwrap().name, "New");
    let elsewhere = Application { account: id("org", 2), ..old };
    assert_eq!(reason(store.replace_application(elsewhere, new).await.unwrap_err()), "not found");

    let old = event_type("A");
    let new = EventType { description: "New".to_owned(), feature_flags: Default::default(), ..old.clone() };
    assert_eq!(reason(store.replace_event_type(old.clone(), new.clone()).await.unwrap_err()), "not found");
    store.create_event_type(old.clone(), None).await.unwrap();
    store.replace_event_type(old.clone(), new.clone()).await.unwrap();
    assert_eq!(reason(store.replace_event_type(old, new.clone()).await.unwrap_err()), "stale");
    assert_eq!(store.event_type(&id("org", 1), "A").await.unwrap(), Some(new));
}

pub(super) async fn a_replacement_with_a_key_happens_once(store: Shared) {
    routes(&store, 1).await;
    let old = store.endpoint(&id("app", 1), &id("ep", 1)).await.unwrap().unwrap();
    let answer = |body: &str| IdempotentAnswer {
        account: id("org", 1),
        key: "k".to_owned(),
        request_hash: [1; 32],
        answer: Answer::Body { status: 200, body: body.to_owned() },
        at: at(5),
    };
    let described = |text: &str| Endpoint { description: text.to_owned(), ..old.clone() };
    let stale = store.replace_endpoint(described("never"), described("other"), Some(answer("lost"))).await;
    assert_eq!(reason(stale.unwrap_err()), "stale");
    assert_eq!(store.idempotent_answer(&id("org", 1), "k").await.unwrap(), None, "no change, no answer");
    store.replace_endpoint(old.clone(), described("first"), Some(answer("kept"))).await.unwrap();
    let again = store.replace_endpoint(described("first"), described("second"), Some(answer("again"))).await;
    assert_eq!(reason(again.unwrap_err()), "replayed");
    assert_eq!(store.endpoint(&id("app", 1), &id("ep", 1)).await.unwrap(), Some(described("first")));
    assert_eq!(store.idempotent_answer(&id("org", 1), "k").await.unwrap(), Some(answer("kept")));
}

pub(super) async fn of_changes_at_the_same_time_none_is_lost(store: Shared) {
    routes(&store, 1).await;
    let add = async |number: usize| {
        loop {
            let old = store.endpoint(&id("app", 1), &id("ep", 1)).await.unwrap().unwrap();
            let mut new = old.clone();
            new.metadata.insert(format!("key {number}"), "there".to_owned());
            match store.replace_endpoint(old, new, None).await.map_err(reason) {
                Ok(()) => return,
                Err(reason) => assert_eq!(reason, "stale"),
            }
        }
    };
    tokio::join!(add(1), add(2), add(3), add(4));
    let metadata = store.endpoint(&id("app", 1), &id("ep", 1)).await.unwrap().unwrap().metadata;
    assert_eq!(metadata.into_keys().collect::<Vec<_>>(), ["key 1", "key 2", "key 3", "key 4"]);
}

pub(super) async fn event_types_are_put_together_or_not_at_all(store: Shared) {
    store.create_account(account(1)).await.unwrap();
    store.create_event_type(event_type("B"), None).await.unwrap();
    let changed = EventType { archived: true, ..event_type("B") };
    let kept = Some(IdempotentAnswer { key: "import".to_owned(), ..answer("import", 1, at(5)) });
    let all = vec![changed.clone(), event_type("A")];
    store.upsert_event_types(all.clone(), kept.clone()).await.unwrap();
    let list = async || store.event_types(&id("org", 1), whole(Order::Ascending)).await.unwrap();
    assert_eq!(list().await, [event_type("A"), changed.clone()]);
    let again = store.upsert_event_types(vec![event_type("C")], kept).await.unwrap_err();
    assert_eq!(reason(again), "replayed");
    assert_eq!(list().await, [event_type("A"), changed]);
}

pub(super) async fn applications_are_left_out_by_their_endpoints(store: Shared) {
    store.create_account(account(1)).await.unwrap();
    let play = "https://play.svix.com/in/c_1/";
    let given: [(usize, &[(&str, bool)]); 5] = [
        (1, &[]),
        (2, &[("https://a.example/", true)]),
        (3, &[(play, false), ("https://api.play.svix.com/x", false)]),
        (4, &[(play, true), ("https://a.example/", false)]),
        (5, &[("https://play.svix.com.example/", false)]),
    ];
    let mut endpoints = 0;
    for (number, of_application) in given {
        store.create_application(application(number), None).await.unwrap();
        for (url, disabled) in of_application {
            endpoints += 1;
            let (application, url) = (id("app", number), (*url).to_owned());
            let new = Endpoint { application, url, disabled: *disabled, uid: None, ..endpoint(endpoints) };
            store.create_endpoint(new, usize::MAX, None).await.unwrap();
        }
    }
    let ask = async |exclude: &[ApplicationExclusion], page| {
        let found = store.applications_except(&id("org", 1), exclude, page).await.unwrap();
        found.iter().map(|application| application.id.trim_start_matches("app_0").to_owned()).collect::<Vec<_>>()
    };
    let list = async |exclude: &[ApplicationExclusion]| {
        let found = ask(exclude, whole(Order::Ascending)).await;
        found.iter().map(|id| id.trim_start_matches('0')).collect::<String>()
    };
    assert_eq!(list(&[]).await, "12345");
    assert_eq!(list(&[ApplicationExclusion::WithoutEndpoints]).await, "2345");
    assert_eq!(list(&[ApplicationExclusion::OnlyDisabledEndpoints]).await, "1345");
    assert_eq!(list(&[ApplicationExclusion::OnlyPlayEndpoints]).await, "1245");
    let all = [
        ApplicationExclusion::WithoutEndpoints,
        ApplicationExclusion::OnlyDisabledEndpoints,
        ApplicationExclusion::OnlyPlayEndpoints,
    ];
    assert_eq!(list(&all).await, "45");
    let last_before_five = page(Some(Cursor::Before(id("app", 5).to_string())), Order::Ascending, 1);
    assert!(ask(&[ApplicationExclusion::OnlyDisabledEndpoints], last_before_five).await[0].ends_with('4'));
    let after_one = page(Some(Cursor::After(id("app", 1).to_string())), Order::Ascending, 1);
    assert!(ask(&[ApplicationExclusion::OnlyDisabledEndpoints], after_one).await[0].ends_with('3'));
}

pub(super) async fn attempts_and_what_waits_are_counted_within_their_ids(store: Shared) {
    let version = routes(&store, 2).await;
    let messages = (1..=6).map(|number| sent(number, version, &[(1, None), (2, Some(1))])).collect();
    accepted(&store, messages, at(0)).await;
    let cancelled = |attempt: Attempt| Attempt { status: AttemptStatus::Cancelled, ..attempt };
    store
        .record_attempts(
            vec![
                succeeded(attempt(1, 1, 1, at(10))),
                failed(attempt(2, 2, 1, at(10)), 1, 5),
                failed(attempt(3, 3, 1, at(10)), 1, 5),
                failed(attempt(4, 2, 1, at(10)), 2, 5),
                succeeded(cancelled(attempt(5, 4, 1, at(10)))),
                succeeded(attempt(6, 1, 2, at(10))),
            ]
            .into(),
            NO_DELAY,
        )
        .await
        .unwrap();
    let count = async |from: usize, to: usize| {
        store.count_attempts(&id("ep", 1), id("atmpt", from)..id("atmpt", to)).await.unwrap()
    };
    let waiting = async |from: usize, to: usize| {
        let waiting = store.endpoint_waiting(&id("ep", 1), Some(id("msg", from)..id("msg", to))).await.unwrap();
        (waiting.first, waiting.retries)
    };
    assert_eq!(count(0, 99).await, AttemptCounts { success: 1, fail: 3, cancelled: 1 });
    assert_eq!(waiting(0, 99).await, (2, 2));
    assert_eq!(count(2, 4).await, AttemptCounts { success: 0, fail: 2, cancelled: 0 });
    assert_eq!(waiting(3, 6).await, (1, 1));
    assert_eq!((count(9, 9).await, waiting(9, 9).await), (AttemptCounts::default(), (0, 0)));
}
