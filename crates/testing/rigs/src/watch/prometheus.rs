//! A Prometheus with the alert rules, which scrapes the servers every two seconds.

use std::net::{Ipv4Addr, SocketAddr, TcpListener};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use consumer::ApiClient;
use serde_json::Value;
use tempfile::TempDir;
use testkit::site::http_client;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

use crate::RigError;

const START_MAX: Duration = Duration::from_secs(30);
const POLL: Duration = Duration::from_millis(200);

/// A running Prometheus. It is killed when it is dropped.
pub(super) struct Prometheus {
    child: Child,
    api: ApiClient,
    _folder: TempDir,
}

impl Drop for Prometheus {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Prometheus {
    /// Starts it with these rules, and waits until every server was scraped.
    pub(super) async fn start(rules: &Path, servers: &[SocketAddr]) -> Result<Self, RigError> {
        let folder = tempfile::tempdir()?;
        let targets: Vec<String> = servers.iter().map(|server| format!("\"{server}\"")).collect();
        let config = format!(
            "global: {{scrape_interval: 2s, evaluation_interval: 2s}}\nrule_files: [\"{}\"]\nscrape_configs:\n  \
             - job_name: lotwire\n    static_configs: [{{targets: [{}]}}]\n",
            rules.display(),
            targets.join(", ")
        );
        let path = folder.path().join("prometheus.yml");
        std::fs::write(&path, config)?;
        let address = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?.local_addr()?;
        let child = Command::new("prometheus")
            .arg(format!("--config.file={}", path.display()))
            .arg(format!("--storage.tsdb.path={}", folder.path().join("data").display()))
            .arg(format!("--web.listen-address={address}"))
            .arg("--log.level=error")
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .spawn()?;
        let api = ApiClient::new(http_client(), format!("http://{address}"), "none")?;
        let prometheus = Self { child, api, _folder: folder };
        let begin = Instant::now();
        // Two scrapes, so that a rate has a value.
        while prometheus.query("count(count_over_time(up[1m]) >= 2)").await.unwrap_or_default().first()
            != Some(&servers.len().to_string())
        {
            if begin.elapsed() > START_MAX {
                return Err("Prometheus has not scraped the servers within 30 s".into());
            }
            tokio::time::sleep(POLL).await;
        }
        Ok(prometheus)
    }

    /// The values of a query, one for each series.
    pub(super) async fn query(&self, query: &str) -> Result<Vec<String>, RigError> {
        let answer = self.api.get(&format!("/api/v1/query?query={}", percent_encoded(query))).await;
        let answer = answer.map_err(|error| format!("{query}: {error}"))?;
        let result = &answer.body["data"]["result"];
        let series = result.as_array().ok_or_else(|| format!("{query} returned no series: {}", answer.body))?;
        Ok(series.iter().map(|one| one["value"][1].as_str().unwrap_or_default().to_owned()).collect())
    }

    /// The names of the alerts that fire.
    pub(super) async fn firing(&self) -> Result<Vec<String>, RigError> {
        let answer = self.api.get("/api/v1/alerts").await?;
        let alerts = answer.body["data"]["alerts"].as_array().cloned().unwrap_or_default();
        let firing = alerts.iter().filter(|alert| alert["state"] == "firing");
        Ok(firing.filter_map(|alert| alert["labels"]["alertname"].as_str().map(str::to_owned)).collect())
    }

    /// The expressions of the rules that it has loaded.
    pub(super) async fn rules(&self) -> Result<Vec<String>, RigError> {
        let answer = self.api.get("/api/v1/rules").await?;
        let groups = answer.body["data"]["groups"].as_array().cloned().unwrap_or_default();
        let rules = groups.iter().flat_map(|group| group["rules"].as_array().cloned().unwrap_or_default());
        let query = |rule: Value| rule["query"].as_str().map(str::to_owned);
        Ok(rules.filter_map(query).collect())
    }
}

/// The text that a metrics port serves to a client that does not ask for OpenMetrics.
pub(super) async fn scrape(metrics: SocketAddr, path: &str) -> Result<String, RigError> {
    let mut stream = TcpStream::connect(metrics).await?;
    stream.write_all(format!("GET {path} HTTP/1.0\r\nhost: metrics\r\n\r\n").as_bytes()).await?;
    let mut text = String::new();
    stream.read_to_string(&mut text).await?;
    match text.split_once("\r\n\r\n") {
        Some((head, body)) if head.contains(" 200 ") => Ok(body.to_owned()),
        _ => Err(format!("{metrics}{path} answered {text}").into()),
    }
}

fn percent_encoded(text: &str) -> String {
    text.bytes()
        .map(|byte| if byte.is_ascii_alphanumeric() { char::from(byte).to_string() } else { format!("%{byte:02X}") })
        .collect()
}
