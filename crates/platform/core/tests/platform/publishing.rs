//! Publishing, and the publisher's reaction to each response of a provider.

use std::time::Duration;

use contract::AuctionStatus;
use platform_core::config::PublisherConfig;
use platform_core::port::Page;
use platform_core::sales::new_item::NewItem;
use platform_core::{PlatformConfig, PlatformError};

use crate::fixture::{KEY, TestPlatform, node};
use crate::provider::{Provider, Reply};

/// The workers of a node: heartbeat, sweep, timers, clocks, bulk changes and expiry.
pub const WORKERS: usize = 6;

pub async fn pending(fixture: &TestPlatform) -> (u64, u64) {
    let state = fixture.platform.consumer(&fixture.caller, fixture.customer.uuid).await.unwrap();
    (state.backlog.pending, state.backlog.quarantined)
}

async fn parked(fixture: &TestPlatform) -> Option<String> {
    fixture.platform.consumer(&fixture.caller, fixture.customer.uuid).await.unwrap().parked.map(|parked| parked.reason)
}

#[tokio::test]
async fn a_commit_is_published_at_once_and_without_polling() {
    let provider = Provider::start([]).await;
    let fixture = TestPlatform::connected(&provider, PlatformConfig::default()).await;
    let auction = fixture.draft().await;
    // The test clock does not advance, so no sweep runs.
    let request = provider.request(1).await;
    assert_eq!(request.line, "POST /api/v1/app/app_1/msg/");
    assert_eq!(request.authorization, format!("Bearer {KEY}"));
    assert_eq!(request.idempotency_key, format!("{}.1", auction.uuid));
    assert_eq!(request.ordering_key, auction.uuid.to_string());
    assert_eq!(
        request.body,
        format!(
            r#"{{"eventType":"AUCTION_STATUS_CHANGE","eventId":"{0}.1","payload":{{"auctioneerUuid":"{1}","auctionUuid":"{0}","status":"DRAFT"}}}}"#,
            auction.uuid, fixture.auctioneer.uuid
        )
    );
    fixture.close().await;
    assert_eq!(pending(&fixture).await, (0, 0));
}

#[tokio::test]
async fn changes_of_one_subject_arrive_in_order() {
    let provider = Provider::start([]).await;
    let fixture = TestPlatform::connected(&provider, PlatformConfig::default()).await;
    let auction = fixture.draft().await;
    for to in [AuctionStatus::Preview, AuctionStatus::Draft, AuctionStatus::Preview] {
        fixture.platform.change_auction_status(&fixture.caller, auction.uuid, to, None, None).await.unwrap();
    }
    provider.request(4).await;
    let keys: Vec<String> = provider.requests().into_iter().map(|request| request.idempotency_key).collect();
    let expected: Vec<String> = (1..=4).map(|sequence| format!("{}.{sequence}", auction.uuid)).collect();
    assert_eq!(keys, expected);
    fixture.close().await;
    assert_eq!(pending(&fixture).await, (0, 0));
}

#[tokio::test]
async fn a_401_parks_the_queue_and_support_resumes_it() {
    for status in [401, 403, 404] {
        let provider = Provider::start([Reply::With(status, "body", format!("who is {KEY}?"))]).await;
        let fixture = TestPlatform::connected(&provider, PlatformConfig::default()).await;
        let first = fixture.draft().await;
        provider.request(1).await;
        while parked(&fixture).await.is_none() {
            tokio::task::yield_now().await;
        }
        let reason = parked(&fixture).await.unwrap();
        assert!(reason.starts_with(&format!("the provider answered {status}: ")), "{reason}");
        assert!(
            !reason.contains("who is") && !reason.contains(KEY),
            "the reason contains text of the provider: {reason}"
        );
        let second = fixture.draft().await;
        fixture.clock.advance(Duration::from_secs(3_600));
        fixture.asleep(WORKERS).await;
        assert_eq!((provider.requests().len(), pending(&fixture).await), (1, (2, 0)));

        // A failed credential test leaves the queue parked. After a successful one, both events are published.
        provider.otherwise(Reply::Status(401));
        let refused = fixture.platform.test_and_resume(&fixture.caller, fixture.customer.uuid).await;
        assert!(matches!(refused, Err(PlatformError::Provider { .. })), "{refused:?}");
        assert!(parked(&fixture).await.is_some());
        provider.otherwise(Reply::Status(200));
        let state = fixture.platform.test_and_resume(&fixture.caller, fixture.customer.uuid).await.unwrap();
        assert_eq!(state.parked, None);
        provider.request(3).await;
        let requests = provider.requests();
        assert_eq!(provider.credential_tests(), ["GET /api/v1/app/app_1/"; 3]);
        let mut keys: Vec<&str> = requests[1..].iter().map(|request| request.idempotency_key.as_str()).collect();
        keys.sort_unstable();
        assert_eq!(keys, [format!("{}.1", first.uuid), format!("{}.1", second.uuid)]);
        fixture.close().await;
        assert_eq!(pending(&fixture).await, (0, 0));
    }
}

