//! Readings of customers' endpoints: what is asked of the provider, how often, and what is stored.

use std::time::Duration;

use jiff::Timestamp;
use kit_runtime::clock::{Clock as _, TestClock};
use kit_runtime::vault::Secret;
use platform_core::customers::connections::endpoints::{
    DeliveryState, EndpointCondition, EndpointReading, EndpointReadingWorker, ReadingOutcome,
};
use platform_core::customers::connections::{ConnectConsumer, EventName, ProviderChoice};
use platform_core::journal::SubjectKind;
use platform_core::port::StartFrom;
use platform_core::sales::auctions::NewAuction;
use platform_core::{Caller, Platform, PlatformConfig, PlatformError, Role};
use platform_rules::AuctionKind;

use crate::endpoint_provider::{EndpointProvider, attempt, endpoint, list, message, stats};
use crate::fixture::{KEY, TestPlatform, reading_node};
use crate::publishing::WORKERS;

/// A node that reads, and a customer whose connection is complete.
struct Readings {
    fixture: TestPlatform,
    platform: Platform,
    worker: EndpointReadingWorker,
    provider: EndpointProvider,
}

impl Readings {
    async fn new(answer: impl Fn(&str) -> (u16, String) + Send + Sync + 'static) -> Self {
        let fixture = TestPlatform::new().await;
        let provider = EndpointProvider::start(&fixture.clock, answer).await;
        let platform = reading_node(&fixture.store, &fixture.clock, PlatformConfig::default(), 3);
        let worker = EndpointReadingWorker::new(platform.clone());
        let readings = Self { fixture, platform, worker, provider };
        readings.connect("app_1").await;
        readings
    }

    async fn connect(&self, application: &str) {
        let connect = ConnectConsumer {
            provider: ProviderChoice::Of(self.provider.url.clone()),
            application_id: Some(application.into()),
            api_key: Some(Secret::new(KEY.as_bytes().to_vec())),
            start: StartFrom::Now,
        };
        let customer = self.fixture.customer.uuid;
        self.platform.connect_consumer(&self.fixture.caller, customer, &connect).await.unwrap();
        self.provider.take_requests();
    }

    async fn run(&mut self) -> usize {
        run(&mut self.worker, &self.fixture.clock).await
    }

    async fn stored(&self) -> EndpointReading {
        let customers = vec![self.fixture.customer.uuid];
        let found = self.platform.endpoint_readings(&self.fixture.caller, customers).await.unwrap();
        found.into_iter().next().expect("nothing is stored of the customer")
    }
}

/// Runs the worker once. The clock advances whenever the worker waits for it.
async fn run(worker: &mut EndpointReadingWorker, clock: &TestClock) -> usize {
    let ended = worker.run_once();
    tokio::pin!(ended);
    loop {
        tokio::select! {
            ended = &mut ended => return ended.unwrap(),
            () = clock.wait_for_sleepers(1) => drop(clock.advance_to_next_sleeper()),
        }
    }
}

fn at(text: &str) -> Timestamp {
    text.parse().unwrap()
}

