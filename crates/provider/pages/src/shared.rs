//! What all sites have in common.

pub(crate) mod assets;
pub(crate) mod code_block;
pub(crate) mod cookie;
pub(crate) mod error_page;
pub(crate) mod fields;
pub(crate) mod frame;
pub(crate) mod pager;
pub(crate) mod relative_time;
pub(crate) mod site;
