//! A connection to the embedded provider: the platform finds the nodes at their present addresses, and sends the API key to no
//! other program.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use bytes::Bytes;
use consumer::ApiClient;
use http::Response;
use http_body_util::Full;
use serde_json::json;
use testkit::site::{CustomerSite, http_client};

use crate::http_server;
use crate::support::{launch, launch_with_defaults, two_nodes_of};

/// The promise: after a node's death, the other node delivers what either of them announced within this time.
const FAILOVER_MAX: Duration = Duration::from_secs(15);

async fn announce(site: &CustomerSite, api: &ApiClient) {
    let auction = json!({ "auctioneer": site.auctioneer, "kind": "timed", "currency": "GBP", "timeZone": "UTC" });
    api.post("/api/v1/auctions", &auction).await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn when_either_of_two_nodes_dies_the_other_publishes_and_delivers() {
    for first_dies in [true, false] {
        let nodes = two_nodes_of(launch_with_defaults).await;
        let site = nodes.site;
        let (dying, survivor) =
            if first_dies { (&site.platform, &nodes.second_api) } else { (&nodes.second_api, &site.platform) };
        // Both nodes have published and delivered before.
        for (count, api) in [(1, &site.platform), (2, &nodes.second_api)] {
            announce(&site, api).await;
            assert!(site.receiver.wait_until(FAILOVER_MAX, |record| record.arrivals().len() == count).await);
        }
        // The dying node may or may not have published or delivered its last event.
        announce(&site, dying).await;
        if first_dies {
            nodes.first.kill()
        } else {
            nodes.second.kill()
        }
        announce(&site, survivor).await;
        let arrived = site.receiver.wait_until(FAILOVER_MAX, |record| record.arrivals().len() == 4).await;
        let path = format!("/api/v1/customers/{}/consumer", site.customer);
        assert!(arrived, "first_dies: {first_dies}, {}", survivor.get(&path).await.unwrap().body);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn events_follow_the_embedded_provider_to_another_address() {
    let data = tempfile::tempdir().unwrap();
    let before = launch(data.path());
    let server = before.start(&http_client()).await.unwrap();
    let site = CustomerSite::set_up(&before, &before).await.unwrap();
    assert!(tokio::task::block_in_place(|| server.stop()).unwrap().success());
    let moved = before.second_node().unwrap();
    let _server = moved.start(&http_client()).await.unwrap();
    let key = moved.create_staff_key("moved").unwrap();
    let platform = ApiClient::new(http_client(), moved.platform_url(), &key).unwrap();
    announce(&site, &platform).await;
    assert!(site.receiver.wait_until(FAILOVER_MAX, |record| record.arrivals().len() == 1).await);
    let shown = platform.get(&format!("/api/v1/customers/{}/consumer", site.customer)).await.unwrap().body;
    assert_eq!((&shown["provider"], &shown["state"]), (&json!("embedded"), &json!("working")), "{shown}");
    assert_eq!(shown["providerUrl"], json!(moved.provider_url()));
}

#[tokio::test(flavor = "multi_thread")]
async fn another_program_on_the_providers_port_receives_no_key() {
    let received: Arc<Mutex<Vec<String>>> = Arc::default();
    let seen = received.clone();
    let url = http_server::serve(move |request| {
        seen.lock().unwrap().push(format!("{} {:?}", request.uri(), request.headers()));
        async { Ok(Response::new(Full::new(Bytes::from_static(br#"{"proofs":["00"]}"#)))) }
    })
    .await;
    let data = tempfile::tempdir().unwrap();
    let launch = launch(data.path()).set("PROVIDER__LISTEN", url.trim_start_matches("http://"));
    let customer = launch.run_command(&["customer", "create", "First", "--json"]).unwrap();
    let key = data.path().join("key.txt");
    std::fs::write(&key, "lwp_secret").unwrap();
    let mut connect = launch.command();
    connect.args(["customer", "connect", customer["uuid"].as_str().unwrap(), "--application", "app_1"]);
    let output = connect.arg("--api-key-file").arg(&key).output().unwrap();
    let errors = String::from_utf8(output.stderr).unwrap();
    assert!(output.status.success() && errors.contains("no node of the embedded provider answers"), "{errors}");
    let received = received.lock().unwrap();
    assert!(!received.is_empty(), "the command did not ask the program for a proof");
    assert!(received.iter().all(|request| !request.contains("lwp_secret") && !request.contains("authorization")));
}
