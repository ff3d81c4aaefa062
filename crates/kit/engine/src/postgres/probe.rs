//! How the server is reached, for an operator who asks.

use super::PostgresConfig;
use crate::EngineError;

/// What a look at the server found.
#[derive(Debug, Clone)]
pub struct ServerInfo {
    /// The server's version, as it says it: `15.4 (Debian 15.4-1)`.
    pub version: String,
    /// Version of TLS that was spoken; none where the connection is plain.
    pub tls: Option<String>,
    /// What was compared of the server: `sslmode` in force.
    pub mode: &'static str,
    /// Connections that the server takes of roles that are no superusers.
    pub connections_max: i32,
}

impl PostgresConfig {
    /// Connects once and looks; makes nothing.
    ///
    /// Errors: `Address` when the URL can't be used, and `Postgres` when the server can't be reached.
    pub async fn probe(&self) -> Result<ServerInfo, EngineError> {
        let connector = self.connector("public")?;
        let (client, line) = connector.connect().await?;
        let driver = tokio::spawn(line);
        let ask = "SELECT current_setting('server_version'), version, \
                       current_setting('max_connections')::int - current_setting('superuser_reserved_connections')::int \
                   FROM pg_stat_ssl WHERE pid = pg_backend_pid()";
        let row = client.query_one(ask, &[]).await?;
        let reached = ServerInfo {
            version: row.try_get(0)?,
            tls: row.try_get(1)?,
            mode: connector.mode(),
            connections_max: row.try_get(2)?,
        };
        drop(client);
        let _ = driver.await;
        Ok(reached)
    }
}
