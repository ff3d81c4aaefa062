//! What a search over the messages of an account costs.
//!
//! `cargo run --release -p provider-store --example provider_search -- [MESSAGES] [SQLITE_FILE|POSTGRES_URL]`
//!
//! The account has 30 applications with 10 endpoints each. The messages were accepted within a day; each was attempted at one
//! endpoint. Of 10 attempts one failed, and of 50,000 messages one failed for a rare cause. Each search reads the first
//! 50 messages, or as far as one page does.

#![expect(clippy::print_stdout, reason = "figures are what it is for")]
#![expect(clippy::unwrap_used, reason = "a measurement that fails stops")]

use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use jiff::{SignedDuration, Timestamp};
use kit_runtime::vault::Sealed;
use provider_core::ids;
use provider_core::model::{
    Account, AccountSettings, Application, Attempt, AttemptStatus, AttemptTrigger, Endpoint, Id, Message,
};
use provider_core::port::{
    AttemptEnd, AttemptEvent, AttemptRecord, DeliveryOutcome, EndpointEffect, FailureFilter, MessageConditions,
    MessageFilter, MessageScope, MessageSource, NewDelivery, NewMessage, NoResponse, NodeId, Order, ProgressFilter,
    Scan, SearchText, Store,
};
use provider_core::{Cause, FailureDetail};
use provider_store::postgres::PostgresConfig;

const APPLICATIONS: usize = 30;
const ENDPOINTS: usize = 10;
const BATCH: usize = 1_000;
const RARE: usize = 50_000;
/// What one page of the dashboard scans.
const SCANNED_MAX: usize = 50_000;
const SEARCHED_MAX: usize = 20_000;
const REPEATS: usize = 5;

#[tokio::main]
async fn main() {
    let mut arguments = std::env::args().skip(1);
    let messages: usize = arguments.next().map_or(1_000_000, |text| text.parse().unwrap());
    let place = arguments.next();
    let temporary = tempfile::tempdir().unwrap();
    let path = place.clone().map_or_else(|| temporary.path().join("provider.db"), PathBuf::from);
    let store = match place.filter(|place| place.starts_with("postgres")) {
        Some(url) => {
            provider_store::postgres::open(&PostgresConfig { url, pool_size: 4, ..Default::default() }).await.unwrap()
        }
        None => provider_store::sqlite::open(&path).await.unwrap(),
    };
    let began = Instant::now();
    if store.account("org_1").await.unwrap().is_none() {
        fill(store.as_ref(), messages).await;
        println!("filled with {messages} messages in {:.0} s", began.elapsed().as_secs_f64());
    }
    search(store.as_ref(), messages).await;
}

fn start() -> Timestamp {
    Timestamp::from_second(1_793_232_000).unwrap()
}

fn at(number: usize, messages: usize) -> Timestamp {
    start() + SignedDuration::from_millis((number as i64) * 86_400_000 / messages as i64)
}

/// An id that sorts by the message's time and then by its number.
fn id(prefix: &str, number: usize, at: Timestamp) -> Id {
    let lowest = ids::lowest_id_at(prefix, at);
    let kept = lowest.len() - 8;
    format!("{}{number:08}", &lowest[..kept]).into()
}

fn app(number: usize) -> Id {
    id(ids::APPLICATION, number, start())
}

fn ep(number: usize) -> Id {
    id(ids::ENDPOINT, number, start())
}

fn endpoint_of(number: usize) -> usize {
    number * 7 % (APPLICATIONS * ENDPOINTS)
}

fn message(number: usize, messages: usize) -> Message {
    let accepted = at(number, messages);
    Message {
        id: id(ids::MESSAGE, number, accepted),
        application: app(endpoint_of(number) / ENDPOINTS),
        event_type: if number % RARE == 1 { "lot.rare" } else { "lot.changed" }.into(),
        event_id: Some(format!("event-{number}")),
        payload: Some(format!("{{\"lot\":\"LOT-{number}\",\"text\":\"{}\"}}", "x".repeat(400)).into()),
        channels: None,
        tags: None,
        created_at: accepted,
        payload_expires_at: accepted + SignedDuration::from_hours(2_160),
        deliver_at: None,
        sent_by: None,
        trace_parent: None,
    }
}

