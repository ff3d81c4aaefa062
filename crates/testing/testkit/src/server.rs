//! The `lotwire` binary as a child process: starts it, waits until it responds, stops or kills it, and runs management
//! commands.

use std::ffi::OsStr;
use std::fs::File;
use std::net::{Ipv4Addr, SocketAddr, TcpListener};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

use consumer::ApiClient;
use kit_outbound::Client;
use serde_json::Value;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

/// Ports for servers. Linux assigns ephemeral ports from 32,768 on, so these do not collide with them.
const PORTS: Range<u16> = 15_000..32_000;
/// Distance between the first ports of concurrent test processes.
const PORTS_APART: u32 = 211;
/// Time limit for a server to start.
const START_MAX: Duration = Duration::from_secs(60);

/// Why a server or a management command failed.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct ServerError(String);

impl ServerError {
    pub(crate) fn new(text: String) -> Self {
        Self(text)
    }
}

/// How to start the binary. Every start uses the same data directory, ports and settings.
#[derive(Debug, Clone)]
pub struct Launch {
    binary: PathBuf,
    data_dir: PathBuf,
    arguments: Vec<String>,
    environment: Vec<(String, String)>,
    roles: Vec<&'static str>,
    log: Option<PathBuf>,
    json_log: Option<(PathBuf, &'static str)>,
    broken_log: bool,
    /// Address of the platform's API.
    pub platform: SocketAddr,
    /// Address of the provider's API.
    pub provider: SocketAddr,
    metrics: SocketAddr,
}

impl Launch {
    /// Both roles on free ports, with SQLite in `data_dir`. Deliveries to this machine, and providers on it, are allowed.
    pub fn new(binary: PathBuf, data_dir: &Path) -> Result<Self, ServerError> {
        let launch = Launch {
            binary,
            data_dir: data_dir.to_owned(),
            arguments: Vec::new(),
            environment: Vec::new(),
            roles: vec!["platform", "provider"],
            log: None,
            json_log: None,
            broken_log: false,
            platform: free_address()?,
            provider: free_address()?,
            metrics: free_address()?,
        };
        let launch = launch.set("PLATFORM__ALLOWED_PROVIDER_NETWORKS", "127.0.0.0/8");
        Ok(launch.set("PROVIDER__ALLOW_SUBNETS", "127.0.0.0/8"))
    }

    /// Uses PostgreSQL.
    #[must_use]
    pub fn database(self, url: &str) -> Self {
        self.argument("--database-url", url)
    }

    /// Uses another PostgreSQL database than this launch.
    #[must_use]
    pub fn database_instead(mut self, url: &str) -> Self {
        if let Some(flag) = self.arguments.iter().position(|argument| argument == "--database-url") {
            self.arguments.drain(flag..flag + 2);
        }
        self.database(url)
    }

