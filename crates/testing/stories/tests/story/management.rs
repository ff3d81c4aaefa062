//! Management commands beside a running server.

use std::io::Write as _;
use std::process::{Command, Stdio};
use std::time::Instant;

use serde_json::json;
use testkit::server::built_binary;
use testkit::site::{CustomerSite, http_client};

use crate::support::{WAIT_MAX, launch, received, webcast};

#[tokio::test(flavor = "multi_thread")]
async fn a_connection_made_on_the_command_line_is_used_by_the_running_server() {
    let data = tempfile::tempdir().unwrap();
    let launch = launch(data.path());
    let _server = launch.start(&http_client()).await.unwrap();
    let site = CustomerSite::set_up(&launch, &launch).await.unwrap();

    // Commands alone set up a second customer with the same application.
    let customer =
        launch.run_command(&["customer", "create", "By hand", "--json"]).unwrap()["uuid"].as_str().unwrap().to_owned();
    let mut connect = Command::new(built_binary("lotwire").unwrap())
        .args(["customer", "connect", &customer, "--application", &site.application, "--api-key-stdin"])
        .args(["--provider-url", &launch.provider_url(), "--register-event-types", "--data-dir"])
        .arg(data.path())
        .env("LOTWIRE_SECRETS__KEY", "07".repeat(32))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    connect.stdin.take().unwrap().write_all(site.provider_key.as_bytes()).unwrap();
    let output = connect.wait_with_output().unwrap();
    let said = String::from_utf8(output.stdout).unwrap();
    assert!(output.status.success() && said.contains("Connected to app_") && said.contains("Registered"), "{said}");
    let shown = launch.run_command(&["customer", "show", &customer, "--json"]).unwrap();
    assert_eq!((&shown["connected"], &shown["pending"]), (&json!(true), &json!(0)));

    let auctioneer = json!({ "customer": customer, "name": "By hand" });
    let auctioneer = site.platform.post("/api/v1/auctioneers", &auctioneer).await.unwrap();
    let auction = json!({ "auctioneer": auctioneer.text("/uuid").unwrap(), "kind": "timed", "currency": "GBP", "timeZone": "UTC" });
    site.platform.post("/api/v1/auctions", &auction).await.unwrap();
    assert!(site.receiver.wait_until(WAIT_MAX, |record| record.arrivals().len() == 1).await);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_failing_connection_is_reported_and_its_events_are_published_after_it_is_corrected() {
    let data = tempfile::tempdir().unwrap();
    let launch = launch(data.path());
    let _server = launch.start(&http_client()).await.unwrap();
    let site = CustomerSite::set_up(&launch, &launch).await.unwrap();
    let customer =
        launch.run_command(&["customer", "create", "By hand", "--json"]).unwrap()["uuid"].as_str().unwrap().to_owned();
    let key = data.path().join("key.txt");
    std::fs::write(&key, &site.provider_key).unwrap();
    let lotwire = |arguments: &[&str]| {
        let mut command = Command::new(built_binary("lotwire").unwrap());
        command.args(arguments).arg("--data-dir").arg(data.path()).env("LOTWIRE_SECRETS__KEY", "07".repeat(32));
        command.env("LOTWIRE_PLATFORM__ALLOWED_PROVIDER_NETWORKS", "127.0.0.0/8");
        command.output().unwrap()
    };
    let said = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).unwrap();
    let connect = ["customer", "connect", &customer, "--provider-url"];
    let with_key = ["--application", &site.application, "--api-key-file", key.to_str().unwrap()];
    let unreachable = lotwire(&[&connect[..], &["http://127.0.0.1:1"], &with_key[..]].concat());
    let warned = said(&unreachable.stderr);
    assert!(
        unreachable.status.success() && warned.contains("WARNING") && warned.contains("did not answer"),
        "{warned}"
    );

    let auctioneer = json!({ "customer": customer, "name": "By hand" });
    let auctioneer = site.platform.post("/api/v1/auctioneers", &auctioneer).await.unwrap();
    let auction = json!({ "auctioneer": auctioneer.text("/uuid").unwrap(), "kind": "timed", "currency": "GBP", "timeZone": "UTC" });
    site.platform.post("/api/v1/auctions", &auction).await.unwrap();
    let shown = || launch.run_command(&["customer", "show", &customer, "--json"]).unwrap();
    let deadline = Instant::now() + WAIT_MAX;
    while !shown()["lastError"].is_object() {
        assert!(Instant::now() < deadline, "the failed attempt is recorded: {}", shown());
    }
    let resume = lotwire(&["customer", "resume", &customer]);
    assert!(!resume.status.success(), "{}", said(&resume.stdout));

    let right = lotwire(&[&connect[..], &["embedded", "--register-event-types"], &with_key[..]].concat());
    assert!(right.status.success() && right.stderr.is_empty(), "{}", said(&right.stderr));
    assert!(site.receiver.wait_until(WAIT_MAX, |record| record.arrivals().len() == 1).await);
    let doctor = said(&lotwire(&["doctor"]).stdout);
    assert!(doctor.contains("2 connected customers, and no queue is stuck"), "{doctor}");

    // A refused key parks the queue at the next event, and `doctor` reports it.
    std::fs::write(&key, "lwp_wrong").unwrap();
    let wrong = lotwire(&[&connect[..], &["embedded"], &with_key[..]].concat());
    assert!(wrong.status.success() && said(&wrong.stderr).contains("401"), "{}", said(&wrong.stderr));
    // The server may still publish some events with the old key.
    let deadline = Instant::now() + WAIT_MAX;
    while shown()["parked"].is_null() {
        assert!(Instant::now() < deadline, "the queue is parked: {}", shown());
        site.platform.post("/api/v1/auctions", &auction).await.unwrap();
    }
    let doctor = lotwire(&["doctor"]);
    let report = said(&doctor.stdout);
    assert!(!doctor.status.success() && report.contains("By hand") && report.contains("customer resume"), "{report}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_key_is_listed_and_revoked_on_the_command_line() {
    let data = tempfile::tempdir().unwrap();
    let launch = launch(data.path());
    let _server = launch.start(&http_client()).await.unwrap();
    let key = launch.run_command(&["key", "create", "--name", "web site", "--scope", "keys:read", "--json"]).unwrap();
    let (uuid, key) = (key["uuid"].as_str().unwrap(), key["key"].as_str().unwrap());
    let api = consumer::ApiClient::new(http_client(), launch.platform_url(), key).unwrap();
    let path = format!("/api/v1/api-keys/{uuid}");
    assert_eq!(api.get(&path).await.unwrap().body["revokedAt"], json!(null));
    let listed = launch.run_command(&["key", "list", "--json"]).unwrap();
    assert_eq!(
        (&listed["uuid"], &listed["name"], &listed["revokedAt"]),
        (&json!(uuid), &json!("web site"), &json!(null))
    );
    assert!(listed["lastUsedAt"].is_string() && !listed.to_string().contains(key), "{listed}");

    let revoke = Command::new(built_binary("lotwire").unwrap())
        .args(["key", "revoke", uuid, "--yes", "--data-dir"])
        .arg(data.path())
        .env("LOTWIRE_SECRETS__KEY", "07".repeat(32))
        .output()
        .unwrap();
    let said = String::from_utf8(revoke.stdout).unwrap();
    assert!(revoke.status.success() && said.contains("is revoked"), "{said}");
    assert!(launch.run_command(&["key", "list", "--json"]).unwrap()["revokedAt"].is_string());
    // The server refuses the key when its cache entry expires.
    let mut polls = tokio::time::interval(std::time::Duration::from_millis(100));
    let refused = async {
        while api.get(&path).await.is_ok() {
            polls.tick().await;
        }
    };
    tokio::time::timeout(WAIT_MAX, refused).await.expect("a revoked key still works");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_catalogue_is_imported_completely_or_not_at_all() {
    let data = tempfile::tempdir().unwrap();
    let launch = launch(data.path());
    let _server = launch.start(&http_client()).await.unwrap();
    let site = CustomerSite::set_up(&launch, &launch).await.unwrap();
    let auction =
        site.create_auction(json!({ "kind": "webcast", "title": "Sale", "startsAt": site.in_ms(0) })).await.unwrap();
    let file = data.path().join("works.csv");
    let import = |extra: &[&str]| {
        let output = Command::new(built_binary("lotwire").unwrap())
            .args(["catalogue", "import", file.to_str().unwrap(), "--auction", &auction, "--data-dir"])
            .arg(data.path())
            .args(extra)
            .env("LOTWIRE_SECRETS__KEY", "07".repeat(32))
            .output()
            .unwrap();
        (output.status.code(), String::from_utf8(output.stdout).unwrap())
    };

    std::fs::write(&file, "lot_number,title,reserve\n1,Vase,100\n1,Bowl,x\n,Cup,5\n").unwrap();
    let (status, said) = import(&[]);
    assert_eq!(status, Some(1), "{said}");
    for part in ["line 3, lot_number", "line 3, reserve", "line 4, lot_number", "nothing was imported"] {
        assert!(said.contains(part), "{part:?} is not in:\n{said}");
    }
    std::fs::write(&file, "lot_number,title,reserve\n1,Vase,100\n2,\"Bowl, blue\",\n").unwrap();
    let (status, said) = import(&["--dry-run"]);
    assert!(status == Some(0) && said.contains("dry run"), "{said}");
    assert_eq!(site.items(&auction).await.unwrap().len(), 0);
    let (status, said) = import(&[]);
    assert!(status == Some(0) && said.contains("2 items imported"), "{said}");
    let items = site.items(&auction).await.unwrap();
    assert_eq!(items.iter().map(|item| item["title"].as_str().unwrap()).collect::<Vec<_>>(), ["Vase", "Bowl, blue"]);
    assert!(!serde_json::to_string(&items).unwrap().contains("reserve\""), "a response contains the reserve");
}

#[tokio::test(flavor = "multi_thread")]
async fn committed_events_arrive_after_a_kill() {
    let data = tempfile::tempdir().unwrap();
    let launch = launch(data.path());
    let server = launch.start(&http_client()).await.unwrap();
    let site = CustomerSite::set_up(&launch, &launch).await.unwrap();
    site.receiver.respond_with(http::StatusCode::INTERNAL_SERVER_ERROR);
    crate::support::timed_auction(&site, 20, 800).await;
    webcast(&site, 1).await;
    server.kill();
    site.receiver.respond_with(http::StatusCode::OK);
    // The twenty lots end while no server runs.
    tokio::time::sleep(std::time::Duration::from_millis(900)).await;
    let _server = launch.start(&http_client()).await.unwrap();
    let tally = received(&site, 2 + 20).await;
    assert_eq!((tally.expected, tally.lost, tally.invalid, tally.out_of_order), (22, 0, 0, 0), "{tally:?}");
}
