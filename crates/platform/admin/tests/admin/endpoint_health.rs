//! What the pages show of a customer's endpoints, as the platform has read it.

use std::time::Duration;

use axum::Router;
use axum::extract::Path;
use axum::routing::{get, post};
use http::StatusCode;
use jiff::{SignedDuration, Timestamp};
use platform_core::port::{
    DeliveryState, EndpointCondition, EndpointFigures, EndpointRecord, EventDelivery, FailedAttempt, ReadingEnd,
    ReadingOutcome,
};
use platform_core::sales::item_ends::ItemEndWorker;
use platform_core::{Caller, Role};
use testkit::web::Browser;
use uuid::Uuid;

use crate::customers::provider;
use crate::fixture::{Fixture, sale};

use EndpointCondition::{Delivering, Disabled, Failing};

/// A sale of a customer whose connection works, and a user of support.
struct Connected {
    fixture: Fixture,
    customer: Uuid,
    auction: Uuid,
    lot: Uuid,
    support: Browser,
}

impl Connected {
    async fn new(provider: &str) -> Self {
        let fixture = Fixture::new();
        let (auction, lot) = sale(&fixture, |_| {}).await;
        let customer = fixture.platform.auction(&Caller::command_line(), auction).await.unwrap().customer;
        // The second change of the lot, its end, is announced.
        fixture.clock.advance(Duration::from_secs(25 * 3_600));
        ItemEndWorker::new(fixture.platform.clone()).run_once(fixture.platform.now()).await.unwrap();
        let mut support = fixture.signed_in(Role::Support).await;
        let fields = [("provider", "address"), ("url", provider), ("application", "app_1"), ("apiKey", "lwp_right")];
        support.submit(&format!("/customers/{customer}/connection"), &fields).await.is(200).shows("Working");
        Self { fixture, customer, auction, lot, support }
    }

    fn ago(&self, seconds: i64) -> Timestamp {
        self.fixture.platform.now() - SignedDuration::from_secs(seconds)
    }

    fn endpoint(&self, id: &str, condition: EndpointCondition) -> EndpointRecord {
        let hinders = matches!(condition, EndpointCondition::Failing | EndpointCondition::Disabled);
        EndpointRecord {
            id: id.to_owned(),
            host: format!("{}.example.com", id.replace('_', "-")),
            description: if id == "ep_1" { "<b>Web site</b>".to_owned() } else { String::new() },
            condition,
            since: hinders.then(|| self.ago(180)),
            may_be_earlier: false,
            last_failure: hinders.then(|| FailedAttempt { at: self.ago(60), status_code: 500 }),
            last_success_at: Some(self.ago(600)),
            figures: Some(EndpointFigures {
                since: self.ago(86_430),
                read_at: self.ago(30),
                succeeded: 12,
                failed: 3,
                waiting: 1,
            }),
            details_read_at: Some(self.ago(30)),
            read_at: self.ago(30),
        }
    }

    /// Stores a reading that ended 30 seconds ago.
    async fn read(
        &self,
        outcome: ReadingOutcome,
        endpoints: Option<Vec<EndpointRecord>>,
        events: &[(u8, DeliveryState)],
    ) {
        let (store, ended) = (&self.fixture.store, self.ago(30));
        let claim = store.claim_endpoint_readings(self.ago(0), self.ago(-1), 9).await.unwrap().remove(0);
        if let Some(endpoints) = endpoints {
            assert!(store.record_endpoints(claim, endpoints, false, ended).await.unwrap());
        }
        let delivery = |&(endpoint, state): &(u8, DeliveryState)| EventDelivery {
            subject: self.lot,
            sequence: 2,
            endpoint: format!("ep_{endpoint}"),
            event_id: format!("{}.2", self.lot),
            state,
            accepted_at: self.ago(120),
            read_at: ended,
        };
        let events = events.iter().map(delivery).collect();
        assert!(store.record_event_deliveries(claim, None, events).await.unwrap());
        let detail = (outcome != ReadingOutcome::Read).then(|| "the provider answered 403: it may not".to_owned());
        let end = ReadingEnd { claim, outcome, detail, at: ended, next_at: self.ago(0), soon_at: self.ago(0) };
        store.end_endpoint_reading(end).await.unwrap();
        self.fixture.clock.advance(Duration::from_secs(5));
    }
}

