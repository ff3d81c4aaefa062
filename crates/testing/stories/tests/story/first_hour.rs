//! The commands of the README, as written, from an empty directory to received and verified webhooks.

use std::process::Command;

use testkit::server::built_binary;
use testkit::site::http_client;

use crate::support::launch;

/// The fenced shell blocks of the README's section "Run it", in order.
fn run_it_blocks() -> Vec<String> {
    let readme = std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../../../README.md")).unwrap();
    let section = readme.split("\n## Run it\n").nth(1).unwrap().split("\n## ").next().unwrap();
    let blocks = section.split("```sh\n").skip(1);
    blocks.map(|block| block.split("```").next().unwrap().to_owned()).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn the_commands_of_the_readme_lead_to_verified_webhooks_in_ten_commands() {
    let blocks = run_it_blocks();
    let commands = blocks[..2].iter().flat_map(|block| block.lines());
    assert!(commands.count() <= 10, "{blocks:?}");
    assert!(blocks[0].contains("LOTWIRE_PROVIDER__ALLOW_SUBNETS=127.0.0.0/8 lotwire serve"), "{}", blocks[0]);

    // The launch allows loopback receivers as the README's line does, and uses free ports.
    let data = tempfile::tempdir().unwrap();
    let launch = launch(data.path());
    let _server = launch.start(&http_client()).await.unwrap();
    let binary = built_binary("lotwire").unwrap();
    let path = format!("{}:{}", binary.parent().unwrap().display(), std::env::var("PATH").unwrap());
    let script = blocks[1].replace("lotwire listen", "lotwire listen --port 0");
    let output = tokio::task::spawn_blocking(move || {
        let mut bash = Command::new("bash");
        bash.args(["-euc", &script]).env("PATH", path).env("LOTWIRE_DATA_DIR", data.path());
        bash.env("LOTWIRE_SECRETS__KEY", "07".repeat(32));
        bash.env("LOTWIRE_PLATFORM__LISTEN", launch.platform.to_string());
        bash.env("LOTWIRE_PROVIDER__LISTEN", launch.provider.to_string());
        bash.output().unwrap()
    });
    let output = output.await.unwrap();
    let (out, err) = (String::from_utf8(output.stdout).unwrap(), String::from_utf8(output.stderr).unwrap());
    assert!(output.status.success(), "{out}\n{err}");
    let events: Vec<&str> =
        out.lines().filter(|line| line.contains("ITEM_STATUS_CHANGE") && line.contains("msg_")).collect();
    assert_eq!(events.len(), 3, "{out}\n{err}");
    assert_eq!(events.iter().filter(|line| line.contains("  SOLD ")).count(), 2, "{out}");
    assert!(err.contains("is removed"), "{err}");
}
