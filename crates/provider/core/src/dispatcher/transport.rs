//! The way out.

use std::pin::Pin;

use kit_outbound::{Client, Probe, Request, Response, TransportError};

/// What a request leads to.
pub type ResponseFuture<'a> = Pin<Box<dyn Future<Output = Result<Response, TransportError>> + Send + 'a>>;

/// What a look at an address finds.
pub type ProbeFuture<'a> = Pin<Box<dyn Future<Output = Probe> + Send + 'a>>;

/// Sends a request and gives the response. The dispatcher's only way to the world; a simulation puts its own here.
pub trait Transport: Send + Sync + 'static {
    /// Returns within the request's deadline, with no more of the body than was asked for. [`TransportError::Stale`] when the
    /// connection was one that is kept, and ended without a byte of an answer.
    fn send(&self, request: Request) -> ResponseFuture<'_>;

    /// The same, over a connection that carried nothing before.
    fn send_fresh(&self, request: Request) -> ResponseFuture<'_> {
        self.send(request)
    }

    /// The same, with what the name and the certificate of the address are, as far as the transport knows.
    fn probe(&self, request: Request) -> ProbeFuture<'_> {
        Box::pin(async move { Probe::of(self.send_fresh(request).await) })
    }
}

impl Transport for Client {
    fn send(&self, request: Request) -> ResponseFuture<'_> {
        Box::pin(Client::send(self, request))
    }

    fn send_fresh(&self, request: Request) -> ResponseFuture<'_> {
        Box::pin(Client::send_fresh(self, request))
    }

    fn probe(&self, request: Request) -> ProbeFuture<'_> {
        Box::pin(Client::probe(self, request))
    }
}
