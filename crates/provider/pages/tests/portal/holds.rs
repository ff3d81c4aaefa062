//! What holds back the deliveries of an endpoint, on its page.

use axum::Router;
use axum::routing::post;
use kit_http::serve::{Limits, serve};
use provider_core::EndpointInput;
use tokio::net::TcpListener;

use crate::fixture::{Fixture, at, receiver};

/// Starts a receiver that asks for a pause of an hour; returns its address.
async fn pausing_receiver() -> String {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let router =
        Router::new().route("/hook", post(async || (http::StatusCode::SERVICE_UNAVAILABLE, [("retry-after", "3600")])));
    tokio::spawn(serve(listener, kit_http::finish(router), std::future::pending(), Limits::default()));
    format!("http://{address}/hook")
}

#[tokio::test]
async fn an_endpoint_says_what_holds_back_its_deliveries() {
    let fixture = Fixture::new().await;
    let throttled = fixture.endpoint(EndpointInput { throttle_rate: Some(1), ..at(&receiver(200, "").await) }).await;
    let paused = fixture.endpoint(at(&pausing_receiver().await)).await;
    let mut visitor = fixture.visitor().await;
    let [throttled, paused] = [&throttled, &paused].map(|endpoint| format!("/endpoints/{}", endpoint.id));
    visitor.get(&throttled).await.is(200).hides("id=\"held\"").shows("; 0 waiting.");
    for _ in 0..4 {
        fixture.message("a.b", "{}", None).await;
    }
    let held = "Held to the endpoint&#39;s rate limit of 1 message a second.</strong> 3 messages wait.";
    visitor.until_shown(&throttled, held).await.shows("in the last minute.");
    let held = "because the receiver asked for it (Retry-After).</strong> 4 messages wait.";
    visitor.until_shown(&paused, held).await.shows("Paused until 07:");
}
