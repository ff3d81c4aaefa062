//! What crosses the wire to customers: the common models, the two events, the schemas of those events, the statuses.
//!
//! Called by every other crate that names a status, announces an event or answers with a model, and by a customer's own
//! consumer, which can depend on this crate alone. It guarantees that what it writes has exactly the names, the order and
//! the values of `service.md`, and that what it has read is valid: each field is parsed once, into a type that can't be
//! wrong, and each refusal says where in the JSON and what to do.
//!
//! Pure: no input or output, no clock, no randomness.

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
