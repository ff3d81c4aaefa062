//! Pagination: reading any list, in either direction and with any page size, returns each entry that existed throughout
//! exactly once, also while entries are added.

use jiff::{SignedDuration, Timestamp};
use proptest::prelude::*;
use proptest::test_runner::TestCaseError;
use provider_core::ids;
use provider_core::model::{Attempt, AttemptStatus, AttemptTrigger};
use provider_core::port::{AttemptEvent, AttemptRecord, DeliveryOutcome, EndpointEffect};
use serde_json::{Value, json};

use super::{MakeFixture, on_each_store, play};
use crate::fixture::{Fixture, NOW};

on_each_store! {
    each_entry_is_on_one_page: 16, 2;
}

/// A list with its path, and how to add an entry.
#[derive(Debug, Clone, Copy)]
enum List {
    Applications,
    EventTypes,
    Endpoints,
    Messages,
    Attempts(&'static str),
    AttemptedMessages,
    Destinations,
    Tasks,
    Operational,
}

const LISTS: [List; 10] = [
    List::Applications,
    List::EventTypes,
    List::Endpoints,
    List::Messages,
    List::Attempts("/app/app/attempt/msg/m"),
    List::Attempts("/app/app/attempt/endpoint/ep"),
    List::AttemptedMessages,
    List::Destinations,
    List::Tasks,
    List::Operational,
];

/// A generated case: the initial number of entries, the size of each page, and the number of entries added after it.
#[derive(Debug, Clone)]
struct Walk {
    list: List,
    order: Option<&'static str>,
    entries: usize,
    pages: Vec<(usize, usize)>,
}

fn walk() -> impl Strategy<Value = Walk> {
    let order = prop_oneof![Just(None), Just(Some("ascending")), Just(Some("descending"))];
    let pages = proptest::collection::vec((1..6_usize, 0..3_usize), 1..6);
    (proptest::sample::select(LISTS.to_vec()), order, 0..14_usize, pages).prop_map(|(list, order, entries, pages)| {
        let order = order.filter(|_| list.has_an_order());
        Walk { list, order, entries, pages }
    })
}

fn each_entry_is_on_one_page(cases: u32, make: MakeFixture) {
    play(cases, make, walk(), walks_there_and_back);
}

async fn walks_there_and_back(fixture: &Fixture, walk: Walk) -> Result<(), TestCaseError> {
    fixture.application("app").await;
    for (path, body) in [
        ("/app/app/endpoint", json!({"url": "https://example.com/", "uid": "ep"})),
        ("/app/app/msg", json!({"eventType": "a.b", "eventId": "m", "payload": {}})),
    ] {
        let made = fixture.post(path, body).await;
        assert!(made.status < 300, "{path}: {}", made.text);
    }
    let mut number = 0;
    let mut more = async |fixture: &Fixture| {
        number += 1;
        walk.list.add(fixture, number).await;
    };
    for _ in 0..walk.entries {
        more(fixture).await;
    }
    let there = everything(fixture, &walk).await;
    // Entries are added during the generated pages only, so that reading the list ends.
    let more_pages = walk.pages.iter().map(|(limit, _)| (*limit, 0)).cycle();
    let mut pages = walk.pages.iter().copied().chain(more_pages);
    let mut seen = Vec::new();
    let mut at = None;
    let mut last = None;
    for _ in 0..200 {
        let Some((limit, added)) = pages.next() else { break };
        let page = page(fixture, &walk, limit, at.as_deref()).await;
        prop_assert!(page.keys.len() <= limit);
        seen.extend(page.keys.clone());
        at = page.next.clone().or(at);
        let done = page.done;
        last = Some(page).filter(|page| !page.keys.is_empty()).or(last);
        if done {
            break;
        }
        for _ in 0..added {
            more(fixture).await;
        }
    }
    is_once(&there, &seen)?;
    let Some(last) = last else { return Ok(()) };
    let (mut back, mut at) = (last.keys.clone(), last.previous.clone());
    for _ in 0..200 {
        let Some((limit, added)) = pages.next() else { break };
        let page = page(fixture, &walk, limit, at.as_deref()).await;
        prop_assert!(page.keys.len() <= limit);
        back.splice(0..0, page.keys.clone());
        at = page.previous.clone().or(at);
        if page.done {
            break;
        }
        for _ in 0..added {
            more(fixture).await;
        }
    }
    // The last page ends the list only if no entries are added behind it.
    is_once(&there.iter().filter(|key| back.contains(key) || seen.contains(key)).cloned().collect::<Vec<_>>(), &back)
}

/// Every entry of `there` is in `seen` once, in the same order, and no entry twice.
fn is_once(there: &[String], seen: &[String]) -> Result<(), TestCaseError> {
    let mut unique = seen.to_vec();
    unique.sort();
    unique.dedup();
    prop_assert_eq!(unique.len(), seen.len(), "an entry is on two pages: {:?}", seen);
    let in_order: Vec<&String> = seen.iter().filter(|key| there.contains(key)).collect();
    prop_assert_eq!(in_order, there.iter().collect::<Vec<_>>());
    Ok(())
}

struct Page {
    keys: Vec<String>,
    next: Option<String>,
    previous: Option<String>,
    done: bool,
}

async fn page(fixture: &Fixture, walk: &Walk, limit: usize, iterator: Option<&str>) -> Page {
    let mut path = format!("{}?limit={limit}", walk.list.path());
    for (name, value) in [("order", walk.order), ("iterator", iterator)] {
        if let Some(value) = value {
            path += &format!("&{name}={value}");
        }
    }
    let answer = fixture.get(&path).await;
    assert_eq!(answer.status, 200, "{path}: {}", answer.text);
    let body = answer.json();
    let key = |row: &Value| row.get("id").or_else(|| row.get("name")).and_then(Value::as_str).unwrap().to_owned();
    let word = |name: &str| body[name].as_str().map(str::to_owned);
    Page {
        keys: body["data"].as_array().unwrap().iter().map(key).collect(),
        next: word("iterator"),
        previous: word("prevIterator"),
        done: body["done"].as_bool().unwrap(),
    }
}

async fn everything(fixture: &Fixture, walk: &Walk) -> Vec<String> {
    let page = page(fixture, walk, 250, None).await;
    assert!(page.done);
    page.keys
}

impl List {
    fn path(self) -> &'static str {
        match self {
            Self::Applications => "/app",
            Self::EventTypes => "/event-type",
            Self::Endpoints => "/app/app/endpoint",
            Self::Messages => "/app/app/msg",
            Self::Attempts(path) => path,
            Self::AttemptedMessages => "/app/app/endpoint/ep/msg",
            Self::Destinations => "/app/app/msg/m/endpoint",
            Self::Tasks => "/background-task",
            Self::Operational => "/operational-webhook/endpoint",
        }
    }

