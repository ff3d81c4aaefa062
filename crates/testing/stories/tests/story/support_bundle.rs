//! A support bundle: what it has is listed first, and no secret is in it.

use std::collections::BTreeMap;
use std::io::Read as _;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::Output;

use testkit::server::Launch;
use testkit::site::{CustomerSite, http_client};

use crate::support::{SMALL_SALE_EVENTS, launch, received, small_sale};

fn bundle(launch: &Launch, file: &Path, arguments: &[&str]) -> Output {
    let mut command = launch.command();
    command.arg("support-bundle").arg(file).args(arguments);
    command.env("LOTWIRE_METRICS__LISTEN", launch.metrics_address().to_string());
    command.output().unwrap()
}

/// The files of an archive, as text.
fn contents(file: &Path) -> BTreeMap<String, String> {
    let mut archive = zip::ZipArchive::new(std::fs::File::open(file).unwrap()).unwrap();
    let mut parts = BTreeMap::new();
    for index in 0..archive.len() {
        let mut part = archive.by_index(index).unwrap();
        let mut text = String::new();
        part.read_to_string(&mut text).unwrap();
        parts.insert(part.name().unwrap().into_owned(), text);
    }
    parts
}

#[tokio::test(flavor = "multi_thread")]
async fn a_support_bundle_is_listed_before_it_is_written_and_has_no_secret() {
    let [data, files] = [(); 2].map(|()| tempfile::tempdir().unwrap());
    let log = files.path().join("server.log");
    let launch = launch(data.path())
        .set("MAIL__SMTP_URL", "smtp://ann:the-mail-password@127.0.0.1:9")
        .set("MAIL__FROM", "alerts@example.com");
    let server = launch.clone().trace_to(&log).start(&http_client()).await.unwrap();
    let site = CustomerSite::set_up(&launch, &launch).await.unwrap();
    small_sale(&site).await;
    received(&site, SMALL_SALE_EVENTS).await;

    let file = files.path().join("bundle.zip");
    let asked = bundle(&launch, &file, &[]);
    let listed = String::from_utf8(asked.stdout).unwrap();
    assert!(!asked.status.success() && !file.exists(), "{listed}");
    for part in ["versions.json", "settings.toml", "doctor.txt", "database.json", "metrics.txt"] {
        assert!(listed.contains(part), "{part}: {listed}");
    }
    let written = bundle(&launch, &file, &["--log", log.to_str().unwrap(), "--yes"]);
    assert!(written.status.success(), "{}", String::from_utf8_lossy(&written.stderr));
    assert_eq!(std::fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o600);
    let again = bundle(&launch, &file, &["--yes"]);
    assert!(!again.status.success() && String::from_utf8_lossy(&again.stderr).contains("exists"));

    let parts = contents(&file);
    assert!(parts["doctor.txt"].contains("ok     configuration"), "{}", parts["doctor.txt"]);
    assert!(parts["metrics.txt"].contains("lotwire_platform_status_changes_total"), "{}", parts["metrics.txt"]);
    assert!(parts["settings.toml"].contains("smtp_url = (not shown)"), "{}", parts["settings.toml"]);
    let database: serde_json::Value = serde_json::from_str(&parts["database.json"]).unwrap();
    assert_eq!(database["files"]["platform.db"]["contents"]["rows"]["items"], 5, "{database}");
    assert!(parts["log-1.log"].contains("ready"), "{}", parts["log-1.log"]);
    let key = "07".repeat(32);
    for (name, text) in &parts {
        for secret in [&*key, "the-mail-password"] {
            assert!(!text.contains(secret), "{name} has {secret}");
        }
    }
    drop(server);
}
