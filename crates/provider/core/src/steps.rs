//! Steps that use cases of several capabilities share.

pub(crate) mod idempotency;
pub(crate) mod written;
