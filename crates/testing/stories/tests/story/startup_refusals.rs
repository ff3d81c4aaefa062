//! Servers that refuse to start: a second one on the same SQLite files, and one without a key that sealed the secrets.

use std::process::Command;

use testkit::server::built_binary;
use testkit::site::{CustomerSite, http_client};

use crate::support::launch;

#[tokio::test(flavor = "multi_thread")]
async fn a_second_server_on_the_same_files_starts_only_after_the_first_has_ended() {
    let data = tempfile::tempdir().unwrap();
    let first = launch(data.path());
    let running = first.start(&http_client()).await.unwrap();
    let second = first.second_node().unwrap();
    for roles in [&["platform"], &["provider"]] {
        let refused = second.clone().roles(roles).start(&http_client()).await.unwrap_err().to_string();
        assert!(refused.contains("ended at its start"), "{refused}");
    }
    // Management commands work beside a server, but refuse a directory without a database.
    first.run_command(&["provider", "account", "create", "House", "--json"]).unwrap();
    let elsewhere = tempfile::tempdir().unwrap();
    for command in [&["provider", "account", "list"][..], &["verify", "--all"], &["customer", "list"], &["key", "list"]]
    {
        let output = launch(elsewhere.path()).run_command(&[command, &["--json"]].concat()).unwrap_err().to_string();
        assert!(output.contains("Is --data-dir the server's"), "{command:?}: {output}");
    }
    let doctor =
        Command::new(built_binary("lotwire").unwrap()).args(["doctor", "--data-dir"]).arg(elsewhere.path()).output();
    let doctor = doctor.unwrap();
    let output = String::from_utf8(doctor.stdout).unwrap();
    assert!(!doctor.status.success() && output.contains("WRONG  data directory"), "{output}");
    assert!(output.contains("Is --data-dir the server's") && output.contains("platform port"), "{output}");
    assert_eq!(std::fs::read_dir(elsewhere.path()).unwrap().count(), 0, "the refused command created a file");
    running.kill();
    let _running = second.start(&http_client()).await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_provider_starts_only_with_the_key_that_sealed_its_secrets() {
    let data = tempfile::tempdir().unwrap();
    let launch = launch(data.path());
    let server = launch.start(&http_client()).await.unwrap();
    CustomerSite::set_up(&launch, &launch).await.unwrap();
    server.kill();
    let (old, new) = ("07".repeat(32), "08".repeat(32));
    let provider = launch.roles(&["provider"]);
    let refused = provider.clone().set("SECRETS__KEY", &new).start(&http_client()).await.unwrap_err().to_string();
    assert!(refused.contains("ended at its start"), "{refused}");
    let _running = provider.set("SECRETS__KEY", &format!("{new},{old}")).start(&http_client()).await.unwrap();
}
