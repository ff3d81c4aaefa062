//! From a name to addresses.

use std::fmt::Debug;
use std::future::Future;
use std::io;
use std::net::{SocketAddr, ToSocketAddrs};
use std::pin::Pin;
use std::sync::Arc;

use tokio::sync::Semaphore;

/// Names resolved at the same time; each takes a thread until the system's resolver gives up.
const LOOKUPS_MAX: usize = 64;
/// Addresses of one name that are looked at.
pub(crate) const ADDRESSES_MAX: usize = 8;

/// Addresses on their way.
pub type ResolveFuture<'a> = Pin<Box<dyn Future<Output = io::Result<Vec<SocketAddr>>> + Send + 'a>>;

/// Finds the addresses of a name. What it says is judged by the policy before a connection is made, and is asked for once
/// for each connection: nothing is resolved a second time after it was judged.
pub trait Resolve: Debug + Send + Sync + 'static {
    /// The addresses of `name`, with this port.
    fn resolve<'a>(&'a self, name: &'a str, port: u16) -> ResolveFuture<'a>;
}

/// The operating system's resolver.
#[derive(Debug, Clone)]
pub struct SystemResolver(Arc<Semaphore>);

impl Default for SystemResolver {
    fn default() -> Self {
        Self(Arc::new(Semaphore::new(LOOKUPS_MAX)))
    }
}

impl Resolve for SystemResolver {
    fn resolve<'a>(&'a self, name: &'a str, port: u16) -> ResolveFuture<'a> {
        Box::pin(async move {
            let permit = Arc::clone(&self.0).acquire_owned().await.map_err(io::Error::other)?;
            let name = name.to_owned();
            let lookup = tokio::task::spawn_blocking(move || {
                // Held until the resolver is done, also when nobody waits for it any more.
                let _permit = permit;
                (name.as_str(), port).to_socket_addrs().map(|found| found.take(ADDRESSES_MAX).collect::<Vec<_>>())
            });
            lookup.await.map_err(io::Error::other)?
        })
    }
}
