//! `lotwire demo`.

use std::io::{BufRead as _, BufReader};
use std::process::{Command, Stdio};

use serde_json::Value;
use testkit::browser::Browser;
use testkit::server::built_binary;

use crate::page_checks::PageChecks;
use crate::portal::DESK;
use crate::support::Started;

/// The demonstration, on ports that no other program has.
fn demonstration() -> Command {
    let mut command = Command::new(built_binary("lotwire").unwrap());
    command.args(["demo", "--platform-listen", "127.0.0.1:0", "--provider-listen", "127.0.0.1:0"]);
    command.env("LOTWIRE_SALEROOM__LISTEN", "127.0.0.1:0");
    command
}

#[test]
fn the_demonstration_succeeds_and_prints_its_summary_on_the_last_line() {
    let output = demonstration().args(["--exit", "--json", "--lots", "12"]).output().unwrap();
    let (out, err) = (String::from_utf8(output.stdout).unwrap(), String::from_utf8(output.stderr).unwrap());
    assert!(output.status.success(), "{err}");
    let summary: Value = serde_json::from_str(out.lines().last().unwrap()).unwrap();
    let keys: Vec<&str> = summary.as_object().unwrap().keys().map(String::as_str).collect();
    assert_eq!(keys, ["expected", "received", "lost", "duplicates", "invalid", "out_of_order", "p50_ms", "p99_ms"]);
    assert_eq!(summary["expected"], summary["received"]);
    assert!(summary["expected"].as_u64().unwrap() >= 12 + 6, "{summary}");
    for part in ["consumer application app_", "events expected", "hammer to webhook"] {
        assert!(err.contains(part), "{part:?} is not in:\n{err}");
    }
}

#[test]
fn an_interrupted_demonstration_leaves_no_files() {
    let scratch = tempfile::tempdir().unwrap();
    let files = || std::fs::read_dir(scratch.path()).unwrap().count();
    for (signal, status) in [("-INT", 130), ("-TERM", 143)] {
        let started = demonstration().env("TMPDIR", scratch.path()).stderr(Stdio::piped()).spawn();
        let mut demo = Started(started.unwrap());
        let mut lines = BufReader::new(demo.0.stderr.take().unwrap()).lines().map(Result::unwrap);
        assert!(lines.any(|line| line.starts_with("Catalogue:")), "the demonstration printed no catalogue");
        assert_ne!(files(), 0);
        Command::new("kill").args([signal, &demo.0.id().to_string()]).status().unwrap();
        assert!(lines.any(|line| line.starts_with("Interrupted.")));
        assert_eq!(demo.0.wait().unwrap().code(), Some(status));
        assert_eq!(files(), 0);
    }
}

#[test]
fn an_invalid_catalogue_is_refused_with_line_and_column() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("bad.csv");
    std::fs::write(&file, "lot_number,title,opening_bid\n1,Vase,100\n2,,100\n3,Bowl,12.505\n").unwrap();
    let output = demonstration().args(["--exit", "--catalogue"]).arg(&file).output().unwrap();
    let err = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(1), "{err}");
    for part in ["line 3, title", "line 4, opening_bid"] {
        assert!(err.contains(part), "{part:?} is not in:\n{err}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_mail_of_the_demonstration_is_in_its_mailbox_and_its_link_works() {
    let started = demonstration().args(["--lots", "2"]).stdout(Stdio::piped()).spawn();
    let mut demo = Started(started.unwrap());
    let lines: Vec<String> = BufReader::new(demo.0.stdout.take().unwrap())
        .lines()
        .map(|line| line.unwrap().trim().to_owned())
        .take_while(|line| !line.starts_with("password"))
        .collect();
    let after = |words: &str| {
        let place =
            lines.iter().position(|line| line.starts_with(words)).unwrap_or_else(|| panic!("{words}: {lines:?}"));
        lines[place + 1].clone()
    };
    let (mailbox, portal) = (after("The mailbox"), after("The customer's App Portal"));
    let browser = Browser::start().await.unwrap();
    let page = browser.page().await.unwrap();
    page.resize(DESK).await.unwrap();
    let checks = PageChecks::new();
    page.open(&mailbox).await.unwrap();
    page.wait_until_shown("No mail yet").await.unwrap();
    checks.assert_faultless(&page).await;

    page.open(&portal).await.unwrap();
    page.wait_until_at("/app-portal/endpoints").await.unwrap();
    page.click_through("Alerts").await.unwrap();
    page.fill("address", "ops@example.com").await.unwrap();
    page.click("Send code").await.unwrap();
    page.wait_until_shown("A code was sent").await.unwrap();

    // The mail is sent after the form was answered.
    let is_listed = "String(document.body.textContent.includes('To ops@example.com'))";
    loop {
        page.open(&mailbox).await.unwrap();
        page.wait_until_shown("No mail leaves this machine").await.unwrap();
        if page.text(is_listed).await.unwrap() == "true" {
            break;
        }
    }
    checks.assert_faultless(&page).await;
    page.evaluate("document.querySelector('.places a').click()").await.unwrap();
    page.wait_until_at("/mails/1").await.unwrap();
    page.wait_until_shown("ops@example.com").await.unwrap();
    checks.assert_faultless(&page).await;
    page.evaluate("document.querySelector('.card a[href*=confirm]').click()").await.unwrap();
    page.wait_until_shown("Confirm address").await.unwrap();
    // Asked to end, it removes its files.
    Command::new("kill").args(["-TERM", &demo.0.id().to_string()]).status().unwrap();
    demo.0.wait().unwrap();
}
