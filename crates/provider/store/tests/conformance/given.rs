//! What the stories start from.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use jiff::{SignedDuration, Timestamp};
use kit_runtime::vault::Sealed;
use provider_core::FailureDetail;
use provider_core::model::{
    Account, AccountSettings, ActivityEntry, ActorKind, Application, Attempt, AttemptStatus, AttemptTimes,
    AttemptTrigger, Endpoint, EventType, Id, Message, OldSecret, PayloadCheck, UnknownEventTypes,
};
use provider_core::port::{
    Answer, AttemptEvent, AttemptFilter, AttemptRecord, AttemptScope, ClaimLimit, Cursor, Delivery, DeliveryKind,
    DeliveryOutcome, DroppedDelivery, EndpointEffect, IdempotentAnswer, MessageFilter, NewDelivery, NewMessage, NodeId,
    Order, Page, PayloadRead, Scan, Store, StoreError, StoreResult,
};
use provider_store::postgres::PostgresConfig;

/// The store records the attempts without waiting for another write.
pub(super) const NO_DELAY: Duration = Duration::ZERO;

pub(super) type Shared = Arc<dyn Store>;

/// A store in a database of its own.
pub(super) async fn postgres() -> Shared {
    let config = database().await;
    provider_store::postgres::open(&config).await.unwrap()
}

/// A new, empty database.
pub(super) async fn database() -> PostgresConfig {
    let url = testkit::postgres::fresh_database().await.unwrap();
    PostgresConfig { url, pool_size: 4, ..Default::default() }
}

/// Milliseconds after the stories begin.
pub(super) fn at(ms: i64) -> Timestamp {
    Timestamp::from_millisecond(1_793_232_000_000 + ms).unwrap()
}

pub(super) fn later(ms: i64) -> SignedDuration {
    SignedDuration::from_millis(ms)
}

/// An id that grows with its number.
pub(super) fn id(prefix: &str, number: usize) -> Id {
    format!("{prefix}_{number:027}").into()
}

pub(super) fn node(number: usize) -> NodeId {
    NodeId(id("node", number))
}

pub(super) fn account(number: usize) -> Account {
    let settings = AccountSettings {
        payload_check: PayloadCheck::Warn,
        unknown_event_types: UnknownEventTypes::Reject,
        requests_per_second_max: (number == 1).then_some(u32::MAX),
        endpoints_max: Some(7),
    };
    Account { id: id("org", number), name: format!("Account {number}"), settings, created_at: at(0) }
}

/// An entry of the first account's activity log, `number` milliseconds after the stories begin.
pub(super) fn entry(number: usize) -> ActivityEntry {
    ActivityEntry {
        id: unique_entry_id(number),
        account: id("org", 1),
        at: at(number as i64),
        actor_kind: ActorKind::User,
        actor: id("usr", 1),
        actor_name: "Ann".to_owned(),
        action: "api_key.created".to_owned(),
        subject: format!("key_{number}"),
        subject_name: "Ключ".to_owned(),
        before: String::new(),
        after: "expires: never".to_owned(),
    }
}

/// An id that grows with the number, and with each call for the same number.
fn unique_entry_id(number: usize) -> Id {
    static CALLS: AtomicUsize = AtomicUsize::new(0);
    format!("act_{number:013}{:014}", CALLS.fetch_add(1, Ordering::Relaxed)).into()
}

/// An application of the first account.
pub(super) fn application(number: usize) -> Application {
    Application {
        id: id("app", number),
        account: id("org", 1),
        uid: Some(format!("customer-{number}")),
        name: format!("Hammer & Söhne {number}"),
        throttle_rate: Some(50),
        metadata: [("region".to_owned(), "Zürich".to_owned())].into(),
        version: 1,
        purges: 0,
        created_at: at(1),
        updated_at: at(2),
    }
}

pub(super) fn event_type(name: &str) -> EventType {
    EventType {
        account: id("org", 1),
        name: name.to_owned(),
        description: "Event triggered when an item status changes".to_owned(),
        archived: false,
        deprecated: false,
        schemas: Some(serde_json::json!({"1": {"type": "object", "title": "Item status changed", "a": 1}})),
        feature_flags: ["early".to_owned(), "later".to_owned()].into(),
        group_name: None,
        created_at: at(1),
        updated_at: at(2),
    }
}

