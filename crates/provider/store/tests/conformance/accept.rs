//! Accepting messages.

use provider_core::Payload;
use provider_core::model::Message;
use provider_core::payload::media_type::MediaType;
use provider_core::port::{NewMessage, Order};

use super::given::*;

const TRACE_PARENT: &str = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";

fn named(number: usize, version: i64, event_id: &str) -> NewMessage {
    let message = Message { event_id: Some(event_id.to_owned()), ..message(number) };
    new(message, version)
}

fn keyed(new: NewMessage, key: &str) -> NewMessage {
    let number = new.message.id[4..].parse().unwrap();
    NewMessage { answer: Some(answer(key, number, at(9))), ..new }
}

pub(super) async fn an_accepted_message_reads_back_as_it_was_sent(store: Shared) {
    let version = routes(&store, 0).await;
    let sent = Message {
        event_id: Some("lot.1".to_owned()),
        tags: Some(vec!["spring".to_owned()]),
        channels: None,
        payload: Some("{ \"b\" : 1.0,\"a\":\"ü\"}".into()),
        trace_parent: Some(TRACE_PARENT.parse().unwrap()),
        ..message(1)
    };
    accepted(&store, vec![new(sent.clone(), version), new(message(2), version)], at(5)).await;
    for name in [&*id("msg", 1), "lot.1"] {
        assert_eq!(store.message(&id("app", 1), name).await.unwrap(), Some(sent.clone()));
    }
    assert_eq!(store.message(&id("app", 2), "lot.1").await.unwrap(), None);
    assert_eq!(messages(&*store, &id("app", 1), Order::Descending).await, [message(2), sent]);
}

pub(super) async fn a_payload_is_kept_with_its_media_type(store: Shared) {
    let version = routes(&store, 1).await;
    let media_type = MediaType::parse("text/xml; charset=utf-8").unwrap();
    let payload = Payload::from_text("<größe/>".to_owned()).unwrap().with_media_type(media_type);
    let typed = NewMessage {
        message: Message {
            payload: Some(payload.into()),
            trace_parent: Some(TRACE_PARENT.parse().unwrap()),
            ..message(1)
        },
        ..sent(1, version, &[(1, None)])
    };
    accepted(&store, vec![typed.clone(), sent(2, version, &[(1, None)])], at(5)).await;
    let listed = messages(&*store, &id("app", 1), Order::Ascending).await;
    let claimed =
        claim_all(&*store, 1, 1, 10, 10).await.into_iter().map(|delivery| delivery.message).collect::<Vec<_>>();
    for read in [listed, claimed] {
        assert_eq!(read, [typed.message.clone(), message(2)]);
        let payloads: Vec<_> = read.into_iter().filter_map(|message| message.payload).collect();
        assert_eq!(payloads[0].media_type(), Some("text/xml; charset=utf-8"));
        assert_eq!((payloads[0].text(), payloads[1].media_type()), ("<größe/>".as_bytes(), None));
    }
}

pub(super) async fn an_event_id_is_unique_in_its_application(store: Shared) {
    let version = routes(&store, 0).await;
    store.create_application(application(2), None).await.unwrap();
    let elsewhere = NewMessage {
        message: Message { application: id("app", 2), ..named(4, 1, "lot.1").message },
        ..named(4, 1, "lot.1")
    };
    let batch = vec![named(1, version, "lot.1"), named(2, version, "lot.1"), named(3, version, "lot.2"), elsewhere];
    let results = store.accept(batch, at(5)).await.unwrap();
    assert_eq!(reasons(results), ["ok", "taken eventId", "ok", "ok"]);
    let results = store.accept(vec![named(5, version, "lot.2"), named(6, version, "lot.3")], at(6)).await.unwrap();
    assert_eq!(reasons(results), ["taken eventId", "ok"]);

    let kept = messages(&*store, &id("app", 1), Order::Ascending).await;
    assert_eq!(kept.iter().map(|message| message.id.clone()).collect::<Vec<_>>(), [1, 3, 6].map(|n| id("msg", n)));
    assert_eq!(store.message(&id("app", 2), "lot.1").await.unwrap().unwrap().id, id("msg", 4));
}

