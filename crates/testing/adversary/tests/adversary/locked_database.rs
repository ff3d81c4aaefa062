//! A database that accepts no commits: health reports it after ten seconds, and recovers with the database.

use std::io::{BufRead as _, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};

use serde_json::{Value, json};

use crate::call::Api;
use crate::raw::{response, serve_answers};
use crate::support::{Account, Running, wait_until};

/// Holds the write lock of a SQLite database until it is killed.
const LOCK: &str = "import sqlite3, sys, time
database = sqlite3.connect(sys.argv[1], isolation_level=None, timeout=60)
database.execute('BEGIN IMMEDIATE')
print('locked', flush=True)
time.sleep(600)";

/// Another process that holds the lock of a database. The process ends when this value is dropped.
struct Lock(Child);

impl Lock {
    fn hold(file: &Path) -> Self {
        let mut child = Command::new("python3").args(["-c", LOCK]).arg(file).stdout(Stdio::piped()).spawn().unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.as_mut().unwrap()).read_line(&mut line).unwrap();
        assert_eq!(line.trim(), "locked");
        Lock(child)
    }
}

impl Drop for Lock {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

async fn is_healthy(running: &Running) -> [bool; 2] {
    let is_ok = async |api: Api| api.plain("get", "/api/v1/health", "", &Value::Null).await.status != 503;
    [is_ok(running.platform()).await, is_ok(running.provider()).await]
}

#[tokio::test(flavor = "multi_thread")]
async fn health_is_503_while_the_databases_accept_no_commits() {
    let running = Running::new(&[("PROVIDER__REQUEST_TIMEOUT", "3s")]).await;
    let account = Account::new(&running, "one").await;
    let failing = serve_answers(|_| response("500 Broken", "", "")).await;
    account.endpoint(&format!("http://{failing}/")).await;
    let message = account.message(json!({})).await;
    account.attempts(&message, 1).await;
    assert_eq!(is_healthy(&running).await, [true, true], "a failing receiver affected the health");
    let files = ["platform.db", "provider.db"].map(|name| running.data().join(name));
    let locks = files.map(|file| Lock::hold(&file));
    wait_until("health of both to be 503", async || is_healthy(&running).await == [false, false]).await;
    drop(locks);
    wait_until("health of both to recover", async || is_healthy(&running).await == [true, true]).await;
    println!("locked_database: 2 databases");
}
