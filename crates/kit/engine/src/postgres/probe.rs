//! A trial connection for the operator: `lotwire doctor` shows the server's version, TLS and connection limit.

use super::PostgresConfig;
use crate::EngineError;

/// Result of a trial connection.
#[derive(Debug, Clone)]
pub struct ServerInfo {
    /// The server's version, such as `15.4 (Debian 15.4-1)`.
    pub version: String,
    /// TLS version of the connection; none without TLS.
    pub tls: Option<String>,
    /// The effective `sslmode`.
    pub mode: &'static str,
    /// Connections that the server accepts from roles other than superusers.
    pub connections_max: i32,
}

impl PostgresConfig {
    /// Connects once and reads the settings. It does not write.
    ///
    /// Errors: `Address` when the URL can't be used, and `Postgres` when the server can't be reached.
    pub async fn probe(&self) -> Result<ServerInfo, EngineError> {
        let connector = self.connector("public")?;
        let (client, connection) = connector.connect().await?;
        let driver = tokio::spawn(connection);
        let query = "SELECT current_setting('server_version'), version, \
                       current_setting('max_connections')::int - current_setting('superuser_reserved_connections')::int \
                   FROM pg_stat_ssl WHERE pid = pg_backend_pid()";
        let row = client.query_one(query, &[]).await?;
        let info = ServerInfo {
            version: row.try_get(0)?,
            tls: row.try_get(1)?,
            mode: connector.mode(),
            connections_max: row.try_get(2)?,
        };
        drop(client);
        let _ = driver.await;
        Ok(info)
    }
}
