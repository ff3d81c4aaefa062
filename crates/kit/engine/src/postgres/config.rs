//! Configuration of the PostgreSQL engine: URL, pool size, and the settings of its sessions.

use std::time::Duration;

use tokio_postgres::Config;
use tokio_postgres::config::TargetSessionAttrs;

use super::connector::Connector;
use super::{describe_error, url};
use crate::{EngineError, OlderTables};

/// Time to connect to one host.
pub(super) const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);
/// Time that a caller waits for a free connection.
pub(super) const WAIT_TIMEOUT: Duration = Duration::from_secs(30);

/// Which database to use, and how many connections to it.
#[derive(Clone)]
pub struct PostgresConfig {
    /// `postgres://user:password@host:port/database`, with the parameters of libpq: `sslmode`, `sslrootcert`,
    /// `sslcert`, `sslkey`, `channel_binding`, `target_session_attrs`, `connect_timeout` and more.
    pub url: String,
    /// Maximum number of connections in the pool, at least 1. One more connection listens to the other nodes.
    pub pool_size: usize,
    /// Time after which the server ends a statement. If it has not answered 5 s later, the connection is closed.
    pub statement_timeout: Duration,
    /// What to do with tables of an older version.
    pub older_tables: OlderTables,
}

impl Default for PostgresConfig {
    /// No URL, 16 connections, 60 s for a statement, and older tables are upgraded.
    fn default() -> Self {
        Self {
            url: String::new(),
            pool_size: 16,
            statement_timeout: Duration::from_secs(60),
            older_tables: OlderTables::Upgrade,
        }
    }
}

impl PostgresConfig {
    /// Checks the URL and the files that it names, without a connection.
    ///
    /// Errors: `Address`.
    pub fn check(&self) -> Result<(), EngineError> {
        self.connector("public").map(drop)
    }

    /// A connector with the settings of a session in `schema`.
    pub(super) fn connector(&self, schema: &str) -> Result<Connector, EngineError> {
        let (rest, parameters) = url::split_tls_parameters(&self.url).map_err(EngineError::Address)?;
        Connector::new(address(&rest, schema, self.statement_timeout)?, &parameters).map_err(EngineError::Address)
    }
}

fn address(url: &str, schema: &str, statement_timeout: Duration) -> Result<Config, EngineError> {
    let mut address: Config = url.parse().map_err(|error| EngineError::Address(describe_error(&error)))?;
    // The timeouts end a session that hangs and blocks others. PostgreSQL plans each execution anew: a generic plan
    // that was made while a queue was empty reads the whole table when the queue is full.
    let statement_timeout_ms = statement_timeout.as_millis();
    let session_settings = format!(
        "-c search_path={schema} -c synchronous_commit=on -c jit=off -c lock_timeout=20s \
         -c statement_timeout={statement_timeout_ms} \
         -c idle_in_transaction_session_timeout=60s -c plan_cache_mode=force_custom_plan \
         -c default_transaction_isolation=read\\ committed"
    );
    let options =
        address.get_options().map_or_else(|| session_settings.clone(), |given| format!("{given} {session_settings}"));
    address.options(options);
    if address.get_application_name().is_none() {
        address.application_name(format!("lotwire {schema}"));
    }
    if address.get_connect_timeout().is_none() {
        address.connect_timeout(CONNECT_TIMEOUT);
    }
    // Keepalives detect within 25 s that a server is gone without having closed its connections.
    address.keepalives_idle(Duration::from_secs(10)).keepalives_interval(Duration::from_secs(5)).keepalives_retries(3);
    address.tcp_user_timeout(Duration::from_secs(30));
    // If the URL names several hosts, connect to the host that accepts writes.
    if address.get_hosts().len().max(address.get_hostaddrs().len()) > 1
        && address.get_target_session_attrs() == TargetSessionAttrs::Any
    {
        address.target_session_attrs(TargetSessionAttrs::ReadWrite);
    }
    Ok(address)
}

impl std::fmt::Debug for PostgresConfig {
    /// Omits the URL, which may contain a password.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("PostgresConfig").field("pool_size", &self.pool_size).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(url: &str) -> Result<(), EngineError> {
        PostgresConfig { url: url.to_owned(), pool_size: 4, ..Default::default() }.check()
    }

    #[test]
    fn a_session_uses_its_schema_and_waits_for_the_disk() {
        let url = "postgres://clerk@localhost/lots?options=-c%20work_mem%3D8MB";
        let address = address(url, "platform", Duration::from_secs(7)).unwrap();
        let options = address.get_options().unwrap();
        assert!(options.starts_with("-c work_mem=8MB -c search_path=platform -c synchronous_commit=on"), "{options}");
        assert!(options.contains("-c statement_timeout=7000 "), "{options}");
    }

    #[test]
    fn with_several_hosts_the_one_that_accepts_writes_is_used() {
        let attrs = |url| address(url, "platform", Duration::from_secs(7)).unwrap().get_target_session_attrs();
        assert_eq!(attrs("postgres://a,b/lots"), TargetSessionAttrs::ReadWrite);
        assert_eq!(attrs("postgres://a/lots"), TargetSessionAttrs::Any);
    }

    #[test]
    fn tls_parameters_without_effect_are_rejected() {
        for (parameters, advice) in [
            ("sslmode=verify-full", "needs sslrootcert"),
            ("sslmode=verify-ca&sslrootcert=/nowhere/ca.pem", "can't read /nowhere/ca.pem"),
            ("sslrootcert=/nowhere/ca.pem", "use sslmode=verify-full"),
            ("sslmode=disable&sslrootcert=/nowhere/ca.pem", "sslmode=disable trusts any server"),
            ("sslmode=verify-ca&sslrootcert=system", "use sslmode=verify-full"),
            ("sslmode=require&sslcert=/nowhere/me.pem", "belong together"),
            ("sslmode=require&sslcert=/nowhere/me.pem&sslkey=/nowhere/key.pem", "sslcert: can't read"),
            ("sslmode=verify-everything", "verify-full"),
        ] {
            let error = check(&format!("postgres://clerk:hush@localhost/lots?{parameters}")).unwrap_err().to_string();
            assert!(error.contains(advice) && !error.contains("hush"), "{parameters}: {error}");
        }
        assert!(check("postgres://localhost/lots?sslmode=prefer").is_ok());
    }

    #[test]
    fn debug_output_does_not_show_the_password() {
        let config = PostgresConfig {
            url: "postgres://clerk:hush@localhost/lots".to_owned(),
            pool_size: 4,
            ..Default::default()
        };
        assert!(!format!("{config:?}").contains("hush"));
    }
}
