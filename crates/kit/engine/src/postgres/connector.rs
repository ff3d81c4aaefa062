//! Connects to the server. The pool, the listener and the migrations use the same connector.

use std::error::Error as _;
use std::future::poll_fn;
use std::pin::Pin;
use std::time::Duration;

use deadpool_postgres::Connect;
use tokio::task::JoinHandle;
use tokio_postgres::config::{Host, SslMode};
use tokio_postgres::error::SqlState;
use tokio_postgres::tls::MakeTlsConnect;
use tokio_postgres::{AsyncMessage, Client, Config, Connection, Error, Socket};
use tokio_postgres_rustls::MakeRustlsConnect;

use super::config::CONNECT_TIMEOUT;
use super::error_text::describe_error;
use super::tls;
use super::url::{TlsMode, TlsParameters};
use crate::EngineError;

/// Maximum number of hosts of a URL that count for the connection timeout; each adds [`CONNECT_TIMEOUT`].
const HOSTS_WAITED_FOR_MAX: usize = 4;

/// The routine of the server in which a commit waits for a standby. Unlike the text of its warning, the name has no translations.
const STANDBY_WAIT: &str = "SyncRepWaitForLSN";

/// The connection's own future, which a task has to poll.
pub(super) type PostgresConnection = Connection<Socket, <MakeRustlsConnect as MakeTlsConnect<Socket>>::Stream>;

/// Address of the server and TLS settings.
#[derive(Clone)]
pub(super) struct Connector {
    address: Config,
    tls: MakeRustlsConnect,
    mode: TlsMode,
    /// With `sslmode=prefer`, the address without TLS. As in libpq, it is used when the TLS handshake fails.
    plain: Option<Config>,
}

impl Connector {
    /// Errors name the parameter or the file that is wrong.
    pub(super) fn new(mut address: Config, parameters: &TlsParameters) -> Result<Self, String> {
        let (mode, config) = tls::configure(parameters)?;
        let is_local = |host: &Host| matches!(host, Host::Unix(_));
        // Unix sockets have no TLS. libpq also ignores `sslmode` for them.
        let all_local = !address.get_hosts().is_empty() && address.get_hosts().iter().all(is_local);
        if !all_local && address.get_hosts().iter().any(is_local) && mode > TlsMode::Prefer {
            return Err("with both hosts and Unix sockets in the URL, sslmode must be disable or prefer".to_owned());
        }
        use_address_as_host_name(&mut address);
        address.ssl_mode(match mode {
            _ if all_local => SslMode::Disable,
            TlsMode::Disable => SslMode::Disable,
            TlsMode::Prefer => SslMode::Prefer,
            TlsMode::Require | TlsMode::VerifyCa | TlsMode::VerifyFull => SslMode::Require,
        });
        let plain = (address.get_ssl_mode() == SslMode::Prefer).then(|| {
            let mut plain = address.clone();
            plain.ssl_mode(SslMode::Disable);
            plain
        });
        Ok(Self { address, tls: MakeRustlsConnect::new(config), mode, plain })
    }

    /// The `sslmode` in force.
    pub(super) fn mode(&self) -> &'static str {
        self.mode.as_str()
    }

    /// Time to connect: each host has its own share.
    pub(super) fn connect_timeout(&self) -> Duration {
        let hosts = self.address.get_hosts().len().clamp(1, HOSTS_WAITED_FOR_MAX);
        CONNECT_TIMEOUT * u32::try_from(hosts).unwrap_or(1)
    }

    /// Connects within [`Connector::connect_timeout`].
    pub(super) async fn connect(&self) -> Result<(Client, PostgresConnection), EngineError> {
        match tokio::time::timeout(self.connect_timeout(), self.connect_any()).await {
            Ok(connected) => Ok(connected?),
            Err(_) => Err(EngineError::Postgres(format!(
                "the server did not answer within {} s; is it up, and does a firewall block it?",
                self.connect_timeout().as_secs()
            ))),
        }
    }

    async fn connect_any(&self) -> Result<(Client, PostgresConnection), Error> {
        let error = match self.address.connect(self.tls.clone()).await {
            Ok(connected) => return Ok(connected),
            Err(error) => error,
        };
        let Some(plain) = self.plain.as_ref().filter(|_| is_about_tls(&error)) else { return Err(error) };
        plain.connect(self.tls.clone()).await.map_err(|_| error)
    }
}

/// Uses the IP address of a host without a name as its name, so that a certificate can be checked against it.
fn use_address_as_host_name(address: &mut Config) {
    if address.get_hosts().is_empty() {
        for number in address.get_hostaddrs().to_vec() {
            address.host(number.to_string());
        }
    }
}

/// True when the handshake failed, or the server rejects this user over TLS.
fn is_about_tls(error: &Error) -> bool {
    error.code() == Some(&SqlState::INVALID_AUTHORIZATION_SPECIFICATION) || handshake_error(error).is_some()
}

/// The TLS error, if the handshake failed.
pub(super) fn handshake_error(error: &Error) -> Option<&rustls::Error> {
    error.source()?.downcast_ref::<std::io::Error>()?.get_ref()?.downcast_ref()
}

impl Connect for Connector {
    fn connect(
        &self,
        _: &Config,
    ) -> Pin<Box<dyn Future<Output = Result<(Client, JoinHandle<()>), Error>> + Send + '_>> {
        Box::pin(async move {
            let (client, connection) = self.connect_any().await?;
            Ok((client, tokio::spawn(drive(connection))))
        })
    }
}

/// Drives a connection until it ends.
///
/// When a commit's wait for a synchronous standby is cancelled, the server reports the commit as successful, with a warning before
/// it: a failover may lose the change. The connection is then closed, so that the commit fails, and its caller can't know whether it
/// took effect.
async fn drive(mut connection: PostgresConnection) {
    while let Some(message) = poll_fn(|context| connection.poll_message(context)).await {
        match message {
            Ok(AsyncMessage::Notice(notice)) if notice.routine() == Some(STANDBY_WAIT) => {
                tracing::warn!(
                    warning = notice.message(),
                    "no standby has confirmed a commit; its connection is closed"
                );
                return;
            }
            Ok(_) => {}
            // The caller that uses the connection logs the error. The listener logs an outage of an idle server.
            Err(error) => {
                tracing::debug!(error = describe_error(&error), "a connection to PostgreSQL broke");
                return;
            }
        }
    }
}
