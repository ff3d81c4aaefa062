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
mod commit;
pub mod config;
mod deciding;
mod draft;
pub mod error;
#[cfg(feature = "fuzzing")]
pub mod fuzzing;
mod key_check;
mod lines;
pub mod port;
mod resealing;
mod state;
mod stuck;

// Who asks, and what for.
pub mod access;
pub mod access_log;
pub mod caller;
pub mod idempotency;
pub mod people;
pub mod scope;

// Customers.
pub mod addresses;
pub mod auctioneer_entry;
pub mod auctioneers;
pub mod consumers;
pub mod customers;

// Sales.
mod attachments;
pub mod auctions;
pub mod bid;
pub mod bidders;
pub mod bids;
pub mod catalogue;
pub mod items;
pub mod leads;
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
mod metrics;
pub mod timers;
mod upkeep;

pub use caller::Caller;
pub use config::PlatformConfig;
pub use error::{PlatformError, PlatformResult, Problem};
pub use idempotency::{Answering, Outcome};
pub use key_check::KeyCheck;
pub use scope::{Role, Scope, Scopes};
pub use state::{Platform, PlatformParts};
