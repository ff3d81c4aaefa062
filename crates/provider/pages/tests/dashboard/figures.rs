//! Each figure of each page is a count over the attempts: 30 endpoints, 2,000 messages to one to three of them, and three
//! outages.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use axum::Router;
use axum::extract::Path;
use axum::routing::post;
use http::StatusCode;
use kit_http::serve::{Limits, serve};
use provider_core::config::retry_schedule::RetrySchedule;
use provider_core::model::counts::CountSpan;
use provider_core::model::{AttemptStatus, Endpoint, Role};
use provider_core::page::PageRequest;
use provider_core::*;
use tokio::net::TcpListener;

use crate::workplace::Workplace;

const APPLICATIONS: usize = 3;
const ENDPOINTS: usize = 30;
const MESSAGES: usize = 2_000;
/// Statuses of endpoints during their outage.
const FAILURES: [u16; 5] = [400, 404, 429, 500, 503];

/// Starts receivers at `/{endpoint}`. An endpoint fails during the outage of its application.
async fn receivers(outage: Arc<AtomicUsize>) -> String {
    let answer =
        async move |Path(endpoint): Path<usize>| match outage.load(Ordering::Relaxed) == endpoint % APPLICATIONS {
            true => StatusCode::from_u16(FAILURES[endpoint % FAILURES.len()]).unwrap(),
            false => StatusCode::NO_CONTENT,
        };
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let router = Router::new().route("/{endpoint}", post(answer));
    tokio::spawn(serve(listener, kit_http::finish(router), std::future::pending(), Limits::default()));
    format!("http://{address}")
}

/// What the attempts say.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
struct Counted {
    succeeded: u64,
    failed: u64,
    delivered: BTreeSet<String>,
    exhausted: BTreeSet<String>,
}

impl Counted {
    fn add(&mut self, other: &Self) {
        self.succeeded += other.succeeded;
        self.failed += other.failed;
        self.delivered.extend(other.delivered.iter().cloned());
        self.exhausted.extend(other.exhausted.iter().cloned());
    }
}

/// Reads all attempts at an endpoint, page by page.
async fn counted(place: &Workplace, endpoint: &Endpoint) -> Counted {
    let (mut counted, mut iterator) = (Counted::default(), None::<String>);
    loop {
        let query = HistoryQuery { limit: Some("250"), iterator: iterator.as_deref(), ..HistoryQuery::default() };
        let request = HistoryRequest::parse(query, ids::ATTEMPT).unwrap();
        let (account, application) = (&place.account, &endpoint.application);
        let page = place.provider.list_attempts_at_endpoint(account, application, &endpoint.id, request).await.unwrap();
        for attempt in page.data {
            let delivery = format!("{} {}", attempt.endpoint, attempt.message);
            match attempt.status {
                AttemptStatus::Success => {
                    counted.succeeded += 1;
                    counted.delivered.insert(delivery);
                }
                _ => {
                    counted.failed += 1;
                    counted.exhausted.insert(delivery);
                }
            }
        }
        iterator = page.iterator;
        if page.done {
            counted.exhausted = &counted.exhausted - &counted.delivered;
            return counted;
        }
    }
}

