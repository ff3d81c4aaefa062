//! What a message costs the provider's store: accepting it, and recording the attempt that delivers it.
//!
//! `cargo run --release -p provider-store --example provider_load -- [MESSAGES_BEFORE] [MESSAGES_MEASURED] [KEYS] [SQLITE_FILE|POSTGRES_URL]`
//!
//! KEYS says what each message has: `none`; `platform`, an event id that begins with a time and is the idempotency key too;
//! `client`, a random idempotency key as official clients make it; `both`, that and a random event id, the dearest case. Four
//! tasks send batches of 64 to ten endpoints.

#![expect(clippy::print_stdout, reason = "figures are what it is for")]
#![expect(clippy::unwrap_used, reason = "a measurement that fails stops")]

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Instant;

use jiff::Timestamp;
use kit_runtime::vault::Sealed;
use provider_core::model::{
    Account, AccountSettings, Application, Attempt, AttemptStatus, AttemptTrigger, Endpoint, Id, Message,
};
use provider_core::port::{
    Answer, AttemptEvent, AttemptRecord, DeliveryOutcome, EndpointEffect, IdempotentAnswer, NewDelivery, NewMessage,
    NodeId, Store,
};
use provider_store::postgres::PostgresConfig;
use sha2::{Digest, Sha256};

const BATCH_MESSAGES: usize = 64;
const TASKS: usize = 4;
const ENDPOINTS: usize = 10;

#[derive(Clone, Copy)]
enum Keys {
    None,
    Platform,
    Client,
    Both,
}

impl Keys {
    fn named(name: &str) -> Self {
        match name {
            "none" => Self::None,
            "client" => Self::Client,
            "both" => Self::Both,
            _ => Self::Platform,
        }
    }
}

#[tokio::main]
async fn main() {
    let mut arguments = std::env::args().skip(1);
    let before: usize = arguments.next().map_or(0, |text| text.parse().unwrap());
    let measured: usize = arguments.next().map_or(200_000, |text| text.parse().unwrap());
    let keys = arguments.next().map_or(Keys::Platform, |name| Keys::named(&name));
    let place = arguments.next();
    let temporary = tempfile::tempdir().unwrap();
    let path = place.clone().map_or_else(|| temporary.path().join("provider.db"), PathBuf::from);

    let store = match place.filter(|place| place.starts_with("postgres")) {
        Some(url) => provider_store::postgres::open(&PostgresConfig { url, pool_size: TASKS, ..Default::default() })
            .await
            .unwrap(),
        None => provider_store::sqlite::open(&path).await.unwrap(),
    };
    set_up(store.as_ref()).await;
    if before > 0 {
        run(&store, 0, before, keys).await;
        println!("filled with {before} messages");
    }
    run(&store, before, measured, keys).await;
    if let Ok(file) = std::fs::metadata(&path) {
        println!("file: {} MiB, {} bytes a message", file.len() >> 20, file.len() as usize / (before + measured));
    }
}

/// Sends and delivers `count` messages, and prints what each cost.
async fn run(store: &Arc<dyn Store>, first: usize, count: usize, keys: Keys) {
    let (cpu_ms, start) = (cpu_ms(), Instant::now());
    let tasks = (0..TASKS).map(|task| {
        let store = store.clone();
        tokio::spawn(async move {
            let mut number = first + task * BATCH_MESSAGES;
            while number < first + count {
                let batch: Vec<NewMessage> =
                    (number..number + BATCH_MESSAGES).map(|number| message(number, keys)).collect();
                let records: std::sync::Arc<[_]> =
                    batch.iter().zip(number..).map(|(new, number)| success(new, number)).collect();
                for result in store.accept(batch, now()).await.unwrap() {
                    result.unwrap();
                }
                store.record_attempts(records, std::time::Duration::ZERO).await.unwrap();
                number += TASKS * BATCH_MESSAGES;
            }
        })
    });
    for task in tasks.collect::<Vec<_>>() {
        task.await.unwrap();
    }
    let seconds = start.elapsed().as_secs_f64();
    println!(
        "{count} messages after {first}: {:.0} a second, {:.1} µs of wall and {:.1} µs of CPU each",
        count as f64 / seconds,
        seconds * 1e6 / count as f64,
        (self::cpu_ms() - cpu_ms) as f64 * 1e3 / count as f64,
    );
}

