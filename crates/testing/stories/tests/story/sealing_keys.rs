//! The sealing key: a node with another key is refused, and a leaked key can be replaced while the server runs.

use std::path::Path;
use std::process::{Command, Output};

use serde_json::{Value, json};
use testkit::server::{Launch, built_binary};
use testkit::site::{CustomerSite, http_client};

use crate::support::{WAIT_MAX, launch};

const OLD: &str = "0707070707070707070707070707070707070707070707070707070707070707";
const NEW: &str = "0808080808080808080808080808080808080808080808080808080808080808";

fn doctor(data_dir: &Path, database: &[&str], keys: &str) -> (bool, String) {
    let run = Command::new(built_binary("lotwire").unwrap())
        .args(["doctor", "--data-dir"])
        .arg(data_dir)
        .args(database)
        .env("LOTWIRE_SECRETS__KEY", keys)
        .output();
    let Output { status, stdout, .. } = run.unwrap();
    (status.success(), String::from_utf8(stdout).unwrap())
}

async fn refused(launch: &Launch, keys: &str) {
    let refused = launch.clone().set("SECRETS__KEY", keys).start(&http_client()).await.unwrap_err().to_string();
    assert!(refused.contains("ended at its start"), "{refused}");
}

/// Creates an auction and waits for its webhook.
async fn an_event_arrives(site: &CustomerSite) {
    let before = site.receiver.read(|record| record.arrivals().len());
    site.create_auction(json!({ "kind": "timed", "title": "One more" })).await.unwrap();
    assert!(site.receiver.wait_until(WAIT_MAX, |record| record.arrivals().len() > before).await);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_platform_node_with_another_key_is_refused_and_doctor_says_what_to_do() {
    let (data, elsewhere) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let url = testkit::postgres::fresh_database().await.unwrap();
    let first = launch(data.path()).database(&url);
    let _running = first.start(&http_client()).await.unwrap();
    let site = CustomerSite::set_up(&first, &first).await.unwrap();

    let second = first.second_node().unwrap().roles(&["platform"]);
    refused(&second, NEW).await;
    // Without a configured key, a new node would generate a key of its own.
    refused(&second, "").await;
    let (succeeded, output) = doctor(elsewhere.path(), &["--database-url", &url], NEW);
    assert!(!succeeded && output.contains("WRONG  platform secrets"), "{output}");
    assert!(
        output.contains("was made with another secrets.key") && output.contains("copy the file secret.key"),
        "{output}"
    );
    let connect = Command::new(built_binary("lotwire").unwrap())
        .args(["customer", "connect", &site.customer, "--application", &site.application, "--database-url", &url])
        .arg("--data-dir")
        .arg(elsewhere.path())
        .env("LOTWIRE_SECRETS__KEY", NEW)
        .output()
        .unwrap();
    assert!(!connect.status.success(), "the command sealed a secret with another key than the nodes");

    let both = format!("{OLD},{NEW}");
    let _second = second.set("SECRETS__KEY", &both).start(&http_client()).await.unwrap();
    let (succeeded, output) = doctor(elsewhere.path(), &["--database-url", &url], OLD);
    assert!(succeeded, "{output}");
    an_event_arrives(&site).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_key_is_replaced_while_the_server_runs() {
    let data = tempfile::tempdir().unwrap();
    let old = launch(data.path());
    let server = old.start(&http_client()).await.unwrap();
    let site = CustomerSite::set_up(&old, &old).await.unwrap();
    let endpoint = format!("/api/v1/app/{}/endpoint/{}", site.application, site.endpoint);
    let headers = json!({ "headers": { "x-customer": "kept" } });
    site.provider.put(&format!("{endpoint}/headers/"), &headers).await.unwrap();
    let secret = secret(&site, &endpoint).await;
    an_event_arrives(&site).await;
    server.kill();

    refused(&old, NEW).await;
    let both = old.clone().set("SECRETS__KEY", &format!("{NEW},{OLD}"));
    let server = both.start(&http_client()).await.unwrap();
    server.kill();
    // From now on, secrets may be sealed with either key.
    refused(&old, OLD).await;
    refused(&old, NEW).await;
    let server = both.start(&http_client()).await.unwrap();
    let (succeeded, output) = doctor(data.path(), &[], &format!("{NEW},{OLD}"));
    assert!(succeeded && output.contains("lotwire secrets reseal"), "{output}");
    let done = both.run_command(&["secrets", "reseal", "--json"]).unwrap();
    assert!(done["resealed"].as_u64() >= Some(3) && done["unopened"] == 0, "{done}");
    let again = both.run_command(&["secrets", "reseal", "--json"]).unwrap();
    assert_eq!((&again["resealed"], &again["key"]), (&json!(0), &done["key"]));
    an_event_arrives(&site).await;
    server.kill();

    let (succeeded, output) = doctor(data.path(), &[], NEW);
    assert!(succeeded && !output.contains("another key than the first"), "{output}");
    refused(&old, OLD).await;
    let _server = old.clone().set("SECRETS__KEY", NEW).start(&http_client()).await.unwrap();
    an_event_arrives(&site).await;
    assert_eq!(self::secret(&site, &endpoint).await, secret);
    let headers = site.provider.get(&format!("{endpoint}/headers/")).await.unwrap().body;
    assert_eq!(headers["headers"]["x-customer"], "kept");
}

async fn secret(site: &CustomerSite, endpoint: &str) -> Value {
    site.provider.get(&format!("{endpoint}/secret/")).await.unwrap().body
}
