//! What every HTTP surface shares: problem details, request ids, JSON input, pages, preconditions, idempotency keys,
//! serving. It knows no domain; each surface renders errors in its own shape.

#![cfg_attr(test, allow(clippy::unwrap_used, clippy::expect_used))]

mod arriving;
pub mod bearer;
pub mod bodies;
pub mod client;
mod cors;
pub mod docs;
pub mod etag;
pub mod idempotency;
mod joined;
pub mod json;
mod measured;
pub mod metrics;
pub mod none_match;
pub mod pages;
pub mod problem;
pub mod rate_limit;
pub mod request_id;
pub mod requests;
pub mod schemas;
pub mod serve;
mod surface;
mod worded;

pub use cors::Origins;
pub use surface::{Faults, Surface, finish, finish_as, finish_counted, route_not_found};
