//! A new version meets SQLite files of an older one: it copies them before it changes their tables, and the copy can be restored.

use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;
use testkit::server::{Launch, built_binary};
use testkit::site::http_client;

use crate::support::launch;

/// Takes the migrations after the first one of some files back, with Python's SQLite while no server runs.
const FIRST_TABLES: &str = "import sqlite3, sys
tables_of = {'platform.db': ('outbox', 'quarantine'), 'provider.db': ('messages',)}
for file in sys.argv[2:]:
    tables = tables_of[file]
    database = sqlite3.connect(sys.argv[1] + '/' + file)
    for table in tables:
        database.execute('ALTER TABLE ' + table + ' DROP COLUMN traceparent')
    database.execute('DROP INDEX users_by_openid')
    for column in ('openid_issuer', 'openid_subject'):
        database.execute('ALTER TABLE users DROP COLUMN ' + column)
    if file == 'provider.db':
        database.execute('ALTER TABLE users DROP COLUMN email_confirmed')
        database.execute('DROP TABLE removed_users')
    if file == 'platform.db':
        for table in ('parties', 'endpoint_readings', 'endpoints', 'event_deliveries',
                      'houses', 'house_logos', 'conditions', 'sale_facts', 'mails', 'reminders',
                      'party_keys', 'distinct_parties', 'register_mappings', 'bidder_accounts',
                      'bidder_sessions', 'bidder_links', 'accepted_conditions', 'watched_items',
                      'notice_causes', 'bidder_notices', 'push_subscriptions', 'site_grants',
                      'site_tokens', 'desks', 'limit_requests', 'lot_offers', 'late_bids', 'bidder_messages',
                      'visitor_messages', 'house_domains'):
            database.execute('DROP TABLE ' + table)
        database.execute('ALTER TABLE consumers DROP COLUMN key_made')
        database.execute('ALTER TABLE users DROP COLUMN name')
        for index in ('registrations_of_party', 'registrations_of_paddle', 'items_of_vendor', 'items_of_category',
                      'audit_log_corrections', 'bids_struck'):
            database.execute('DROP INDEX ' + index)
        database.execute('ALTER TABLE items DROP COLUMN vendor')
        database.execute('ALTER TABLE items DROP COLUMN category')
    database.execute('DELETE FROM refinery_schema_history WHERE version > 1')
    database.commit()
    database.close()";

const BOTH: [&str; 2] = ["platform.db", "provider.db"];

fn make_old(data_dir: &Path, files: &[&str]) {
    let mut python = Command::new("python3");
    assert!(python.args(["-c", FIRST_TABLES]).arg(data_dir).args(files).status().unwrap().success());
}

