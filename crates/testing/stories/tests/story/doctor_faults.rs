//! `lotwire doctor` names each fault, says what to do, and ends with an error.

use std::os::unix::fs::PermissionsExt as _;
use std::process::Command;
use std::time::Duration;

use consumer::ApiClient;
use serde_json::{Value, json};
use testkit::server::Launch;
use testkit::site::{CustomerSite, http_client};

use crate::fake_provider::{Answer, FakeProvider};
use crate::http_server;
use crate::support::{WAIT_MAX, launch};

/// What `doctor` prints, if it ends with an error.
fn doctor(launch: &Launch, change: impl FnOnce(&mut Command)) -> Option<String> {
    let mut command = launch.command();
    command.env("LOTWIRE_PLATFORM__LISTEN", launch.platform.to_string());
    command.env("LOTWIRE_PROVIDER__LISTEN", launch.provider.to_string());
    change(&mut command);
    let output = command.arg("doctor").output().unwrap();
    (!output.status.success()).then(|| String::from_utf8(output.stdout).unwrap())
}

/// Asserts that one failed line contains all of these texts.
fn assert_named(report: Option<String>, texts: &[&str]) {
    let report = report.unwrap_or_else(|| panic!("doctor passes with the fault {texts:?}"));
    let mut wrong = report.lines().filter(|line| line.starts_with("WRONG"));
    assert!(wrong.any(|line| texts.iter().all(|text| line.contains(text))), "{texts:?} is not named:\n{report}");
}

async fn customer(platform: &ApiClient, name: &str, connection: Value) -> String {
    let created = platform.post("/api/v1/customers", &json!({ "name": name })).await.unwrap();
    let uuid = created.text("/uuid").unwrap().to_owned();
    platform.put(&format!("/api/v1/customers/{uuid}/consumer"), &connection).await.unwrap();
    uuid
}

