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
mod api_key_cache;
mod applications;
mod attempts;
mod authentication;
mod background;
pub mod config;
pub mod dispatcher;
mod endpoint_address;
mod endpoints;
pub mod error;
mod event_types;
mod example;
mod failed_auth_limit;
#[cfg(feature = "fuzzing")]
pub mod fuzzing;
pub mod headers;
mod history;
mod idempotency;
pub mod ids;
pub mod media_type;
mod messages;
mod metrics;
pub mod model;
pub mod operational;
mod operator_actions;
pub mod ordering;
pub mod page;
pub mod patch_field;
pub mod payload;
mod payload_check;
pub mod port;
mod portal;
mod provider;
mod rate_limit;
mod resealing;
mod retention;
pub mod retry;
mod schema;
mod sealing_key_check;
pub mod secret;
pub mod signing;
mod snapshot;
mod stuck_endpoints;
mod target;
pub mod uid;
mod validation;
mod workers;

pub use accounts::NewApiKey;
pub use applications::{ApplicationInput, ApplicationPatch, IfExists};
pub use attempts::{AttemptedDestination, AttemptedFilter};
pub use authentication::{Caller, Scope};
pub use background::ReplayInput;
pub use config::ProviderConfig;
pub use endpoint_address::{AllowedSchemes, EndpointAddressPolicy};
pub use endpoints::{EndpointInput, EndpointPatch, Switch};
pub use error::{FieldError, ProviderError, Quota};
pub use event_types::{
    Archived, EventTypeInput, EventTypePatch, ImportedEventTypes, OpenApiImport, UnlistedEventTypes,
};
pub use history::{HistoryQuery, HistoryRequest, SCANNED_ROWS_MAX};
pub use idempotency::{Idempotency, StoredAnswer};
pub use messages::{MessageInput, PrecheckResult};
pub use ordering::{BlockedKey, BlockedReason, DeliveryOrder, OrderingKey};
pub use page::{ListPage, PageRequest};
pub use patch_field::PatchField;
pub use payload::Payload;
pub use payload_check::PayloadCounts;
pub use portal::{PortalAccess, PortalAccessInput};
pub use provider::{Created, Provider, ProviderParts, Put};
pub use retention::RetentionCounts;
pub use sealing_key_check::SealingKeyCheck;
pub use secret::SecretKind;
pub use stuck_endpoints::{StuckEndpoint, StuckReason};
