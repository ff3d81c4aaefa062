//! What the auction platform does: customers and their connections, sales, catalogue, timers, journal, publisher.
//!
//! Called by the surfaces (API, command line, web). Each use case is a method of [`Platform`], in the module of its
//! subject: it loads what it needs over the [`port`], lets the `auction` crate decide, and commits what follows in one
//! [`port::Change`].
//!
//! Guarantees:
//! - a status change, its journal row, its outbox row and the answer to its idempotency key become true together;
//! - of two commands that decide on the same state one is decided again on the new one, or refused, if it named the
//!   version that it saw;
//! - records of another customer are "not found" to a caller that is confined to one;
//! - an announced event is published at least once and in order for its subject, whatever crashes (see [`publisher`]);
//! - an item ends by the server's clock, never before its effective end time, exactly once (see [`timers`]).
//!
//! The platform knows nothing of the provider crate: it reaches any provider over HTTP.

#![cfg_attr(test, allow(clippy::unwrap_used, clippy::expect_used))]

// What it stands on.
mod change_builder;
mod commit;
pub mod config;
mod decide;
pub mod error;
mod failed_subjects;
#[cfg(feature = "fuzzing")]
pub mod fuzzing;
mod item_queue;
pub mod port;
mod resealing;
mod sealing_key_check;
mod state;

// Who asks, and what for.
pub mod access;
pub mod access_log;
pub mod caller;
pub mod idempotency;
pub mod people;
pub mod scope;

// Customers.
pub mod addresses;
pub mod auctioneer_input;
pub mod auctioneers;
pub mod consumers;
pub mod customers;

// Sales.
mod attachments;
pub mod auctions;
pub mod bid;
pub mod bidders;
pub mod bids;
pub mod bulk_change;
pub mod catalogue;
pub mod items;
pub mod lists;
pub mod new_item;
pub mod results;
pub mod ring;
pub mod sandbox;

// What happened, and who hears of it.
pub mod audit;
pub mod events;
pub mod journal;
pub mod live;
pub mod publisher;

// What runs by itself, and what is counted.
mod answer_expiry;
mod metrics;
pub mod timers;

pub use caller::Caller;
pub use config::PlatformConfig;
pub use error::{PlatformError, PlatformResult, Problem};
pub use idempotency::{IdempotentRequest, Outcome};
pub use scope::{Role, Scope, Scopes};
pub use sealing_key_check::SealingKeyCheck;
pub use state::{Platform, PlatformParts};