    /// Runs only these roles.
    #[must_use]
    pub fn roles(mut self, roles: &[&'static str]) -> Self {
        self.roles = roles.to_vec();
        self
    }

    /// Writes the server's log to this file, at the most detailed level.
    #[must_use]
    pub fn trace_to(mut self, file: &Path) -> Self {
        self.log = Some(file.to_owned());
        self
    }

    /// Writes the server's log as JSON to this file, at this level.
    #[must_use]
    pub fn log_json_to(mut self, file: &Path, level: &'static str) -> Self {
        self.json_log = Some((file.to_owned(), level));
        self
    }

    /// Writes the server's log to a closed pipe, so that every log line fails.
    #[must_use]
    pub fn with_broken_log(mut self) -> Self {
        self.broken_log = true;
        self
    }

    /// Sets a configuration variable without its prefix, such as `PROVIDER__RETRY_SCHEDULE`.
    #[must_use]
    pub fn set(mut self, key: &str, value: &str) -> Self {
        self.environment.push((format!("LOTWIRE_{key}"), value.to_owned()));
        self
    }

    /// The wall clock of the process is `ahead_s` seconds ahead, or behind if this is negative. `directory` has to outlive
    /// the process.
    pub fn clock_ahead(mut self, directory: &Path, ahead_s: i64) -> Result<Self, ServerError> {
        let variables = crate::skewed_clock::variables(directory, ahead_s);
        let variables = variables.map_err(|error| ServerError(format!("building a skewed clock: {error}")))?;
        self.environment.extend(variables.map(|(name, value)| (name.to_owned(), value)));
        Ok(self)
    }

    /// A second node: the same launch on other ports.
    pub fn second_node(&self) -> Result<Self, ServerError> {
        let (platform, provider, metrics) = (free_address()?, free_address()?, free_address()?);
        Ok(Launch { platform, provider, metrics, ..self.clone() })
    }

    /// A second node on another host: other ports, and a data directory of its own.
    pub fn node_in(&self, data_dir: &Path) -> Result<Self, ServerError> {
        Ok(Launch { data_dir: data_dir.to_owned(), ..self.second_node()? })
    }

    /// The same launch with another binary.
    #[must_use]
    pub fn with_binary(&self, binary: &Path) -> Self {
        Launch { binary: binary.to_owned(), ..self.clone() }
    }

    fn argument(mut self, flag: &str, value: impl std::fmt::Display) -> Self {
        self.arguments.extend([flag.to_owned(), value.to_string()]);
        self
    }

    /// The binary with the data directory, the database and the settings of this launch. The caller adds the arguments.
    pub fn command(&self) -> Command {
        let mut command = Command::new(&self.binary);
        command.arg("--data-dir").arg(&self.data_dir).args(&self.arguments).stdin(Stdio::null());
        command.envs(self.environment.iter().map(|(name, value)| (OsStr::new(name), OsStr::new(value))));
        command
    }

    /// Base address of the platform's API.
    pub fn platform_url(&self) -> String {
        format!("http://{}", self.platform)
    }

    /// Base address of the provider's API.
    pub fn provider_url(&self) -> String {
        format!("http://{}", self.provider)
    }

    /// Runs a management command that prints JSON.
    pub fn run_command(&self, arguments: &[&str]) -> Result<Value, ServerError> {
        let output = self.command().args(arguments).output().map_err(|error| ServerError(error.to_string()))?;
        if !output.status.success() {
            let text = String::from_utf8_lossy(&output.stderr);
            return Err(ServerError(format!("lotwire {}: {text}", arguments.join(" "))));
        }
        serde_json::from_slice(&output.stdout)
            .map_err(|error| ServerError(format!("lotwire {}: {error}", arguments.join(" "))))
    }

    /// Creates a provider account of this name. Returns its id.
    pub fn create_provider_account(&self, name: &str) -> Result<String, ServerError> {
        text_field(&self.run_command(&["provider", "account", "create", name, "--json"])?, "id")
    }

    /// Creates a provider account of this name with an API key. Returns the key.
    pub fn create_provider_key(&self, name: &str) -> Result<String, ServerError> {
        self.create_key_of_account(&self.create_provider_account(name)?, name)
    }

    /// Creates an API key of a provider account. Returns the key.
    pub fn create_key_of_account(&self, account: &str, name: &str) -> Result<String, ServerError> {
        let key = ["provider", "key", "create", "--account", account, "--name", name, "--json"];
        text_field(&self.run_command(&key)?, "key")
    }

    /// Creates an API key of the platform with all scopes. Returns the key.
    pub fn create_staff_key(&self, name: &str) -> Result<String, ServerError> {
        text_field(&self.run_command(&["key", "create", "--name", name, "--scope", "all", "--json"])?, "key")
    }

    /// Starts a server and waits until each of its roles responds.
    pub async fn start(&self, http: &Client) -> Result<Server, ServerError> {
        let mut command = self.command();
        command.arg("serve").args(["--roles", &self.roles.join(",")]);
        command.args(["--platform-listen", &self.platform.to_string()]);
        command.args(["--provider-listen", &self.provider.to_string()]);
        command.env("LOTWIRE_METRICS__LISTEN", self.metrics.to_string());
        command.env("LOTWIRE_LOG__LEVEL", "warn").stdout(Stdio::null());
        if let Some(log) = &self.log {
            let file = File::create(log).map_err(|error| ServerError(format!("{}: {error}", log.display())))?;
            command.env("LOTWIRE_LOG__LEVEL", "trace,tokio_postgres::query=trace").stderr(file);
        }
        if let Some((log, level)) = &self.json_log {
            let file = File::create(log).map_err(|error| ServerError(format!("{}: {error}", log.display())))?;
            command.env("LOTWIRE_LOG__LEVEL", level).env("LOTWIRE_LOG__FORMAT", "json").stderr(file);
        }
        if self.broken_log {
            let (reader, writer) = std::io::pipe().map_err(|error| ServerError(format!("a pipe: {error}")))?;
            command.env("LOTWIRE_LOG__LEVEL", "debug").stderr(writer);
            drop(reader);
        }
        let child = command.spawn().map_err(|error| ServerError(format!("{}: {error}", self.binary.display())))?;
        let mut server = Server { child };
        let deadline = Instant::now() + START_MAX;
        for (role, url) in [("platform", self.platform_url()), ("provider", self.provider_url())] {
            let api = ApiClient::new(http.clone(), url, "none").map_err(|error| ServerError(error.to_string()))?;
            while self.roles.contains(&role) && !responds(&api).await {
                if let Ok(Some(status)) = server.child.try_wait() {
                    return Err(ServerError(format!("the server ended at its start: {status}")));
                }
                if Instant::now() > deadline {
                    return Err(ServerError(format!("the {role} did not respond within {} s", START_MAX.as_secs())));
                }
                tokio::time::sleep(Duration::from_millis(10)).await;
            }
        }
        Ok(server)
    }
}

/// Whether the API responds at all. An error status counts as a response.
async fn responds(api: &ApiClient) -> bool {
    match api.get("/api/v1/health").await {
        Ok(_) => true,
        Err(error) => error.status().is_some(),
    }
}

/// A running server. It is killed when it is dropped.
#[derive(Debug)]
pub struct Server {
    child: Child,
}

impl Server {
    /// Kills the process with SIGKILL and waits for its end.
    pub fn kill(mut self) {
        self.end();
    }

