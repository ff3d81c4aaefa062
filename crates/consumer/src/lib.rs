//! A customer's side: a receiver that verifies signed webhooks and logs their arrival, a client of the JSON APIs, and a
//! reader of the event feed.
//!
//! The demonstration, the benchmarks, the crash test and the integration tests use it. It shares no code with the
//! platform or the provider: it verifies signatures by the Standard Webhooks specification, and calls the APIs over
//! HTTP.

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