fn copies(data_dir: &Path) -> Vec<PathBuf> {
    let Ok(entries) = std::fs::read_dir(data_dir.join("before-upgrade")) else { return Vec::new() };
    entries.map(|entry| entry.unwrap().path()).filter(|path| path.is_dir()).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn an_upgrade_copies_the_databases_and_the_copy_is_a_backup() {
    let data = tempfile::tempdir().unwrap();
    let launch = launch(data.path()).set("SECRETS__KEY", &"5a".repeat(32));
    launch.run_command(&["customer", "create", "Harbour House", "--json"]).unwrap();
    launch.create_provider_account("Harbour House").unwrap();
    make_old(data.path(), &BOTH);
    let refused = launch.run_command(&["customer", "list", "--json"]).unwrap_err().to_string();
    assert!(refused.contains("have version 1, and this lotwire needs version 4"), "{refused}");
    assert!(copies(data.path()).is_empty());

    for _ in 0..2 {
        // The second start upgrades nothing, so it makes no copy.
        let server = launch.start(&http_client()).await.unwrap();
        assert!(tokio::task::block_in_place(|| server.stop()).unwrap().success());
        assert_eq!(copies(data.path()).len(), 1);
    }
    let copy = copies(data.path()).remove(0);
    let manifest = std::fs::read_to_string(copy.join("manifest.json")).unwrap();
    let manifest: Value = serde_json::from_str(&manifest).unwrap();
    for file in BOTH {
        assert_eq!(manifest["databases"][file]["schemaVersion"], 1, "{manifest}");
    }
    assert_eq!(manifest["databases"]["platform.db"]["rows"]["customers"], 1, "{manifest}");

    let elsewhere = tempfile::tempdir().unwrap();
    let restored = launch.node_in(&elsewhere.path().join("data")).unwrap();
    restored.run_command(&["restore", &copy.display().to_string(), "--json"]).unwrap();
    assert_eq!(restored.run_command(&["resume", "--list", "--json"]).unwrap()["isOnHold"], true);
    let customers = restored.run_command(&["customer", "list", "--json"]).unwrap().to_string();
    assert!(customers.contains("Harbour House"), "{customers}");

    // An upgrade that was interrupted between the two databases keeps the copy from before both.
    make_old(data.path(), &["provider.db"]);
    let server = launch.start(&http_client()).await.unwrap();
    assert!(tokio::task::block_in_place(|| server.stop()).unwrap().success());
    assert_eq!(copies(data.path()), std::slice::from_ref(&copy));

    // Another upgrade replaces the copy, and one with `upgrade_copy = false` makes none.
    make_old(data.path(), &BOTH);
    let server = launch.start(&http_client()).await.unwrap();
    assert!(tokio::task::block_in_place(|| server.stop()).unwrap().success());
    let newer = copies(data.path());
    assert!(newer.len() == 1 && newer[0] != copy, "{newer:?}");
    make_old(data.path(), &BOTH);
    let server = launch.clone().set("UPGRADE_COPY", "false").start(&http_client()).await.unwrap();
    assert!(tokio::task::block_in_place(|| server.stop()).unwrap().success());
    assert_eq!(copies(data.path()), newer);
}

#[tokio::test(flavor = "multi_thread")]
async fn two_processes_with_one_role_each_upgrade_at_the_same_time() {
    let data = tempfile::tempdir().unwrap();
    let both = launch(data.path()).set("SECRETS__KEY", &"5a".repeat(32));
    both.run_command(&["customer", "create", "Harbour House", "--json"]).unwrap();
    both.create_provider_account("Harbour House").unwrap();
    make_old(data.path(), &BOTH);
    let (platform, provider) = (both.clone().roles(&["platform"]), both.second_node().unwrap().roles(&["provider"]));
    let http = http_client();
    let (platform, provider) = tokio::try_join!(platform.start(&http), provider.start(&http)).unwrap();
    let copies = copies(data.path());
    assert_eq!(copies.len(), 1, "{copies:?}");
    let manifest = std::fs::read_to_string(copies[0].join("manifest.json")).unwrap();
    let manifest: Value = serde_json::from_str(&manifest).unwrap();
    assert_eq!(BOTH.map(|file| manifest["databases"][file]["schemaVersion"].clone()), [1, 1], "{manifest}");
    drop((platform, provider));
}

#[tokio::test(flavor = "multi_thread")]
async fn databases_without_their_key_are_refused_and_get_no_new_one() {
    let data = tempfile::tempdir().unwrap();
    let launch = Launch::new(built_binary("lotwire").unwrap(), data.path()).unwrap();
    launch.run_command(&["customer", "create", "Harbour House", "--json"]).unwrap();
    let key = data.path().join("secret.key");
    std::fs::rename(&key, data.path().join("elsewhere")).unwrap();
    let serve = ["serve", "--platform-listen", "127.0.0.1:0", "--provider-listen", "127.0.0.1:0"];
    let refused = launch.run_command(&serve).unwrap_err().to_string();
    assert!(refused.contains("contains no file secret.key"), "{refused}");
    assert!(!key.exists());
}
