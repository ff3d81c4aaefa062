//! The samples of the dashboard that send a first message, as the page shows them: each is accepted by the provider, with the
//! payload of the account's event type.
//!
//! The test runs the samples whose runtime is installed, and always Python, JavaScript and curl. With `SAMPLES_RUN=all`, as
//! `cargo xtask samples` sets it, the other ones must run, too. The sample in Rust is an example of this package, which
//! is built with the official client.

use std::path::Path;
use std::process::Command;

use serde_json::json;
use svix::api::{MessageListOptions, Svix, SvixOptions};
use svix::models::{ApplicationIn, EventTypeIn};
use testkit::browser::Browser;
use testkit::site::http_client;

use crate::support::launch;

/// A sample: the id of its element, its file and program, and whether the test fails without that.
const SAMPLES: &[(&str, &str, &str, bool)] = &[
    ("send-curl", "send.sh", "sh", true),
    ("send-python", "send.py", "python3", true),
    ("send-javascript", "send.mjs", "node", true),
    ("send-go", "send.go", "go", false),
    ("send-php", "send.php", "php", false),
];

#[tokio::test(flavor = "multi_thread")]
async fn each_sample_of_the_page_sends_a_message() {
    let data = tempfile::tempdir().unwrap();
    let launch = launch(data.path()).roles(&["provider"]);
    let _server = launch.start(&http_client()).await.unwrap();
    let account = launch.run_command(&["provider", "account", "create", "Hammer & Sons", "--json"]).unwrap();
    let account = account["id"].as_str().unwrap().to_owned();
    let made = launch.run_command(&["provider", "key", "create", "--account", &account, "--name", "test", "--json"]);
    let key = made.unwrap()["key"].as_str().unwrap().to_owned();
    let options = SvixOptions { server_url: Some(launch.provider_url()), ..SvixOptions::default() };
    let svix = Svix::new(key, Some(options));
    let app = svix.application().create(ApplicationIn::new("Web site".into()), None).await.unwrap().id;
    let payload = json!({ "title": "It's `$HOME` #1 \"\"\" \\' ${x}", "lines": ["a\nb", "JSON;"], "price": null });
    let mut event_type = EventTypeIn::new("lot.sold".into(), "A lot was sold".into());
    event_type.schemas = Some(json!({ "1": { "type": "object", "examples": [payload] } }));
    svix.event_type().create(event_type, None).await.unwrap();

    let code = launch.run_command(&["provider", "account", "sign-in-code", &account, "--json"]).unwrap();
    let code = code["url"].as_str().unwrap().split_once('#').unwrap().1.to_owned();
    let browser = Browser::start().await.unwrap();
    let page = browser.page().await.unwrap();
    page.open(&format!("{}/dashboard/join#{code}", launch.provider_url())).await.unwrap();
    page.wait_until_at("/dashboard/join/account").await.unwrap();
    page.fill("name", "Ann").await.unwrap();
    page.fill("email", "ann@example.com").await.unwrap();
    page.fill("password", "correct horse battery").await.unwrap();
    page.click("Join account").await.unwrap();
    // The steps that commands did are done.
    page.wait_until_shown("3 of 5 steps done").await.unwrap();
    page.open(&format!("{}/dashboard/api-access/new", launch.provider_url())).await.unwrap();
    page.wait_until_at("/dashboard/api-access/new").await.unwrap();
    page.fill("name", "Auction platform").await.unwrap();
    page.click_through("Create key").await.unwrap();
    page.wait_until_shown("Send your first message").await.unwrap();
    let text_of = async |id: &str| page.text(&format!("document.getElementById('{id}').textContent")).await.unwrap();
    let key = text_of("key").await;
    assert_eq!(text_of("export").await, format!("export PROVIDER_KEY='{key}'"));

    let folder = tempfile::tempdir().unwrap();
    let is_all = std::env::var("SAMPLES_RUN").is_ok_and(|which| which == "all");
    for (id, file, program, is_required) in SAMPLES {
        if !(is_on_path(program) || is_all || *is_required) {
            continue;
        }
        let path = folder.path().join(file);
        std::fs::write(&path, text_of(id).await).unwrap();
        let printed = tokio::task::block_in_place(|| run(program, &path, &key));
        let (accepted, printed) = printed;
        assert!(accepted && printed.contains("202") && printed.contains("msg_"), "{file}: {printed}");
        let with_payload = MessageListOptions { with_content: Some(true), ..MessageListOptions::default() };
        let sent = svix.message().list(app.clone(), Some(with_payload)).await.unwrap().data;
        assert_eq!((&sent[0].event_type, &sent[0].payload), (&"lot.sold".to_owned(), &payload), "{file}");
        let (accepted, printed) = tokio::task::block_in_place(|| run(program, &path, "lwp_wrong"));
        assert!(!accepted && printed.contains("401"), "{file}: {printed}");
    }
}

/// Whether the program ended with 0, and what it printed.
fn run(program: &str, file: &Path, key: &str) -> (bool, String) {
    let mut command = Command::new(program);
    if program == "go" {
        command.arg("run").env("GOCACHE", file.with_extension("cache"));
    }
    let output = command.arg(file).env("PROVIDER_KEY", key).output().unwrap();
    let printed = [&output.stdout[..], &output.stderr[..]].map(String::from_utf8_lossy).concat();
    (output.status.success(), printed)
}

fn is_on_path(program: &str) -> bool {
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path).any(|folder| folder.join(program).exists())
}