/// Announces an event of the customer and waits until the connection is as expected.
async fn announce_until(platform: &ApiClient, customer: &str, is_expected: impl Fn(&Value) -> bool) {
    let auctioneer = platform.post("/api/v1/auctioneers", &json!({ "customer": customer, "name": "A" })).await.unwrap();
    let auctioneer = auctioneer.text("/uuid").unwrap();
    let auction = json!({ "auctioneer": auctioneer, "kind": "timed", "currency": "GBP", "timeZone": "UTC" });
    platform.post("/api/v1/auctions", &auction).await.unwrap();
    let polling = async {
        while !is_expected(&platform.get(&format!("/api/v1/customers/{customer}/consumer")).await.unwrap().body) {
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    };
    tokio::time::timeout(WAIT_MAX, polling).await.expect("the connection did not reach the expected state");
}

#[tokio::test(flavor = "multi_thread")]
async fn faults_of_connections_and_endpoints_are_named() {
    let data = tempfile::tempdir().unwrap();
    // The delivery still waits when doctor looks, however slow the machine is.
    let launch = launch(data.path()).set("PROVIDER__RETRY_SCHEDULE", "50ms,100ms,200ms,500ms,1s,1h");
    let _server = launch.start(&http_client()).await.unwrap();
    let site = CustomerSite::set_up(&launch, &launch).await.unwrap();
    assert_eq!(doctor(&launch, |_| ()), None, "doctor reports a fault before there is one");
    let platform = &site.platform;
    let connection = |url: &str| json!({ "providerUrl": url, "applicationId": "app_1", "apiKey": "k" });

    customer(platform, "Incomplete", json!({ "applicationId": "app_1" })).await;
    customer(platform, "Refused", json!({ "applicationId": "app_1", "apiKey": "lwp_wrong" })).await;
    let providers = [("Parked", 401), ("Down", 503), ("Quarantine", 422)];
    for (name, status) in providers {
        let provider = FakeProvider::start().await;
        provider.always(Some(Answer::Status(status)));
        let uuid = customer(platform, name, connection(&provider.url)).await;
        announce_until(platform, &uuid, |shown| match status {
            401 => shown["state"] == "parked",
            503 => shown["state"] == "unreachable" && shown["connected"] == false,
            _ => shown["backlog"]["quarantined"] == 1,
        })
        .await;
    }
    customer(platform, "Silent", connection("http://127.0.0.1:1")).await;
    site.move_endpoint("http://127.0.0.1:1/").await.unwrap();
    let auction = json!({ "kind": "timed", "title": "A sale" });
    site.create_auction(auction).await.unwrap();
    let failed = async {
        while !doctor(&launch, |_| ()).unwrap_or_default().contains("every attempt fails") {
            tokio::time::sleep(Duration::from_millis(200)).await;
        }
    };
    tokio::time::timeout(WAIT_MAX, failed).await.expect("doctor does not name the failing endpoint");

    for texts in [
        &["Incomplete", "connection is incomplete", "lotwire customer connect"][..],
        &["Refused", "refuses since", "answered 401", "lotwire customer connect"],
        &["Parked", "1 event waits", "parked since", "lotwire customer resume"],
        &["Down", "1 event waits", "unreachable since", "answered 503"],
        &["Quarantine", "1 event is in quarantine", "quarantine list"],
        &["Silent", "unreachable since", "Check its address"],
        &["endpoints", "1 delivery waits", "every attempt fails", "mend the receiver"],
    ] {
        assert_named(doctor(&launch, |_| ()), texts);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn faults_of_the_installation_are_named() {
    let data = tempfile::tempdir().unwrap();
    let launch = launch(data.path());
    let server = launch.start(&http_client()).await.unwrap();
    let other_data = tempfile::tempdir().unwrap();
    let other = crate::support::launch(other_data.path()).set("SECRETS__KEY", &"09".repeat(32));
    let _other = other.start(&http_client()).await.unwrap();
    let port = |url: &str| url.trim_start_matches("http://").to_owned();
    assert!(tokio::task::block_in_place(|| server.stop()).unwrap().success());
    assert_eq!(doctor(&launch, |_| ()), None, "doctor reports a fault before there is one");

    let other_port = port(&other.provider_url());
    let report = doctor(&launch, |command| {
        command.env("LOTWIRE_PROVIDER__LISTEN", &other_port);
    });
    assert_named(report, &["provider port", "another Lotwire installation", "configure another address"]);
    let program = http_server::serve(async |_| Err(std::io::Error::other("no HTTP"))).await;
    let report = doctor(&launch, |command| {
        command.env("LOTWIRE_PROVIDER__LISTEN", port(&program));
    });
    assert_named(report, &["provider port", "another program uses", "configure another address"]);
    let report = doctor(&launch, |command| {
        command.env("LOTWIRE_SECRETS__KEY", "08".repeat(32));
    });
    assert_named(report, &["platform secrets", "key"]);
    let report = doctor(&launch, |command| {
        command.env_remove("LOTWIRE_SECRETS__KEY");
    });
    assert_named(report, &["data directory", "no file secret.key", "Copy the file"]);

    assert_named(
        doctor(&crate::support::launch(&data.path().join("mistyped")), |_| ()),
        &["data directory", "--data-dir"],
    );

    let mode = |name: &str, mode| {
        std::fs::set_permissions(data.path().join(name), std::fs::Permissions::from_mode(mode)).unwrap();
    };
    std::fs::write(data.path().join("backup.db"), "x").unwrap();
    mode("backup.db", 0o644);
    mode("", 0o755);
    assert_named(doctor(&launch, |_| ()), &["files", "can read backup.db", "chmod 600"]);
    mode("backup.db", 0o600);
    std::fs::remove_file(data.path().join("provider.db")).unwrap();
    assert_named(doctor(&launch, |_| ()), &["provider database", "does not exist", "lotwire serve"]);
}
