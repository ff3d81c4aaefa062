//! Connects to the server: the one way for the pool, the listener and the migrations.

use std::error::Error as _;
use std::pin::Pin;
use std::time::Duration;

use deadpool_postgres::Connect;
use tokio::task::JoinHandle;
use tokio_postgres::config::{Host, SslMode};
use tokio_postgres::error::SqlState;
use tokio_postgres::tls::MakeTlsConnect;
use tokio_postgres::{Client, Config, Connection, Error, Socket};
use tokio_postgres_rustls::MakeRustlsConnect;

use super::config::CONNECT_TIMEOUT;
use super::reason::text_of;
use super::tls;
use super::url::{Mode, TlsWishes};
use crate::EngineError;

/// Hosts of one address that are waited for, one after the other.
const HOSTS_WAITED_FOR_MAX: usize = 4;

/// A connection, which has to be driven.
pub(super) type Line = Connection<Socket, <MakeRustlsConnect as MakeTlsConnect<Socket>>::Stream>;

/// Where the server is, and how to speak to it.
#[derive(Clone)]
pub(super) struct Dialer {
    address: Config,
    tls: MakeRustlsConnect,
    mode: Mode,
    /// Where `prefer` finds TLS, and it does not work: as libpq does, without.
    plain: Option<Config>,
}

impl Dialer {
    /// Errors say what is wrong with the parameters, or with the files that they name.
    pub(super) fn new(mut address: Config, wishes: &TlsWishes) -> Result<Self, String> {
        let (mode, config) = tls::configure(wishes)?;
        let is_local = |host: &Host| matches!(host, Host::Unix(_));
        // TLS is not spoken on a Unix socket, whatever is asked for: libpq ignores `sslmode` there, too.
        let all_local = !address.get_hosts().is_empty() && address.get_hosts().iter().all(is_local);
        if !all_local && address.get_hosts().iter().any(is_local) && mode > Mode::Prefer {
            return Err("with both hosts and Unix sockets, sslmode can be disable or prefer".to_owned());
        }
        name_by_address(&mut address);
        address.ssl_mode(match mode {
            _ if all_local => SslMode::Disable,
            Mode::Disable => SslMode::Disable,
            Mode::Prefer => SslMode::Prefer,
            Mode::Require | Mode::VerifyCa | Mode::VerifyFull => SslMode::Require,
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

    /// How long it may take: each host has its time.
    pub(super) fn patience(&self) -> Duration {
        let hosts = self.address.get_hosts().len().clamp(1, HOSTS_WAITED_FOR_MAX);
        CONNECT_TIMEOUT * u32::try_from(hosts).unwrap_or(1)
    }

    /// Connects, in no more time than that.
    pub(super) async fn connect(&self) -> Result<(Client, Line), EngineError> {
        match tokio::time::timeout(self.patience(), self.dial()).await {
            Ok(connected) => Ok(connected?),
            Err(_) => Err(EngineError::Postgres(format!(
                "the server did not answer within {} s; is it up, and is there a firewall on the way?",
                self.patience().as_secs()
            ))),
        }
    }

    async fn dial(&self) -> Result<(Client, Line), Error> {
        let error = match self.address.connect(self.tls.clone()).await {
            Ok(connected) => return Ok(connected),
            Err(error) => error,
        };
        let Some(plain) = self.plain.as_ref().filter(|_| is_about_tls(&error)) else { return Err(error) };
        plain.connect(self.tls.clone()).await.map_err(|_| error)
    }
}

/// A host that is only known by its number has that as its name, so that a certificate can be for it.
fn name_by_address(address: &mut Config) {
    if address.get_hosts().is_empty() {
        for number in address.get_hostaddrs().to_vec() {
            address.host(number.to_string());
        }
    }
}

/// The handshake failed, or the server does not take this user over TLS.
fn is_about_tls(error: &Error) -> bool {
    error.code() == Some(&SqlState::INVALID_AUTHORIZATION_SPECIFICATION) || handshake_error(error).is_some()
}

/// Why a handshake failed.
pub(super) fn handshake_error(error: &Error) -> Option<&rustls::Error> {
    error.source()?.downcast_ref::<std::io::Error>()?.get_ref()?.downcast_ref()
}

impl Connect for Dialer {
    fn connect(
        &self,
        _: &Config,
    ) -> Pin<Box<dyn Future<Output = Result<(Client, JoinHandle<()>), Error>> + Send + '_>> {
        Box::pin(async move {
            let (client, line) = self.dial().await?;
            let driver = tokio::spawn(async move {
                // Whoever uses the connection is told, and says it; the listener says it for those that nobody uses.
                if let Err(error) = line.await {
                    tracing::debug!(error = text_of(&error), "a connection broke");
                }
            });
            Ok((client, driver))
        })
    }
}
