//! Searching messages across applications: each result is compared with what the story stored.

use provider_core::model::{Account, Application, AttemptStatus, Endpoint, Message};
use provider_core::port::{
    AttemptEnd, AttemptRecord, FailureFilter, MessageConditions, MessageFilter, MessageKey, MessageScope,
    MessageSource, NewDelivery, NewMessage, NoResponse, Order, ProgressFilter, Scan, SearchText,
};
use provider_core::{Cause, FailureDetail};

use super::given::*;

/// Messages of the story. Message `n` belongs to application `n % 4`, whose endpoint has the number of the application; the
/// last application belongs to another account.
const MESSAGES: usize = 120;
const APPLICATIONS: usize = 4;
const OTHER_ACCOUNTS: usize = 3;

fn application_of(message: usize) -> usize {
    // Long runs of one application, so that the merged lists are uneven.
    if message.is_multiple_of(5) { message / 5 % APPLICATIONS } else { message / 30 % APPLICATIONS }
}

/// Status code of the first attempt of a message; none for a message without an attempt, which waits. 1 is a refused
/// connection, and 2 an attempt that a person cancelled.
fn end_of(message: usize) -> Option<u16> {
    match message % 7 {
        0 => None,
        1 => Some(404),
        2 => Some(503),
        3 if message.is_multiple_of(2) => Some(1),
        3 => Some(2),
        _ => Some(204),
    }
}

fn record(message: usize) -> Option<AttemptRecord> {
    let code = end_of(message)?;
    let application = application_of(message);
    let mut made = attempt(message, message, application + 1, at(1_000 + message as i64));
    made.application = id("app", application + 1);
    Some(match code {
        204 => succeeded(made),
        1 => {
            let mut record = failed(made, 1, 60_000);
            record.attempt.response_status_code = 0;
            let refused = Cause::Refused { address: "192.0.2.1:443".to_owned() };
            record.attempt.failure_detail = Some(FailureDetail::Transport(refused));
            record
        }
        2 => {
            let mut record = succeeded(made);
            record.attempt.status = AttemptStatus::Cancelled;
            record.attempt.response_status_code = 0;
            record.attempt.failure_detail = None;
            record
        }
        code => {
            let mut record = failed(made, 1, 60_000);
            record.attempt.response_status_code = code;
            record
        }
    })
}

async fn stored(store: &Shared) {
    for number in [1, 2] {
        store.create_account(Account { id: id("org", number), ..account(number) }).await.unwrap();
    }
    let mut versions = Vec::new();
    for number in 0..APPLICATIONS {
        let owner = if number == OTHER_ACCOUNTS { 2 } else { 1 };
        let app = Application { account: id("org", owner), ..application(number + 1) };
        store.create_application(app, None).await.unwrap();
        let receiver = Endpoint { application: id("app", number + 1), ..endpoint(number + 1) };
        store.create_endpoint(receiver, usize::MAX, None).await.unwrap();
        versions.push(store.snapshot(&id("app", number + 1)).await.unwrap().unwrap().0.version);
    }
    let make = |number: usize| {
        let application = application_of(number);
        let delivery = NewDelivery {
            endpoint: id("ep", application + 1),
            owner: Some(node(1)),
            ordering_key: None,
            trigger: provider_core::model::AttemptTrigger::Scheduled,
        };
        let message = Message {
            application: id("app", application + 1),
            event_type: if number.is_multiple_of(10) { "RARE" } else { "COMMON" }.into(),
            event_id: Some(format!("event-{}", number % 60))
                .filter(|_| number < 60 || application_of(number) != application_of(number - 60)),
            payload: Some(format!("{{\"lot\":\"LOT-{number}-Ä\"}}").into()),
            ..message(number)
        };
        NewMessage { deliveries: vec![delivery], ..new(message, versions[application]) }
    };
    accepted(store, (0..MESSAGES).map(make).collect(), at(5)).await;
    let records: Vec<AttemptRecord> = (0..MESSAGES).filter_map(record).collect();
    store.record_attempts(records.into(), NO_DELAY).await.unwrap();
}

fn scan(limit: usize, direction: Order) -> Scan {
    Scan {
        above: String::new(),
        below: "~".to_owned(),
        direction,
        limit,
        scanned_rows_max: 10_000,
        bytes_max: usize::MAX,
    }
}

fn numbers(keys: &[MessageKey]) -> Vec<usize> {
    keys.iter().map(|key| key.id[4..].parse().unwrap()).collect()
}

