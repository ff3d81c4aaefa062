//! A backup of a running server. What is restored from it stays on hold until the operator resumes it.

use std::path::Path;

use consumer::ApiClient;
use serde_json::{Value, json};
use testkit::server::Launch;
use testkit::site::{CustomerSite, http_client};

use crate::support::{launch, received, timed_auction};

const HOUR_S: i64 = 3_600;
/// The auction goes live.
const EVENTS: usize = 1;

/// A sale whose lots end in an hour, with a bid on the first lot. Returns the auction.
async fn sale(site: &CustomerSite) -> String {
    let auction = timed_auction(site, 2, HOUR_S * 1_000).await;
    let lot = &site.items(&auction).await.unwrap()[0];
    let bid = json!({ "bidder": "paddle-1", "amount": lot["minimumBid"] });
    site.platform.post(&format!("/api/v1/items/{}/bids", lot["uuid"].as_str().unwrap()), &bid).await.unwrap();
    auction
}

async fn lots(launch: &Launch, auction: &str) -> Vec<Value> {
    let key = launch.create_staff_key("after the restore").unwrap();
    let api = ApiClient::new(http_client(), launch.platform_url(), &key).unwrap();
    let page = api.get(&format!("/api/v1/auctions/{auction}/items")).await.unwrap().body;
    page["data"].as_array().unwrap().clone()
}

/// The launch as it is two hours later, when the ends have passed.
fn later(launch: Launch, folder: &Path) -> Launch {
    launch.clock_ahead(folder, 2 * HOUR_S).unwrap()
}

