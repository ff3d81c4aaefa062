//! Shared by every HTTP surface: serving, problem details, request ids, JSON input, cursors, preconditions, idempotency
//! keys, rate limits, `/docs` and `/metrics`.
//!
//! The JSON APIs of the platform and of the provider, and the pages, build on it. It knows no domain; each surface has
//! its own error format.

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
pub mod shared_check;
mod surface;
mod write_coalescing;

pub use cors::Origins;
pub use surface::{FallbackResponses, Surface, finish, finish_as, finish_counted, route_not_found};
