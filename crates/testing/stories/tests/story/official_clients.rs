//! The official Svix clients for Python and JavaScript call every operation of the real binary.
//!
//! `cargo xtask clients` installs them in `target/clients`. The tests of `provider-api` cover the Rust client.

use std::path::{Path, PathBuf};
use std::process::Command;

use testkit::site::http_client;

use crate::support::launch;

#[tokio::test(flavor = "multi_thread")]
async fn every_operation_of_the_official_python_client_works() {
    let python = installed("python/bin/python");
    whole_surface(Command::new(python).arg(script("python/whole_surface.py"))).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn every_operation_of_the_official_javascript_client_works() {
    // Node finds the libraries beside the script.
    let script = installed("javascript/whole_surface.mjs");
    whole_surface(Command::new("node").arg(script)).await;
}

fn workspace() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../..")
}

fn script(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("clients").join(name)
}

/// The folder in which `cargo xtask clients` installs.
pub fn installed_clients() -> PathBuf {
    workspace().join("target/clients")
}

fn installed(name: &str) -> PathBuf {
    let file = installed_clients().join(name);
    assert!(file.exists(), "{} does not exist; run `cargo xtask clients` first", file.display());
    file
}

/// Runs a client's script against a new provider with one account.
async fn whole_surface(client: &mut Command) {
    let data = tempfile::tempdir().unwrap();
    let provider = launch(data.path()).roles(&["provider"]);
    let _running = provider.start(&http_client()).await.unwrap();
    let client =
        client.env("SERVER", provider.provider_url()).env("KEY", provider.create_provider_key("House").unwrap());
    let output = tokio::task::block_in_place(|| client.output()).unwrap();
    let (printed, errors) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success(), "{printed}\n{errors}");
    assert!(printed.contains("the whole surface is there"), "{printed}\n{errors}");
}