fn record(number: usize, messages: usize) -> AttemptRecord {
    let (failed, detail) = match number {
        number if number % RARE == 2 => (true, Some(FailureDetail::Transport(Cause::NoTls))),
        number if number.is_multiple_of(20) => (true, None),
        number if number % 20 == 10 => {
            let cause = Cause::Refused { address: "192.0.2.1:443".to_owned() };
            (true, Some(FailureDetail::Transport(cause)))
        }
        _ => (false, None),
    };
    let began = at(number, messages);
    let attempt = Attempt {
        id: id(ids::ATTEMPT, number, began),
        message: id(ids::MESSAGE, number, began),
        endpoint: ep(endpoint_of(number)),
        application: app(endpoint_of(number) / ENDPOINTS),
        url: "https://receiver.example/hook".to_owned(),
        status: if failed { AttemptStatus::Fail } else { AttemptStatus::Success },
        response_status_code: if detail.is_some() {
            0
        } else if failed {
            503
        } else {
            204
        },
        response: "ok".to_owned(),
        failure_detail: detail,
        response_headers: String::new(),
        times: None,
        response_duration_ms: 12,
        trigger: AttemptTrigger::Scheduled,
        at: began,
    };
    AttemptRecord {
        attempt,
        outcome: DeliveryOutcome::Done,
        endpoint: EndpointEffect::None,
        notice: AttemptEvent::None,
    }
}

async fn fill(store: &dyn Store, messages: usize) {
    let settings = AccountSettings { endpoints_max: None, requests_per_second_max: None, ..account_settings() };
    store
        .create_account(Account { id: "org_1".into(), name: "A".into(), settings, created_at: start() })
        .await
        .unwrap();
    let mut versions = Vec::new();
    for number in 0..APPLICATIONS {
        let application = Application {
            id: app(number),
            account: "org_1".into(),
            uid: None,
            name: format!("Application {number}"),
            throttle_rate: None,
            metadata: Default::default(),
            version: 1,
            purges: 0,
            created_at: start(),
            updated_at: start(),
        };
        store.create_application(application, None).await.unwrap();
        for endpoint in number * ENDPOINTS..(number + 1) * ENDPOINTS {
            store.create_endpoint(new_endpoint(endpoint, number), usize::MAX, None).await.unwrap();
        }
        versions.push(store.snapshot(&app(number)).await.unwrap().unwrap().0.version);
    }
    for first in (0..messages).step_by(BATCH) {
        let numbers = first..(first + BATCH).min(messages);
        let new = |number: usize| NewMessage {
            message: message(number, messages),
            application_version: versions[endpoint_of(number) / ENDPOINTS],
            deliveries: vec![NewDelivery {
                endpoint: ep(endpoint_of(number)),
                owner: Some(NodeId("node_1".into())),
                ordering_key: None,
                trigger: AttemptTrigger::Scheduled,
            }],
            ordering_key: None,
            answer: None,
        };
        for result in store.accept(numbers.clone().map(new).collect(), at(first, messages)).await.unwrap() {
            result.unwrap();
        }
        let records: Arc<[AttemptRecord]> = numbers.map(|number| record(number, messages)).collect();
        store.record_attempts(records, Duration::ZERO).await.unwrap();
    }
}

fn account_settings() -> AccountSettings {
    AccountSettings {
        payload_check: provider_core::model::PayloadCheck::Off,
        unknown_event_types: provider_core::model::UnknownEventTypes::Accept,
        requests_per_second_max: None,
        endpoints_max: None,
    }
}

