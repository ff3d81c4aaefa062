//! What a customer has on its side: a receiver that verifies signed webhooks and keeps a record of what arrived, when and
//! in which order; a client of the JSON APIs; a reader of the events feed.
//!
//! The demonstration, the benchmark, the crash rig and the tests stand on it. It shares no code with platform or provider:
//! it checks signatures by the Standard Webhooks specification, and calls the APIs, from the outside.

#![cfg_attr(test, allow(clippy::unwrap_used, clippy::expect_used))]

mod api;
mod arrival_log;
mod feed;
mod receiver;
mod signature;

pub use api::{ApiClient, ApiError, ApiResponse};
pub use arrival_log::{Arrival, ArrivalLog, DeliveryReport, ExpectedEvent};
pub use feed::{FeedEvent, read_feed};
pub use receiver::Receiver;
pub use signature::{VerificationError, Verifier};
