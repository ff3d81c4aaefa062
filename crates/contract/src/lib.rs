//! The wire contract with customers: five common models, two events, the schemas of the events, and the statuses.
//!
//! Every crate that names a status, announces an event or responds with a model uses this crate. A customer's consumer
//! can depend on it alone.
//!
//! Guarantees:
//! - JSON that this crate writes has exactly the specified names, order and values.
//! - A value that this crate has read is valid: each field is parsed once, into a type that has no invalid values.
//! - An error names the place in the JSON as a JSON pointer (RFC 6901), and says what would be valid.
//!
//! The crate is pure: no IO, no clock, no randomness.

#![cfg_attr(test, allow(clippy::unwrap_used, clippy::expect_used))]

pub mod event;
pub mod event_type;
pub mod models;

mod enum_names;
mod error;
mod fields;
mod status;
mod text;

pub use enum_names::UnknownName;
pub use error::ModelError;
pub use status::{AuctionStatus, ItemStatus};
pub use text::InvalidText;
