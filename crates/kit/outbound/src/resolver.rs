//! Name resolution.

use std::fmt::Debug;
use std::future::Future;
use std::io;
use std::net::{SocketAddr, ToSocketAddrs};
use std::pin::Pin;
use std::sync::Arc;

use tokio::sync::Semaphore;

/// Concurrent lookups; each occupies a thread until the system's resolver gives up.
const LOOKUPS_MAX: usize = 64;
/// Addresses of one name that are tried.
pub(crate) const ADDRESSES_MAX: usize = 8;

/// The future of [`Resolve::resolve`]; boxed, because the trait is used as `dyn Resolve`.
pub type ResolveFuture<'a> = Pin<Box<dyn Future<Output = io::Result<Vec<SocketAddr>>> + Send + 'a>>;

/// Resolves names. The connector resolves a name once for each connection and checks the result against the address
/// policy; it never resolves the name again after the check.
pub trait Resolve: Debug + Send + Sync + 'static {
    /// The addresses of `name`, with `port`.
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
                // Held until the lookup ends, even if the caller has gone.
                let _permit = permit;
                (name.as_str(), port).to_socket_addrs().map(|found| found.take(ADDRESSES_MAX).collect::<Vec<_>>())
            });
            lookup.await.map_err(io::Error::other)?
        })
    }
}