pub(super) async fn an_idempotency_key_accepts_one_message(store: Shared) {
    let version = routes(&store, 1).await;
    let first = keyed(sent(1, version, &[(1, Some(1))]), "k1");
    let batch = vec![first, keyed(new(message(2), version), "k1"), keyed(new(message(3), version), "k3")];
    assert_eq!(reasons(store.accept(batch, at(5)).await.unwrap()), ["ok", "replayed", "ok"]);
    assert_eq!(store.idempotent_answer(&id("org", 1), "k1").await.unwrap(), Some(answer("k1", 1, at(9))));

    let again = vec![keyed(new(message(4), version), "k3"), keyed(new(message(5), version), "k5")];
    assert_eq!(reasons(store.accept(again, at(6)).await.unwrap()), ["replayed", "ok"]);
    assert_eq!(store.message(&id("app", 1), &id("msg", 4)).await.unwrap(), None);
    assert_eq!(store.backlog(&id("ep", 1)).await.unwrap().deliveries, 1);
}

pub(super) async fn the_first_reason_is_the_key_then_the_snapshot_then_the_event_id(store: Shared) {
    let version = routes(&store, 0).await;
    accepted(&store, vec![keyed(named(1, version, "lot.1"), "k1")], at(5)).await;
    let elsewhere = |number| NewMessage {
        message: Message { application: id("app", 9), ..message(number) },
        ..new(message(number), 1)
    };
    let batch = vec![
        keyed(named(2, version - 1, "lot.1"), "k1"),
        keyed(elsewhere(3), "k1"),
        keyed(named(4, version - 1, "lot.1"), "k4"),
        keyed(elsewhere(5), "k5"),
        keyed(named(6, version, "lot.1"), "k6"),
    ];
    let results = store.accept(batch, at(6)).await.unwrap();
    assert_eq!(reasons(results), ["replayed", "replayed", "stale", "not found", "taken eventId"]);
    for key in ["k4", "k5", "k6"] {
        assert_eq!(store.idempotent_answer(&id("org", 1), key).await.unwrap(), None, "{key} keeps no answer");
    }
    // So the caller, having loaded again, is taken with the same key.
    let again = vec![keyed(named(4, version, "lot.4"), "k4"), keyed(named(6, version, "lot.6"), "k6")];
    accepted(&store, again, at(7)).await;
}

pub(super) async fn a_message_refused_leaves_no_delivery_behind(store: Shared) {
    let version = routes(&store, 2).await;
    let taken =
        |number| NewMessage { message: named(number, version, "lot.1").message, ..sent(number, version, &[(2, None)]) };
    let batch = vec![sent(1, version, &[(1, None)]), taken(2), taken(3), sent(4, version - 1, &[(1, None)])];
    assert_eq!(reasons(store.accept(batch, at(5)).await.unwrap()), ["ok", "ok", "taken eventId", "stale"]);
    assert_eq!(store.backlog(&id("ep", 1)).await.unwrap().deliveries, 1);
    assert_eq!(store.backlog(&id("ep", 2)).await.unwrap().deliveries, 1);
    assert_eq!(claim_all(&*store, 1, 2, 9, 10).await[0].message.id, id("msg", 2));
}

