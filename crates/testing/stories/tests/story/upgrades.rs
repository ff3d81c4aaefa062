//! A new version meets SQLite files of an older one: it copies them before it changes their tables, and the copy can be restored.

use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;
use testkit::site::http_client;

use crate::support::launch;

/// Takes the second migration back, with Python's SQLite while no server runs.
const FIRST_TABLES: &str = "import sqlite3, sys
for file, tables in (('platform.db', ('outbox', 'quarantine')), ('provider.db', ('messages',))):
    database = sqlite3.connect(sys.argv[1] + '/' + file)
    for table in tables:
        database.execute('ALTER TABLE ' + table + ' DROP COLUMN traceparent')
    database.execute('DELETE FROM refinery_schema_history WHERE version > 1')
    database.commit()
    database.close()";

fn make_old(data_dir: &Path) {
    assert!(Command::new("python3").args(["-c", FIRST_TABLES]).arg(data_dir).status().unwrap().success());
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
    make_old(data.path());
    let refused = launch.run_command(&["customer", "list", "--json"]).unwrap_err().to_string();
    assert!(refused.contains("have version 1, and this lotwire needs version 2"), "{refused}");
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
    for file in ["platform.db", "provider.db"] {
        assert_eq!(manifest["databases"][file]["schemaVersion"], 1, "{manifest}");
    }
    assert_eq!(manifest["databases"]["platform.db"]["rows"]["customers"], 1, "{manifest}");

    let elsewhere = tempfile::tempdir().unwrap();
    let restored = launch.node_in(&elsewhere.path().join("data")).unwrap();
    restored.run_command(&["restore", &copy.display().to_string(), "--json"]).unwrap();
    assert_eq!(restored.run_command(&["resume", "--list", "--json"]).unwrap()["isOnHold"], true);
    let customers = restored.run_command(&["customer", "list", "--json"]).unwrap().to_string();
    assert!(customers.contains("Harbour House"), "{customers}");

    // Another upgrade replaces the copy, and one with `upgrade_copy = false` makes none.
    make_old(data.path());
    let server = launch.start(&http_client()).await.unwrap();
    assert!(tokio::task::block_in_place(|| server.stop()).unwrap().success());
    let newer = copies(data.path());
    assert!(newer.len() == 1 && newer[0] != copy, "{newer:?}");
    make_old(data.path());
    let server = launch.clone().set("UPGRADE_COPY", "false").start(&http_client()).await.unwrap();
    assert!(tokio::task::block_in_place(|| server.stop()).unwrap().success());
    assert_eq!(copies(data.path()), newer);
}
