//! Searching what happened.

use provider_core::model::{Attempt, AttemptStatus, AttemptTrigger, Id, Message};
use provider_core::port::{
    AttemptFilter, AttemptScope, DeliveryState, Destination, MessageFilter, Order, PayloadRead, Scan, ScanResult,
};

use super::given::*;

/// From the newest down, without bounds.
fn scan(limit: usize) -> Scan {
    Scan {
        above: String::new(),
        below: "~".to_owned(),
        direction: Order::Descending,
        limit,
        scanned_rows_max: 1_000,
        bytes_max: 1_000_000,
    }
}

fn numbers(found: &ScanResult<Message>) -> Vec<usize> {
    found.rows.iter().map(|message| message.id[4..].parse().unwrap()).collect()
}

/// Ten messages: those with even numbers to the channel `even`, every third tagged, number 7 of another type.
async fn ten_messages(store: &Shared) {
    let version = routes(store, 2).await;
    store.create_application(application(2), None).await.unwrap();
    let of = |number: usize| Message {
        event_type: if number == 7 { "AUCTION_STATUS_CHANGE" } else { "ITEM_STATUS_CHANGE" }.into(),
        channels: number.is_multiple_of(2).then(|| vec!["all".to_owned(), "even".to_owned()]),
        tags: number.is_multiple_of(3).then(|| vec!["third".to_owned()]),
        ..message(number)
    };
    let batch = (1..=10).map(|number| provider_core::port::NewMessage {
        message: of(number),
        ..sent(number, version, &[(1, Some(1)), (2, None)])
    });
    let elsewhere = Message { application: id("app", 2), ..of(12) };
    accepted(store, batch.chain([new(elsewhere, 1)]).collect(), at(5)).await;
}

pub(super) async fn messages_are_found_by_what_they_are_and_when_they_were_made(store: Shared) {
    ten_messages(&store).await;
    let find = async |filter: MessageFilter, scan: Scan| {
        let found = store.find_messages(&id("app", 1), &filter, &scan, PayloadRead::Include).await.unwrap();
        assert_eq!(found.stopped_at, None);
        numbers(&found)
    };
    let (open, text) = (MessageFilter::default, |text: &str| Some(text.to_owned()));
    assert_eq!(find(open(), scan(20)).await, [10, 9, 8, 7, 6, 5, 4, 3, 2, 1]);
    let even = MessageFilter { channel: text("even"), ..open() };
    assert_eq!(find(even.clone(), scan(20)).await, [10, 8, 6, 4, 2]);
    assert_eq!(find(even.clone(), scan(2)).await, [10, 8]);
    let both = MessageFilter { tag: text("third"), ..even };
    assert_eq!(find(both, scan(20)).await, [6]);
    assert_eq!(find(MessageFilter { channel: text("eve"), ..open() }, scan(20)).await, [0; 0]);
    let types = |names: &[&str]| MessageFilter {
        event_types: Some(names.iter().map(|name| (*name).to_owned()).collect()),
        ..open()
    };
    assert_eq!(find(types(&["AUCTION_STATUS_CHANGE", "NONE"]), scan(20)).await, [7]);
    let between = Scan { above: id("msg", 3).to_string(), below: id("msg", 6).to_string(), ..scan(20) };
    assert_eq!(find(open(), between.clone()).await, [5, 4]);
    assert_eq!(find(open(), Scan { direction: Order::Ascending, ..between.clone() }).await, [4, 5]);
    let none = Scan { above: between.below, below: between.above, ..scan(20) };
    assert_eq!(find(open(), none).await, [0; 0]);

    let whole = store.find_messages(&id("app", 1), &open(), &scan(1), PayloadRead::Include).await.unwrap();
    assert_eq!(whole.rows[0].payload, message(10).payload);
    let left = store.find_messages(&id("app", 1), &open(), &scan(1), PayloadRead::Skip).await.unwrap();
    assert_eq!(left.rows, [Message { payload: None, ..whole.rows[0].clone() }]);
    let ids: Vec<Id> = [3, 12, 9].map(|number| id("msg", number)).to_vec();
    let mut by_id = store.messages_by_ids(&id("app", 1), &ids).await.unwrap();
    by_id.sort_by(|a, b| a.id.cmp(&b.id));
    assert_eq!(by_id.iter().map(|message| &message.id).collect::<Vec<_>>(), [&id("msg", 3), &id("msg", 9)]);
    let gone = store.find_messages(&id("app", 9), &open(), &scan(1), PayloadRead::Include).await.unwrap();
    assert_eq!(gone, ScanResult { rows: Vec::new(), stopped_at: None });
}

