//! Requests that leave the system, to addresses that customers chose.
//!
//! The provider's dispatcher delivers with it, and the platform's publisher calls a customer's provider with it. It knows
//! neither.
//!
//! Guarantees (`provider.md`, Delivery):
//! - no connection is made to an address that the [`AddressPolicy`] refuses. It is asked about the address itself, after
//!   the name was resolved, so neither a name that changes its mind nor an odd way of writing an address gets past it,
//!   with a proxy or without;
//! - one deadline holds for everything: name, connection, TLS, headers and body;
//! - at most the wanted number of bytes of a response is read, and its headers are bounded too;
//! - redirects are not followed, and a request is sent as it was given or not at all;
//! - a request is sent once. That a kept connection ended before its answer began is told apart, so that who may repeat
//!   the request does ([`Client::send_idempotent`]).

#![cfg_attr(test, allow(clippy::unwrap_used, clippy::expect_used))]

mod address;
mod client;
mod connection;
mod connector;
mod destination;
mod error;
#[cfg(feature = "fuzzing")]
pub mod fuzzing;
mod headers;
mod http1;
mod pool;
mod proxy;
mod resolver;
mod retry_after;
mod stream;
mod tls;
pub mod url;

pub use address::{AddressPolicy, AddressRefused};
pub use client::{Client, ClientConfig, Request, Response};
pub use destination::Destination;
pub use error::TransportError;
pub use headers::Headers;
pub use proxy::{InvalidProxy, Proxy};
pub use resolver::{Resolve, ResolveFuture, SystemResolver};
pub use retry_after::retry_after;
pub use rustls::{RootCertStore, pki_types};
pub use tls::{RootsError, roots_from_pem};