#[tokio::test]
async fn the_endpoints_their_failures_and_their_events_are_read_one_request_a_second() {
    let mut readings = Readings::new(|_| (500, String::new())).await;
    let auction = readings.fixture.draft().await.uuid;
    readings.provider.set(move |line| match line.split('?').next().unwrap_or(line) {
        "GET /api/v1/app/app_1/endpoint/" => {
            list(vec![endpoint("ep_2", true), endpoint("ep_1", false), endpoint("ep_3", false)])
        }
        "GET /api/v1/app/app_1/attempt/endpoint/ep_1/" => list(vec![
            attempt(500, "2025-12-31T10:33:00Z"),
            attempt(0, "2025-12-31T10:32:00Z"),
            attempt(200, "2025-12-31T10:00:00Z"),
        ]),
        "GET /api/v1/app/app_1/attempt/endpoint/ep_2/" => list(vec![attempt(410, "2025-12-31T09:00:00Z")]),
        "GET /api/v1/app/app_1/endpoint/ep_1/msg/" => {
            list(vec![message(&format!("{auction}.1"), 3, Some("2026-01-01T00:05:00Z")), message("order-1", 0, None)])
        }
        "GET /api/v1/app/app_1/endpoint/ep_2/msg/" => list(vec![message(&format!("{auction}.1"), 0, None)]),
        line if line.ends_with("/stats/") => stats(7, 2, 1),
        _ => list(Vec::new()),
    });
    assert_eq!(readings.run().await, 1);

    let requests = readings.provider.take_requests();
    assert_eq!(requests.len(), 1 + 3 + 2 * 3, "{requests:#?}");
    assert!(requests.iter().all(|request| request.authorization == format!("Bearer {KEY}")));
    let apart = requests.windows(2).map(|pair| pair[1].at.duration_since(pair[0].at).as_millis());
    assert!(apart.clone().all(|ms| ms >= 1_000), "{:?}", apart.collect::<Vec<_>>());

    let stored = readings.stored().await;
    assert_eq!((stored.outcome, stored.detail.clone(), stored.has_more), (ReadingOutcome::Read, None, false));
    let conditions: Vec<_> =
        stored.endpoints.iter().map(|endpoint| (endpoint.host.as_str(), endpoint.condition, endpoint.since)).collect();
    assert_eq!(
        conditions,
        [
            ("ep-1.example.com", EndpointCondition::Failing, Some(at("2025-12-31T10:32:00Z"))),
            ("ep-2.example.com", EndpointCondition::Disabled, Some(at("2026-01-01T00:00:00Z"))),
            ("ep-3.example.com", EndpointCondition::Unused, None),
        ]
    );
    assert_eq!(stored.endpoints[0].last_failure.unwrap().status_code, 500);
    let figures = stored.endpoints[0].figures.unwrap();
    assert_eq!((figures.succeeded, figures.failed, figures.waiting), (7, 2, 1));
    assert_eq!(figures.read_at.duration_since(figures.since).as_hours(), 24);

    let deliveries =
        readings.platform.event_deliveries(&readings.fixture.caller, (SubjectKind::Auction, auction)).await.unwrap();
    let states: Vec<_> = deliveries.iter().map(|delivery| (delivery.endpoint.as_str(), delivery.state)).collect();
    assert_eq!(states, [("ep_1", DeliveryState::Waiting), ("ep_2", DeliveryState::Delivered)]);
    let undelivered = readings.platform.undelivered_of_sale(&readings.fixture.caller, auction).await.unwrap();
    assert_eq!((undelivered.count, undelivered.oldest_at), (1, Some(at("2026-01-01T00:00:00Z"))));

    // While an endpoint fails, the next reading begins 30 seconds after the end of the last one.
    readings.fixture.clock.advance(Duration::from_millis(29_999));
    assert_eq!(readings.run().await, 0);
    readings.fixture.clock.advance(Duration::from_millis(1));
    assert_eq!(readings.run().await, 1);
}

#[tokio::test]
async fn an_undelivered_event_that_is_not_among_the_latest_is_read_again_until_it_is_delivered() {
    let mut readings = Readings::new(|_| (500, String::new())).await;
    let auction = readings.fixture.draft().await.uuid;
    let event = format!("{auction}.1");
    let answer = move |is_among_latest: bool, status: u8| {
        let event = event.clone();
        move |line: &str| {
            let path = line.split('?').next().unwrap_or(line);
            let destination = format!("GET /api/v1/app/app_1/msg/{event}/endpoint/");
            let next = (status == 2).then_some("2026-01-01T01:00:00Z");
            match path {
                "GET /api/v1/app/app_1/endpoint/" => list(vec![endpoint("ep_1", false)]),
                "GET /api/v1/app/app_1/endpoint/ep_1/msg/" if is_among_latest => {
                    list(vec![message(&event, status, next)])
                }
                path if path == destination => {
                    let mut endpoint = endpoint("ep_1", false);
                    (endpoint["status"], endpoint["nextAttempt"]) = (status.into(), next.into());
                    list(vec![endpoint])
                }
                path if path.ends_with("/stats/") => stats(0, 1, 0),
                _ => list(Vec::new()),
            }
        }
    };
    let state = async |readings: &Readings| {
        let of = (SubjectKind::Auction, auction);
        readings.platform.event_deliveries(&readings.fixture.caller, of).await.unwrap()[0].state
    };
    readings.provider.set(answer(true, 2));
    readings.run().await;
    assert_eq!(readings.provider.take_requests().len(), 4, "an event that was just read was read twice");
    assert_eq!(state(&readings).await, DeliveryState::Waiting);
    readings.provider.set(answer(false, 0));
    readings.fixture.clock.advance(Duration::from_secs(300));
    readings.run().await;
    assert_eq!(readings.provider.take_requests().len(), 5);
    assert_eq!(state(&readings).await, DeliveryState::Delivered);
    readings.fixture.clock.advance(Duration::from_secs(300));
    readings.run().await;
    assert_eq!(readings.provider.take_requests().len(), 4, "a delivered event was read again");
}