pub(super) async fn a_scan_stops_when_it_has_looked_at_enough(store: Shared) {
    ten_messages(&store).await;
    let seven =
        MessageFilter { event_types: Some(vec!["AUCTION_STATUS_CHANGE".to_owned()]), ..MessageFilter::default() };
    let mut asked = Scan { scanned_rows_max: 3, ..scan(5) };
    let mut pages = Vec::new();
    loop {
        let found = store.find_messages(&id("app", 1), &seven, &asked, PayloadRead::Include).await.unwrap();
        pages.push(numbers(&found));
        let Some(stopped_at) = found.stopped_at else { break };
        asked.below = stopped_at.to_string();
    }
    assert_eq!(pages, [vec![], vec![7], vec![], vec![]], "10 to 8, 7 to 5, 4 to 2, 1");

    let attempts = (1..=10).map(|number| succeeded(attempt(number, number, 1, at(9))));
    store.record_attempts(attempts.collect(), NO_DELAY).await.unwrap();
    let (of, filter) =
        (AttemptScope::Endpoint(id("ep", 1)), AttemptFilter { message: seven.clone(), ..AttemptFilter::default() });
    let asked = Scan { scanned_rows_max: 3, ..scan(5) };
    let found = store.find_attempts(&id("app", 1), &of, &filter, &asked).await.unwrap();
    assert_eq!(found, ScanResult { rows: Vec::new(), stopped_at: Some(id("atmpt", 8)) });
    let found = store
        .find_attempted_messages(&id("app", 1), &id("ep", 1), &seven, None, &asked, PayloadRead::Skip)
        .await
        .unwrap();
    assert_eq!((found.rows.len(), found.stopped_at), (0, Some(id("msg", 8))));
}

pub(super) async fn a_page_of_large_payloads_is_short(store: Shared) {
    ten_messages(&store).await;
    let short = Scan { bytes_max: 30, ..scan(9) };
    let all = MessageFilter::default();
    let found = store.find_messages(&id("app", 1), &all, &short, PayloadRead::Include).await.unwrap();
    assert_eq!((numbers(&found), found.stopped_at), (vec![10, 9, 8], Some(id("msg", 8))));
    let found = store.find_messages(&id("app", 1), &all, &short, PayloadRead::Skip).await.unwrap();
    assert_eq!((found.rows.len(), found.stopped_at), (9, None));
}

pub(super) async fn attempts_are_found_by_how_they_ended_and_what_they_delivered(store: Shared) {
    ten_messages(&store).await;
    let ended = |number, message, endpoint, status, code| {
        let ended = attempt(number, message, endpoint, at(10));
        succeeded(Attempt { status, response_status_code: code, ..ended })
    };
    let (good, bad) = (AttemptStatus::Success, AttemptStatus::Fail);
    let records = vec![
        ended(1, 2, 1, bad, 500),
        ended(2, 2, 1, good, 200),
        ended(3, 3, 1, bad, 0),
        ended(4, 7, 1, bad, 404),
        ended(5, 2, 2, bad, 599),
        ended(6, 6, 1, bad, 500),
    ];
    store.record_attempts(records.into(), NO_DELAY).await.unwrap();
    let find = async |of: AttemptScope, filter: AttemptFilter| {
        let found = store.find_attempts(&id("app", 1), &of, &filter, &scan(20)).await.unwrap();
        assert_eq!(found.stopped_at, None);
        let number = |attempt: &Attempt| attempt.id[6..].parse().unwrap();
        assert!(found.rows.iter().all(|attempt| attempt.response == "schön"), "the whole attempt");
        found.rows.iter().map(number).collect::<Vec<usize>>()
    };
    let (first, message) = (|| AttemptScope::Endpoint(id("ep", 1)), || AttemptScope::Message(id("msg", 2)));
    let open = AttemptFilter::default;
    assert_eq!(find(first(), open()).await, [6, 4, 3, 2, 1]);
    assert_eq!(find(message(), open()).await, [5, 2, 1]);
    assert_eq!(find(message(), AttemptFilter { endpoint: Some(id("ep", 2)), ..open() }).await, [5]);
    assert_eq!(find(first(), AttemptFilter { status: Some(good), ..open() }).await, [2]);
    let class = |class| AttemptFilter { code_class: Some(class), ..open() };
    assert_eq!(find(first(), class(500)).await, [6, 1]);
    assert_eq!(find(first(), class(0)).await, [3]);
    assert_eq!(find(message(), class(500)).await, [5, 1]);
    let even = MessageFilter { channel: Some("even".to_owned()), ..MessageFilter::default() };
    assert_eq!(find(first(), AttemptFilter { message: even.clone(), ..open() }).await, [6, 2, 1]);
    assert_eq!(find(first(), AttemptFilter { message: even, code_class: Some(500), ..open() }).await, [6, 1]);
    let between = Scan { above: id("atmpt", 1).to_string(), direction: Order::Ascending, ..scan(2) };
    let found = store.find_attempts(&id("app", 1), &first(), &open(), &between).await.unwrap();
    assert_eq!(found.rows.iter().map(|attempt| &attempt.id).collect::<Vec<_>>(), [&id("atmpt", 2), &id("atmpt", 3)]);
}

