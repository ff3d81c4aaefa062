//! What every HTTP surface shares: problem details, request ids, JSON input, pages, preconditions, idempotency keys,
//! serving. It knows no domain; each surface renders errors in its own shape.

#![cfg_attr(test, allow(clippy::unwrap_used, clippy::expect_used))]

pub mod bearer;
pub mod body_memory;
pub mod client_ip;
mod cors;
pub mod cursor;
pub mod docs;
mod error_bodies;
pub mod etag;
mod header_limits;
pub mod idempotency;
mod idle_timeout;
pub mod if_none_match;
pub mod json;
pub mod metrics;
pub mod problem;
pub mod rate_limit;
pub mod request_counts;
pub mod request_id;
pub mod schema_names;
pub mod serve;
mod surface;
mod write_coalescing;

pub use cors::Origins;
pub use surface::{FallbackResponses, Surface, finish, finish_as, finish_counted, route_not_found};