#[tokio::test]
async fn a_key_without_the_right_to_read_is_a_state_and_is_tried_again_after_five_minutes() {
    let refusal = r#"{"code":"insufficient_access","detail":"<b>secret</b>"}"#;
    let mut readings = Readings::new(move |_| (403, refusal.to_owned())).await;
    for _ in 0..2 {
        assert_eq!(readings.run().await, 1);
        assert_eq!(readings.provider.take_requests().len(), 1);
        let stored = readings.stored().await;
        assert_eq!((stored.outcome, stored.endpoints.len()), (ReadingOutcome::NoRight, 0));
        let detail = stored.detail.unwrap();
        assert!(detail.contains("403 (insufficient_access)") && !detail.contains("secret"), "{detail}");
        readings.fixture.clock.advance(Duration::from_secs(299));
        assert_eq!(readings.run().await, 0);
        readings.fixture.clock.advance(Duration::from_secs(1));
    }
    let figures = readings.platform.figures().await;
    assert!(figures.contains("lotwire_platform_endpoint_readings_failed_total 0"), "{figures}");
    assert!(figures.contains("lotwire_platform_endpoint_readings_without_right 1"), "{figures}");
    // What a key with the right found before is kept; its age shows.
    readings.provider.set(|line| match line.contains("/endpoint/?limit=") {
        true => list(vec![endpoint("ep_1", false)]),
        false => list(Vec::new()),
    });
    readings.connect("app_1").await;
    readings.run().await;
    assert_eq!(readings.stored().await.endpoints.len(), 1);
    readings.connect("app_2").await;
    let customers = vec![readings.fixture.customer.uuid];
    let stored = readings.platform.endpoint_readings(&readings.fixture.caller, customers).await.unwrap();
    assert!(stored.is_empty(), "the endpoints of another application are shown: {stored:?}");
}

#[tokio::test]
async fn a_failed_reading_keeps_what_is_known_and_honours_the_providers_limit() {
    let answer = |line: &str| match line.contains("/endpoint/?limit=") {
        true => list(vec![endpoint("ep_1", false)]),
        false => list(vec![attempt(200, "2026-01-01T00:00:00Z")]),
    };
    // The statistics of this provider are not such: the endpoints are known before.
    let mut readings = Readings::new(answer).await;
    readings.run().await;
    let first = readings.stored().await;
    assert_eq!((first.outcome, first.endpoints.len()), (ReadingOutcome::Failed, 1));
    assert!(first.detail.unwrap().contains("did not answer as its API does"));

    readings.provider.set(|_| (429, String::new()));
    readings.fixture.clock.advance(Duration::from_secs(300));
    readings.run().await;
    let second = readings.stored().await;
    assert_eq!((second.endpoints.clone(), second.read_at), (first.endpoints, first.read_at));
    assert!(second.detail.unwrap().contains("429"));
    readings.fixture.clock.advance(Duration::from_secs(899));
    assert_eq!(readings.run().await, 0, "the provider asked for 900 seconds");
    readings.fixture.clock.advance(Duration::from_secs(1));
    readings.provider.set(|_| (200, " ".repeat((1 << 20) + 1)));
    assert_eq!(readings.run().await, 1);
    assert!(readings.stored().await.detail.unwrap().contains("more than 1048576 bytes"));
    assert!(readings.platform.figures().await.contains("lotwire_platform_endpoint_readings_failed_total 3"));
}

#[tokio::test]
async fn at_most_fifty_endpoints_are_read_and_a_reading_ends_within_two_minutes() {
    let ids: Vec<String> = (100..160).map(|number| format!("ep_{number}")).collect();
    let mut readings = Readings::new(move |line| {
        if line.contains("/endpoint/?limit=51") {
            return list(ids[..51].iter().map(|id| endpoint(id, false)).collect());
        }
        if line.contains("/stats/") { stats(1, 0, 0) } else { list(Vec::new()) }
    })
    .await;
    let began = readings.fixture.clock.now();
    readings.run().await;
    let stored = readings.stored().await;
    assert_eq!((stored.outcome, stored.endpoints.len(), stored.has_more), (ReadingOutcome::Read, 50, true));
    let requests = readings.provider.take_requests();
    assert_eq!(requests.len(), 1 + 50 + 2 * 15, "{}", requests.len());
    assert!(readings.fixture.clock.now().duration_since(began).as_secs() < 120);
    // The next reading takes the statistics of others.
    readings.fixture.clock.advance(Duration::from_secs(300));
    readings.run().await;
    let known = readings.stored().await.endpoints.iter().filter(|endpoint| endpoint.figures.is_some()).count();
    assert_eq!(known, 30);
}