pub(super) async fn attempted_messages_say_how_they_stand(store: Shared) {
    ten_messages(&store).await;
    let manual = |attempt| provider_core::port::AttemptRecord {
        attempt: Attempt { trigger: AttemptTrigger::Manual, status: AttemptStatus::Fail, ..attempt },
        ..succeeded(attempt_of_nothing())
    };
    // 1 succeeds, 2 waits for its next attempt, 3 is given up, 4 succeeds and fails when sent again, 5 is not tried yet.
    let mut records = vec![succeeded(attempt(1, 1, 1, at(10))), failed(attempt(2, 2, 1, at(10)), 1, 500)];
    records.push(failed(attempt(3, 3, 1, at(10)), 1, 500));
    store.record_attempts(records.into(), NO_DELAY).await.unwrap();
    let given_up = provider_core::port::AttemptRecord {
        outcome: provider_core::port::DeliveryOutcome::Done,
        ..failed(attempt(4, 3, 1, at(20)), 2, 0)
    };
    store.record_attempts(vec![given_up, succeeded(attempt(5, 4, 1, at(20)))].into(), NO_DELAY).await.unwrap();
    store
        .record_attempts(vec![manual(attempt(6, 4, 1, at(30))), succeeded(attempt(7, 5, 2, at(30)))].into(), NO_DELAY)
        .await
        .unwrap();

    let find = async |status: Option<AttemptStatus>| {
        let all = MessageFilter::default();
        let (app, endpoint) = (id("app", 1), id("ep", 1));
        let found =
            store.find_attempted_messages(&app, &endpoint, &all, status, &scan(20), PayloadRead::Skip).await.unwrap();
        assert_eq!(found.stopped_at, None);
        found
            .rows
            .into_iter()
            .map(|row| (row.message.id[4..].parse().unwrap(), row.state))
            .collect::<Vec<(usize, DeliveryState)>>()
    };
    let (good, bad) = (AttemptStatus::Success, AttemptStatus::Fail);
    let state = |latest, succeeded, next_ms: Option<i64>| DeliveryState {
        latest: Some(latest),
        succeeded,
        next_at: next_ms.map(at),
    };
    let (one, two) = ((1, state(good, true, None)), (2, state(bad, false, Some(510))));
    let (three, four) = ((3, state(bad, false, None)), (4, state(bad, true, None)));
    assert_eq!(find(None).await, [four, three, two, one]);
    assert_eq!(find(Some(good)).await, [four, one]);
    assert_eq!(find(Some(bad)).await, [three]);
    assert_eq!(find(Some(AttemptStatus::Sending)).await, [two]);
    assert_eq!(find(Some(AttemptStatus::Pending)).await, []);
    let shown = [one, two, three].map(|(_, state)| state.status());
    assert_eq!(shown, [good, AttemptStatus::Sending, bad]);
}

fn attempt_of_nothing() -> Attempt {
    attempt(99, 99, 99, at(0))
}

pub(super) async fn destinations_are_all_endpoints_tried_or_waiting(store: Shared) {
    ten_messages(&store).await;
    store.record_attempts(vec![failed(attempt(1, 2, 1, at(10)), 1, 500)].into(), NO_DELAY).await.unwrap();
    let of = async |message| store.destinations(&id("app", 1), &id("msg", message)).await.unwrap();
    let url = || Some("https://receiver.example/1".to_owned());
    let tried = |next_at| Destination { endpoint: id("ep", 1), latest: Some(AttemptStatus::Fail), next_at, url: url() };
    let waits = Destination { endpoint: id("ep", 2), latest: None, next_at: Some(at(5)), url: None };
    assert_eq!(of(2).await, [tried(Some(at(510))), waits.clone()]);
    store.drop_deliveries(vec![dropped(2, 1)], at(5)).await.unwrap();
    store.delete_endpoint(&id("app", 1), &id("ep", 1)).await.unwrap();
    assert_eq!(of(2).await, [tried(None), waits], "one that went is still shown");
    store.record_attempts(vec![succeeded(attempt(2, 2, 2, at(20)))].into(), NO_DELAY).await.unwrap();
    assert_eq!(of(2).await[1].latest, Some(AttemptStatus::Success));
    assert_eq!(of(12).await, [], "another application's");
}