#[tokio::test]
async fn an_endpoint_that_fails_is_seen_from_today_to_the_lot_until_it_delivers() {
    let mut sale = Connected::new(&provider().await).await;
    let (customer, auction, lot) = (sale.customer, sale.auction, sale.lot);
    let customer_path = format!("/customers/{customer}");
    let (auction_path, lot_path) = (format!("/auctions/{auction}"), format!("/auctions/{auction}/lots/{lot}"));
    sale.support.get(&customer_path).await.is(200).shows("The endpoints were not read yet").shows("Not read yet");
    sale.support.get(&lot_path).await.is(200).shows("Whether it was delivered was not read yet.");

    let endpoints = vec![sale.endpoint("ep_1", Failing), sale.endpoint("ep_2", Delivering)];
    let events = [(1, DeliveryState::Waiting), (2, DeliveryState::Delivered)];
    sale.read(ReadingOutcome::Read, Some(endpoints.clone()), &events).await;
    let mut viewer = sale.fixture.signed_in(Role::Viewer).await;
    for visitor in [&mut sale.support, &mut viewer] {
        let today = visitor.get("/").await;
        today.is(200).shows("<b>1</b> <span>of 2 endpoints fails <time").shows("for 3 minutes").hides("All done");
        today.shows("Sale &#38; Sons: the receiver answered 500 · read <time").shows("Not delivering");
        today.shows(&format!("{customer_path}#endpoints"));
        visitor.get("/customers").await.is(200).shows("Not delivering").hides("Working");
        let page = visitor.get(&customer_path).await;
        page.is(200).shows("Working").shows("Not delivering").shows("&#60;b&#62;Web site").hides("<b>Web site");
        page.shows("ep-1.example.com").shows("ep-2.example.com").shows("Failing").shows("Delivering");
        page.shows("the receiver answered 500").shows("12 succeeded, 3 failed; <b>1</b> delivery waits");
        page.shows("35 seconds ago").shows("those of all sales of the customer");
        let overview = visitor.get(&auction_path).await;
        overview.is(200).shows("Events to Sale &#38; Sons").shows("1 of 2 endpoints fails <time");
        overview.shows("1 event that an endpoint did not accept yet").shows(": the receiver answered 500");
        let lot = visitor.get(&lot_path).await;
        lot.is(200).shows("Not delivered").shows("1 of 2 endpoints did not accept it. A further attempt is planned.");
    }
    // The provider of this test shows no message: what was read before shows beside why.
    let deliveries = sale.support.get(&format!("{lot_path}/deliveries?sequence=2")).await;
    deliveries.is(200).shows("The provider does not have it.").shows("1 of 2 endpoints did not accept it.");
    // A clerk sees neither events nor customers.
    let mut clerk = sale.fixture.signed_in(Role::Clerk).await;
    clerk.get("/").await.is(200).hides("endpoints fails");
    clerk.get(&auction_path).await.is(200).hides("Events to");

    let endpoints = vec![sale.endpoint("ep_1", Delivering), endpoints[1].clone()];
    let events = [(1, DeliveryState::Delivered), (2, DeliveryState::Delivered)];
    sale.read(ReadingOutcome::Read, Some(endpoints), &events).await;
    sale.support.get("/").await.is(200).hides("fails").hides("Not delivering").shows("Working");
    sale.support.get(&customer_path).await.hides("Not delivering").hides("Failing");
    sale.support.get(&auction_path).await.shows("No failure at 2 endpoints").hides("Of this sale");
    sale.support.get(&lot_path).await.shows("Accepted by 2 endpoints.").hides("Not delivered");
}

