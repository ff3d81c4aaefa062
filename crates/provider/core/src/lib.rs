//! The delivery provider: accepts messages of its accounts and delivers each of them, signed, to every endpoint that
//! subscribes to it.
//!
//! `provider-api` (HTTP), `provider-pages` (dashboard and App Portal), the binary's management commands and tests call
//! it. It runs on a [`port::Store`] (SQLite or PostgreSQL) and a [`dispatcher::Transport`] (outbound HTTP). It contains
//! no SQL and no wire JSON, and it does not know the platform.
//!
//! Guarantees:
//! - A message is acknowledged when its rows are durable. It is then attempted until it is delivered, its retry
//!   schedule ends, or its endpoint is disabled or deleted; crashes and restarts do not change that.
//! - A slow or failing endpoint does not delay the deliveries of another.
//! - Memory is bounded, whatever the backlog.
//!
//! Use cases are methods of [`Provider`]; each folder is one capability.

#![cfg_attr(test, allow(clippy::unwrap_used, clippy::expect_used))]

mod accounts;
pub mod activity;
pub(crate) mod alerts;
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
mod overview;
pub mod page;
pub mod patch_field;
pub mod people;
pub mod port;
mod portal;
mod provider;
pub mod signing;
mod supervision;
pub mod uid;
mod validation;
mod workers;

pub use accounts::NewApiKey;
pub use accounts::caller::{Caller, CallingPerson, Scope};
pub use accounts::colour::Colour;
pub use accounts::logo::LOGO_BYTES_MAX;
pub use accounts::portal_settings::{LogoInput, PortalSettingsInput};
pub use applications::{ApplicationInput, ApplicationPatch, IfExists};
pub use attempts::cause::{Cause, EXPUNGED, note_on};
pub use attempts::{AttemptedDestination, AttemptedFilter};
pub use background::ReplayInput;
pub use background::outcome::ReplayOutcome;
pub use background::replay_count::ReplayCount;
pub use config::ProviderConfig;
pub use endpoints::address::{AllowedSchemes, EndpointAddressPolicy};
pub use endpoints::health_timeline::{EndpointHealth, HealthSpan};
pub use endpoints::{EndpointInput, EndpointPatch, Switch};
pub use error::{FieldError, ProviderError, Quota};
pub use event_types::schema::SchemaFault;
pub use event_types::{
    Archived, CheckedSchemas, EventTypeInput, EventTypePatch, ImportedEventTypes, OpenApiImport, UnlistedEventTypes,
};
pub use idempotency::{Idempotency, StoredAnswer};
pub use messages::history::{HistoryQuery, HistoryRequest, SCANNED_ROWS_MAX, parse_query_time};
pub use messages::payload::Payload;
pub use messages::payload_schemas::{PayloadCounts, PayloadFinding};
pub use messages::retention_counts::RetentionCounts;
pub use messages::search::{MessageRow, MessageSearch, MessageState};
pub use messages::{MessageInput, PrecheckResult};
pub use ordering::{BlockedKey, BlockedReason, DeliveryOrder, OrderingKey};
pub use overview::account_usage::{AccountUsage, UsageStep};
pub use overview::{RATE_ATTEMPTS_MAX, SetupProgress};
pub use page::{ListPage, PageRequest};
pub use patch_field::PatchField;
pub use portal::{PortalAccess, PortalAccessInput};
pub use provider::{Created, Provider, ProviderParts, Put};
pub use signing::sealing_key_check::SealingKeyCheck;
pub use signing::secret::SecretKind;
pub use supervision::stuck_endpoints::{StuckEndpoint, StuckReason};
