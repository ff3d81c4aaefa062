//! The provider's official clients, each through its whole surface, against the real binary.
//!
//! `cargo xtask clients` installs them below `target/clients`. The Rust client has its story in `provider-api`.

use std::path::{Path, PathBuf};
use std::process::Command;

use testkit::server::Launch;
use testkit::site::http_client;

use crate::support::launch;

#[tokio::test(flavor = "multi_thread")]
async fn the_official_python_client_finds_its_whole_surface() {
    let python = installed("python/bin/python");
    whole_surface(Command::new(python).arg(script("python/whole_surface.py"))).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_official_javascript_client_finds_its_whole_surface() {
    // Beside its libraries, which is where Node looks for them.
    let script = installed("javascript/whole_surface.mjs");
    whole_surface(Command::new("node").arg(script)).await;
}

fn workspace() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../..")
}

fn script(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("clients").join(name)
}

fn installed(name: &str) -> PathBuf {
    let file = workspace().join("target/clients").join(name);
    assert!(file.exists(), "{} is not there; run `cargo xtask clients` first", file.display());
    file
}

/// Runs a client against a provider with an account of its own.
async fn whole_surface(client: &mut Command) {
    let data = tempfile::tempdir().unwrap();
    let provider = launch(data.path()).roles(&["provider"]);
    let _running = provider.start(&http_client()).await.unwrap();
    let client = client.env("SERVER", provider.provider_url()).env("KEY", key(&provider));
    let output = tokio::task::block_in_place(|| client.output()).unwrap();
    let (said, complained) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success(), "{said}\n{complained}");
    assert!(said.contains("the whole surface is there"), "{said}\n{complained}");
}

fn key(provider: &Launch) -> String {
    let account = provider.run_command(&["provider", "account", "create", "House", "--json"]).unwrap();
    let account = account["id"].as_str().unwrap();
    let key = ["provider", "key", "create", "--account", account, "--name", "client", "--json"];
    provider.run_command(&key).unwrap()["key"].as_str().unwrap().to_owned()
}
