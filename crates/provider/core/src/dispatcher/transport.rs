//! The way out.

use std::pin::Pin;

use kit_outbound::{Client, Request, Response, TransportError};

/// What a request leads to.
pub type ResponseFuture<'a> = Pin<Box<dyn Future<Output = Result<Response, TransportError>> + Send + 'a>>;

/// Sends a request and gives the response. The dispatcher's only way to the world; a simulation puts its own here.
pub trait Transport: Send + Sync + 'static {
    /// Returns within the request's deadline, with no more of the body than was asked for. [`TransportError::Stale`] when the
    /// connection was one that is kept, and ended without a byte of an answer.
    fn send(&self, request: Request) -> ResponseFuture<'_>;

    /// The same, over a connection that carried nothing before.
    fn send_fresh(&self, request: Request) -> ResponseFuture<'_> {
        self.send(request)
    }
}

impl Transport for Client {
    fn send(&self, request: Request) -> ResponseFuture<'_> {
        Box::pin(Client::send(self, request))
    }

    fn send_fresh(&self, request: Request) -> ResponseFuture<'_> {
        Box::pin(Client::send_fresh(self, request))
    }
}
