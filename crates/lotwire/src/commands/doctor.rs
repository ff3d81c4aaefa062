//! Runs `lotwire doctor`: checks this installation and prints how to repair what is wrong.

mod disk;
mod domains;
mod endpoints;
mod files;
mod postgres;
mod queues;
mod single_sign_on;
mod tls;

use std::net::SocketAddr;
use std::process::ExitCode;

use kit_engine::OlderTables;
use kit_runtime::clock::{Clock as _, SystemClock};
use tokio::net::TcpListener;

use super::{print, require_database, secrets};
use crate::address_file;
use crate::config::{Config, Role, listen_address};
use crate::data_dir::{has_file, require_key};
use crate::data_dir_lock;
use crate::error::CommandError;
use crate::hold::{self, InstalledWings};
use crate::node::{NodeServices, open_platform, open_provider};
use crate::server_proof::Server;

/// Lowest accepted limit on open files. Each attempt under way and each live-update listener needs one.
const OPEN_FILES_MIN: u64 = 4_096;

/// The result of a check: `Ok` describes the state, `Err` says what is wrong and what to do.
type CheckResult = Result<String, String>;

pub(super) async fn run(config: &Config) -> Result<ExitCode, CommandError> {
    let (lines, is_well) = report(config).await;
    lines.iter().for_each(|line| print(line));
    Ok(if is_well { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// One line for each check, and whether all of them pass.
pub(super) async fn report(config: &Config) -> (Vec<String>, bool) {
    let findings = check(config).await;
    let line = |(name, finding): &(&str, CheckResult)| {
        let (mark, text) = match finding {
            Ok(text) => ("ok   ", text),
            Err(text) => ("WRONG", text),
        };
        format!("{mark}  {name:<18} {text}")
    };
    (findings.iter().map(line).collect(), findings.iter().all(|(_, finding)| finding.is_ok()))
}

async fn check(config: &Config) -> Vec<(&'static str, CheckResult)> {
    let mut findings = vec![("configuration", Ok("valid".to_owned())), ("open files", open_files(config))];
    findings.extend(tls::check(config, SystemClock.now()).into_iter().map(|finding| ("TLS", finding)));
    let exposed = files::exposed(&config.data_dir);
    let services = services(config);
    for (name, role, addr) in [
        ("platform port", Role::Platform, config.platform.listen),
        ("provider port", Role::Provider, config.provider.listen),
    ] {
        if config.runs(role) {
            findings.push((name, port(config, services.as_ref().ok(), role, addr).await));
        }
    }
    if config.opens_saleroom() {
        let open = || Ok(format!("open to bidders at {}", config.saleroom.public_url));
        findings.push(("saleroom", config.saleroom_hindrance().map_or_else(open, |closed| Err(closed.to_owned()))));
    }
    match services {
        Err(error) => findings.push(("data directory", Err(error))),
        Ok(services) => {
            findings
                .push(("data directory", Ok(format!("{} and its sealing key are usable", config.data_dir.display()))));
            findings.push(("free disk", disk::check(config)));
            findings.extend(postgres::check(config).await.into_iter().map(|finding| ("PostgreSQL", finding)));
            findings.extend(hold(config, &services).await.map(|finding| ("hold", finding)));
            findings.extend(services.tracing.check().await.map(|finding| ("traces", finding)));
            let issuers = single_sign_on::check(config, &services).await;
            findings.extend(issuers.into_iter().map(|finding| ("single sign-on", finding)));
            findings.extend(check_platform(config, &services).await);
            findings.extend(check_provider(config, &services).await);
        }
    }
    findings.push(("files", files::finding(&config.data_dir, &exposed)));
    findings
}

/// Services to open the databases with. The check creates no missing file: a new installation would pass every check
/// and hide that the path is wrong.
fn services(config: &Config) -> Result<NodeServices, String> {
    if config.database.url.is_empty() {
        let dir = config.data_dir.display();
        let exists = |file: &str| has_file(&config.data_dir, file).map_err(|error| error.to_string());
        if !exists("platform.db")? && !exists("provider.db")? {
            return Err(format!(
                "{dir} contains no database. Is --data-dir the server's? `lotwire serve` creates the database"
            ));
        }
        require_key(config).map_err(|error| error.to_string())?;
    }
    NodeServices::new(config).map_err(|error| error.to_string())
}

/// A finding if the installation was restored and not resumed. A database that can't be opened is a finding of other checks.
async fn hold(config: &Config, services: &NodeServices) -> Option<CheckResult> {
    let installed = InstalledWings::open(OlderTables::Refuse, config, services).await.ok()?;
    let hold = installed.wings().hold().await.ok()??;
    Some(Err(format!("{} No server starts. Run `lotwire resume`", hold::sentence(&hold))))
}

/// Checks the platform. No finding if this node does not run the platform and its database does not exist.
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
    let domains = domains::check(config, services).await;
    findings.extend(domains.into_iter().map(|finding| ("domains", finding)));
    findings
}

/// Checks the provider. No finding if this node does not run the provider and its database does not exist.
async fn check_provider(config: &Config, services: &NodeServices) -> Vec<(&'static str, CheckResult)> {
    if let Err(error) = require_database(config, "provider.db") {
        let is_wrong = config.runs(Role::Provider);
        return is_wrong.then(|| ("provider database", Err(error.to_string()))).into_iter().collect();
    }
    let mut findings = vec![
        ("provider database", provider_database(config, services).await),
        ("provider secrets", provider_secrets(config, services).await),
    ];
    let endpoints = endpoints::check(config, services).await;
    findings.extend(endpoints.into_iter().map(|finding| ("endpoints", finding)));
    findings
}

/// The limit of the server that runs on this data directory, or without one the limit of this process, which a server that
/// is started in the same way would have.
fn open_files(config: &Config) -> CheckResult {
    let server = config.roles.iter().find_map(|role| data_dir_lock::holder(config, *role));
    let (whose, limits) = match server {
        Some(process) => ("the server's limit", format!("/proc/{process}/limits")),
        None => ("the limit", "/proc/self/limits".to_owned()),
    };
    let limits = std::fs::read_to_string(limits).unwrap_or_default();
    let line = limits.lines().find_map(|line| line.strip_prefix("Max open files")).unwrap_or_default();
    match line.split_whitespace().next() {
        Some("unlimited") => Ok("no limit".to_owned()),
        Some(soft) => match soft.parse::<u64>() {
            Ok(count) if count < OPEN_FILES_MIN => Err(format!(
                "{whose} is {count}. Raise it to at least {OPEN_FILES_MIN} (ulimit -n, or LimitNOFILE= of the \
                 systemd unit)"
            )),
            _ => Ok(format!("{whose} is {soft}")),
        },
        None => Ok("the system does not report the limit".to_owned()),
    }
}

async fn platform_database(config: &Config, services: &NodeServices) -> CheckResult {
    files::check_database(config, "platform.db", platform_store::sqlite::check_file)?;
    let platform = open_platform(config, services).await.map_err(|error| error.to_string())?;
    platform.ping().await.map_err(|error| error.full_message())?;
    Ok("can be read and written".to_owned())
}

async fn provider_database(config: &Config, services: &NodeServices) -> CheckResult {
    files::check_database(config, "provider.db", provider_store::sqlite::check_file)?;
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

/// Checks the port of a role: who answers there. A running server may have another address than this configuration, such
/// as one of its flags; its address file says so. Without
/// the sealing key, the check can't tell whose server answers.
async fn port(config: &Config, services: Option<&NodeServices>, role: Role, configured: SocketAddr) -> CheckResult {
    let Some(services) = services else {
        return match TcpListener::bind(configured).await {
            Ok(_) => Ok(format!("{configured} is free")),
            Err(error) => Err(format!(
                "{configured} is not free ({error}), and the check can't tell whose server answers without the sealing \
                 key of this installation"
            )),
        };
    };
    let identify = async |url: String| services.embedded.identify(role, &url).await;
    if let Some(url) = address_file::read(&config.data_dir, role)
        && identify(url.clone()).await == Server::Own
    {
        return Ok(format!("this installation's server answers at {url}"));
    }
    if TcpListener::bind(configured).await.is_ok() {
        return Ok(format!("{configured} is free: no server of this installation runs on it"));
    }
    match identify(listen_address::local_url(configured)).await {
        Server::Own => Ok(format!("this installation's server answers at {configured}")),
        Server::Other => Err(format!(
            "the server of another Lotwire installation answers at {configured}: it does not have the sealing key of \
             this one. Stop it, or configure another address; if it should be this installation, check --data-dir and \
             secrets.key"
        )),
        Server::NoLotwire | Server::Silent => {
            Err(format!("another program uses {configured}. Stop it, or configure another address"))
        }
    }
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use super::*;

    /// A configuration with free ports.
    fn config(data_dir: PathBuf) -> Config {
        let mut config = Config { data_dir, ..Config::default() };
        config.platform.listen.set_port(0);
        config.provider.listen.set_port(0);
        config
    }

    /// The failed checks: name and message.
    async fn wrong(config: &Config) -> Vec<(&'static str, String)> {
        let findings = check(config).await.into_iter().filter(|(name, _)| *name != "open files");
        findings.filter_map(|(name, finding)| finding.err().map(|message| (name, message))).collect()
    }

    #[tokio::test]
    async fn a_missing_installation_is_reported_and_not_created() {
        let dir = tempfile::tempdir().unwrap();
        for place in [dir.path().to_owned(), dir.path().join("mistyped")] {
            let failed = wrong(&config(place)).await;
            assert!(failed.len() == 1 && failed[0].0 == "data directory", "{failed:?}");
            assert!(failed[0].1.contains("Is --data-dir the server's?"), "{failed:?}");
        }
        assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 0);
    }

    #[tokio::test]
    async fn a_missing_database_or_key_is_reported_and_not_created() {
        let dir = tempfile::tempdir().unwrap();
        let mut config = config(dir.path().to_owned());
        open_platform(&config, &NodeServices::new(&config).unwrap()).await.unwrap();
        let failed = wrong(&config).await;
        assert!(failed.len() == 1 && failed[0].0 == "provider database", "{failed:?}");
        config.roles = vec![Role::Platform];
        let failed = wrong(&config).await;
        assert!(failed.is_empty(), "{failed:?}");
        assert!(!dir.path().join("provider.db").exists());
        std::fs::remove_file(dir.path().join("secret.key")).unwrap();
        let failed = wrong(&config).await;
        assert!(failed.len() == 1 && failed[0].1.contains("no file secret.key"), "{failed:?}");
        assert!(!dir.path().join("secret.key").exists());
    }

    #[tokio::test]
    async fn a_damaged_database_is_reported_with_what_to_do() {
        let dir = tempfile::tempdir().unwrap();
        let mut config = config(dir.path().to_owned());
        config.roles = vec![Role::Platform];
        drop(open_platform(&config, &NodeServices::new(&config).unwrap()).await.unwrap());
        let path = dir.path().join("platform.db");
        let mut bytes = std::fs::read(&path).unwrap();
        let middle = bytes.len() / 2 / 4_096 * 4_096;
        bytes[middle..middle + 4_096].fill(0xa5);
        std::fs::write(&path, bytes).unwrap();
        let failed = wrong(&config).await;
        let database = failed.iter().find(|(name, _)| *name == "platform database");
        let (_, message) = database.unwrap_or_else(|| panic!("{failed:?}"));
        assert!(message.contains("platform.db") && message.contains("restore it from a backup"), "{message}");
    }
}
