//! Processes that start beside each other: commands beside a first start and beside an older server, a port while the other
//! database is not ready, and nodes on an empty PostgreSQL.

use std::fs::File;
use std::process::{Command, Output, Stdio};
use std::time::Duration;

use consumer::ApiClient;
use testkit::server::Launch;
use testkit::site::http_client;

use crate::support::launch;

/// Number of first starts.
const STARTS: usize = 5;
/// The commands that an operator runs while a server starts.
const COMMANDS: [&[&str]; 4] = [
    &["customer", "create", "Harbour House"],
    &["provider", "account", "create", "Harbour House"],
    &["key", "create", "--name", "ops", "--scope", "all"],
    &["customer", "create", "Quay House"],
];

/// Runs a command to its end in a separate task.
fn run(launch: &Launch, arguments: &[&str]) -> tokio::task::JoinHandle<Output> {
    let mut command = launch.command();
    command.args(arguments).stdout(Stdio::piped()).stderr(Stdio::piped());
    tokio::task::spawn_blocking(move || command.output().unwrap())
}

#[tokio::test(flavor = "multi_thread")]
async fn commands_during_a_first_start_succeed_and_the_server_continues() {
    for _ in 0..STARTS {
        let data = tempfile::tempdir().unwrap();
        let launch = launch(data.path());
        let commands = COMMANDS.map(|arguments| run(&launch, arguments));
        let server = launch.start(&http_client()).await.unwrap();
        for command in commands {
            let output = command.await.unwrap();
            assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        }
        let customers = String::from_utf8(run(&launch, &["customer", "list"]).await.unwrap().stdout).unwrap();
        assert!(customers.contains("Quay House"), "{customers}");
        assert!(tokio::task::block_in_place(|| server.stop()).unwrap().success());
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_command_leaves_the_upgrade_of_a_database_to_the_server() {
    let data = tempfile::tempdir().unwrap();
    let launch = launch(data.path());
    let server = launch.start(&http_client()).await.unwrap();
    // The tables look like those of a server of an older version.
    let older = "import sqlite3, sys
database = sqlite3.connect(sys.argv[1], timeout=60)
database.execute('UPDATE refinery_schema_history SET version = version - 1')
database.commit()";
    let file = data.path().join("platform.db");
    assert!(Command::new("python3").args(["-c", older]).arg(file).status().unwrap().success());
    let refused = launch.run_command(&["customer", "list", "--json"]).unwrap_err().to_string();
    assert!(refused.contains("start `lotwire serve` with this version first"), "{refused}");
    let other = run(&launch, &["provider", "account", "list"]).await.unwrap();
    assert!(other.status.success(), "{}", String::from_utf8_lossy(&other.stderr));
    server.kill();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_database_of_an_earlier_build_is_refused_by_server_and_command() {
    let data = tempfile::tempdir().unwrap();
    let launch = launch(data.path());
    let created = run(&launch, &["customer", "create", "Harbour House"]).await.unwrap();
    assert!(created.status.success(), "{}", String::from_utf8_lossy(&created.stderr));
    let earlier = "import sqlite3, sys
database = sqlite3.connect(sys.argv[1], timeout=60)
database.execute(\"UPDATE refinery_schema_history SET checksum = '1'\")
database.commit()";
    let file = data.path().join("platform.db");
    assert!(Command::new("python3").args(["-c", earlier]).arg(&file).status().unwrap().success());
    let serve = ["serve", "--platform-listen", "127.0.0.1:0", "--provider-listen", "127.0.0.1:0"];
    for arguments in [&["customer", "list"] as &[_], &serve] {
        let refused = launch.run_command(arguments).unwrap_err().to_string();
        assert!(refused.contains(&format!("the tables of {} were created by an earlier", file.display())), "{refused}");
        assert!(refused.contains("start with a new database"), "{refused}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn no_port_answers_before_both_databases_are_ready() {
    let data = tempfile::tempdir().unwrap();
    let launch = launch(data.path());
    let migrating = File::create(data.path().join("platform.db.migrate")).unwrap();
    migrating.lock().unwrap();
    let starting = tokio::spawn({
        let launch = launch.clone();
        async move { launch.start(&http_client()).await }
    });
    let ready = async {
        while !data.path().join("provider.db").exists() {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    };
    ready.await;
    for url in [launch.provider_url(), launch.platform_url()] {
        let api = ApiClient::new(http_client(), url.clone(), "none").unwrap();
        let answer = async {
            loop {
                match api.get("/api/v1/health").await {
                    Ok(_) => return,
                    Err(error) if error.status().is_some() => return,
                    Err(_) => tokio::time::sleep(Duration::from_millis(20)).await,
                }
            }
        };
        assert!(tokio::time::timeout(Duration::from_secs(3), answer).await.is_err(), "{url} answers");
    }
    drop(migrating);
    let _server = starting.await.unwrap().unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn three_nodes_start_together_on_an_empty_postgresql() {
    let data = tempfile::tempdir().unwrap();
    let first = launch(data.path()).database(&testkit::postgres::fresh_database().await.unwrap());
    let (second, third) = (first.second_node().unwrap(), first.second_node().unwrap());
    let http = http_client();
    let (first, second, third) = tokio::join!(first.start(&http), second.start(&http), third.start(&http));
    let _running = [first.unwrap(), second.unwrap(), third.unwrap()];
}
