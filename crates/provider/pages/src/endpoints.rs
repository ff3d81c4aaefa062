//! Endpoints on the pages of both sites: a list with a search, those that fail first.

pub(crate) mod failures;
pub(crate) mod hold;
pub(crate) mod list;
