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

// Modules that every capability uses.
pub mod amounts;
mod answer_expiry;
mod change_builder;
mod commit;
pub mod config;
mod decide;
pub mod error;
mod failed_subjects;
#[cfg(feature = "fuzzing")]
pub mod fuzzing;
pub mod idempotency;
mod input;
mod metrics;
mod platform;
pub mod port;
mod worker_loop;
pub mod worker_states;

// The capabilities.
pub mod access;
pub mod audit;
pub mod bidders;
pub mod bidding;
pub mod catalogue;
pub mod customers;
pub mod images;
pub mod journal;
pub mod live;
pub mod people;
pub mod publishing;
pub mod ring;
pub mod sales;
pub mod sandbox;
mod sealing;

pub use access::caller::Caller;
pub use access::scope::{Role, Scope, Scopes};
pub use config::PlatformConfig;
pub use error::{PlatformError, PlatformResult, Problem};
pub use idempotency::{IdempotentRequest, Outcome};
pub use platform::{Platform, PlatformParts};
pub use sealing::key_check::SealingKeyCheck;
