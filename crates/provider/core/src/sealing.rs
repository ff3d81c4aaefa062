//! The keys that seal secrets at rest: the check at the start, and sealing again with a new key.

pub(crate) mod key_check;
mod reseal;
