//! Customers and their connections.

use axum::Router;
use axum::routing::{get, post};
use http::StatusCode;
use platform_core::Role;

use crate::fixture::Fixture;

/// Starts a provider that accepts the key `lwp_right` for the application `app_1`; returns its address.
async fn provider() -> String {
    let is_right =
        |headers: &http::HeaderMap| headers.get("authorization").is_some_and(|value| value == "Bearer lwp_right");
    let application = async move |headers: http::HeaderMap| {
        if is_right(&headers) { (StatusCode::OK, "{}") } else { (StatusCode::UNAUTHORIZED, "<script>secret</script>") }
    };
    let portal = async || (StatusCode::OK, r#"{"url":"https://hooks.example/app-portal/login#key=abc","token":"t"}"#);
    let router = Router::new()
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
    visitor.get("/customers").await.shows("Working");
    visitor.get(&format!("{path}/disconnect")).await.is(200).shows("deletes the API key").shows("Disconnect customer");
    visitor.submit(&format!("{path}/disconnect"), &[]).await.is(200).shows("is disconnected").shows("Nothing is sent");
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
