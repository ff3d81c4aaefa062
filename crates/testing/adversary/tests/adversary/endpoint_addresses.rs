//! Addresses by which a tenant would make the provider reach the operator's network.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use serde_json::{Value, json};

use crate::raw::{read_request, response, serve_at};
use crate::support::{Account, Running};
use tokio::io::AsyncWriteExt as _;

#[path = "../../../../kit/outbound/src/client/tests/hostile_addresses.rs"]
mod table;
pub(crate) use table::HOSTILE;

/// A server that counts the connections it receives.
async fn counting(ip: &str, answer: Vec<u8>) -> (String, Arc<AtomicUsize>) {
    let connections = Arc::new(AtomicUsize::new(0));
    let counter = connections.clone();
    let address = serve_at(ip, move |mut stream, _| {
        counter.fetch_add(1, Ordering::SeqCst);
        let answer = answer.clone();
        async move {
            while read_request(&mut stream).await.is_some() {
                if stream.write_all(&answer).await.is_err() {
                    return;
                }
            }
        }
    })
    .await;
    (format!("http://{address}/"), connections)
}

#[tokio::test(flavor = "multi_thread")]
async fn no_hostile_address_becomes_an_endpoint() {
    let running = Running::new(&[("PROVIDER__ALLOW_SUBNETS", "")]).await;
    let account = Account::new(&running, "attacker").await;
    let existing = account.endpoint("https://hooks.example.com/").await;
    let mut refused = 0;
    for url in HOSTILE {
        let body = json!({ "url": url });
        for (method, path) in [
            ("post", account.path("endpoint")),
            ("put", account.path(&format!("endpoint/{existing}"))),
            ("patch", account.path(&format!("endpoint/{existing}"))),
            ("post", "/api/v1/operational-webhook/endpoint".to_owned()),
        ] {
            let answer = account.api.call(method, &path, &account.key, &body).await;
            assert!(matches!(answer.status, 400 | 422), "{method} {path} took {url:?}: {answer:?}");
            refused += 1;
        }
    }
    let endpoints = account.get("endpoint").await;
    assert_eq!(endpoints["data"].as_array().map(Vec::len), Some(1), "{endpoints}");
    assert_eq!(endpoints["data"][0]["url"], "https://hooks.example.com/");
    println!("endpoint_addresses: {} hostile addresses, {refused} requests refused", HOSTILE.len());
    assert!(HOSTILE.len() >= 146);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_redirect_is_not_followed() {
    let running = Running::new(&[("PROVIDER__ALLOW_SUBNETS", "127.0.0.1/32")]).await;
    let account = Account::new(&running, "attacker").await;
    let (private, reached) = counting("127.0.0.2", response("200 OK", "", "secret")).await;
    let (public, reached_too) = counting("127.0.0.1", response("200 OK", "", "secret")).await;
    for (status, target) in [301, 302, 303, 307, 308].iter().flat_map(|status| [(status, &private), (status, &public)])
    {
        let redirect = response(&format!("{status} Elsewhere"), &format!("location: {target}\r\n"), "");
        let (url, _) = counting("127.0.0.1", redirect).await;
        account.endpoint(&url).await;
    }
    let message = account.message(json!({})).await;
    for attempt in account.attempts(&message, 10).await {
        assert!((301..=308).contains(&attempt["responseStatusCode"].as_i64().unwrap()), "{attempt}");
        assert!(!attempt.to_string().contains("secret"), "{attempt}");
    }
    assert_eq!((reached.load(Ordering::SeqCst), reached_too.load(Ordering::SeqCst)), (0, 0));
}

#[tokio::test(flavor = "multi_thread")]
async fn an_address_is_checked_at_each_delivery_and_not_only_when_it_is_entered() {
    let running = Running::new(&[("PROVIDER__ALLOW_SUBNETS", "127.0.0.0/8")]).await;
    let account = Account::new(&running, "attacker").await;
    let (url, connections) = counting("127.0.0.2", response("200 OK", "", "ok")).await;
    account.endpoint(&url).await;
    let message = account.message(json!({})).await;
    assert_eq!(account.attempts(&message, 1).await[0]["responseStatusCode"], 200);
    let before = connections.load(Ordering::SeqCst);

    let running = running.restarted(&[("PROVIDER__ALLOW_SUBNETS", "127.0.0.1/32")]).await;
    let message = account.message(json!({})).await;
    let attempt = &account.attempts(&message, 1).await[0];
    assert!(attempt["response"].as_str().unwrap_or_default().contains("loopback"), "{attempt}");
    assert_eq!(connections.load(Ordering::SeqCst), before, "the provider connected");
    drop(running);
}

/// The machine resolves its host name to one of its own addresses.
#[tokio::test(flavor = "multi_thread")]
async fn a_name_that_resolves_to_a_private_address_is_not_connected_to() {
    let name = std::fs::read_to_string("/proc/sys/kernel/hostname").unwrap().trim().to_owned();
    let Ok(found) = tokio::net::lookup_host((name.as_str(), 1)).await else {
        println!("endpoint_addresses: this machine does not resolve its own name {name}");
        return;
    };
    let found: Vec<_> = found.map(|address| address.ip()).collect();
    let (url, connections) = counting(&found[0].to_string(), response("200 OK", "", "ok")).await;
    let running = Running::new(&[("PROVIDER__ALLOW_SUBNETS", "")]).await;
    let account = Account::new(&running, "attacker").await;
    let port = url.trim_end_matches('/').rsplit(':').next().unwrap().to_owned();
    let body = json!({ "url": format!("http://{name}:{port}/") });
    let answer = account.api.call("post", &account.path("endpoint"), &account.key, &body).await;
    if answer.status == 201 {
        let message = account.message(json!({})).await;
        let attempt = &account.attempts(&message, 1).await[0];
        assert!(attempt["response"].as_str().unwrap_or_default().contains("is refused"), "{attempt}");
        assert!(
            found.iter().all(|ip| !attempt.to_string().contains(&ip.to_string())),
            "the address is shown: {attempt}"
        );
    }
    assert_eq!(connections.load(Ordering::SeqCst), 0, "{answer:?}");
    assert_ne!(answer.body, Value::Null);
}
