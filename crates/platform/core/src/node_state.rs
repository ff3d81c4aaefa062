//! State that a node keeps in memory beside the engines: caches, locks and limits.
//!
//! Guarantee: everything here is bounded, and a restart loses nothing of it that the store does not have.

pub(crate) mod catalogue_turns;
pub(crate) mod credential_cache;
pub(crate) mod end_health;
pub(crate) mod late_bids;
pub(crate) mod registration_cache;
pub(crate) mod served_domains;
pub(crate) mod sign_in_state;
pub(crate) mod striped_locks;
pub(crate) mod worker_runs;