    /// Sends SIGTERM and waits for the end of the process. Returns its exit status.
    pub fn stop(mut self) -> std::io::Result<ExitStatus> {
        Command::new("kill").args(["-TERM", &self.id().to_string()]).status()?;
        self.child.wait()
    }

    /// Process id.
    pub fn id(&self) -> u32 {
        self.child.id()
    }

    fn end(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.end();
    }
}

impl Launch {
    /// Address of the metrics port.
    pub fn metrics_address(&self) -> SocketAddr {
        self.metrics
    }

    /// The value of a metric of the running server, by its full name.
    pub async fn metric(&self, name: &str) -> Result<f64, ServerError> {
        let text = scrape(self.metrics).await.map_err(|error| ServerError(format!("reading the metrics: {error}")))?;
        let value = text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(' ')?.trim().parse().ok());
        value.ok_or_else(|| ServerError(format!("there is no metric {name} in {text}")))
    }
}

/// A text field of the output of a management command.
fn text_field(printed: &Value, name: &str) -> Result<String, ServerError> {
    let text = printed[name].as_str().map(str::to_owned);
    text.ok_or_else(|| ServerError(format!("the command printed no {name}: {printed}")))
}

async fn scrape(metrics: SocketAddr) -> std::io::Result<String> {
    let mut stream = TcpStream::connect(metrics).await?;
    stream.write_all(b"GET /metrics HTTP/1.1\r\nhost: metrics\r\nconnection: close\r\n\r\n").await?;
    let mut text = String::new();
    stream.read_to_string(&mut text).await?;
    Ok(text)
}

/// A free port. It stays free until the server binds it: it is below the kernel's ephemeral ports, and this process
/// uses each port once.
/// An address of this machine whose port is free.
pub fn free_address() -> Result<SocketAddr, ServerError> {
    static USED: AtomicU32 = AtomicU32::new(0);
    for _ in 0..PORTS.len() {
        let nth = USED.fetch_add(1, Ordering::Relaxed).wrapping_add(std::process::id().wrapping_mul(PORTS_APART));
        let port = PORTS.start + u16::try_from(nth % PORTS.len() as u32).unwrap_or_default();
        if let Ok(listener) = TcpListener::bind((Ipv4Addr::LOCALHOST, port)) {
            return listener.local_addr().map_err(|error| ServerError(error.to_string()));
        }
    }
    Err(ServerError("no port is free".to_owned()))
}

/// The binary `name` that cargo built last: it is in the folder of the running binary, or in the parent folder of
/// `deps`.
pub fn built_binary(name: &str) -> Result<PathBuf, ServerError> {
    let own = std::env::current_exe().map_err(|error| ServerError(error.to_string()))?;
    let folders = own.ancestors().skip(1).take(2);
    let found = folders.map(|folder| folder.join(name)).find(|file| file.is_file());
    found.ok_or_else(|| ServerError(format!("{name} is not built; run `cargo build -p {name}` first")))
}
