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
mod attempts;
mod authentication;
mod background;
pub mod change;
pub mod config;
pub mod dispatcher;
mod endpoints;
pub mod error;
mod event_types;
mod example;
#[cfg(feature = "fuzzing")]
pub mod fuzzing;
pub mod headers;
mod history;
mod idempotency;
pub mod ids;
mod key_cache;
mod key_check;
pub mod media_type;
mod messages;
mod metrics;
pub mod model;
pub mod operational;
pub mod ordering;
pub mod page;
pub mod payload;
mod payload_check;
pub mod port;
mod portal;
mod provider;
mod rates;
mod reach;
mod resealing;
mod retention;
pub mod retry;
mod schema;
pub mod secret;
pub mod signing;
mod snapshot;
mod strangers;
mod supervision;
mod target;
pub mod uid;
mod validation;
mod waiting;
mod workers;

pub use accounts::NewApiKey;
pub use applications::{ApplicationInput, ApplicationPatch, IfTaken};
pub use attempts::{AttemptedDestination, AttemptedFilter};
pub use authentication::{Caller, Scope};
pub use background::ReplayInput;
pub use change::Change;
pub use config::ProviderConfig;
pub use endpoints::{EndpointInput, EndpointPatch, Switch};
pub use error::{Invalid, ProviderError, Quota};
pub use event_types::{Archived, EventTypeInput, EventTypePatch, ImportedEventTypes, OpenApiImport, Others};
pub use history::{HistoryQuery, HistoryRequest, LOOKED_ROWS_MAX};
pub use idempotency::{Idempotency, StoredAnswer};
pub use key_check::KeyCheck;
pub use messages::{MessageInput, Reception};
pub use ordering::{DeliveryOrder, KeyWaitsFor, OrderingKey, WaitingKey};
pub use page::{PageRequest, Slice};
pub use payload::Payload;
pub use payload_check::PayloadCounts;
pub use portal::{PortalAccess, PortalAccessInput};
pub use provider::{Created, Parts, Provider, Put};
pub use reach::{Reach, Schemes};
pub use retention::Forgotten;
pub use secret::SecretKind;
pub use waiting::{Stuck, Why};