pub(super) async fn of_a_large_batch_each_message_has_a_result_of_its_own(store: Shared) {
    let version = routes(&store, 2).await;
    accepted(&store, vec![named(100, version, "lot.9")], at(4)).await;
    let batch = (1..=60).map(|number| {
        let sent = sent(number, version, &[(1, None), (2, Some(1))]);
        let event_id = |event_id: &str| Message { event_id: Some(event_id.to_owned()), ..message(number) };
        match number {
            // The first of them has it.
            10 | 13 | 14 | 50 => NewMessage { message: event_id("lot.1"), ..sent },
            20 => NewMessage { message: event_id("lot.9"), ..sent },
            30 => NewMessage { application_version: version - 1, ..sent },
            40 | 41 => keyed(sent, "k1"),
            _ => sent,
        }
    });
    let mut expected = ["ok"; 60];
    for (number, reason) in
        [13, 14, 20, 50].map(|number| (number, "taken eventId")).into_iter().chain([(30, "stale"), (41, "replayed")])
    {
        expected[number - 1] = reason;
    }
    assert_eq!(reasons(store.accept(batch.collect(), at(5)).await.unwrap()), expected);

    let of = |endpoint| store.backlog(endpoint);
    assert_eq!((of("ep_none").await.unwrap().deliveries, of(&id("ep", 2)).await.unwrap().deliveries), (0, 54));
    let accepted = (1..=60).filter(|number| expected[number - 1] == "ok").map(|number| id("msg", number));
    let claimed: Vec<_> = claim_all(&*store, 1, 1, 9, 100).await.into_iter().map(|row| row.message.id).collect();
    assert_eq!(claimed, accepted.collect::<Vec<_>>());
    assert_eq!(store.message(&id("app", 1), "lot.1").await.unwrap().unwrap().id, id("msg", 10));
}

pub(super) async fn an_old_snapshot_is_stale_after_any_change(store: Shared) {
    let first = routes(&store, 1).await;
    update_application(&*store, application(1)).await.unwrap();
    let second = version(&store).await;
    update_endpoint(&*store, endpoint(1)).await.unwrap();
    let third = version(&store).await;
    store.delete_endpoint(&id("app", 1), &id("ep", 1)).await.unwrap();
    let batch = [first, second, third, version(&store).await].map(|version| new(message(version as usize), version));
    assert_eq!(reasons(store.accept(batch.into(), at(5)).await.unwrap()), ["stale", "stale", "stale", "ok"]);
}

/// Three tasks send by their snapshots while another adds and removes an endpoint: a message has delivery rows for exactly the
/// endpoints that were there at its version.
pub(super) async fn messages_are_routed_by_the_endpoints_of_their_moment(store: Shared) {
    routes(&store, 1).await;
    let changing = tokio::spawn({
        let store = store.clone();
        async move {
            for _ in 0..25 {
                store.create_endpoint(endpoint(2), usize::MAX, None).await.unwrap();
                tokio::task::yield_now().await;
                assert!(store.delete_endpoint(&id("app", 1), &id("ep", 2)).await.unwrap());
            }
        }
    });
    let done = changing.abort_handle();
    let sending: Vec<_> =
        (0..3).map(|task| tokio::spawn(sends_until_done(store.clone(), done.clone(), task))).collect();
    let mut taken = 0;
    for task in sending {
        taken += task.await.unwrap();
    }
    changing.await.unwrap();
    assert_eq!(store.backlog(&id("ep", 1)).await.unwrap().deliveries, taken);
    // Were there a row left of the endpoint that went, it would be seen through one of the same id.
    store.create_endpoint(endpoint(2), usize::MAX, None).await.unwrap();
    assert_eq!(store.backlog(&id("ep", 2)).await.unwrap().deliveries, 0, "what waited for it went with it");
}

/// Sends to the endpoints of its last snapshot, again and again; how many messages were taken.
async fn sends_until_done(store: Shared, done: tokio::task::AbortHandle, task: usize) -> u64 {
    const BATCH: usize = 10;
    let mut taken = 0;
    let mut first = task * 1_000_000;
    while !done.is_finished() || taken == 0 {
        let (application, endpoints) = store.snapshot(&id("app", 1)).await.unwrap().unwrap();
        // The second endpoint comes with an odd version and goes with an even one.
        assert_eq!(endpoints.len() as i64, 1 + application.version % 2, "version {}", application.version);
        let to: Vec<_> = (1..=endpoints.len()).map(|endpoint| (endpoint, None)).collect();
        let batch = (first..first + BATCH).map(|number| sent(number, application.version, &to));
        let results = reasons(store.accept(batch.collect(), at(5)).await.unwrap());
        assert!(results.iter().all(|reason| *reason == results[0]), "one version is for all of a batch");
        match results[0].as_str() {
            "ok" => taken += BATCH as u64,
            reason => assert_eq!(reason, "stale"),
        }
        first += BATCH;
        tokio::task::yield_now().await;
    }
    taken
}

