//! Shared by every HTTP surface: serving, problem details, request ids, JSON input, cursors, preconditions, idempotency
//! keys, rate limits, traces, `/docs` and `/metrics`.
//!
//! The JSON APIs of the platform and of the provider, and the pages, build on it. It knows no domain; each surface has
//! its own error format.

#![cfg_attr(test, allow(clippy::unwrap_used, clippy::expect_used))]

pub mod bearer;
pub mod body_memory;
mod body_timeouts;
pub mod client_ip;
mod connection;
mod connections_per_address;
mod cors;
pub mod cursor;
pub mod docs;
mod error_bodies;
pub mod etag;
mod header_limits;
mod host_header;
pub mod idempotency;
pub mod if_none_match;
pub mod json;
mod lingering_close;
pub mod metrics;
pub mod one_host;
pub mod page_routes;
pub mod problem;
pub mod rate_limit;
pub mod request_counts;
pub mod request_id;
mod request_span;
mod response_progress;
pub mod schema_names;
pub mod serve;
pub mod shared_check;
mod surface;
pub mod tls;
pub mod unauthenticated_body;
mod unread_body;
pub mod upload_body;
mod write_coalescing;

pub use cors::Origins;
pub use surface::{FallbackResponses, Surface, finish, finish_as, finish_counted, finish_pages, route_not_found};