    /// The list supports both orders.
    fn has_an_order(self) -> bool {
        matches!(self, Self::Applications | Self::EventTypes | Self::Endpoints | Self::Tasks | Self::Operational)
    }

    async fn add(self, fixture: &Fixture, number: usize) {
        let (path, body) = match self {
            Self::Applications => ("/app", json!({"name": "n"})),
            // Not in the order of creation.
            Self::EventTypes => ("/event-type", json!({"name": format!("t{}", number * 7 % 100), "description": ""})),
            Self::Endpoints => ("/app/app/endpoint", json!({"url": "https://example.com/"})),
            Self::Messages => ("/app/app/msg", json!({"eventType": "a", "payload": {}})),
            Self::Tasks => {
                fixture.clock.advance(std::time::Duration::from_millis(10));
                ("/app/app/endpoint/ep/recover", json!({"since": "2026-11-20T00:00:00Z"}))
            }
            Self::Operational => ("/operational-webhook/endpoint", json!({"url": "https://example.com/"})),
            Self::Attempts(_) => return attempt(fixture, number, "ep", "m").await,
            Self::AttemptedMessages => {
                let sent = fixture.post("/app/app/msg", json!({"eventType": "a", "payload": {}})).await;
                return attempt(fixture, number, "ep", &sent.field("id")).await;
            }
            Self::Destinations => {
                let made = fixture.post("/app/app/endpoint", json!({"url": "https://example.com/"})).await;
                return attempt(fixture, number, &made.field("id"), "m").await;
            }
        };
        let added = fixture.post(path, body).await;
        assert!(added.status < 300, "{path}: {}", added.text);
    }
}

/// Records a failed attempt with a scheduled retry; ids ascend with their numbers.
async fn attempt(fixture: &Fixture, number: usize, endpoint: &str, message: &str) {
    let field = async |path: String, name: &str| fixture.get(&path).await.field(name);
    let now: Timestamp = NOW.parse().unwrap();
    let at = now + SignedDuration::from_millis(4 * number as i64);
    let attempt = Attempt {
        id: ids::lowest_id_at(ids::ATTEMPT, at).into(),
        message: field(format!("/app/app/msg/{message}"), "id").await.into(),
        endpoint: field(format!("/app/app/endpoint/{endpoint}"), "id").await.into(),
        application: field("/app/app".into(), "id").await.into(),
        url: "https://example.com/".into(),
        status: AttemptStatus::Fail,
        response_status_code: 500,
        response: String::new(),
        failure_detail: None,
        response_headers: String::new(),
        times: None,
        response_duration_ms: 1,
        trigger: AttemptTrigger::Scheduled,
        at,
    };
    let next = DeliveryOutcome::Retry { at: at + SignedDuration::from_hours(1), attempts: 1 };
    let record = AttemptRecord { attempt, outcome: next, endpoint: EndpointEffect::None, notice: AttemptEvent::None };
    fixture.store.record_attempts(vec![record].into(), std::time::Duration::ZERO).await.unwrap();
    // The lists end at the time of the test clock.
    fixture.clock.advance(std::time::Duration::from_millis(4));
}