/// Six concurrent calls, half of them in the opposite order, use the same event ids and keys. The store accepts each id
/// and key once, and the calls do not deadlock.
pub(super) async fn of_many_calls_with_the_same_keys_one_is_taken(store: Shared) {
    const KEYS: usize = 20;
    let version = routes(&store, 1).await;
    let calls: Vec<_> = (0..6)
        .map(|call| {
            let mut batch: Vec<NewMessage> = (1..=KEYS)
                .map(|key| {
                    let new = named(call * KEYS + key, version, &format!("lot.{key}"));
                    if call < 4 { new } else { keyed(new, &format!("key {key}")) }
                })
                .collect();
            if call % 2 == 1 {
                batch.reverse();
            }
            let store = store.clone();
            tokio::spawn(async move { store.accept(batch, at(5)).await.unwrap() })
        })
        .collect();
    let mut taken = 0;
    for call in calls {
        taken += reasons(call.await.unwrap()).iter().filter(|reason| *reason == "ok").count();
    }
    assert_eq!(taken, KEYS);
    let kept = messages(&*store, &id("app", 1), Order::Ascending).await;
    assert_eq!(kept.len(), KEYS);
    for key in 1..=KEYS {
        let message = store.message(&id("app", 1), &format!("lot.{key}")).await.unwrap().unwrap();
        let answer = store.idempotent_answer(&id("org", 1), &format!("key {key}")).await.unwrap();
        let answered = answer.map(|answer| answer.request_hash);
        assert!(answered.is_none() || answered == Some([message.id[4..].parse::<usize>().unwrap() as u8; 32]), "{key}");
    }
}

pub(super) async fn a_deleted_application_is_not_there_for_anybody(store: Shared) {
    let version = routes(&store, 2).await;
    store.create_account(account(2)).await.unwrap();
    accepted(&store, vec![sent(1, version, &[(1, None), (2, Some(1))])], at(5)).await;
    assert!(!store.delete_application(&id("org", 2), &id("app", 1)).await.unwrap(), "it is another account's");
    assert!(store.delete_application(&id("org", 1), &id("app", 1)).await.unwrap());
    assert!(!store.delete_application(&id("org", 1), &id("app", 1)).await.unwrap());

    assert_eq!(store.application(&id("org", 1), &id("app", 1)).await.unwrap(), None);
    assert_eq!(store.snapshot(&id("app", 1)).await.unwrap(), None);
    assert_eq!(store.endpoint(&id("app", 1), &id("ep", 1)).await.unwrap(), None);
    assert_eq!(store.message(&id("app", 1), &id("msg", 1)).await.unwrap(), None);
    assert_eq!(messages(&*store, &id("app", 1), Order::Ascending).await, []);
    assert_eq!(reasons(store.accept(vec![new(message(2), version)], at(6)).await.unwrap()), ["not found"]);
    assert_eq!(store.endpoints_with_due(at(9), 10).await.unwrap(), []);
    assert_eq!(store.next_due().await.unwrap(), None);
    for endpoint in 1..=2 {
        assert_eq!(store.backlog(&id("ep", endpoint)).await.unwrap(), Default::default());
        assert_eq!(claim_all(&*store, 1, endpoint, 9, 10).await, []);
    }
    // Its uid is free again.
    let next = provider_core::model::Application { uid: application(1).uid, ..application(3) };
    store.create_application(next, None).await.unwrap();
}