/// The messages that a condition selects, newest first.
fn expected(is_wanted: impl Fn(usize) -> bool) -> Vec<usize> {
    (0..MESSAGES).rev().filter(|number| is_wanted(*number)).collect()
}

/// Every page of the search, in both directions and with several sizes, lists these messages.
async fn assert_found(
    store: &Shared,
    scope: &MessageScope,
    source: &MessageSource,
    conditions: &MessageConditions,
    expected: &[usize],
) {
    for (limit, direction) in
        [(1_000, Order::Descending), (7, Order::Descending), (3, Order::Ascending), (1, Order::Ascending)]
    {
        let (mut part, mut all) = (scan(limit, direction), Vec::new());
        loop {
            let found = store.find_message_keys(scope, source, conditions, &part).await.unwrap();
            for key in &found.rows {
                let number: usize = key.id[4..].parse().unwrap();
                assert_eq!(key.application, id("app", application_of(number) + 1));
            }
            all.extend(numbers(&found.rows));
            let Some(last) = found.rows.last().map(|key| key.id.to_string()) else { break };
            match direction {
                Order::Ascending => part.above = last,
                Order::Descending => part.below = last,
            }
        }
        if direction == Order::Ascending {
            all.reverse();
        }
        assert_eq!(all, expected, "{limit} {direction:?} {source:?} {conditions:?}");
    }
}

pub(super) async fn messages_of_an_account_are_found_across_its_applications(store: Shared) {
    stored(&store).await;
    let account = MessageScope::Account(id("org", 1));
    let all = MessageConditions::default();
    let is_own = |number: usize| application_of(number) != OTHER_ACCOUNTS;
    assert_found(&store, &account, &MessageSource::Accepted, &all, &expected(is_own)).await;
    let first = MessageScope::Application(id("app", 1));
    assert_found(&store, &first, &MessageSource::Accepted, &all, &expected(|number| application_of(number) == 0)).await;

    // By type, by a text in any case, by the endpoint.
    let messages = MessageFilter { event_types: Some(vec!["RARE".to_owned()]), ..MessageFilter::default() };
    let rare = MessageConditions { messages, ..all.clone() };
    let is_rare = |number: usize| is_own(number) && number.is_multiple_of(10);
    assert_found(&store, &account, &MessageSource::Accepted, &rare, &expected(is_rare)).await;
    let text = |text: &str| MessageConditions { text: Some(SearchText::new(text, at(9))), ..all.clone() };
    let has_text = |number: usize| is_own(number) && format!("LOT-{number}-").contains("LOT-1");
    assert_found(&store, &account, &MessageSource::Accepted, &text("lot-1"), &expected(has_text)).await;
    assert_found(&store, &account, &MessageSource::Accepted, &text("lot-7-Ä"), &expected(|number| number == 7)).await;
    // As copied from the indented payload on a page.
    let copied = text("{\n  \"lot\": \"lot-7-Ä\"\n}");
    assert_found(&store, &account, &MessageSource::Accepted, &copied, &expected(|number| number == 7)).await;
    assert_found(&store, &account, &MessageSource::Accepted, &text("\"lot\": \"lot -7"), &[]).await;
    let expired = MessageConditions { text: Some(SearchText::new("lot-7", at(7_776_000_001))), ..all.clone() };
    assert_found(&store, &account, &MessageSource::Accepted, &expired, &[]).await;
    let at_second = MessageConditions { addressed: Some(id("ep", 2)), ..all.clone() };
    let of_second = expected(|number| application_of(number) == 1);
    assert_found(&store, &account, &MessageSource::Accepted, &at_second, &of_second).await;

    // By message id, and by an event id that several applications have.
    let named = |name: &str| MessageSource::Named(name.to_owned());
    let (of_account, of_other) = (&id("msg", 7), expected(|number| number == 7));
    assert_found(&store, &account, &named(of_account), &all, &of_other).await;
    let same_event = expected(|number| {
        number % 60 == 11 && is_own(number) && (number < 60 || application_of(number) != application_of(number - 60))
    });
    assert_eq!(same_event.len(), 2);
    assert_found(&store, &account, &named("event-11"), &all, &same_event).await;
    assert_found(&store, &account, &named("event-99"), &all, &[]).await;
    let foreign = (0..MESSAGES).find(|number| !is_own(*number)).unwrap();
    assert_found(&store, &account, &named(&id("msg", foreign)), &all, &[]).await;
}

