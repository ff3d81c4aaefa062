//! Outbound HTTP requests to addresses that customers chose.
//!
//! The provider's dispatcher delivers messages with it, and the platform's publisher calls a customer's provider with
//! it. It knows neither.
//!
//! Guarantees:
//! - the client connects to no address that the [`AddressPolicy`] refuses, with or without a proxy. The policy checks
//!   the resolved IP address, so neither DNS rebinding nor an unusual spelling of an address evades it;
//! - one deadline covers the name lookup, the connection, TLS, and the headers and body of the response;
//! - the bytes of a response's headers, interim responses (1xx) included, and of its body are limited;
//! - a connection carries only requests of one owner ([`Destination::new`]);
//! - the client follows no redirect, and sends a request unchanged or not at all;
//! - a request is sent once. If a pooled connection ends before a response begins, the error is
//!   [`TransportError::Stale`], and [`Client::send_idempotent`] sends the request again.

#![cfg_attr(test, allow(clippy::unwrap_used, clippy::expect_used))]

mod address;
mod client;
mod connection;
mod connector;
mod destination;
mod error;
mod exchange;
mod headers;
mod phase_times;
mod pool;
mod probe;
mod proxy;
mod resolver;
mod retry_after;
mod stream;
mod time_limit;
mod tls;
mod txt_records;
pub mod url;
mod wire;

pub use address::{AddressPolicy, AddressRefused};
pub use client::{Client, ClientConfig, Exchange, Request, Response};
pub use destination::Destination;
pub use error::{BodyFault, TransportError};
pub use headers::Headers;
pub use phase_times::PhaseTimes;
pub use probe::Probe;
pub use proxy::{InvalidProxy, Proxy};
pub use resolver::{Resolve, ResolveFuture, SystemResolver};
pub use retry_after::{RETRY_AFTER_MAX, retry_after};
pub use rustls::{RootCertStore, pki_types};
pub use tls::{RootsError, TlsFault, roots_from_pem};
pub use txt_records::{NameServers, TxtError, TxtFuture, TxtRecords};