#[tokio::test]
async fn new_credentials_are_used_by_the_next_request() {
    let provider = Provider::start([Reply::Status(401)]).await;
    let fixture = TestPlatform::connected(&provider, PlatformConfig::default()).await;
    fixture.draft().await;
    provider.request(1).await;
    while parked(&fixture).await.is_none() {
        tokio::task::yield_now().await;
    }
    fixture.connect(&provider, "sk_live_2").await;
    assert_eq!(provider.request(2).await.authorization, "Bearer sk_live_2");
    fixture.close().await;
    assert_eq!(pending(&fixture).await, (0, 0));
}

#[tokio::test]
async fn a_422_quarantines_the_event_and_publishes_the_others() {
    let provider = Provider::start([Reply::With(422, "body", r#"{"detail":"no"}"#.into())]).await;
    let fixture = TestPlatform::connected(&provider, PlatformConfig::default()).await;
    let auction = fixture.draft().await;
    let to = AuctionStatus::Preview;
    fixture.platform.change_auction_status(&fixture.caller, auction.uuid, to, None, None).await.unwrap();
    assert_eq!(provider.request(2).await.idempotency_key, format!("{}.2", auction.uuid));
    fixture.close().await;
    assert_eq!(pending(&fixture).await, (0, 1));
    let page = Page { after: None, limit: 10 };
    let quarantined = fixture.platform.quarantined(&fixture.caller, fixture.customer.uuid, page).await.unwrap();
    assert!(
        quarantined[0].error.starts_with("the provider answered 422: it does not accept"),
        "{}",
        quarantined[0].error
    );
    assert_eq!(quarantined[0].event.sequence, 1);
}

#[tokio::test]
async fn without_both_credentials_nothing_is_published() {
    let provider = Provider::start([]).await;
    let fixture = TestPlatform::new().await;
    let connect = platform_core::customers::connections::ConnectConsumer {
        provider: platform_core::customers::connections::ProviderChoice::Of(provider.url.clone()),
        application_id: Some("app_1".into()),
        api_key: None,
        start: platform_core::port::StartFrom::Now,
    };
    fixture.platform.connect_consumer(&fixture.caller, fixture.customer.uuid, &connect).await.unwrap();
    let tasks = kit_runtime::tasks::Tasks::new();
    fixture.platform.spawn_workers(&tasks);
    fixture.asleep(WORKERS).await;
    let auction = fixture.draft().await;
    fixture.clock.advance(Duration::from_secs(5));
    fixture.asleep(WORKERS).await;
    tasks.shutdown(Duration::from_secs(5)).await.unwrap();
    assert!(provider.requests().is_empty());
    assert_eq!(fixture.journal_of(auction.uuid).await, ["DRAFT created, announced"]);
}

#[tokio::test]
async fn a_fenced_node_republishes_its_rows_under_a_new_node_id() {
    let provider = Provider::start([]).await;
    let fixture = TestPlatform::connected(&provider, PlatformConfig::default()).await;
    fixture.faults.lose_answer_of_next_commit();
    let new = platform_core::sales::auctions::NewAuction {
        status: AuctionStatus::Draft,
        ..fixture.timed(Duration::from_secs(60), Vec::new())
    };
    let lost = fixture.platform.create_auction(&fixture.caller, &new, None).await;
    assert!(matches!(lost, Err(PlatformError::Unavailable(_))), "{lost:?}");
    assert_eq!(pending(&fixture).await, (1, 0));
    for _ in 0..13 {
        fixture.clock.advance(Duration::from_secs(1));
        fixture.asleep(WORKERS).await;
    }
    provider.request(1).await;
    fixture.close().await;
    assert_eq!(pending(&fixture).await, (0, 0));
}

#[tokio::test]
async fn events_of_a_crashed_process_are_published_after_a_restart() {
    let provider = Provider::start([]).await;
    let fixture = TestPlatform::new().await;
    fixture.connect(&provider, KEY).await;
    // No workers run yet, as in a process that crashes after its commit.
    fixture.draft().await;
    assert_eq!(pending(&fixture).await, (1, 0));
    let tasks = kit_runtime::tasks::Tasks::new();
    fixture.platform.spawn_workers(&tasks);
    provider.request(1).await;
    tasks.shutdown(Duration::from_secs(5)).await.unwrap();
    assert_eq!(pending(&fixture).await, (0, 0));
}

#[tokio::test]
async fn events_of_another_process_are_published_when_the_store_signals_a_change() {
    let provider = Provider::start([]).await;
    let fixture = TestPlatform::connected(&provider, PlatformConfig::default()).await;
    // A management command runs on the same store without workers.
    let command = node(&fixture.store, &fixture.clock, PlatformConfig::default(), 2);
    let new = platform_core::sales::auctions::NewAuction {
        status: AuctionStatus::Draft,
        ..fixture.timed(Duration::from_secs(60), Vec::new())
    };
    command.create_auction(&fixture.caller, &new, None).await.unwrap();
    fixture.store.remote_changes().notify();
    provider.request(1).await;
    fixture.close().await;
    assert_eq!(pending(&fixture).await, (0, 0));
}

#[tokio::test]
async fn events_beyond_the_lane_capacity_wait_in_the_table_and_are_published() {
    let provider = Provider::start([]).await;
    let publisher =
        PublisherConfig { lane_events_max: 4, claim_rows_max: 3, lane_requests_max: 2, ..PublisherConfig::default() };
    let fixture = TestPlatform::connected(&provider, PlatformConfig { publisher, ..PlatformConfig::default() }).await;
    let mut expected = Vec::new();
    for _ in 0..40 {
        expected.push(format!("{}.1", fixture.draft().await.uuid));
    }
    // The test clock does not advance, so no sweep runs.
    provider.request(40).await;
    let mut keys: Vec<String> = provider.requests().into_iter().map(|request| request.idempotency_key).collect();
    keys.sort();
    expected.sort();
    assert_eq!(keys, expected);
    fixture.close().await;
    assert_eq!(pending(&fixture).await, (0, 0));
}

#[tokio::test]
async fn the_retry_after_of_an_old_provider_does_not_delay_a_new_one() {
    let old = Provider::start([Reply::With(429, "retry-after", "86400".into())]).await;
    let fixture = TestPlatform::connected(&old, PlatformConfig::default()).await;
    let failed = fixture.draft().await;
    old.request(1).await;
    fixture.asleep(WORKERS + 1).await;
    let waiting = fixture.draft().await;
    let new = Provider::start([]).await;
    fixture.clock.advance(Duration::from_millis(1));
    fixture.connect(&new, KEY).await;
    new.request(2).await;
    let mut keys: Vec<String> = new.requests().into_iter().map(|request| request.idempotency_key).collect();
    keys.sort();
    assert_eq!(keys, [format!("{}.1", failed.uuid), format!("{}.1", waiting.uuid)]);
}

#[tokio::test]
async fn a_hanging_provider_delays_no_other_customer() {
    let hanging = Provider::start([]).await;
    hanging.otherwise(Reply::Hang);
    let fixture = TestPlatform::connected(&hanging, PlatformConfig::default()).await;
    for _ in 0..100 {
        fixture.draft().await;
    }
    hanging.request(64).await;
    assert_eq!(hanging.requests().len(), 64, "a lane has more than 64 concurrent requests");

    let other = Provider::start([]).await;
    let customer = fixture.platform.create_customer(&fixture.caller, "Jones", None).await.unwrap().fresh().unwrap();
    let auctioneer = fixture.platform.create_auctioneer(&fixture.caller, customer.uuid, "Jones", None).await.unwrap();
    let jones = TestPlatform { customer, auctioneer: auctioneer.fresh().unwrap(), ..fixture };
    jones.connect(&other, KEY).await;
    let auction = jones.draft().await;
    assert_eq!(other.request(1).await.idempotency_key, format!("{}.1", auction.uuid));
}

#[tokio::test]
async fn event_types_are_created_or_updated() {
    let provider = Provider::start([Reply::Status(201), Reply::Status(409), Reply::Status(200)]).await;
    let fixture = TestPlatform::new().await;
    fixture.connect(&provider, KEY).await;
    use platform_core::customers::connections::EventTypeOutcome::{Created, Updated};
    use platform_core::customers::connections::ExistingTexts;
    let customer = fixture.customer.uuid;
    let results = fixture.platform.register_event_types(&fixture.caller, customer, ExistingTexts::Keep).await.unwrap();
    assert_eq!(results.iter().map(|result| result.registered).collect::<Vec<_>>(), [Created, Updated]);
    let requests = provider.requests();
    let lines: Vec<&str> = requests.iter().map(|request| request.line.as_str()).collect();
    let expected =
        ["POST /api/v1/event-type/", "POST /api/v1/event-type/", "PUT /api/v1/event-type/AUCTION_STATUS_CHANGE/"];
    assert_eq!(lines, expected);
    assert!(requests[0].body.contains(r#""name":"ITEM_STATUS_CHANGE""#), "{}", requests[0].body);
}

#[tokio::test]
async fn two_nodes_publish_each_event_once() {
    let provider = Provider::start([]).await;
    let fixture = TestPlatform::connected(&provider, PlatformConfig::default()).await;
    let other = node(&fixture.store, &fixture.clock, PlatformConfig::default(), 2);
    other.spawn_workers(&fixture.tasks);
    fixture.asleep(2 * WORKERS).await;
    let new = platform_core::sales::auctions::NewAuction {
        status: AuctionStatus::Draft,
        ..fixture.timed(Duration::from_secs(60), Vec::new())
    };
    for round in 0..40 {
        let node = if round % 2 == 0 { &fixture.platform } else { &other };
        node.create_auction(&fixture.caller, &new, None).await.unwrap();
        fixture.clock.advance(Duration::from_millis(200));
        fixture.asleep(2 * WORKERS).await;
    }
    provider.request(40).await;
    fixture.close().await;
    assert_eq!((provider.requests().len(), pending(&fixture).await), (40, (0, 0)));
}

#[tokio::test]
async fn items_of_two_customers_end_together_even_if_one_is_not_connected() {
    let provider = Provider::start([]).await;
    let smith = TestPlatform::connected(&provider, PlatformConfig::default()).await;
    let platform = smith.platform.clone();
    let items = |count: usize| (0..count).map(|lot| NewItem::new(lot.to_string(), "A lot")).collect();
    let minute = Duration::from_secs(60);
    let sold_by_smith = smith.create(&smith.timed(minute, items(5))).await;
    let jones = platform.create_customer(&smith.caller, "Jones", None).await.unwrap().fresh().unwrap();
    let auctioneer = platform.create_auctioneer(&smith.caller, jones.uuid, "Jones", None).await.unwrap();
    let not_connected = platform_core::sales::auctions::NewAuction {
        auctioneer: auctioneer.fresh().unwrap().uuid,
        ..smith.timed(minute, items(5))
    };
    let sold_by_jones = smith.create(&not_connected).await;
    // The first request is the event of Smith's auction.
    provider.request(1).await;
    smith.asleep(WORKERS).await;
    smith.clock.advance(minute);
    provider.request(6).await;
    smith.close().await;
    assert_eq!(pending(&smith).await, (0, 0));
    for item in sold_by_smith.items.iter().chain(&sold_by_jones.items) {
        let expected = ["LIVE created", "UNSOLD end_reached, announced"];
        assert_eq!(smith.journal_of(item.uuid).await, expected);
    }
}