pub(super) async fn messages_are_found_by_their_failures_and_by_what_waits(store: Shared) {
    stored(&store).await;
    let account = MessageScope::Account(id("org", 1));
    let all = MessageConditions::default();
    let is_own = |number: usize| application_of(number) != OTHER_ACCOUNTS;
    let failed = |end: Option<AttemptEnd>| MessageSource::Failed(FailureFilter { endpoint: None, end });
    let any = expected(|number| is_own(number) && end_of(number).is_some_and(|code| code != 204));
    assert_found(&store, &account, &failed(None), &all, &any).await;
    let of_code = |codes: &[u16]| AttemptEnd { codes: codes.to_vec(), no_response: None };
    let with = |code: u16| expected(move |number| is_own(number) && end_of(number) == Some(code));
    assert_found(&store, &account, &failed(Some(of_code(&[404]))), &all, &with(404)).await;
    assert_found(&store, &account, &failed(Some(of_code(&[500, 503]))), &all, &with(503)).await;
    let cause = |names| AttemptEnd { codes: Vec::new(), no_response: Some(NoResponse::Causes(names)) };
    assert_found(&store, &account, &failed(Some(cause(&["connection_refused"]))), &all, &with(1)).await;
    assert_found(&store, &account, &failed(Some(cause(&["no_tls", "connection_refused"]))), &all, &with(1)).await;
    assert_found(&store, &account, &failed(Some(cause(&["no_tls"]))), &all, &[]).await;
    let at_second = FailureFilter { endpoint: Some(id("ep", 2)), end: Some(of_code(&[503])) };
    let of_second = expected(|number| application_of(number) == 1 && end_of(number) == Some(503));
    assert_found(&store, &account, &MessageSource::Failed(at_second), &all, &of_second).await;
    let foreign = FailureFilter { endpoint: Some(id("ep", 4)), end: None };
    assert_found(&store, &account, &MessageSource::Failed(foreign), &all, &[]).await;

    // Failed attempts are made again, and messages without an attempt wait for their first.
    let waits = |number: usize| matches!(end_of(number), None | Some(1 | 404 | 503));
    let own = expected(|number| is_own(number) && waits(number));
    assert_found(&store, &account, &MessageSource::Waiting(None), &all, &own).await;
    let of_third = expected(|number| application_of(number) == 2 && waits(number));
    assert_found(&store, &account, &MessageSource::Waiting(Some(id("ep", 3))), &all, &of_third).await;

    // A search stops where it scanned enough, and continues there.
    let part = Scan { scanned_rows_max: 5, ..scan(100, Order::Descending) };
    let none = MessageConditions { text: Some(SearchText::new("nowhere", at(9))), ..all };
    let found = store.find_message_keys(&account, &MessageSource::Accepted, &none, &part).await.unwrap();
    let fifth = expected(is_own)[4];
    assert_eq!((found.rows, found.stopped_at), (Vec::new(), Some(id("msg", fifth))));

    // Of a message, the latest failure that matches.
    let number = with(1)[0];
    let key = MessageKey { application: id("app", application_of(number) + 1), id: id("msg", number) };
    for (failure, is_found) in [
        (None, true),
        (Some(of_code(&[404])), false),
        (Some(cause(&["connection_refused"])), true),
        (Some(cause(&["no_tls", "connection_refused"])), true),
        (Some(cause(&["other"])), false),
        (Some(cause(&[])), false),
    ] {
        let filter = ProgressFilter { endpoint: None, failure };
        let found = store.message_progress(std::slice::from_ref(&key), &filter).await.unwrap();
        assert_eq!(found[0].failure.is_some(), is_found, "{filter:?}");
        if let Some(failure) = &found[0].failure {
            assert_eq!((failure.code, &failure.attempt), (0, &id("atmpt", number)));
            assert_eq!(failure.response, "schön");
        }
    }
    let skipped = expected(|number| is_own(number) && end_of(number) == Some(2))[0];
    let key = MessageKey { application: id("app", application_of(skipped) + 1), id: id("msg", skipped) };
    let found = store.message_progress(&[key.clone(), key.clone()], &ProgressFilter::default()).await.unwrap();
    assert_eq!((found[1].skipped, found[1].endpoints, found[1].failure.is_none()), (1, 1, true));
    let missing = MessageKey { application: id("app", 9), id: id("msg", 1) };
    let read = store.messages_by_keys(&[missing, key.clone()]).await.unwrap();
    assert_eq!(read.iter().map(|message| (&message.id, &message.payload)).collect::<Vec<_>>(), [(&key.id, &None)]);
}
