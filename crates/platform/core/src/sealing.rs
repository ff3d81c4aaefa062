//! Sealing keys: the check that this node has the keys of the others, and the change to a new key.

pub(crate) mod key_check;
mod reseal;
