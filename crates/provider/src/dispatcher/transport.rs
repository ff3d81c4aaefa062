//! The way out.

use async_trait::async_trait;
use outbound::{Client, Request, Response, TransportError};

/// Sends a request and gives the response. The dispatcher's only way to the world; a simulation puts its own here.
#[async_trait]
pub trait Transport: Send + Sync + 'static {
    /// Returns within the request's deadline, with no more of the body than was asked for. [`TransportError::Stale`] when the
    /// connection was one that is kept, and ended without a byte of an answer.
    async fn send(&self, request: Request) -> Result<Response, TransportError>;

    /// The same, over a connection that carried nothing before.
    async fn send_fresh(&self, request: Request) -> Result<Response, TransportError> {
        self.send(request).await
    }
}

#[async_trait]
impl Transport for Client {
    async fn send(&self, request: Request) -> Result<Response, TransportError> {
        Client::send(self, request).await
    }

    async fn send_fresh(&self, request: Request) -> Result<Response, TransportError> {
        Client::send_fresh(self, request).await
    }
}