/// An endpoint of the first application.
pub(super) fn endpoint(number: usize) -> Endpoint {
    Endpoint {
        id: id("ep", number),
        application: id("app", 1),
        uid: Some(format!("receiver-{number}")),
        url: format!("https://receiver.example/{number}"),
        description: "Takes them all".to_owned(),
        disabled: false,
        filter_types: Some(vec!["ITEM_STATUS_CHANGE".to_owned()]),
        channels: None,
        throttle_rate: None,
        metadata: Default::default(),
        headers: [("x-token".to_owned(), "ä b".to_owned())].into(),
        secret: Sealed::from_text("v1.k.c2VjcmV0"),
        old_secrets: vec![OldSecret { secret: Sealed::from_text("v1.k.b2xk"), expires_at: at(90_000) }],
        version: std::num::NonZeroU16::MIN,
        failing_since: None,
        disabled_at: None,
        ordering: provider_core::DeliveryOrder::PerKey,
        sends_trace_parent: number.is_multiple_of(2),
        created_at: at(1),
        updated_at: at(2),
    }
}

/// A message to the first application.
pub(super) fn message(number: usize) -> Message {
    Message {
        id: id("msg", number),
        application: id("app", 1),
        event_type: "ITEM_STATUS_CHANGE".into(),
        event_id: None,
        payload: Some(format!("{{ \"number\":{number}}}").into()),
        channels: Some(vec!["north".to_owned(), "south".to_owned()]),
        tags: None,
        created_at: at(number as i64),
        payload_expires_at: at(7_776_000_000),
        deliver_at: None,
        sent_by: number.is_multiple_of(2).then(|| id("usr", 1)),
        trace_parent: None,
    }
}

/// A message without deliveries, routed by a snapshot of `version`.
pub(super) fn new(message: Message, version: i64) -> NewMessage {
    NewMessage { message, application_version: version, deliveries: Vec::new(), ordering_key: None, answer: None }
}

/// A message to these endpoints, as their number and who delivers it from memory.
pub(super) fn sent(number: usize, version: i64, to: &[(usize, Option<usize>)]) -> NewMessage {
    let deliveries = to.iter().map(|(endpoint, owner)| NewDelivery {
        endpoint: id("ep", *endpoint),
        owner: owner.map(node),
        ordering_key: None,
        trigger: AttemptTrigger::Scheduled,
    });
    NewMessage { deliveries: deliveries.collect(), ..new(message(number), version) }
}

pub(super) fn answer(key: &str, message: usize, at: Timestamp) -> IdempotentAnswer {
    IdempotentAnswer {
        account: id("org", 1),
        key: key.to_owned(),
        request_hash: [message as u8; 32],
        answer: Answer::Message { application: id("app", 1), message: id("msg", message) },
        at,
    }
}

/// A finished attempt at delivering a message to an endpoint.
pub(super) fn attempt(number: usize, message: usize, endpoint: usize, at: Timestamp) -> Attempt {
    Attempt {
        id: id("atmpt", number),
        message: id("msg", message),
        endpoint: id("ep", endpoint),
        application: id("app", 1),
        url: format!("https://receiver.example/{endpoint}"),
        status: AttemptStatus::Success,
        response_status_code: 204,
        response: "schön".to_owned(),
        failure_detail: Some(FailureDetail::Header("cloudflare".to_owned())),
        response_headers: "date: today\nx-ä: b\n".to_owned(),
        times: Some(AttemptTimes {
            connect_us: Some(1_200),
            wait_us: Some(38_000),
            sent_twice: true,
            ..AttemptTimes::default()
        }),
        response_duration_ms: 12,
        trigger: AttemptTrigger::Scheduled,
        at,
    }
}

/// The attempt that ends a skipped delivery.
pub(super) fn skipped(message: usize, endpoint: usize, ms: i64) -> Attempt {
    Attempt {
        status: AttemptStatus::Cancelled,
        response_status_code: 0,
        trigger: AttemptTrigger::Manual,
        ..attempt(9_000 + ms as usize, message, endpoint, at(ms))
    }
}

/// A delivery that ends without an attempt.
pub(super) fn dropped(message: usize, endpoint: usize) -> DroppedDelivery {
    DroppedDelivery { application: id("app", 1), endpoint: id("ep", endpoint), message: id("msg", message) }
}

pub(super) fn succeeded(attempt: Attempt) -> AttemptRecord {
    AttemptRecord {
        attempt,
        outcome: DeliveryOutcome::Done,
        endpoint: EndpointEffect::Working,
        notice: AttemptEvent::None,
    }
}

