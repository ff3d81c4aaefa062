//! Where a PostgreSQL database is, and how its sessions behave.

use std::time::Duration;

use tokio_postgres::Config;
use tokio_postgres::config::SslMode;

use super::text_of;
use crate::engine::EngineError;

/// How long it may take to connect.
pub(super) const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);
/// How long a caller waits for a free connection.
pub(super) const WAIT_TIMEOUT: Duration = Duration::from_secs(30);

/// Which database to use, and how many connections to it.
#[derive(Clone)]
pub struct PostgresConfig {
    /// `postgres://user:password@host:port/database`. Unencrypted: `sslmode=require` is refused.
    pub url: String,
    /// Connections at most, at least 1; one more listens to the other nodes.
    pub pool_size: usize,
}

impl PostgresConfig {
    /// The address with everything that a session in `schema` needs.
    pub(super) fn address(&self, schema: &str) -> Result<Config, EngineError> {
        let mut address: Config = self.url.parse().map_err(|error| {
            let error = text_of(&error);
            let hint = if error.contains("sslmode") { "; only `disable` and `prefer` can be used" } else { "" };
            EngineError::Address(format!("{error}{hint}"))
        })?;
        if address.get_ssl_mode() == SslMode::Require {
            let why = "`sslmode=require` asks for TLS, which is not spoken here; use `sslmode=disable` in a network that \
                       nobody else reads, or a local proxy that encrypts";
            return Err(EngineError::Address(why.to_owned()));
        }
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
        address
            .keepalives_idle(Duration::from_secs(10))
            .keepalives_interval(Duration::from_secs(5))
            .keepalives_retries(3);
        address.tcp_user_timeout(Duration::from_secs(30));
        Ok(address)
    }
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

    fn address(url: &str) -> Result<Config, EngineError> {
        PostgresConfig { url: url.to_owned(), pool_size: 4 }.address("platform")
    }

    #[test]
    fn sessions_look_into_their_schema_and_wait_for_the_disk() {
        let address = address("postgres://clerk@localhost/lots?options=-c%20work_mem%3D8MB").unwrap();
        let options = address.get_options().unwrap();
        assert!(options.starts_with("-c work_mem=8MB -c search_path=platform -c synchronous_commit=on"), "{options}");
    }

    #[test]
    fn an_address_that_asks_for_encryption_is_refused_with_the_reason() {
        for mode in ["require", "verify-full"] {
            let error =
                address(&format!("postgres://clerk:hush@localhost/lots?sslmode={mode}")).unwrap_err().to_string();
            assert!(error.contains("sslmode"), "{error}");
            assert!(!error.contains("hush"), "{error}");
        }
        assert!(address("postgres://localhost/lots?sslmode=prefer").is_ok());
    }

    #[test]
    fn a_password_is_not_shown() {
        let config = PostgresConfig { url: "postgres://clerk:hush@localhost/lots".to_owned(), pool_size: 4 };
        assert!(!format!("{config:?}").contains("hush"));
    }
}