#[tokio::test]
async fn a_disabled_endpoint_none_at_all_and_a_key_without_the_right_are_told_apart() {
    let mut sale = Connected::new(&provider().await).await;
    let (customer_path, auction_path) =
        (format!("/customers/{}", sale.customer), format!("/auctions/{}", sale.auction));
    sale.read(ReadingOutcome::NoRight, None, &[]).await;
    // It asks for nothing: events are published all the same.
    sale.support.get("/").await.is(200).shows("Working").hides("of this customer");
    let page = sale.support.get(&customer_path).await;
    page.is(200).shows("The key can&#39;t read the endpoints").shows("the provider answered 403: it may not");
    sale.support.get(&auction_path).await.is(200).shows("The key can&#39;t read the endpoints.");

    sale.read(ReadingOutcome::Read, Some(Vec::new()), &[]).await;
    let today = sale.support.get("/").await;
    today.is(200).shows("<b>0</b> <span>endpoints: the events of this customer reach no receiver").shows("No endpoint");
    sale.support.get(&customer_path).await.shows("The application has no endpoint");

    let endpoints = vec![sale.endpoint("ep_1", Disabled), sale.endpoint("ep_2", Failing)];
    sale.read(ReadingOutcome::Read, Some(endpoints.clone()), &[]).await;
    let today = sale.support.get("/").await;
    today.shows("<b>1</b> <span>of 2 endpoints fails").shows("<b>1</b> <span>of 2 endpoints is disabled");
    sale.support.get(&customer_path).await.shows("Disabled").shows("for 3 minutes");
    sale.support.get(&auction_path).await.shows("1 of 2 endpoints is disabled; 1 of 2 endpoints fails");

    // A reading that fails later shows what is known, and that it may be old.
    sale.read(ReadingOutcome::Failed, None, &[]).await;
    let page = sale.support.get(&customer_path).await;
    page.shows("Failing").shows("The last reading failed: the provider answered 403").shows("40 seconds ago");
}

#[tokio::test]
async fn those_who_run_sales_and_support_send_an_event_again_from_the_lot() {
    let (resent, seen) = (std::sync::Arc::new(std::sync::Mutex::new(Vec::new())), "2026-11-21T06:00:00Z");
    let list = |data: String| format!(r#"{{"data":[{data}],"done":true,"iterator":null,"prevIterator":null}}"#);
    let endpoint = list(format!(
        r#"{{"id":"ep_1","url":"https://hooks.example.com","statusText":"fail","status":2,"nextAttempt":"{seen}"}}"#
    ));
    let (message, attempts) = (format!(r#"{{"id":"msg_1","timestamp":"{seen}"}}"#), list(String::new()));
    let record = std::sync::Arc::clone(&resent);
    let router = Router::new()
        .route("/api/v1/app/app_1/", get(async || (StatusCode::OK, "{}")))
        .route("/api/v1/app/app_1/msg/{event}/", get(async move || message))
        .route("/api/v1/app/app_1/msg/{event}/endpoint/", get(async move || endpoint))
        .route("/api/v1/app/app_1/attempt/msg/{event}/", get(async move || attempts))
        .route(
            "/api/v1/app/app_1/msg/{event}/endpoint/{endpoint}/resend/",
            post(async move |Path((event, endpoint)): Path<(String, String)>| {
                record.lock().unwrap().push(format!("{event} {endpoint}"));
                (StatusCode::ACCEPTED, "{}")
            }),
        );
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = format!("http://{}", listener.local_addr().unwrap());
    tokio::spawn(async move { axum::serve(listener, router).await });

    let mut sale = Connected::new(&address).await;
    let path = format!("/auctions/{}/lots/{}/deliveries", sale.auction, sale.lot);
    let form = [("sequence", "2"), ("endpoint", "ep_1")];
    let mut operator = sale.fixture.signed_in(Role::Operator).await;
    for visitor in [&mut sale.support, &mut operator] {
        visitor.get(&format!("{path}?sequence=2")).await.is(200).shows("Send again");
        visitor.submit(&path, &form).await.is(200).shows("The provider is sending the event once more.");
    }
    assert_eq!(*resent.lock().unwrap(), [format!("{}.2 ep_1", sale.lot), format!("{}.2 ep_1", sale.lot)]);
    let mut viewer = sale.fixture.signed_in(Role::Viewer).await;
    viewer.get(&format!("{path}?sequence=2")).await.is(200).shows("hooks.example.com").hides("Send again");
    let refused = viewer.post(&path, &form).await;
    refused.is(403).shows("This needs the role administrator, operator or support.");
    assert_eq!(resent.lock().unwrap().len(), 2);
}
