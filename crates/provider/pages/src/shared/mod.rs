//! What all sites have in common.

pub(crate) mod around;
pub(crate) mod assets;
pub(crate) mod code;
pub(crate) mod cookie;
pub(crate) mod fields;
pub(crate) mod frame;
pub(crate) mod pager;
pub(crate) mod refusal;
pub(crate) mod when;
