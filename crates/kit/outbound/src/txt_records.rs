//! Text records of DNS, with which the owner of a domain proves that it is theirs.
//!
//! Guarantees: a look-up ends within [`LOOKUP_MAX`]; it returns at most [`VALUES_MAX`] values of at most [`VALUE_BYTES_MAX`] bytes;
//! and "there is no record" is an answer of a name server, never its silence.

use std::fmt::Debug;
use std::future::Future;
use std::net::SocketAddr;
use std::pin::Pin;
use std::time::Duration;

use hickory_resolver::config::{ConnectionConfig, NameServerConfig, ResolverConfig};
use hickory_resolver::net::runtime::TokioRuntimeProvider;
use hickory_resolver::net::{DnsError, NetError};
use hickory_resolver::proto::op::ResponseCode;
use hickory_resolver::proto::rr::{RData, Record, RecordType};
use hickory_resolver::{Resolver, TokioResolver};
use tokio::sync::Semaphore;

/// Time for one look-up, whatever the name servers do.
const LOOKUP_MAX: Duration = Duration::from_secs(5);
/// Values that a look-up returns; further ones are ignored.
const VALUES_MAX: usize = 50;
/// Bytes of a value; longer ones are ignored.
const VALUE_BYTES_MAX: usize = 1_024;
/// Look-ups at the same time; others wait within their time.
const LOOKUPS_MAX: usize = 16;
/// Time for the answer of one name server, and how often each is asked.
const ANSWER_MAX: Duration = Duration::from_secs(2);
const ATTEMPTS: usize = 2;

/// Why a look-up has no answer.
#[derive(Debug, Clone, thiserror::Error)]
pub enum TxtError {
    /// No name server answered in time.
    #[error("no name server answered within 5 seconds")]
    TimedOut,
    /// The name servers of this machine can't be read.
    #[error("the name servers of this machine can't be read: {0}")]
    NoServers(String),
    /// The name servers answered with an error.
    #[error("the name servers answered with an error: {0}")]
    Failed(String),
}

/// The future of [`TxtRecords::look_up`]; boxed, because the trait is used as `dyn TxtRecords`.
pub type TxtFuture<'a> = Pin<Box<dyn Future<Output = Result<Vec<String>, TxtError>> + Send + 'a>>;

/// Looks text records up.
pub trait TxtRecords: Debug + Send + Sync + 'static {
    /// The values of the text records of a name; empty when there are none. Bytes that are no UTF-8 are replaced.
    fn look_up<'a>(&'a self, name: &'a str) -> TxtFuture<'a>;
}

/// Asks name servers: those of the operating system, or given ones.
#[derive(Debug)]
pub struct NameServers {
    addresses: Vec<SocketAddr>,
    turns: Semaphore,
}

impl Default for NameServers {
    fn default() -> Self {
        Self::new(Vec::new())
    }
}

impl NameServers {
    /// The name servers at these addresses; those of the operating system when there are none.
    pub fn new(addresses: Vec<SocketAddr>) -> Self {
        Self { addresses, turns: Semaphore::new(LOOKUPS_MAX) }
    }

    /// Without a cache: staff look a record up that they have just added. The configuration of the system is read each time, because
    /// it may have changed.
    fn resolver(&self) -> Result<TokioResolver, TxtError> {
        let mut builder = if self.addresses.is_empty() {
            Resolver::builder_tokio().map_err(|error| TxtError::NoServers(error.to_string()))?
        } else {
            let servers = self.addresses.iter().map(|address| {
                // Long answers are asked for again over TCP.
                let mut connections = vec![ConnectionConfig::udp(), ConnectionConfig::tcp()];
                connections.iter_mut().for_each(|connection| connection.port = address.port());
                NameServerConfig::new(address.ip(), true, connections)
            });
            let config = ResolverConfig::from_name_servers(servers.collect());
            Resolver::builder_with_config(config, TokioRuntimeProvider::default())
        };
        let options = builder.options_mut();
        (options.cache_size, options.timeout, options.attempts) = (0, ANSWER_MAX, ATTEMPTS);
        builder.build().map_err(|error| TxtError::NoServers(error.to_string()))
    }

    async fn ask(&self, name: &str) -> Result<Vec<String>, TxtError> {
        let _turn = self.turns.acquire().await.map_err(|error| TxtError::Failed(error.to_string()))?;
        // With a dot at its end, a name is not searched in the domain of this machine.
        match self.resolver()?.lookup(format!("{name}."), RecordType::TXT).await {
            Ok(found) => Ok(found.answers().iter().filter_map(value).take(VALUES_MAX).collect()),
            Err(error) if is_no_record(&error) => Ok(Vec::new()),
            Err(error) => Err(TxtError::Failed(error.to_string())),
        }
    }
}

impl TxtRecords for NameServers {
    fn look_up<'a>(&'a self, name: &'a str) -> TxtFuture<'a> {
        Box::pin(
            async move { tokio::time::timeout(LOOKUP_MAX, self.ask(name)).await.unwrap_or(Err(TxtError::TimedOut)) },
        )
    }
}

/// The parts of a text record as one text (RFC 7208, section 3.3, has the same rule); none for one that is too long.
fn value(record: &Record) -> Option<String> {
    let RData::TXT(text) = &record.data else { return None };
    let bytes = text.txt_data.concat();
    (bytes.len() <= VALUE_BYTES_MAX).then(|| String::from_utf8_lossy(&bytes).into_owned())
}

/// A name server said that there is no such name, or no text record of the name.
fn is_no_record(error: &NetError) -> bool {
    let NetError::Dns(DnsError::NoRecordsFound(none)) = error else { return false };
    matches!(none.response_code, ResponseCode::NXDomain | ResponseCode::NoError)
}
