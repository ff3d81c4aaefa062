//! Servers that would do harm to what is stored, and do not start: a second one on the files of SQLite, and one that can't
//! open what the others sealed.

use std::process::Command;

use testkit::server::built_binary;
use testkit::site::{CustomerSite, http_client};

use crate::support::launch;

#[tokio::test(flavor = "multi_thread")]
async fn a_second_server_on_the_same_files_does_not_start_and_one_after_the_first_does() {
    let data = tempfile::tempdir().unwrap();
    let first = launch(data.path());
    let running = first.start(&http_client()).await.unwrap();
    let second = first.second_node().unwrap();
    for roles in [&["platform"], &["provider"]] {
        let refused = second.clone().roles(roles).start(&http_client()).await.unwrap_err().to_string();
        assert!(refused.contains("ended at its start"), "{refused}");
    }
    // Commands need no server to be away, but the directory to be the server's.
    first.run_command(&["provider", "account", "create", "House", "--json"]).unwrap();
    let elsewhere = tempfile::tempdir().unwrap();
    for command in [&["provider", "account", "list"][..], &["verify", "--all"], &["customer", "list"], &["key", "list"]]
    {
        let told = launch(elsewhere.path()).run_command(&[command, &["--json"]].concat()).unwrap_err().to_string();
        assert!(told.contains("is --data-dir the server's"), "{command:?}: {told}");
    }
    let doctor =
        Command::new(built_binary("lotwire").unwrap()).args(["doctor", "--data-dir"]).arg(elsewhere.path()).output();
    let doctor = doctor.unwrap();
    let told = String::from_utf8(doctor.stdout).unwrap();
    assert!(!doctor.status.success() && told.contains("WRONG  data directory"), "{told}");
    assert!(told.contains("is --data-dir the server's") && told.contains("platform port"), "{told}");
    assert_eq!(std::fs::read_dir(elsewhere.path()).unwrap().count(), 0, "nothing is made there");
    running.kill();
    let _running = second.start(&http_client()).await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_provider_with_another_secret_key_does_not_start_and_one_that_has_both_does() {
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
