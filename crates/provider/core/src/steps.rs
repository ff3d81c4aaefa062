//! Steps that use cases of several capabilities share.

pub(crate) mod attempt_counts;
pub(crate) mod idempotency;
pub(crate) mod identity;
pub(crate) mod written;
