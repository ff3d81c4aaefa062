//! What the delivery provider does: it takes messages of its customers and delivers each, signed, to every endpoint that
//! wants it.
//!
//! Called by `provider-api` (the HTTP surface), by the binary's management commands, and by tests; implemented over a
//! [`port::Store`] (memory, SQLite, PostgreSQL) and a [`dispatcher::Transport`] (outbound HTTP). It knows no SQL, no wire
//! JSON, no platform.
//!
//! Guarantees: a message is acknowledged only when its rows are on disk, and what is acknowledged is attempted until it
//! is delivered, its schedule is over, or its endpoint is disabled or gone, over crashes and restarts; no endpoint's
//! trouble delays another's deliveries; memory is bounded, whatever waits.
//!
//! Use cases are methods of [`Provider`], one file for each subject.

#![cfg_attr(test, allow(clippy::unwrap_used, clippy::expect_used))]

mod accounts;
mod applications;
mod background;
pub mod config;
pub mod dispatcher;
mod endpoints;
pub mod error;
mod event_types;
pub mod headers;
mod idempotency;
pub mod ids;
mod key_cache;
mod messages;
pub mod model;
pub mod operational;
pub mod page;
pub mod payload;
pub mod port;
mod provider;
pub mod retry;
mod schema;
pub mod secret;
pub mod signing;
mod snapshot;
mod target;
pub mod uid;
mod validation;
mod workers;

pub use accounts::{Caller, NewApiKey};
pub use applications::{ApplicationInput, IfTaken};
pub use background::ReplayInput;
pub use config::ProviderConfig;
pub use endpoints::EndpointInput;
pub use error::{Invalid, ProviderError};
pub use event_types::{Archived, EventTypeInput};
pub use idempotency::{Idempotency, StoredAnswer};
pub use messages::MessageInput;
pub use page::{PageRequest, Slice};
pub use payload::Payload;
pub use provider::{Created, Parts, Provider, Put};
