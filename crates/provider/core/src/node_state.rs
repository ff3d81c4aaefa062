//! State that a node keeps in memory beside the engines: caches, limits and counters.
//!
//! Guarantee: everything here is bounded, and a restart loses nothing of it that the store does not have.

pub(crate) mod api_key_cache;
pub(crate) mod failed_auth_limit;
pub(crate) mod rate_limit;
pub(crate) mod retention_counts;
pub(crate) mod store_counts;
pub(crate) mod unknown_types;
pub(crate) mod url_check_limits;
