//! Large messages that wait for a hanging endpoint do not cause the refusal of other requests.

use std::net::TcpListener;

use serde_json::json;
use testkit::site::{CustomerSite, http_client};

use crate::support::launch;

/// Together more bytes than the limit on request bodies in memory.
const MESSAGES: usize = 24;
const BYTES: usize = 1_000_000;

#[tokio::test(flavor = "multi_thread")]
async fn waiting_large_payloads_do_not_use_up_the_memory_for_requests() {
    let data = tempfile::tempdir().unwrap();
    let launch = launch(data.path()).set("REQUEST_BODIES_MIB", "16");
    let _server = launch.start(&http_client()).await.unwrap();
    let site = CustomerSite::set_up(&launch, &launch).await.unwrap();

    // The kernel accepts connections, but no program reads from them.
    let hanging = TcpListener::bind("127.0.0.1:0").unwrap();
    let application = site.add_application("hanging").await.unwrap();
    let url = format!("http://{}/", hanging.local_addr().unwrap());
    site.add_endpoint(&application, &url).await.unwrap();

    let messages = format!("/api/v1/app/{application}/msg/");
    let message = json!({ "eventType": "ITEM_STATUS_CHANGE", "payload": { "text": "x".repeat(BYTES) } });
    for _ in 0..MESSAGES {
        site.provider.post(&messages, &message).await.unwrap();
    }
    assert_eq!(launch.metric("lotwire_http_bodies_bytes").await.unwrap(), 0.0);
}
