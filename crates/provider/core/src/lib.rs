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

// The modules by layer, the lowest first. ARCHITECTURE.md has the order, and `cargo xtask tidy` enforces it.

// Ground.
pub mod caller;
pub mod config;
pub mod error;
pub mod ids;
pub mod model;
pub mod page;
pub mod patch_field;
pub mod payload;
pub mod port;
pub mod signing;
pub mod uid;
mod validation;

// Engines.
pub mod dispatcher;
pub mod headers;
mod node_state;
mod payload_schemas;
mod schema;

// The shared value, and the steps of use cases.
mod provider;
mod steps;

// Capabilities.
mod accounts;
pub mod activity;
mod alerts;
mod applications;
mod attempts;
mod background;
pub mod endpoints;
mod event_types;
mod mails;
pub mod messages;
pub mod operational;
pub mod ordering;
mod overview;
mod portal;
pub mod restores;
mod sealing;
mod supervision;
pub mod users;

// Composition.
#[cfg(feature = "fuzzing")]
pub mod fuzzing;
mod workers;

pub use accounts::logo::LOGO_BYTES_MAX;
pub use accounts::portal_settings::{LogoInput, PortalSettingsInput};
pub use accounts::{AccountOpening, NewApiKey};
pub use applications::{ApplicationInput, ApplicationPatch, IfExists};
pub use attempts::signed_request::{SentHeaders, SignedRequest, sent_headers};
pub use attempts::{AttemptedDestination, AttemptedFilter};
pub use background::ReplayInput;
pub use caller::{Caller, CallingUser, Scope};
pub use config::ProviderConfig;
pub use config::endpoint_address::{AllowedSchemes, EndpointAddressPolicy};
pub use endpoints::delivery_counts::EndpointCounts;
pub use endpoints::delivery_holds::{DeliveryHold, HeldDeliveries};
pub use endpoints::health_timeline::EndpointHealth;
pub use endpoints::search::EndpointSearch;
pub use endpoints::{EndpointInput, EndpointPatch, RateLimits, Switch};
pub use error::{FieldError, ProviderError, Quota};
pub use event_types::{
    Archived, CheckedSchemas, EventTypeInput, EventTypePatch, ImportPreview, ImportedEventTypes, OpenApiImport,
    UnlistedEventTypes,
};
pub use kit_colour::Colour;
pub use messages::by_hand::TypedMessage;
pub use messages::failure_search::FailedWith;
pub use messages::history::{HistoryQuery, HistoryRequest, SCANNED_ROWS_MAX, parse_query_time};
pub use messages::search::{MessageRow, MessageSearch, MessageState, TEXT_SPAN_MAX};
pub use messages::{DiskUse, MessageInput, PrecheckResult};
pub use model::cause::{Cause, EXPUNGED, FailureDetail, note_on};
pub use node_state::retention_counts::RetentionCounts;
pub use ordering::{BlockedKey, BlockedKeysSummary, BlockedReason, DeliveryOrder, OrderingKey};
pub use overview::account_usage::UsageStep;
pub use overview::{ApplicationOverview, SetupProgress};
pub use page::{ListPage, PageRequest};
pub use patch_field::PatchField;
pub use payload::Payload;
pub use payload_schemas::{PayloadCounts, PayloadFinding};
pub use portal::{PortalAccess, PortalAccessInput};
pub use provider::{Provider, ProviderParts};
pub use schema::SchemaFault;
pub use sealing::key_check::SealingKeyCheck;
pub use signing::secret::SecretKind;
pub use steps::idempotency::{Idempotency, StoredAnswer};
pub use steps::written::{Created, Put};
pub use supervision::ended_retries::EndedRetries;
pub use supervision::stuck_endpoints::{StuckEndpoint, StuckReason};
