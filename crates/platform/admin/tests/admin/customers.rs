//! Customers and their connections.

use axum::Router;
use axum::routing::{get, post};
use http::StatusCode;
use platform_core::port::{NodeId, OutboxSettlement, PublishResult};
use platform_core::sales::auctions::NewAuction;
use platform_core::{Caller, Role};
use uuid::Uuid;

use crate::fixture::{Fixture, sale, sale_of};

/// Starts a provider that accepts the key `lwp_right` for the application `app_1`; returns its address.
pub(crate) async fn provider() -> String {
    let is_right =
        |headers: &http::HeaderMap| headers.get("authorization").is_some_and(|value| value == "Bearer lwp_right");
    let application = async move |headers: http::HeaderMap| {
        if is_right(&headers) { (StatusCode::OK, "{}") } else { (StatusCode::UNAUTHORIZED, "<script>secret</script>") }
    };
    let create = async move |headers: http::HeaderMap| match is_right(&headers) {
        true => (StatusCode::CREATED, r#"{"id":"app_1"}"#),
        false => (StatusCode::UNAUTHORIZED, "<script>secret</script>"),
    };
    let portal = async || (StatusCode::OK, r#"{"url":"https://hooks.example/app-portal/login#key=abc","token":"t"}"#);
    let router = Router::new()
        .route("/api/v1/app/", post(create))
        .route("/api/v1/app/app_1/", get(application))
        .route("/api/v1/event-type/", post(async || (StatusCode::CREATED, "{}")))
        .route("/api/v1/auth/app-portal-access/app_1/", post(portal));
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = format!("http://{}", listener.local_addr().unwrap());
    tokio::spawn(async move { axum::serve(listener, router).await });
    address
}

#[tokio::test]
async fn a_customer_is_created_renamed_and_its_hostile_name_is_text() {
    let fixture = Fixture::new();
    let mut visitor = fixture.signed_in(Role::Support).await;
    visitor.get("/customers").await.is(200).shows("No customers yet").shows("Create customer");
    visitor.post("/customers/new", &[("name", "")]).await.is(422).shows("is empty");
    let page = visitor.submit("/customers/new", &[("name", "<script>alert(1)</script>")]).await;
    page.is(200).shows("Nothing is sent").shows("&#60;script&#62;").hides("<script>alert");
    let id = page.between("id=\"customer-id\">", "<");
    fixture.customer("Taken Ltd").await;
    let rename = format!("/customers/{id}/rename");
    visitor.get(&rename).await.is(200).shows("&#60;script&#62;");
    visitor.post(&rename, &[("name", "Taken Ltd")]).await.is(409).shows("already taken");
    visitor.submit(&rename, &[("name", "Hartley & Sons")]).await.is(200).shows("The customer was renamed.");
    visitor.get("/customers").await.shows("Hartley &#38; Sons").shows("Not connected");
}

#[tokio::test]
async fn support_connects_a_customer_from_nothing_and_disconnects_it() {
    let fixture = Fixture::new();
    let provider = provider().await;
    let id = fixture.customer("Hartley & Sons").await;
    let mut visitor = fixture.signed_in(Role::Support).await;
    let path = format!("/customers/{id}");
    let connection = format!("{path}/connection");
    visitor.get(&path).await.is(200).shows("Nothing is sent").shows("Connect customer");
    visitor.get(&connection).await.is(200).shows("Begin with");
    let fields = |application, key| {
        [("provider", "address"), ("url", provider.as_str()), ("application", application), ("apiKey", key)]
    };
    visitor
        .post(&connection, &fields("app 1", "lw_platform"))
        .await
        .is(422)
        .shows("begins with app_")
        .shows("API key of the platform")
        .hides("lw_platform\"");
    visitor.post(&connection, &[("provider", "address")]).await.is(422).shows("enter the address");
    visitor
        .submit(&connection, &fields("app_1", ""))
        .await
        .is(200)
        .shows("Nothing is sent until both")
        .shows("Incomplete");
    let refused = visitor.submit(&connection, &fields("app_1", "lwp_wrong")).await;
    refused
        .is(200)
        .shows("did not accept it yet")
        .shows("401")
        .shows("Refused")
        .hides("lwp_wrong")
        .hides("secret</script>");
    let test = visitor.post(&format!("{path}/test"), &[]).await;
    test.is(502).shows("401");
    let connected = visitor.submit(&connection, &fields("app_1", "lwp_right")).await;
    connected.is(200).shows("the provider accepts").shows("Working").hides("lwp_right").hides("Nothing is sent");
    visitor.submit(&format!("{path}/test"), &[]).await.is(200).shows("Waiting events are being published");
    visitor.submit(&format!("{path}/event-types"), &[]).await.is(200).shows("Both event types are registered");
    let link = visitor.post(&format!("{path}/portal-link"), &[]).await;
    link.is(200).shows("https://hooks.example/app-portal/login#key=abc").shows("can't be shown again");
    let link = visitor.post(&format!("{path}/portal-link"), &[("rights", "view")]).await;
    link.is(200).shows("For one hour").shows("https://hooks.example/app-portal/login#key=abc");
    let open = visitor.post(&format!("{path}/portal-link"), &[("rights", "manage")]).await;
    open.is(200).shows("href=\"https://hooks.example/app-portal/login#key=abc\" target=\"_blank\"");
    visitor.get("/customers").await.shows("Working");
    let asked = visitor.get(&format!("{path}/disconnect")).await;
    asked.is(200).shows("deletes the API key").shows("Disconnect customer").hides("live now");
    sale_of(&fixture, id, |_| {}).await;
    let asked = visitor.get(&format!("{path}/disconnect")).await;
    asked.is(200).shows("“Prints” is live now: what happens to its lots is not sent.");
    visitor.submit(&format!("{path}/disconnect"), &[]).await.is(200).shows("is disconnected").shows("Nothing is sent");
}

#[tokio::test]
async fn the_application_is_created_with_the_entered_key_and_a_failed_step_is_named() {
    let fixture = Fixture::new();
    let provider = provider().await;
    let id = fixture.customer("Hartley & Sons").await;
    let mut visitor = fixture.signed_in(Role::Support).await;
    let path = format!("/customers/{id}");
    let connection = format!("{path}/connection");
    visitor.get(&connection).await.is(200).hides("Connect to the embedded provider").shows("A new one");
    let fields =
        |key| [("provider", "address"), ("url", provider.as_str()), ("applicationFrom", "new"), ("apiKey", key)];
    let beyond = [&fields("lwp_right")[..], &[("start", "cursor"), ("cursor", "0")]].concat();
    visitor.post(&connection, &beyond).await.is(422).shows("is for an application that has endpoints");
    visitor.post(&connection, &fields("")).await.is(422).shows("the application is created with it");
    let failed = visitor.post(&connection, &fields("lwp_wrong")).await;
    failed.is(502).shows("Create the application").shows("401").shows("Try again").hides("lwp_wrong");
    failed.hides("secret</script>");
    visitor.get(&path).await.is(200).shows("Incomplete").shows("Finish connecting");
    visitor.submit(&connection, &fields("lwp_right")).await.is(200).shows("The customer is connected").shows("Working");
    visitor.get(&connection).await.is(200).hides("A new one");
    // Without an embedded provider the button of another page makes nothing.
    let other = fixture.customer("Other").await;
    visitor.post(&format!("/customers/{other}/connect"), &[]).await.is(409).shows("not connected");
}

#[tokio::test]
async fn a_key_is_not_sent_to_another_provider() {
    let fixture = Fixture::new();
    let (first, second) = (provider().await, provider().await);
    let id = fixture.customer("Hartley & Sons").await;
    let mut visitor = fixture.signed_in(Role::Administrator).await;
    let connection = format!("/customers/{id}/connection");
    let fields = [("provider", "address"), ("url", first.as_str()), ("application", "app_1"), ("apiKey", "lwp_right")];
    visitor.submit(&connection, &fields).await.is(200).shows("Working");
    let other = [("provider", "address"), ("url", second.as_str()), ("application", "app_1")];
    visitor.post(&connection, &other).await.is(422).shows("is of another provider");
    let beyond = [
        ("provider", "address"),
        ("url", first.as_str()),
        ("application", "app_1"),
        ("start", "cursor"),
        ("cursor", "99"),
    ];
    visitor.post(&connection, &beyond).await.is(422).shows("cursor");
}

/// A sale that is a draft with all its lots.
fn draft(new: &mut NewAuction) {
    new.status = contract::AuctionStatus::Draft;
    new.items.iter_mut().for_each(|item| item.status = contract::ItemStatus::Draft);
}

/// Has the provider refuse for good what waits, as a publisher records it; returns the cursors.
async fn refuse(fixture: &Fixture, customer: Uuid, error: &str) -> Vec<i64> {
    let (now, node) = (fixture.platform.now(), NodeId(Uuid::from_u128(1)));
    fixture.store.heartbeat(node, now, now).await.unwrap();
    let events = fixture.store.claim_outbox(node, customer, now, 100).await.unwrap();
    let refused =
        |cursor| OutboxSettlement { customer, cursor, result: PublishResult::Quarantined { error: error.to_owned() } };
    let cursors: Vec<i64> = events.iter().map(|event| event.cursor).collect();
    fixture.store.record_outbox_outcomes(cursors.iter().copied().map(refused).collect(), now).await.unwrap();
    cursors
}

#[tokio::test]
async fn support_sends_an_event_in_quarantine_again_or_drops_it_with_a_reason() {
    let fixture = Fixture::new();
    let provider = provider().await;
    let (auction, _) = sale(&fixture, draft).await;
    let staff = Caller::command_line();
    let customer = fixture.platform.auction(&staff, auction).await.unwrap().customer;
    let mut support = fixture.signed_in(Role::Support).await;
    let path = format!("/customers/{customer}");
    let fields = [("provider", "address"), ("url", &provider), ("application", "app_1"), ("apiKey", "lwp_right")];
    support.submit(&format!("{path}/connection"), &fields).await.is(200).shows("Working").hides("Quarantine");
    let status = async |to| {
        let version = fixture.platform.auction(&staff, auction).await.unwrap().version;
        fixture.platform.change_auction_status(&staff, auction, to, Some(version), None).await.unwrap();
    };
    status(contract::AuctionStatus::Preview).await;
    let first = refuse(&fixture, customer, "422: <b>no such event type</b>").await[0];
    let page = support.get(&path).await;
    page.is(200).shows("Refused by the provider").shows("422: &#60;b&#62;no such").hides("<b>no such");
    page.shows(&format!("{path}/quarantine/drop?cursor={first}"));
    // A viewer sees what is wrong, and has no button.
    let mut viewer = fixture.signed_in(Role::Viewer).await;
    viewer.get(&path).await.is(200).shows("Refused by the provider").hides("Send again").hides("Drop event");

    support
        .submit(&format!("{path}/quarantine/send"), &[])
        .await
        .is(200)
        .shows("The events wait to be published again");
    assert_eq!(refuse(&fixture, customer, "422: again").await, [first]);
    let drop = format!("{path}/quarantine/drop");
    support.get(&format!("{drop}?cursor={first}")).await.is(200).shows("is never published");
    support.get(&format!("{drop}?cursor=soon")).await.is(404);
    let cursor = first.to_string();
    support.post(&drop, &[("cursor", &cursor), ("reason", "")]).await.is(422).shows("eason");
    let dropped = support.submit(&drop, &[("cursor", &cursor), ("reason", "announced by telephone")]).await;
    dropped.is(200).shows("The event was dropped").hides("Refused by the provider");
    support.post(&drop, &[("cursor", &cursor), ("reason", "again")]).await.is(422);
}

#[tokio::test]
async fn an_event_that_was_overtaken_is_sent_only_after_a_question() {
    let fixture = Fixture::new();
    let provider = provider().await;
    let (auction, _) = sale(&fixture, draft).await;
    let staff = Caller::command_line();
    let customer = fixture.platform.auction(&staff, auction).await.unwrap().customer;
    let mut support = fixture.signed_in(Role::Support).await;
    let path = format!("/customers/{customer}");
    let fields = [("provider", "address"), ("url", &provider), ("application", "app_1"), ("apiKey", "lwp_right")];
    support.submit(&format!("{path}/connection"), &fields).await.is(200);
    let status = async |to| {
        let version = fixture.platform.auction(&staff, auction).await.unwrap().version;
        fixture.platform.change_auction_status(&staff, auction, to, Some(version), None).await.unwrap();
    };
    status(contract::AuctionStatus::Preview).await;
    let first = refuse(&fixture, customer, "422").await[0];
    status(contract::AuctionStatus::Draft).await;
    let (now, node) = (fixture.platform.now(), NodeId(Uuid::from_u128(1)));
    let later = fixture.store.claim_outbox(node, customer, now, 100).await.unwrap()[0].cursor;
    let published = OutboxSettlement { customer, cursor: later, result: PublishResult::Published };
    fixture.store.record_outbox_outcomes(vec![published], now).await.unwrap();

    let (send, cursor) = (format!("{path}/quarantine/send"), first.to_string());
    support.submit(&send, &[]).await.is(200).shows("Some events stay in quarantine");
    let asked = support.submit(&send, &[("cursor", &cursor)]).await;
    asked.is(200).shows("A later event of the same auction or lot was published already.");
    let sent = support.submit(&send, &[("cursor", &cursor), ("outOfOrder", "yes")]).await;
    sent.is(200).shows("wait to be published again").hides("Refused by the provider");
}
