//! Where a PostgreSQL database is, and how its sessions behave.

use std::time::Duration;

use tokio_postgres::Config;
use tokio_postgres::config::TargetSessionAttrs;

use super::connector::Connector;
use super::{describe_error, url};
use crate::EngineError;

/// How long it may take to connect.
pub(super) const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);
/// How long a caller waits for a free connection.
pub(super) const WAIT_TIMEOUT: Duration = Duration::from_secs(30);

/// Which database to use, and how many connections to it.
#[derive(Clone)]
pub struct PostgresConfig {
    /// `postgres://user:password@host:port/database`, with the parameters of libpq: `sslmode`, `sslrootcert`, `sslcert`, `sslkey`,
    /// `channel_binding`, `target_session_attrs`, `connect_timeout` and more.
    pub url: String,
    /// Connections at most, at least 1; one more listens to the other nodes.
    pub pool_size: usize,
}

impl PostgresConfig {
    /// Looks whether the URL and the files that it names can be used, without a connection.
    ///
    /// Errors: `Address`.
    pub fn check(&self) -> Result<(), EngineError> {
        self.connector("public").map(drop)
    }

    /// The way to the server with everything that a session in `schema` needs.
    pub(super) fn connector(&self, schema: &str) -> Result<Connector, EngineError> {
        let (rest, parameters) = url::split_tls_parameters(&self.url).map_err(EngineError::Address)?;
        Connector::new(address(&rest, schema)?, &parameters).map_err(EngineError::Address)
    }
}

fn address(url: &str, schema: &str) -> Result<Config, EngineError> {
    let mut address: Config = url.parse().map_err(|error| EngineError::Address(describe_error(&error)))?;
    // The limits keep a session that hangs from holding others up for ever. Statements are made for their indexes: without
    // this, one that is planned while a queue is empty goes on reading the whole table, or sorting it, when it is full.
    let ours = format!(
        "-c search_path={schema} -c synchronous_commit=on -c jit=off -c lock_timeout=20s -c statement_timeout=60s \
         -c idle_in_transaction_session_timeout=60s -c enable_seqscan=off -c enable_bitmapscan=off \
         -c default_transaction_isolation=read\\ committed"
    );
    let options = address.get_options().map_or_else(|| ours.clone(), |theirs| format!("{theirs} {ours}"));
    address.options(options);
    if address.get_application_name().is_none() {
        address.application_name(format!("lotwire {schema}"));
    }
    if address.get_connect_timeout().is_none() {
        address.connect_timeout(CONNECT_TIMEOUT);
    }
    // A server that has gone without a word is noticed within half a minute.
    address.keepalives_idle(Duration::from_secs(10)).keepalives_interval(Duration::from_secs(5)).keepalives_retries(3);
    address.tcp_user_timeout(Duration::from_secs(30));
    // Of several, the one that takes writes is meant.
    if address.get_hosts().len().max(address.get_hostaddrs().len()) > 1
        && address.get_target_session_attrs() == TargetSessionAttrs::Any
    {
        address.target_session_attrs(TargetSessionAttrs::ReadWrite);
    }
    Ok(address)
}

impl std::fmt::Debug for PostgresConfig {
    /// Without the URL, which may hold a password.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("PostgresConfig").field("pool_size", &self.pool_size).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(url: &str) -> Result<(), EngineError> {
        PostgresConfig { url: url.to_owned(), pool_size: 4 }.check()
    }

    #[test]
    fn sessions_look_into_their_schema_and_wait_for_the_disk() {
        let address = address("postgres://clerk@localhost/lots?options=-c%20work_mem%3D8MB", "platform").unwrap();
        let options = address.get_options().unwrap();
        assert!(options.starts_with("-c work_mem=8MB -c search_path=platform -c synchronous_commit=on"), "{options}");
    }

    #[test]
    fn of_several_hosts_the_one_that_writes_is_looked_for() {
        let attrs = |url| address(url, "platform").unwrap().get_target_session_attrs();
        assert_eq!(attrs("postgres://a,b/lots"), TargetSessionAttrs::ReadWrite);
        assert_eq!(attrs("postgres://a/lots"), TargetSessionAttrs::Any);
    }

    #[test]
    fn what_is_asked_of_tls_and_could_not_be_kept_is_refused() {
        for (asked, told) in [
            ("sslmode=verify-full", "needs sslrootcert"),
            ("sslmode=verify-ca&sslrootcert=/nowhere/ca.pem", "can't read /nowhere/ca.pem"),
            ("sslrootcert=/nowhere/ca.pem", "use sslmode=verify-full"),
            ("sslmode=disable&sslrootcert=/nowhere/ca.pem", "sslmode=disable trusts any server"),
            ("sslmode=verify-ca&sslrootcert=system", "use sslmode=verify-full"),
            ("sslmode=require&sslcert=/nowhere/me.pem", "belong together"),
            ("sslmode=require&sslcert=/nowhere/me.pem&sslkey=/nowhere/key.pem", "sslcert: can't read"),
            ("sslmode=verify-everything", "verify-full"),
        ] {
            let error = check(&format!("postgres://clerk:hush@localhost/lots?{asked}")).unwrap_err().to_string();
            assert!(error.contains(told) && !error.contains("hush"), "{asked}: {error}");
        }
        assert!(check("postgres://localhost/lots?sslmode=prefer").is_ok());
    }

    #[test]
    fn a_password_is_not_shown() {
        let config = PostgresConfig { url: "postgres://clerk:hush@localhost/lots".to_owned(), pool_size: 4 };
        assert!(!format!("{config:?}").contains("hush"));
    }
}