/// A number with a comma at every third digit.
fn number(number: usize) -> String {
    match number {
        0..1_000 => number.to_string(),
        _ => format!("{},{:03}", number / 1_000, number % 1_000),
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn each_figure_of_each_page_is_a_count_over_the_attempts() {
    let schedule = RetrySchedule::new(vec![Duration::from_secs(1); 2]);
    let place = Workplace::open_with(ProviderConfig { retry_schedule: schedule, ..ProviderConfig::default() }).await;
    let outage = Arc::new(AtomicUsize::new(usize::MAX));
    let receivers = receivers(Arc::clone(&outage)).await;
    let mut applications = Vec::new();
    for number in 0..APPLICATIONS {
        applications.push(place.application(&format!("Customer {number}")).await);
    }
    let mut endpoints: Vec<Endpoint> = Vec::new();
    for number in 0..ENDPOINTS {
        let input = EndpointInput {
            url: format!("{receivers}/{number}"),
            channels: Some(vec![format!("channel-{number}")]),
            ..EndpointInput::default()
        };
        endpoints.push(place.endpoint(&applications[number % APPLICATIONS].id, input).await);
    }
    let waiting = async || {
        let mut waiting = 0;
        for application in &applications {
            let all = place.provider.all_endpoints(&place.account, &application.id).await.unwrap();
            let each = place.provider.waiting_of(&place.account, &application.id, &all).await.unwrap();
            waiting += each.into_iter().map(|waiting| waiting.deliveries()).sum::<u64>();
        }
        waiting
    };
    for message in 0..MESSAGES {
        // Three outages, each of the endpoints of one application. It lasts for the retries of its first messages.
        let phase = message * 7 / MESSAGES;
        outage.store(if phase % 2 == 1 { phase / 2 } else { usize::MAX }, Ordering::Relaxed);
        let application = message % APPLICATIONS;
        let of_application = |place: usize| application + place % (ENDPOINTS / APPLICATIONS) * APPLICATIONS;
        let channels = (0..=message % 3).map(|more| format!("channel-{}", of_application(message / 3 + more)));
        place.send_to(&applications[application].id, channels.collect()).await;
        if message % 50 == 49 {
            place.clock.advance(Duration::from_secs(2));
            waiting().await;
        }
    }
    // The last attempts of the retry schedule.
    while waiting().await > 0 {
        place.clock.advance(Duration::from_secs(2));
    }

    let mut of_application: BTreeMap<usize, Counted> = BTreeMap::new();
    let mut ann = place.user(Role::Viewer).await;
    for (number, endpoint) in endpoints.iter().enumerate() {
        let found = counted(&place, endpoint).await;
        let stats = place.provider.endpoint_stats(&place.account, &endpoint.application, &endpoint.id, None, None);
        let stats = stats.await.unwrap();
        assert_eq!((stats.attempts.success, stats.attempts.fail), (found.succeeded, found.failed), "{}", endpoint.url);
        assert_eq!(stats.waiting.deliveries(), 0);
        let one = std::slice::from_ref(endpoint);
        let health = place.provider.endpoint_health(one, CountSpan::DAY).await.unwrap();
        let ended = health[0].total().ended;
        assert_eq!((ended.delivered, ended.exhausted), (found.delivered.len() as u64, found.exhausted.len() as u64));
        of_application.entry(number % APPLICATIONS).or_default().add(&found);
    }
    let mut total = Counted::default();
    let list = ann.get("/applications").await;
    for (number, application) in applications.iter().enumerate() {
        let found = &of_application[&number];
        total.add(found);
        assert!(found.failed > 0 && !found.exhausted.is_empty(), "an outage of each application");
        let per_mille = (found.failed * 1_000).div_ceil(found.failed + found.succeeded);
        list.shows(&format!("{}.{} %", per_mille / 10, per_mille % 10));
        ann.get(&format!("/applications/{}", application.id)).await.shows(&format!(
            "{}.{} %",
            per_mille / 10,
            per_mille % 10
        ));
    }
    let figures =
        format!("{} succeeded, {} failed", self::number(total.succeeded as usize), self::number(total.failed as usize));
    let [delivered, exhausted] = [&total.delivered, &total.exhausted].map(|deliveries| self::number(deliveries.len()));
    for page in ["/", "/usage"] {
        ann.get(page)
            .await
            .shows(&figures)
            .shows(&format!("<dd>{delivered}<small>{exhausted} failed for good"))
            .shows(&format!("<dd>{}<small>", self::number(MESSAGES)));
    }
    let failing = endpoints_failing(&place, &applications).await;
    ann.get("/").await.shows(&format!("<dd>{failing}<small>of {ENDPOINTS}"));
    let csv = ann.get("/usage.csv").await;
    let counts = [total.succeeded, total.failed, total.delivered.len() as u64, total.exhausted.len() as u64];
    csv.shows(&format!(
        "2026-11-21,{MESSAGES},{},{},0,0\r\n",
        2 * MESSAGES,
        counts.map(|count| count.to_string()).join(",")
    ));
}

async fn endpoints_failing(place: &Workplace, applications: &[provider_core::model::Application]) -> usize {
    let mut failing = 0;
    for application in applications {
        let page = PageRequest::first(250);
        let all = place.provider.list_endpoints(&place.account, &application.id, &page).await.unwrap().data;
        failing += all.iter().filter(|endpoint| endpoint.failing_since.is_some() && !endpoint.disabled).count();
    }
    failing
}
