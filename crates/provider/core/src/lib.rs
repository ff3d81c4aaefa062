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
mod background;
pub mod config;
pub mod dispatcher;
pub mod endpoints;
pub mod error;
mod event_types;
#[cfg(feature = "fuzzing")]
pub mod fuzzing;
mod idempotency;
pub mod ids;
pub mod messages;
pub mod model;
pub mod operational;
pub mod ordering;
pub mod page;
pub mod patch_field;
pub mod port;
mod portal;
mod provider;
mod supervision;
pub mod signing;
pub mod uid;
mod validation;
mod workers;

pub use accounts::NewApiKey;
pub use applications::{ApplicationInput, ApplicationPatch, IfExists};
pub use attempts::{AttemptedDestination, AttemptedFilter};
pub use accounts::authentication::{Caller, Scope};
pub use background::ReplayInput;
pub use config::ProviderConfig;
pub use endpoints::address::{AllowedSchemes, EndpointAddressPolicy};
pub use endpoints::{EndpointInput, EndpointPatch, Switch};
pub use error::{FieldError, ProviderError, Quota};
pub use event_types::{
    Archived, EventTypeInput, EventTypePatch, ImportedEventTypes, OpenApiImport, UnlistedEventTypes,
};
pub use messages::history::{HistoryQuery, HistoryRequest, SCANNED_ROWS_MAX};
pub use idempotency::{Idempotency, StoredAnswer};
pub use messages::{MessageInput, PrecheckResult};
pub use ordering::{BlockedKey, BlockedReason, DeliveryOrder, OrderingKey};
pub use page::{ListPage, PageRequest};
pub use patch_field::PatchField;
pub use messages::payload::Payload;
pub use messages::payload_check::PayloadCounts;
pub use portal::{PortalAccess, PortalAccessInput};
pub use provider::{Created, Provider, ProviderParts, Put};
pub use messages::retention::RetentionCounts;
pub use signing::sealing_key_check::SealingKeyCheck;
pub use signing::secret::SecretKind;
pub use supervision::stuck_endpoints::{StuckEndpoint, StuckReason};
