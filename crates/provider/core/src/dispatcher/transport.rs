//! The transport of deliveries.

use std::pin::Pin;
use std::time::Duration;

use kit_outbound::{Client, Exchange, Probe, Request};

/// The response to a request, or the transport error, with the times of the phases.
pub type ExchangeFuture<'a> = Pin<Box<dyn Future<Output = Exchange> + Send + 'a>>;

/// The result of a probe of an address.
pub type ProbeFuture<'a> = Pin<Box<dyn Future<Output = Probe> + Send + 'a>>;

/// Sends a request and returns the response. The dispatcher uses the network only through this trait; a simulation
/// implements it.
pub trait Transport: Send + Sync + 'static {
    /// Returns within the request's deadline, with at most `response_bytes_max` of the body. [`kit_outbound::TransportError::Stale`]
    /// when a kept-alive connection was closed before the first byte of a response.
    fn send(&self, request: Request) -> ExchangeFuture<'_>;

    /// Sends a request over a new connection. `spent` of its deadline has passed already.
    fn send_fresh(&self, request: Request, _spent: Duration) -> ExchangeFuture<'_> {
        self.send(request)
    }

    /// Sends a request over a new connection, and returns the DNS result and the certificate, as far as the transport
    /// knows them.
    fn probe(&self, request: Request) -> ProbeFuture<'_> {
        Box::pin(async move { Probe::of(self.send_fresh(request, Duration::ZERO).await.outcome) })
    }
}

impl Transport for Client {
    fn send(&self, request: Request) -> ExchangeFuture<'_> {
        Box::pin(Client::send_timed(self, request))
    }

    fn send_fresh(&self, request: Request, spent: Duration) -> ExchangeFuture<'_> {
        Box::pin(Client::send_fresh(self, request, spent))
    }

    fn probe(&self, request: Request) -> ProbeFuture<'_> {
        Box::pin(Client::probe(self, request))
    }
}
