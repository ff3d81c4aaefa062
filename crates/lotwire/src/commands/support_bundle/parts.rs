//! The parts of a support bundle.

use std::collections::BTreeMap;
use std::io::{Read as _, Seek as _, SeekFrom};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use kit_outbound::{AddressPolicy, Client, ClientConfig, Headers, Request};
use kit_runtime::disk_space::space_of;
use serde_json::{Value, json};

use crate::backup::{Contents, PLATFORM_FILE, PROVIDER_FILE};
use crate::commands::{config as config_commands, doctor};
use crate::config::{Config, Resolved, listen_address};
use crate::error::{CommandError, ErrorContext as _};

/// The end of a log file that the bundle has.
const LOG_BYTES_MAX: u64 = 20 << 20;
/// Lines of the journal of the package's unit, of the last days.
const JOURNAL: [&str; 7] = ["--unit", "lotwire", "--since", "-3d", "--lines", "100000", "--no-pager"];
const METRICS_DEADLINE: Duration = Duration::from_secs(10);
const METRICS_BYTES_MAX: usize = 16 << 20;

/// A file of the bundle.
pub(super) struct Part {
    pub(super) name: String,
    /// What it has, for the list.
    pub(super) about: &'static str,
    pub(super) content: Vec<u8>,
}

fn part(name: &str, about: &'static str, content: impl Into<Vec<u8>>) -> Part {
    Part { name: name.to_owned(), about, content: content.into() }
}

/// Collects all parts. What can't be read says so in its part, because a bundle is written when something is broken.
pub(super) async fn collect(resolved: &Resolved, logs: &[PathBuf]) -> Result<Vec<Part>, CommandError> {
    let config = &resolved.config;
    let mut parts = vec![
        part("versions.json", "versions of Lotwire and of the system, cores and memory", pretty(&versions(config))),
        part("settings.toml", "the settings in effect, without secrets", config_commands::show(resolved)),
        part(
            "doctor.txt",
            "the report of `lotwire doctor`; it has customers and the URLs of endpoints",
            doctor_report(config).await,
        ),
        part("database.json", "size, schema version and rows of each table, and free disk", pretty(&database(config))),
    ];
    if !config.metrics.listen.is_empty() {
        parts.push(part("metrics.txt", "the metrics of the running server", metrics(config).await));
    }
    if logs.is_empty() {
        parts
            .extend(journal().map(|text| part("journal.log", "the log of the unit; it has addresses and names", text)));
    }
    for (number, path) in logs.iter().enumerate() {
        let text = end_of(path).context(format!("reading {}", path.display()))?;
        parts.push(part(&format!("log-{}.log", number + 1), "a log; it has addresses and names", text));
    }
    Ok(parts)
}

fn pretty(value: &Value) -> String {
    format!("{value:#}\n")
}

fn versions(config: &Config) -> Value {
    let read = |path: &str| std::fs::read_to_string(path).unwrap_or_default();
    let value_of = |text: &str, name: &str| {
        let line = text.lines().find_map(|line| line.strip_prefix(name)).unwrap_or_default();
        line.trim_matches(['=', ':', '"', ' ', '\t']).to_owned()
    };
    json!({
        "lotwire": env!("CARGO_PKG_VERSION"),
        "architecture": std::env::consts::ARCH,
        "system": value_of(&read("/etc/os-release"), "PRETTY_NAME"),
        "kernel": read("/proc/sys/kernel/osrelease").trim(),
        "cores": std::thread::available_parallelism().map_or(0, std::num::NonZero::get),
        "memory": value_of(&read("/proc/meminfo"), "MemTotal"),
        "engine": if config.database.url.is_empty() { "SQLite" } else { "PostgreSQL" },
    })
}

async fn doctor_report(config: &Config) -> String {
    let (lines, _) = doctor::report(config).await;
    lines.join("\n") + "\n"
}

/// Of SQLite's files. Of PostgreSQL, the metrics have sizes and versions.
fn database(config: &Config) -> Value {
    let mut found = BTreeMap::new();
    if config.database.url.is_empty() {
        for name in [PLATFORM_FILE, PROVIDER_FILE] {
            let path = config.data_dir.join(name);
            let bytes = |path: &Path| std::fs::metadata(path).map_or(0, |metadata| metadata.len());
            if path.exists() {
                let wal = config.data_dir.join(format!("{name}-wal"));
                let contents = Contents::of(&path).map_or_else(|error| json!(error.to_string()), |found| json!(found));
                found.insert(name, json!({ "bytes": bytes(&path), "walBytes": bytes(&wal), "contents": contents }));
            }
        }
    }
    let disk = space_of(&config.data_dir).map_or_else(
        |error| json!(error.to_string()),
        |space| json!({ "availableBytes": space.available_bytes, "totalBytes": space.total_bytes }),
    );
    json!({ "files": found, "disk": disk })
}

async fn metrics(config: &Config) -> Vec<u8> {
    match scrape(config).await {
        Ok(text) => text,
        Err(error) => format!("The metrics could not be read: {error}\n").into_bytes(),
    }
}

async fn scrape(config: &Config) -> Result<Vec<u8>, CommandError> {
    let address = listen_address::resolve(&config.metrics.listen).context("reading metrics.listen")?;
    let url = format!("{}/metrics", listen_address::local_url(address));
    let client = Client::new(ClientConfig { policy: AddressPolicy::any(), ..ClientConfig::default() });
    let request = Request {
        method: http::Method::GET,
        to: url.parse().context(url.clone())?,
        headers: Headers::default(),
        body: bytes::Bytes::new(),
        deadline: METRICS_DEADLINE,
        response_bytes_max: METRICS_BYTES_MAX,
    };
    let response = client.send_fresh(request, Duration::ZERO).await.outcome.context(url)?;
    Ok(response.body.to_vec())
}

/// The journal of the package's unit; none where there is none, or where this user may not read it.
fn journal() -> Option<Vec<u8>> {
    let output = Command::new("journalctl").args(JOURNAL).stdin(Stdio::null()).stderr(Stdio::null()).output().ok()?;
    let has_entries = output.status.success() && !output.stdout.starts_with(b"-- No entries");
    (has_entries && !output.stdout.is_empty()).then_some(output.stdout)
}

/// The last part of a log file.
fn end_of(path: &Path) -> std::io::Result<Vec<u8>> {
    // A pipe would block the reader until something writes to it.
    if !std::fs::metadata(path)?.is_file() {
        return Err(std::io::Error::new(std::io::ErrorKind::InvalidInput, "it is not a file"));
    }
    let mut file = std::fs::File::open(path)?;
    let length = file.metadata()?.len();
    file.seek(SeekFrom::Start(length.saturating_sub(LOG_BYTES_MAX)))?;
    let mut text = Vec::new();
    file.take(LOG_BYTES_MAX).read_to_end(&mut text)?;
    Ok(text)
}
