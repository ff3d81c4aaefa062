//! The auction platform's use cases: customers and their connections, sales, bids, journal, publisher, workers.
//!
//! The surfaces (JSON API, command line, pages) call it. Each use case is a method of [`Platform`], in the module of
//! its capability. It loads what it needs over the [`port`], lets `platform-rules` decide, and commits the decision in
//! one [`port::Change`].
//!
//! Guarantees:
//! - A status change, its journal row, its outbox row and the answer to its idempotency key are committed together.
//! - If two commands are decided on the same state, one commit succeeds. The other command is decided again on the new
//!   state, or refused when its caller named the version that it expected.
//! - A caller that is confined to one customer gets `not_found` for records of another.
//! - The publisher publishes an announced event at least once, and in order for its subject, through any crash (see
//!   [`publishing`]).
//! - An item ends by the server's clock, never before its effective end time, exactly once (see [`sales::item_ends`]).
//!
//! The crate knows no provider: the platform reaches any provider, the embedded one included, over HTTP.

#![cfg_attr(test, allow(clippy::unwrap_used, clippy::expect_used))]

// The modules by layer, the lowest first. ARCHITECTURE.md has the order, and `cargo xtask tidy` enforces it.

// Ground.
pub mod amounts;
pub mod caller;
pub mod config;
pub mod error;
mod metrics;
pub mod port;

// Engines.
pub mod audit;
mod image_decoder;
mod item_queue;
pub mod live;
mod node_state;
pub mod provider_access;
pub mod publishing;

// The shared value, and the steps of use cases.
mod platform;
pub mod steps;

// Capabilities.
pub mod access;
pub mod bidders;
pub mod bidding;
pub mod catalogue;
pub mod customers;
pub mod images;
pub mod journal;
mod live_streams;
pub mod mails;
pub mod notices;
pub mod outbox;
pub mod register_files;
pub mod restores;
pub mod ring;
pub mod saleroom;
pub mod sales;
pub mod sandbox;
mod sealing;
mod supervision;
pub mod users;
pub mod verification;
pub mod worker_states;

// Composition.
#[cfg(feature = "fuzzing")]
pub mod fuzzing;
mod workers;

pub use caller::Caller;
pub use caller::scope::{Role, Scope, Scopes};
pub use config::PlatformConfig;
pub use error::{PlatformError, PlatformResult, Problem};
pub use kit_colour::Colour;
pub use platform::{Platform, PlatformParts};
pub use sealing::key_check::SealingKeyCheck;
pub use steps::idempotency::{IdempotentRequest, Outcome};
