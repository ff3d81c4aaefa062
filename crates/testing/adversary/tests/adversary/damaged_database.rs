//! A damaged database file is detected: the server does not start on it, and `doctor` names it.

use std::fs::OpenOptions;
use std::io::{Seek as _, SeekFrom, Write as _};
use std::path::{Path, PathBuf};

use serde_json::json;
use testkit::site::http_client;

use crate::support::{Account, Running, launch};

/// Bytes of a page of SQLite.
const PAGE_BYTES: u64 = 4_096;

/// The database files of the data directory.
fn databases(data: &Path) -> Vec<PathBuf> {
    let files = std::fs::read_dir(data).unwrap().map(|entry| entry.unwrap().path());
    files.filter(|file| file.extension().is_some_and(|extension| extension == "db" || extension == "sqlite")).collect()
}

fn damage(file: &Path) {
    let mut file = OpenOptions::new().write(true).open(file).unwrap();
    let pages = file.metadata().unwrap().len() / PAGE_BYTES;
    assert!(pages > 3, "{pages} pages");
    // The start of a server does not read this page: only a check of the whole file finds the damage.
    file.seek(SeekFrom::Start((pages - 1) * PAGE_BYTES)).unwrap();
    file.write_all(&[0xa5; 64]).unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_does_not_start_on_a_damaged_database_and_doctor_names_it() {
    let data = tempfile::tempdir().unwrap();
    let launch = launch(data.path());
    let running = Running::of(launch.clone(), data).await;
    let account = Account::new(&running, "one").await;
    account.message(json!({ "kept": true })).await;
    let data = running.stopped();
    let files = databases(data.path());
    assert!(files.len() >= 2, "the platform's file and the provider's: {files:?}");
    for file in &files {
        let whole = std::fs::read(file).unwrap();
        damage(file);
        let started = launch.start(&http_client()).await;
        assert!(started.is_err(), "the server started on a damaged {}", file.display());
        let output = launch.command().arg("doctor").output().unwrap();
        let text = format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
        let name = file.file_name().unwrap().to_string_lossy().into_owned();
        assert!(!output.status.success() && text.contains(&name), "{name}: {text}");
        std::fs::write(file, whole).unwrap();
    }
    let running = Running::of(launch, data).await;
    assert_eq!(account.get("msg").await["data"].as_array().map(Vec::len), Some(1));
    println!("damaged_database: {} damaged files refused", files.len());
    drop(running);
}