/// Processor time of this process, all threads, in ticks of 10 ms.
fn cpu_ms() -> u64 {
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap();
    let (_, fields) = stat.rsplit_once(") ").unwrap();
    let ticks = |field: usize| fields.split(' ').nth(field).unwrap().parse::<u64>().unwrap();
    (ticks(11) + ticks(12)) * 10
}

fn now() -> Timestamp {
    Timestamp::from_second(1_793_232_000).unwrap()
}

fn id(prefix: &str, number: usize) -> Id {
    format!("{prefix}_{number:027}").into()
}

async fn set_up(store: &dyn Store) {
    let settings = AccountSettings::default();
    let account = Account { id: id("org", 1), name: "Load".to_owned(), settings, created_at: now() };
    store.create_account(account).await.unwrap();
    let application = Application {
        id: id("app", 1),
        account: id("org", 1),
        uid: None,
        name: "Load".to_owned(),
        throttle_rate: None,
        metadata: Default::default(),
        version: 1,
        purges: 0,
        created_at: now(),
        updated_at: now(),
    };
    store.create_application(application, None).await.unwrap();
    for number in 0..ENDPOINTS {
        let endpoint = Endpoint {
            id: id("ep", number),
            application: id("app", 1),
            uid: None,
            url: "http://127.0.0.1:9000/hook".to_owned(),
            description: String::new(),
            disabled: false,
            filter_types: None,
            channels: None,
            throttle_rate: None,
            metadata: Default::default(),
            headers: Default::default(),
            secret: Sealed::from_text("v1.k.c2VjcmV0"),
            version: std::num::NonZeroU16::MIN,
            old_secrets: Vec::new(),
            failing_since: None,
            disabled_at: None,
            ordering: Default::default(),
            sends_trace_parent: false,
            created_at: now(),
            updated_at: now(),
        };
        store.create_endpoint(endpoint, usize::MAX, None).await.unwrap();
    }
}

fn message(number: usize, keys: Keys) -> NewMessage {
    let random = hex::encode(&Sha256::digest(number.to_be_bytes())[..16]);
    let payload = format!(
        "{{\"itemUuid\":\"{random}\",\"auctioneerUuid\":\"01997b1e-0000-7000-8000-000000000001\",\
         \"auctionUuid\":\"01997b1e-0000-7000-8000-000000000002\",\"status\":\"SOLD\"}}"
    );
    // 100 items of a catalogue are made in a millisecond, and end one after the other.
    let of_platform = format!("{:08x}-{:04x}-7000-8000-{}.3", 0x0199_7b1e, number / 100, &random[..12]);
    let (key, event_id) = match keys {
        Keys::None => (None, None),
        Keys::Platform => (Some(of_platform.clone()), Some(of_platform)),
        Keys::Client => (Some(format!("auto_{random}")), None),
        Keys::Both => (Some(format!("auto_{random}")), Some(format!("{random}.3"))),
    };
    let message = Message {
        id: id("msg", number),
        application: id("app", 1),
        event_type: "ITEM_STATUS_CHANGE".into(),
        event_id,
        payload: Some(payload.into()),
        channels: None,
        tags: None,
        created_at: now(),
        payload_expires_at: now(),
        deliver_at: None,
        sent_by: None,
        trace_parent: None,
    };
    let answer = key.map(|key| IdempotentAnswer {
        account: id("org", 1),
        key,
        request_hash: [7; 32],
        answer: Answer::Message { application: id("app", 1), message: message.id.clone() },
        at: now(),
    });
    NewMessage {
        application_version: 1 + ENDPOINTS as i64,
        deliveries: vec![NewDelivery {
            endpoint: id("ep", number % ENDPOINTS),
            owner: Some(NodeId(id("node", 1))),
            ordering_key: None,
            trigger: AttemptTrigger::Scheduled,
        }],
        ordering_key: None,
        answer,
        message,
    }
}

fn success(new: &NewMessage, number: usize) -> AttemptRecord {
    AttemptRecord {
        attempt: Attempt {
            id: id("atmpt", number),
            message: new.message.id.clone(),
            endpoint: new.deliveries[0].endpoint.clone(),
            application: new.message.application.clone(),
            url: "http://127.0.0.1:9000/hook".to_owned(),
            status: AttemptStatus::Success,
            response_status_code: 200,
            response: "ok".to_owned(),
            failure_detail: None,
            response_headers: String::new(),
            times: None,
            response_duration_ms: 3,
            trigger: AttemptTrigger::Scheduled,
            at: now(),
        },
        outcome: DeliveryOutcome::Done,
        endpoint: EndpointEffect::Working,
        notice: AttemptEvent::None,
    }
}