fn new_endpoint(number: usize, application: usize) -> Endpoint {
    Endpoint {
        id: ep(number),
        application: app(application),
        uid: None,
        url: format!("https://receiver.example/{number}"),
        description: String::new(),
        disabled: false,
        filter_types: None,
        channels: None,
        throttle_rate: None,
        metadata: Default::default(),
        headers: Default::default(),
        secret: Sealed::from_text("v1.k.c2VjcmV0"),
        old_secrets: Vec::new(),
        version: std::num::NonZeroU16::MIN,
        failing_since: None,
        disabled_at: None,
        ordering: provider_core::DeliveryOrder::default(),
        sends_trace_parent: false,
        created_at: start(),
        updated_at: start(),
    }
}

/// Prints the median time of each search, with the number of messages that it found.
async fn search(store: &dyn Store, messages: usize) {
    let account = MessageScope::Account("org_1".into());
    let all = MessageConditions::default();
    let failed = |codes: &[u16], no_response| {
        let end = AttemptEnd { codes: codes.to_vec(), no_response };
        MessageSource::Failed(FailureFilter { endpoint: None, end: Some(end) })
    };
    let text = |text: &str| MessageConditions { text: Some(SearchText::new(text, start())), ..all.clone() };
    let rare = MessageFilter { event_types: Some(vec!["lot.rare".to_owned()]), ..MessageFilter::default() };
    let middle = messages / 2;
    let hour = (at(middle, messages), at(middle, messages) + SignedDuration::from_hours(1));
    let one = message(middle, messages);
    for (name, source, conditions, scanned_max, span) in [
        ("no filter", MessageSource::Accepted, all.clone(), SCANNED_MAX, None),
        ("message id", MessageSource::Named(one.id.to_string()), all.clone(), SCANNED_MAX, None),
        ("event id", MessageSource::Named(format!("event-{middle}")), all.clone(), SCANNED_MAX, None),
        ("failed", MessageSource::Failed(FailureFilter::default()), all.clone(), SCANNED_MAX, None),
        ("frequent cause", failed(&[503], None), all.clone(), SCANNED_MAX, None),
        ("rare cause", failed(&[], Some(NoResponse::Causes(&["no_tls"]))), all.clone(), SCANNED_MAX, None),
        ("cause of no attempt", failed(&[418], None), all.clone(), SCANNED_MAX, None),
        (
            "rare event type",
            MessageSource::Accepted,
            MessageConditions { messages: rare, ..all.clone() },
            SCANNED_MAX,
            None,
        ),
        ("frequent text, an hour", MessageSource::Accepted, text("LOT-"), SEARCHED_MAX, Some(hour)),
        ("text that is missing, an hour", MessageSource::Accepted, text("no such text"), SEARCHED_MAX, Some(hour)),
    ] {
        let (above, below) = span.unwrap_or((start(), start() + SignedDuration::from_hours(25)));
        let scan = Scan {
            above: ids::lowest_id_at(ids::MESSAGE, above),
            below: ids::lowest_id_at(ids::MESSAGE, below),
            direction: Order::Descending,
            limit: 51,
            scanned_rows_max: scanned_max,
            bytes_max: usize::MAX,
        };
        let mut times = Vec::new();
        let mut found = None;
        for _ in 0..REPEATS {
            let began = Instant::now();
            let keys = store.find_message_keys(&account, &source, &conditions, &scan).await.unwrap();
            store.messages_by_keys(&keys.rows).await.unwrap();
            store.message_progress(&keys.rows, &ProgressFilter::default()).await.unwrap();
            times.push(began.elapsed());
            found = Some(keys);
        }
        times.sort_unstable();
        let found = found.unwrap();
        let end = if found.stopped_at.is_some() { "stopped at its limit" } else { "complete" };
        println!("{name:30} {:8.1} ms  {:3} found, {end}", times[REPEATS / 2].as_secs_f64() * 1e3, found.rows.len());
    }
}