#[tokio::test]
async fn of_two_nodes_one_reads_and_what_is_sent_again_is_read_soon() {
    let mut readings = Readings::new(|line| match line.split('?').next().unwrap_or(line) {
        "GET /api/v1/app/app_1/endpoint/" => list(vec![endpoint("ep_1", false)]),
        line if line.starts_with("POST ") => (202, "{}".to_owned()),
        line if line.ends_with("/stats/") => stats(0, 0, 0),
        _ => list(Vec::new()),
    })
    .await;
    let clock = readings.fixture.clock.clone();
    let other = reading_node(&readings.fixture.store, &clock, PlatformConfig::default(), 4);
    let mut other = EndpointReadingWorker::new(other);
    let (first, second) = tokio::join!(readings.run(), run(&mut other, &clock));
    assert_eq!(first + second, 1);
    assert_eq!(readings.provider.take_requests().len(), 4);

    // Support sends an event again: 30 seconds after the last reading, not after five minutes, it is read.
    let auction = readings.fixture.draft().await.uuid;
    let (platform, customer) = (readings.platform.clone(), readings.fixture.customer.uuid);
    let event = EventName { subject: auction, sequence: 1 };
    let role = |role: Role| Caller { scopes: role.scopes(), ..Caller::command_line() };
    for allowed in [Role::Administrator, Role::Operator, Role::Support] {
        platform.resend_event(&role(allowed), customer, event, "ep_1").await.unwrap();
    }
    for refused in [Role::Clerk, Role::Viewer] {
        let refused = platform.resend_event(&role(refused), customer, event, "ep_1").await;
        assert!(matches!(refused, Err(PlatformError::Forbidden(_))), "{refused:?}");
    }
    assert_eq!(readings.run().await, 0);
    clock.advance(Duration::from_secs(30));
    assert_eq!(readings.run().await, 1);
}

#[tokio::test]
async fn a_published_event_makes_the_next_reading_due() {
    let mut readings = Readings::new(|line| match line.split('?').next().unwrap_or(line) {
        line if line.starts_with("POST ") => (202, r#"{"id":"msg_1"}"#.to_owned()),
        "GET /api/v1/app/app_1/endpoint/" => list(vec![endpoint("ep_1", false)]),
        line if line.ends_with("/stats/") => stats(0, 0, 0),
        _ => list(Vec::new()),
    })
    .await;
    readings.run().await;
    let clock = readings.fixture.clock.clone();
    clock.advance(Duration::from_secs(60));
    assert_eq!(readings.run().await, 0, "nothing was published, and nothing fails");
    // The workers of this node publish and read. The clock stands still until the event is published.
    let node = reading_node(&readings.fixture.store, &clock, PlatformConfig::default(), 5);
    node.spawn_workers(&readings.fixture.tasks);
    readings.fixture.asleep(WORKERS + 1).await;
    let (created, customer) = (clock.now(), readings.fixture.customer.uuid);
    let auctioneer = readings.fixture.auctioneer.uuid;
    let new = NewAuction::new(auctioneer, AuctionKind::Timed, "Prints", "GBP", "Europe/London");
    node.create_auction(&readings.fixture.caller, &new, None).await.unwrap();
    let published = async {
        while node.consumer(&readings.fixture.caller, customer).await.unwrap().backlog.pending > 0 {
            tokio::task::yield_now().await;
        }
    };
    tokio::time::timeout(Duration::from_secs(20), published).await.expect("the event was not published");
    readings.provider.take_requests();
    clock.advance(Duration::from_secs(1));
    let read = async {
        loop {
            match readings.provider.take_requests().into_iter().next() {
                Some(request) => return request,
                None => tokio::task::yield_now().await,
            }
        }
    };
    let request = tokio::time::timeout(Duration::from_secs(20), read).await.expect("the endpoints were not read");
    assert!(request.line.starts_with("GET /api/v1/app/app_1/endpoint/?"), "{request:?}");
    assert_eq!(request.at, created + Duration::from_secs(1));
    readings.fixture.close().await;
}
