//! Provider addresses that support enters. The platform sends no stored key to them, and shows no response that would help to
//! explore the operator's network.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex};

use serde_json::{Value, json};
use tokio::net::TcpListener;

use crate::call::{Answer, Api};
use crate::endpoint_addresses::HOSTILE;
use crate::raw::{response, serve, serve_answers};
use crate::support::{Running, wait_until};

struct Support {
    api: Api,
    key: String,
    customer: String,
}

impl Support {
    async fn new(running: &Running) -> Self {
        let (api, key) = (running.platform(), running.launch.create_staff_key("support").unwrap());
        let customer = api.make("post", "/api/v1/customers", &key, &json!({ "name": "one" })).await.text("uuid");
        Support { api, key, customer }
    }

    fn path(&self) -> String {
        format!("/api/v1/customers/{}/consumer", self.customer)
    }

    async fn enter(&self, body: Value) -> Answer {
        self.api.call("put", &self.path(), &self.key, &body).await
    }

    async fn shown(&self) -> Value {
        self.api.make("get", &self.path(), &self.key, &Value::Null).await.body
    }
}

fn connection(url: &str) -> Value {
    json!({ "providerUrl": url, "applicationId": "app_1", "apiKey": "lwp_sealed" })
}

#[tokio::test(flavor = "multi_thread")]
async fn no_hostile_address_becomes_the_address_of_a_provider() {
    let running = Running::new(&[("PLATFORM__ALLOWED_PROVIDER_NETWORKS", "")]).await;
    let support = Support::new(&running).await;
    for url in HOSTILE {
        let answer = support.enter(connection(url)).await;
        assert_eq!(answer.status, 422, "{url:?}: {answer:?}");
    }
    let stored = support.api.call("get", &support.path(), &support.key, &Value::Null).await;
    assert_eq!(stored.status, 404, "nothing was stored: {stored:?}");
    println!("provider_addresses: {} hostile addresses refused", HOSTILE.len());
}

#[tokio::test(flavor = "multi_thread")]
async fn the_stored_key_is_not_sent_to_another_address() {
    let received: Arc<Mutex<Vec<String>>> = Arc::default();
    let seen = received.clone();
    let foreign = serve_answers(move |request| {
        seen.lock().unwrap().push(request.head.clone());
        response("200 OK", "", "{}")
    })
    .await;
    let known = serve_answers(|_| response("200 OK", "", "{}")).await;
    let running = Running::new(&[]).await;
    let support = Support::new(&running).await;
    assert_eq!(support.enter(connection(&format!("http://{known}"))).await.status, 200);
    for body in [
        json!({ "providerUrl": format!("http://{foreign}") }),
        json!({ "providerUrl": format!("http://{foreign}"), "applicationId": "app_2" }),
        json!({ "providerUrl": format!("http://{known}@{foreign}") }),
        json!({ "providerUrl": format!("http://{known}\\@{foreign}") }),
        json!({ "providerUrl": "embedded" }),
        json!({ "providerUrl": null }),
    ] {
        let answer = support.enter(body.clone()).await;
        let kept = body["providerUrl"].is_null() && answer.status == 200;
        assert!(kept || answer.status == 422 || answer.code() == "api_key_required", "{body}: {answer:?}");
    }
    assert_eq!(support.shown().await["providerUrl"], format!("http://{known}"));
    assert!(received.lock().unwrap().is_empty(), "{received:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn the_text_of_a_provider_error_is_not_shown() {
    let running = Running::new(&[]).await;
    let support = Support::new(&running).await;
    let mut shown = 0;
    for status in
        ["301 Moved", "400 Bad", "401 No", "403 No", "404 No", "409 Yes", "418 Tea", "422 No", "500 Oh", "503 Busy"]
    {
        for body in [
            "root:x:0:0:SECRET",
            r#"{"code":"SECRET","detail":"SECRET","title":"SECRET"}"#,
            r#"{"code":"not_found","detail":"SECRET","errors":[{"detail":"SECRET"}]}"#,
            "<title>SECRET</title>",
        ] {
            let provider =
                serve_answers(move |_| response(status, "x-a: SECRET\r\nlocation: http://SECRET/\r\n", body));
            let answer = support.enter(connection(&format!("http://{}", provider.await))).await;
            assert_eq!(answer.status, 200, "{answer:?}");
            for text in [answer.body.to_string(), support.shown().await.to_string()] {
                assert!(!text.to_lowercase().contains("secret"), "{status}: {text}");
                shown += 1;
            }
        }
    }
    println!("provider_addresses: {shown} answers without a word of the provider's error");
}

#[tokio::test(flavor = "multi_thread")]
async fn the_response_of_a_provider_to_an_event_is_not_shown() {
    let running = Running::new(&[]).await;
    let support = Support::new(&running).await;
    let provider = serve_answers(|request| match request.head.starts_with("POST") {
        true => response("422 No", "", r#"{"code":"SECRET","detail":"SECRET"}"#),
        false => response("200 OK", "", "{}"),
    })
    .await;
    assert_eq!(support.enter(connection(&format!("http://{provider}"))).await.status, 200);
    let make = async |path: &str, body: Value| support.api.make("post", path, &support.key, &body).await.text("uuid");
    let auctioneer = make("/api/v1/auctioneers", json!({ "customer": support.customer, "name": "one" })).await;
    let auction = json!({ "auctioneer": auctioneer, "kind": "timed", "currency": "GBP", "timeZone": "UTC" });
    make("/api/v1/auctions", auction).await;
    let quarantine = format!("{}/quarantine", support.path());
    let list = async || support.api.make("get", &quarantine, &support.key, &Value::Null).await.body;
    wait_until("a quarantined event", async || list().await["data"][0].is_object()).await;
    let listed = list().await.to_string();
    assert!(!listed.contains("SECRET") && listed.contains("422"), "{listed}");
}

#[tokio::test(flavor = "multi_thread")]
async fn the_error_does_not_distinguish_open_from_closed_ports() {
    let running = Running::new(&[]).await;
    let support = Support::new(&running).await;
    let closed = {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        listener.local_addr().unwrap()
    };
    let silent_end = serve(|stream, _| async move { drop(stream) }).await;
    let ssh = serve_answers(|_| b"SSH-2.0-OpenSSH_9.6\r\n".to_vec()).await;
    let redis = serve_answers(|_| b"-ERR wrong number of arguments\r\n".to_vec()).await;
    let mut texts = BTreeSet::new();
    for address in [closed, silent_end, ssh, redis] {
        let answer = support.enter(connection(&format!("http://{address}"))).await;
        assert_eq!(answer.status, 200, "{answer:?}");
        let shown = answer.body.to_string().replace(&address.to_string(), "ADDRESS");
        let mut shown: Value = serde_json::from_str(&shown).unwrap();
        shown
            .as_object_mut()
            .unwrap()
            .retain(|name, _| !matches!(name.as_str(), "stateSince" | "updatedAt" | "backlog"));
        texts.insert(shown.to_string());
    }
    assert_eq!(texts.len(), 1, "{texts:#?}");
}
