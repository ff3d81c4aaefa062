//! The platform's OpenAPI document held against the running server: schemathesis makes up a few thousand requests from the
//! document, good and bad ones, and fails when an answer is not what the document promises, or a 500.

use std::fs;
use std::net::{Ipv4Addr, TcpListener};
use std::path::Path;
use std::process::{Child, Command, Stdio};

use crate::{Failure, clients, run};

/// How long the server may take until it gives its document.
const START_MAX_S: &str = "30";
/// It takes a quarter of that on two cores.
const RUN_MAX_S: &str = "180";

/// Installs schemathesis below `target`, starts `target/debug/lotwire` on a fresh store and runs it.
pub(crate) fn check(root: &Path) -> Result<(), Failure> {
    let (from, to) = (root.join("crates/tests/schemathesis"), root.join("target/schemathesis"));
    clients::python(&from, &to)?;
    let server = Server::start(root)?;
    let key = server.key()?;
    run(Command::new("timeout")
        .arg(RUN_MAX_S)
        .arg(to.join("bin/schemathesis"))
        .arg("--config-file")
        .arg(from.join("schemathesis.toml"))
        .args(["run", &format!("http://{}/api/v1/openapi.json", server.address), "--wait-for-schema", START_MAX_S])
        .args(["--header", &format!("Authorization: Bearer {key}"), "--continue-on-failure", "--warnings", "off"]))
    .map_err(|_| "schemathesis found something, or did not end in time: see above".to_owned())
}

/// A server that is killed when it is dropped, and its data with it.
struct Server {
    address: String,
    data: std::path::PathBuf,
    binary: std::path::PathBuf,
    process: Child,
}

impl Server {
    fn start(root: &Path) -> Result<Self, Failure> {
        let address = free_address()?;
        let data = root.join("target/schemathesis-data");
        let binary = root.join("target/debug/lotwire");
        // What a run that was interrupted left.
        drop(fs::remove_dir_all(&data));
        let process = Command::new(&binary)
            .arg("--data-dir")
            .arg(&data)
            .args(["serve", "--roles", "platform,provider", "--platform-listen", &address])
            .args(["--provider-listen", "127.0.0.1:0"])
            .envs([("LOTWIRE_PLATFORM__RATE_LIMIT", "0"), ("LOTWIRE_LOG__LEVEL", "error")])
            .stdout(Stdio::null())
            .spawn()
            .map_err(|error| format!("{}: {error}", binary.display()))?;
        Ok(Self { address, data, binary, process })
    }

    /// A key that may do everything.
    fn key(&self) -> Result<String, Failure> {
        let mut command = Command::new(&self.binary);
        command.arg("--data-dir").arg(&self.data).args(["key", "create", "--name", "schemathesis", "--scope", "all"]);
        let output = command.arg("--json").output().map_err(|error| error.to_string())?;
        let printed: serde_json::Value = serde_json::from_slice(&output.stdout)
            .map_err(|_| format!("no key was created: {}", String::from_utf8_lossy(&output.stderr)))?;
        printed["key"].as_str().map(str::to_owned).ok_or_else(|| "no key was created".to_owned())
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        drop(self.process.kill());
        drop(self.process.wait());
        drop(fs::remove_dir_all(&self.data));
    }
}

/// A port that was free a moment ago.
fn free_address() -> Result<String, Failure> {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).map_err(|error| error.to_string())?;
    listener.local_addr().map(|address| address.to_string()).map_err(|error| error.to_string())
}