/// A failed attempt that is made again `after_ms` later.
pub(super) fn failed(attempt: Attempt, attempts: u32, after_ms: i64) -> AttemptRecord {
    AttemptRecord {
        outcome: DeliveryOutcome::Retry { at: attempt.at + later(after_ms), attempts },
        attempt: Attempt { status: AttemptStatus::Fail, response_status_code: 500, ..attempt },
        endpoint: EndpointEffect::Failing,
        notice: AttemptEvent::None,
    }
}

/// The first account with its first application, and this many endpoints; the application's version.
pub(super) async fn routes(store: &Shared, endpoints: usize) -> i64 {
    store.create_account(account(1)).await.unwrap();
    store.create_application(application(1), None).await.unwrap();
    for number in 1..=endpoints {
        store.create_endpoint(endpoint(number), usize::MAX, None).await.unwrap();
    }
    version(store).await
}

/// The version of the first application.
pub(super) async fn version(store: &Shared) -> i64 {
    store.snapshot(&id("app", 1)).await.unwrap().unwrap().0.version
}

/// Accepts these messages, each of which is taken.
pub(super) async fn accepted(store: &Shared, messages: Vec<NewMessage>, now: Timestamp) {
    for result in store.accept(messages, now).await.unwrap() {
        result.unwrap();
    }
}

/// Replaces the stored endpoint of the same id, whatever its state.
pub(super) async fn update_endpoint(store: &dyn Store, new: Endpoint) -> StoreResult<()> {
    let old = store.endpoint(&new.application, &new.id).await?.unwrap_or_else(|| new.clone());
    store.replace_endpoint(old, new, None).await
}

/// Replaces the stored application of the same id, whatever its state.
pub(super) async fn update_application(store: &dyn Store, new: Application) -> StoreResult<()> {
    let old = store.application(&new.account, &new.id).await?.unwrap_or_else(|| new.clone());
    store.replace_application(old, new).await
}

/// All messages of an application, of which there are few.
pub(super) async fn messages(store: &dyn Store, application: &str, order: Order) -> Vec<Message> {
    let filter = MessageFilter::default();
    store.find_messages(application, &filter, &whole_scan(order), PayloadRead::Include).await.unwrap().rows
}

/// All attempts of a message, newest first.
pub(super) async fn attempts_of_message(store: &dyn Store, application: &str, message: &Id) -> Vec<Attempt> {
    let (scope, filter) = (AttemptScope::Message(message.clone()), AttemptFilter::default());
    store.find_attempts(application, &scope, &filter, &whole_scan(Order::Descending)).await.unwrap().rows
}

/// The whole of a short list.
pub(super) fn whole_scan(direction: Order) -> Scan {
    let (above, below) = (String::new(), "~".to_owned());
    Scan { above, below, direction, limit: 1_000, scanned_rows_max: 1_000, bytes_max: usize::MAX }
}

pub(super) fn page(from: Option<Cursor>, order: Order, limit: usize) -> Page {
    Page { from, order, limit }
}

/// The whole of a short list.
pub(super) fn whole(order: Order) -> Page {
    page(None, order, 250)
}

/// Results as short texts, for comparing.
pub(super) fn reasons(results: Vec<StoreResult<()>>) -> Vec<String> {
    results.into_iter().map(|result| result.map_or_else(reason, |()| "ok".to_owned())).collect()
}

pub(super) fn reason(error: StoreError) -> String {
    match error {
        StoreError::Taken(field) => format!("taken {field}"),
        StoreError::NotFound => "not found".to_owned(),
        StoreError::Conflict => "stale".to_owned(),
        StoreError::Replayed => "replayed".to_owned(),
        other => other.to_string(),
    }
}

/// What a node is given of an endpoint, rows of all kinds.
pub(super) async fn claim_all(
    store: &dyn Store,
    of: usize,
    endpoint: usize,
    now_ms: i64,
    limit: usize,
) -> Vec<Delivery> {
    let mut claimed = Vec::new();
    for kind in [DeliveryKind::Manual, DeliveryKind::First, DeliveryKind::Retry] {
        let room = ClaimLimit::for_rows(limit - claimed.len());
        claimed.extend(store.claim(&node(of), &id("ep", endpoint), kind, at(now_ms), room).await.unwrap());
    }
    claimed
}
