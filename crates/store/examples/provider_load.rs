//! What a message costs the provider's store: accepting it, and recording the attempt that delivers it.
//!
//! `cargo run --release -p store --example provider_load -- [MESSAGES_BEFORE] [MESSAGES_MEASURED] [PLAIN|KEYED] [DIRECTORY]`
//!
//! `KEYED` gives each message a random idempotency key and event id, which is what official clients and the platform send, and
//! the dearest case: two unique indexes in random order. Four tasks send batches of 64 to ten endpoints.

#![expect(clippy::print_stdout, reason = "figures are what it is for")]
#![expect(clippy::unwrap_used, reason = "a measurement that fails stops")]

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Instant;

use jiff::Timestamp;
use provider::model::{
    Account, Application, Attempt, AttemptStatus, AttemptTrigger, Endpoint, Id, Message,
};
use provider::port::{
    Answer, AttemptRecord, EndpointEffect, IdempotentAnswer, NewDelivery, NewMessage, Next, NodeId, Store,
};
use runtime::vault::Sealed;
use sha2::{Digest, Sha256};

const BATCH_MESSAGES: usize = 64;
const TASKS: usize = 4;
const ENDPOINTS: usize = 10;

#[tokio::main]
async fn main() {
    let mut arguments = std::env::args().skip(1);
    let before: usize = arguments.next().map_or(0, |text| text.parse().unwrap());
    let measured: usize = arguments.next().map_or(200_000, |text| text.parse().unwrap());
    let keyed = arguments.next().is_none_or(|text| text != "PLAIN");
    let directory = arguments.next().map(PathBuf::from);
    let temporary = tempfile::tempdir().unwrap();
    let path = directory.unwrap_or_else(|| temporary.path().to_owned()).join("provider-load.db");

    let store = store::sqlite::open_provider(&path).await.unwrap();
    set_up(store.as_ref()).await;
    if before > 0 {
        run(&store, 0, before, keyed).await;
        println!("filled with {before} messages");
    }
    run(&store, before, measured, keyed).await;
    let bytes = std::fs::metadata(&path).unwrap().len();
    println!("file: {} MiB, {} bytes a message", bytes >> 20, bytes as usize / (before + measured));
}

/// Sends and delivers `count` messages, and prints what each cost.
async fn run(store: &Arc<dyn Store>, first: usize, count: usize, keyed: bool) {
    let (cpu_ms, start) = (cpu_ms(), Instant::now());
    let tasks = (0..TASKS).map(|task| {
        let store = store.clone();
        tokio::spawn(async move {
            let mut number = first + task * BATCH_MESSAGES;
            while number < first + count {
                let batch: Vec<NewMessage> = (number..number + BATCH_MESSAGES).map(|number| message(number, keyed)).collect();
                let records = batch.iter().zip(number..).map(|(new, number)| success(new, number)).collect();
                for result in store.accept(batch, now()).await.unwrap() {
                    result.unwrap();
                }
                store.record_attempts(records).await.unwrap();
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
    let account = Account { id: id("org", 1), name: "Load".to_owned(), created_at: now() };
    store.create_account(account).await.unwrap();
    let application = Application {
        id: id("app", 1),
        account: id("org", 1),
        uid: None,
        name: "Load".to_owned(),
        throttle_rate: None,
        metadata: Default::default(),
        version: 1,
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
            old_secrets: Vec::new(),
            failing_since: None,
            created_at: now(),
            updated_at: now(),
        };
        store.create_endpoint(endpoint, None).await.unwrap();
    }
}

fn message(number: usize, keyed: bool) -> NewMessage {
    let random = hex::encode(&Sha256::digest(number.to_be_bytes())[..16]);
    let payload = format!(
        "{{\"itemUuid\":\"{random}\",\"auctioneerUuid\":\"01997b1e-0000-7000-8000-000000000001\",\
         \"auctionUuid\":\"01997b1e-0000-7000-8000-000000000002\",\"status\":\"SOLD\"}}"
    );
    let message = Message {
        id: id("msg", number),
        application: id("app", 1),
        event_type: "ITEM_STATUS_CHANGE".into(),
        event_id: keyed.then(|| format!("{random}.3")),
        payload: Some(payload.into()),
        channels: None,
        tags: None,
        created_at: now(),
        payload_expires_at: now(),
    };
    let answer = keyed.then(|| IdempotentAnswer {
        account: id("org", 1),
        key: format!("auto_{random}"),
        request_hash: [7; 32],
        answer: Answer::Message { application: id("app", 1), message: message.id.clone() },
        at: now(),
    });
    NewMessage {
        application_version: 1 + ENDPOINTS as i64,
        deliveries: vec![NewDelivery {
            endpoint: id("ep", number % ENDPOINTS),
            owner: Some(NodeId(id("node", 1))),
        }],
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
            response_duration_ms: 3,
            trigger: AttemptTrigger::Scheduled,
            at: now(),
        },
        next: Next::Done,
        endpoint: EndpointEffect::Working,
    }
}
