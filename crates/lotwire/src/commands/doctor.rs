//! `lotwire doctor`: what is wrong with this installation, if anything, and what to do about it.

mod files;
mod postgres;
mod queues;

use std::net::SocketAddr;
use std::process::ExitCode;

use consumer::Api;
use outbound::{AddressPolicy, Client, ClientConfig};
use tokio::net::TcpListener;

use super::{print, secrets};
use crate::config::{Config, Role};
use crate::fault::{Fault, While as _};
use crate::node::{Ground, open_platform, open_provider};

/// Each delivery and each listener of live updates takes one.
const OPEN_FILES_MIN: u64 = 4_096;

/// What a check found: fine and how, or what to do.
type Finding = Result<String, String>;

pub(super) async fn run(config: &Config) -> Result<ExitCode, Fault> {
    let mut findings: Vec<(&str, Finding)> = vec![("configuration", Ok("can be used".to_owned()))];
    findings.push(("open files", open_files()));
    let exposed = files::exposed(&config.data_dir);
    match Ground::new(config) {
        Err(fault) => findings.push(("data directory", Err(fault.to_string()))),
        Ok(ground) => {
            findings.push(("data directory", Ok(format!("{} and its key are usable", config.data_dir.display()))));
            findings.extend(postgres::look(config).await.into_iter().map(|finding| ("PostgreSQL", finding)));
            findings.push(("platform database", platform_database(config, &ground).await));
            findings.push(("platform secrets", platform_secrets(config, &ground).await));
            let queues = queues::look(config, &ground).await;
            findings.extend(queues.into_iter().map(|finding| ("customers' queues", finding)));
            findings.push(("provider database", provider_database(config, &ground).await));
            findings.push(("provider secrets", provider_secrets(config, &ground).await));
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

fn open_files() -> Finding {
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

async fn platform_database(config: &Config, ground: &Ground) -> Finding {
    let platform = open_platform(config, ground).await.map_err(|fault| fault.to_string())?;
    platform.ping().await.map_err(|error| error.in_full())?;
    Ok("can be read and written".to_owned())
}

async fn provider_database(config: &Config, ground: &Ground) -> Finding {
    let provider = open_provider(config, ground).await.map_err(|fault| fault.to_string())?;
    provider.ping().await.map_err(|error| error.to_string())?;
    Ok("can be read and written".to_owned())
}

async fn platform_secrets(config: &Config, ground: &Ground) -> Finding {
    let platform = open_platform(config, ground).await.map_err(|fault| fault.to_string())?;
    secrets::of_platform(&platform, ground).await
}

async fn provider_secrets(config: &Config, ground: &Ground) -> Finding {
    let provider = open_provider(config, ground).await.map_err(|fault| fault.to_string())?;
    secrets::of_provider(&provider, ground).await
}

/// A port is fine when it is free, or when what answers there is Lotwire.
async fn port(addr: SocketAddr) -> Finding {
    if TcpListener::bind(addr).await.is_ok() {
        return Ok(format!("{addr} is free"));
    }
    if answers(addr).await.is_ok() {
        return Ok(format!("a server answers at {addr}"));
    }
    Err(format!("{addr} is taken by something else; stop it, or choose another address"))
}

async fn answers(addr: SocketAddr) -> Result<(), Fault> {
    let client = Client::new(ClientConfig { policy: AddressPolicy::any(), ..ClientConfig::default() });
    let api = Api::new(client, format!("http://{addr}"), "none").while_("asking")?;
    api.get("/api/v1/health").await?;
    Ok(())
}