/// An installation on hold does not start; its passed ends are extended when the operator resumes it.
async fn resumes_with_extended_ends(launch: &Launch, auction: &str) {
    let refused = launch.start(&http_client()).await.unwrap_err().to_string();
    assert!(refused.contains("ended at its start"), "{refused}");
    let doctor = launch.command().arg("doctor").output().unwrap();
    let found = String::from_utf8(doctor.stdout).unwrap();
    assert!(found.contains("WRONG  hold") && found.contains("lotwire resume"), "{found}");
    let listed = launch.run_command(&["resume", "--list", "--json"]).unwrap();
    assert_eq!(listed["isOnHold"], true, "{listed}");
    let passed = listed["passedEnds"].as_array().unwrap();
    assert_eq!(passed.iter().map(|end| &end["lotNumber"]).collect::<Vec<_>>(), ["1", "2"], "{listed}");
    launch.start(&http_client()).await.unwrap_err();
    let asked = launch.run_command(&["resume"]).unwrap_err().to_string();
    assert!(asked.contains("add --yes"), "{asked}");

    let resumed = launch.run_command(&["resume", "--extend-ends", "3h", "--yes", "--json"]).unwrap();
    assert_eq!((&resumed["extendedEnds"], &resumed["isOnHold"]), (&2.into(), &false.into()), "{resumed}");
    let _running = launch.start(&http_client()).await.unwrap();
    for lot in lots(launch, auction).await {
        assert_eq!(lot["status"], "LIVE", "{lot}");
    }
    let verified = launch.run_command(&["verify", "--all", "--json"]).unwrap();
    assert_eq!(verified["holds"], true, "{verified}");
    assert_eq!(launch.run_command(&["resume", "--list", "--json"]).unwrap(), json!({ "wasOnHold": false }));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_backup_of_a_running_server_is_restored_on_hold() {
    let [data, backups, restored, clock] = [(); 4].map(|()| tempfile::tempdir().unwrap());
    let passphrase = clock.path().join("passphrase");
    std::fs::write(&passphrase, "three words and more\n").unwrap();
    let passphrase = passphrase.to_str().unwrap();
    let first = launch(data.path());
    let running = first.start(&http_client()).await.unwrap();
    let site = CustomerSite::set_up(&first, &first).await.unwrap();
    let auction = sale(&site).await;
    received(&site, EVENTS).await;
    let folder = backups.path().to_str().unwrap();
    // What a killed backup left is deleted.
    std::fs::create_dir(backups.path().join(".partial-killed")).unwrap();
    let made = first.run_command(&["backup", folder, "--with-key", passphrase, "--json"]).unwrap();
    assert!(!backups.path().join(".partial-killed").exists());
    let backup = made["path"].as_str().unwrap();
    let within = first.run_command(&["backup", data.path().to_str().unwrap()]).unwrap_err().to_string();
    assert!(within.contains("is in the data directory"), "{within}");
    let marked = first.run_command(&["restore", "--mark", "--yes"]).unwrap_err().to_string();
    assert!(marked.contains("another lotwire server"), "{marked}");
    // What happens after the backup is not in it.
    sale(&site).await;
    running.kill();

    let again = first.node_in(restored.path()).unwrap();
    let checked = again.run_command(&["restore", backup, "--verify", "--json"]).unwrap();
    assert_eq!(checked["intact"], true, "{checked}");
    again.run_command(&["restore", backup, "--with-key", passphrase, "--json"]).unwrap();
    let key = std::fs::read_to_string(restored.path().join("secret.key")).unwrap();
    assert_eq!(key, "07".repeat(32));
    let twice = again.run_command(&["restore", backup, "--json"]).unwrap_err().to_string();
    assert!(twice.contains("is not empty"), "{twice}");
    let held = again.run_command(&["verify", "--log", "--anchor", made["anchor"].as_str().unwrap(), "--json"]).unwrap();
    assert_eq!(held["anchorsHeld"], 1, "{held}");
    resumes_with_extended_ends(&later(again, clock.path()), &auction).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_restored_postgresql_database_is_put_on_hold() {
    let [data, clock] = [(); 2].map(|()| tempfile::tempdir().unwrap());
    let first = launch(data.path()).database(&testkit::postgres::fresh_database().await.unwrap());
    let running = first.start(&http_client()).await.unwrap();
    let site = CustomerSite::set_up(&first, &first).await.unwrap();
    let auction = sale(&site).await;
    running.kill();
    let refused = first.run_command(&["backup", data.path().to_str().unwrap()]).unwrap_err().to_string();
    assert!(refused.contains("pg_dump"), "{refused}");
    first.run_command(&["restore", "--mark", "--yes", "--json"]).unwrap();
    resumes_with_extended_ends(&later(first, clock.path()), &auction).await;
}

#[test]
fn a_damaged_backup_is_refused_and_nothing_is_left_of_it() {
    let [data, backups, restored] = [(); 3].map(|()| tempfile::tempdir().unwrap());
    let first = launch(data.path());
    first.run_command(&["provider", "account", "create", "Hartley", "--json"]).unwrap();
    let made = first.run_command(&["backup", backups.path().to_str().unwrap(), "--json"]).unwrap();
    let backup = made["path"].as_str().unwrap();
    let file = Path::new(backup).join("provider.db");
    let mut content = std::fs::read(&file).unwrap();
    let middle = content.len() / 2;
    content[middle] ^= 1;
    std::fs::write(&file, &content).unwrap();
    let again = first.node_in(restored.path()).unwrap();
    for arguments in [&["restore", backup, "--json"][..], &["restore", backup, "--verify", "--json"]] {
        let refused = again.run_command(arguments).unwrap_err().to_string();
        assert!(refused.contains("provider.db is damaged"), "{refused}");
    }
    assert!(!restored.path().join("provider.db").exists());
    // A restore that was killed: no server starts, and the next restore begins again.
    std::fs::create_dir(restored.path().join(".restoring")).unwrap();
    let unfinished = again.command().arg("serve").output().unwrap();
    let text = String::from_utf8(unfinished.stderr).unwrap();
    assert!(!unfinished.status.success() && text.contains("restore that was not finished"), "{text}");
    content[middle] ^= 1;
    std::fs::write(&file, content).unwrap();
    again.run_command(&["restore", backup, "--json"]).unwrap();
    assert!(!restored.path().join(".restoring").exists() && restored.path().join("provider.db").exists());
}
