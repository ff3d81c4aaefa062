//! The way out.

use async_trait::async_trait;
use outbound::{Client, Request, Response, TransportError};

/// Sends a request and gives the response. The dispatcher's only way to the world; a simulation puts its own here.
#[async_trait]
pub trait Transport: Send + Sync + 'static {
    /// Returns within the request's deadline, with no more of the body than was asked for.
    async fn send(&self, request: Request) -> Result<Response, TransportError>;
}

#[async_trait]
impl Transport for Client {
    async fn send(&self, request: Request) -> Result<Response, TransportError> {
        Client::send(self, request).await
    }
}
