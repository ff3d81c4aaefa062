//! `lotwire doctor`: what is wrong with this installation, if anything, and what to do about it.

mod files;
mod postgres;
mod queues;

use std::net::SocketAddr;
use std::process::ExitCode;

use consumer::ApiClient;
use kit_outbound::{AddressPolicy, Client, ClientConfig};
use tokio::net::TcpListener;

use super::{print, require_database, secrets};
use crate::config::{Config, Role};
use crate::error::{CommandError, ErrorContext as _};
use crate::node::{NodeServices, open_platform, open_provider};

/// Each delivery and each listener of live updates takes one.
const OPEN_FILES_MIN: u64 = 4_096;

/// What a check found: fine and how, or what to do.
type CheckResult = Result<String, String>;

pub(super) async fn run(config: &Config) -> Result<ExitCode, CommandError> {
    let findings = check(config).await;
    let mut is_well = true;
    for (name, finding) in &findings {
        is_well &= finding.is_ok();
        let (mark, text) = match finding {
            Ok(text) => ("ok   ", text),
            Err(text) => ("WRONG", text),
        };
        print(&format!("{mark}  {name:<18} {text}"));
    }
    Ok(if is_well { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

async fn check(config: &Config) -> Vec<(&'static str, CheckResult)> {
    let mut findings = vec![("configuration", Ok("can be used".to_owned())), ("open files", open_files())];
    let exposed = files::exposed(&config.data_dir);
    match services(config) {
        Err(what) => findings.push(("data directory", Err(what))),
        Ok(services) => {
            findings.push(("data directory", Ok(format!("{} and its key are usable", config.data_dir.display()))));
            findings.extend(postgres::check(config).await.into_iter().map(|finding| ("PostgreSQL", finding)));
            findings.extend(check_platform(config, &services).await);
            findings.extend(check_provider(config, &services).await);
        }
    }
    findings.push(("files", files::finding(&config.data_dir, &exposed)));
    for (name, role, addr) in [
        ("platform port", Role::Platform, config.platform.listen),
        ("provider port", Role::Provider, config.provider.listen),
    ] {
        if config.runs(role) {
            findings.push((name, port(addr).await));
        }
    }
    findings
}

/// What the databases are opened with. Nothing is made that is not there: a new installation is in order, whatever is wrong with
/// the one that was meant.
fn services(config: &Config) -> Result<NodeServices, String> {
    if config.database.url.is_empty() {
        let dir = config.data_dir.display();
        let is_there = |file: &str| config.data_dir.join(file).exists();
        if !is_there("platform.db") && !is_there("provider.db") {
            return Err(format!(
                "there is no database in {dir}: is --data-dir the server's? `lotwire serve` makes one"
            ));
        }
        if config.secrets.key.is_empty() && !is_there("secret.key") {
            return Err(format!(
                "there is no secret.key in {dir}, and no secrets.key is configured: copy it from where the server \
                 has it, or from its backup"
            ));
        }
    }
    NodeServices::new(config).map_err(|error| error.to_string())
}

/// Says nothing where none runs and none has a database.
async fn check_platform(config: &Config, services: &NodeServices) -> Vec<(&'static str, CheckResult)> {
    if let Err(error) = require_database(config, "platform.db") {
        let is_wrong = config.runs(Role::Platform);
        return is_wrong.then(|| ("platform database", Err(error.to_string()))).into_iter().collect();
    }
    let mut findings = vec![
        ("platform database", platform_database(config, services).await),
        ("platform secrets", platform_secrets(config, services).await),
    ];
    let queues = queues::check(config, services).await;
    findings.extend(queues.into_iter().map(|finding| ("customers' queues", finding)));
    findings
}

/// The same for the provider.
async fn check_provider(config: &Config, services: &NodeServices) -> Vec<(&'static str, CheckResult)> {
    if let Err(error) = require_database(config, "provider.db") {
        let is_wrong = config.runs(Role::Provider);
        return is_wrong.then(|| ("provider database", Err(error.to_string()))).into_iter().collect();
    }
    vec![
        ("provider database", provider_database(config, services).await),
        ("provider secrets", provider_secrets(config, services).await),
    ]
}

fn open_files() -> CheckResult {
    let limits = std::fs::read_to_string("/proc/self/limits").unwrap_or_default();
    let line = limits.lines().find_map(|line| line.strip_prefix("Max open files")).unwrap_or_default();
    match line.split_whitespace().next() {
        Some("unlimited") => Ok("unlimited".to_owned()),
        Some(soft) => match soft.parse::<u64>() {
            Ok(count) if count < OPEN_FILES_MIN => Err(format!(
                "only {count} are allowed; allow {OPEN_FILES_MIN} at least (ulimit -n, or LimitNOFILE= of the unit)"
            )),
            _ => Ok(format!("{soft} are allowed")),
        },
        None => Ok("the system does not say how many are allowed".to_owned()),
    }
}

async fn platform_database(config: &Config, services: &NodeServices) -> CheckResult {
    let platform = open_platform(config, services).await.map_err(|error| error.to_string())?;
    platform.ping().await.map_err(|error| error.full_message())?;
    Ok("can be read and written".to_owned())
}

async fn provider_database(config: &Config, services: &NodeServices) -> CheckResult {
    let provider = open_provider(config, services).await.map_err(|error| error.to_string())?;
    provider.ping().await.map_err(|error| error.to_string())?;
    Ok("can be read and written".to_owned())
}

async fn platform_secrets(config: &Config, services: &NodeServices) -> CheckResult {
    let platform = open_platform(config, services).await.map_err(|error| error.to_string())?;
    secrets::check_platform(&platform, services).await
}

async fn provider_secrets(config: &Config, services: &NodeServices) -> CheckResult {
    let provider = open_provider(config, services).await.map_err(|error| error.to_string())?;
    secrets::check_provider(&provider, services).await
}

/// A port is fine when it is free, or when what answers there is Lotwire.
async fn port(addr: SocketAddr) -> CheckResult {
    if TcpListener::bind(addr).await.is_ok() {
        return Ok(format!("{addr} is free"));
    }
    if answers(addr).await.is_ok() {
        return Ok(format!("a server answers at {addr}"));
    }
    Err(format!("{addr} is taken by something else; stop it, or choose another address"))
}

async fn answers(addr: SocketAddr) -> Result<(), CommandError> {
    let client = Client::new(ClientConfig { policy: AddressPolicy::any(), ..ClientConfig::default() });
    let api = ApiClient::new(client, format!("http://{addr}"), "none").context("asking")?;
    api.get("/api/v1/health").await?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use super::*;

    /// On free ports.
    fn config(data_dir: PathBuf) -> Config {
        let mut config = Config { data_dir, ..Config::default() };
        config.platform.listen.set_port(0);
        config.provider.listen.set_port(0);
        config
    }

    /// What is said to be wrong, each with its name.
    async fn wrong(config: &Config) -> Vec<(&'static str, String)> {
        let findings = check(config).await.into_iter().filter(|(name, _)| *name != "open files");
        findings.filter_map(|(name, finding)| finding.err().map(|what| (name, what))).collect()
    }

    #[tokio::test]
    async fn where_no_installation_is_that_is_wrong_and_none_is_made() {
        let dir = tempfile::tempdir().unwrap();
        for place in [dir.path().to_owned(), dir.path().join("mistyped")] {
            let told = wrong(&config(place)).await;
            assert!(told.len() == 1 && told[0].0 == "data directory", "{told:?}");
            assert!(told[0].1.contains("is --data-dir the server's?"), "{told:?}");
        }
        assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 0);
    }

    #[tokio::test]
    async fn a_database_or_key_that_is_not_there_is_wrong_and_not_made() {
        let dir = tempfile::tempdir().unwrap();
        let mut config = config(dir.path().to_owned());
        open_platform(&config, &NodeServices::new(&config).unwrap()).await.unwrap();
        let told = wrong(&config).await;
        assert!(told.len() == 1 && told[0].0 == "provider database", "{told:?}");
        config.roles = vec![Role::Platform];
        let told = wrong(&config).await;
        assert!(told.is_empty(), "{told:?}");
        assert!(!dir.path().join("provider.db").exists());
        std::fs::remove_file(dir.path().join("secret.key")).unwrap();
        let told = wrong(&config).await;
        assert!(told.len() == 1 && told[0].1.contains("there is no secret.key"), "{told:?}");
        assert!(!dir.path().join("secret.key").exists());
    }
}
