//! Tests the running server against its OpenAPI documents. Schemathesis generates a few thousand valid and invalid requests from
//! each document, and fails if a response does not match the document or is a 500.

use std::fs;
use std::net::{Ipv4Addr, TcpListener};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use crate::{Failure, clients, run, say, target_dir};

/// Time limit for the server to return its document.
const START_MAX_S: &str = "30";

/// An API with its document, and the settings of its test.
struct ApiUnderTest {
    name: &'static str,
    /// The configuration file below `crates/testing/stories/schemathesis`.
    config: &'static str,
    /// Time limit of the run, which takes a fraction of it on two cores.
    run_max_s: &'static str,
    address: fn(&Server) -> &str,
    key: fn(&Server) -> Result<String, Failure>,
}

const APIS: [ApiUnderTest; 2] = [
    ApiUnderTest {
        name: "platform",
        config: "schemathesis.toml",
        run_max_s: "180",
        address: |server| &server.platform,
        key: Server::platform_key,
    },
    ApiUnderTest {
        name: "provider",
        config: "provider.toml",
        run_max_s: "90",
        address: |server| &server.provider,
        key: Server::provider_key,
    },
];

/// `platform` or `provider`; both when nothing is named.
pub(crate) fn run_task(root: &Path, arguments: &[String]) -> Result<(), Failure> {
    match arguments {
        [] => check(root),
        [name] => {
            let surface = APIS.iter().find(|surface| surface.name == name);
            run_against(root, &[surface.ok_or("schemathesis takes platform, provider or nothing")?])
        }
        _ => Err("schemathesis takes platform, provider or nothing".to_owned()),
    }
}

/// Installs schemathesis below `target`, starts `target/debug/lotwire` on a fresh store and runs it on both documents.
pub(crate) fn check(root: &Path) -> Result<(), Failure> {
    run_against(root, &APIS.iter().collect::<Vec<_>>())
}

fn run_against(root: &Path, surfaces: &[&ApiUnderTest]) -> Result<(), Failure> {
    let (from, to) = (root.join("crates/testing/stories/schemathesis"), root.join("target/schemathesis"));
    clients::python(&from, &to)?;
    let server = Server::start(root)?;
    for surface in surfaces {
        say(&format!("── the {}'s document", surface.name));
        let document = format!("http://{}/api/v1/openapi.json", (surface.address)(&server));
        let key = (surface.key)(&server)?;
        run(Command::new("timeout")
            .arg(surface.run_max_s)
            .arg(to.join("bin/schemathesis"))
            .arg("--config-file")
            .arg(from.join(surface.config))
            .args(["run", &document, "--wait-for-schema", START_MAX_S])
            .args(["--header", &format!("Authorization: Bearer {key}"), "--continue-on-failure", "--warnings", "off"]))
        .map_err(|_| {
            format!("schemathesis found something at the {}, or did not end in time: see above", surface.name)
        })?;
    }
    Ok(())
}

/// A server that is killed when it is dropped, and its data with it.
struct Server {
    platform: String,
    provider: String,
    data: PathBuf,
    binary: PathBuf,
    process: Child,
}

impl Server {
    fn start(root: &Path) -> Result<Self, Failure> {
        let (platform, provider) = (free_address()?, free_address()?);
        let data = root.join("target/schemathesis-data");
        let binary = target_dir().join("debug/lotwire");
        // Removes the data of an interrupted run.
        drop(fs::remove_dir_all(&data));
        // The keys are created while the server starts, and a command refuses a data directory that does not exist.
        fs::create_dir_all(&data).map_err(|error| format!("{}: {error}", data.display()))?;
        let process = Command::new(&binary)
            .arg("--data-dir")
            .arg(&data)
            .args(["serve", "--roles", "platform,provider", "--platform-listen", &platform])
            .args(["--provider-listen", &provider])
            .envs([("LOTWIRE_PLATFORM__RATE_LIMIT", "0"), ("LOTWIRE_LOG__LEVEL", "error")])
            .stdout(Stdio::null())
            .spawn()
            .map_err(|error| format!("{}: {error}", binary.display()))?;
        Ok(Self { platform, provider, data, binary, process })
    }

    /// Creates a platform key with all scopes.
    fn platform_key(&self) -> Result<String, Failure> {
        self.create(&["key", "create", "--name", "schemathesis", "--scope", "all"], "key")
    }

    /// Creates a key of a new provider account.
    fn provider_key(&self) -> Result<String, Failure> {
        let account = self.create(&["provider", "account", "create", "schemathesis"], "id")?;
        self.create(&["provider", "key", "create", "--account", &account, "--name", "schemathesis"], "key")
    }

    /// Runs a command that creates a record, and returns one field of it.
    fn create(&self, arguments: &[&str], field: &str) -> Result<String, Failure> {
        let mut command = Command::new(&self.binary);
        command.arg("--data-dir").arg(&self.data).args(arguments).arg("--json");
        let output = command.output().map_err(|error| error.to_string())?;
        let failed = || format!("{}: {}", arguments.join(" "), String::from_utf8_lossy(&output.stderr));
        let printed: serde_json::Value = serde_json::from_slice(&output.stdout).map_err(|_| failed())?;
        printed[field].as_str().map(str::to_owned).ok_or_else(failed)
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
