//! What was sent to the application, and what became of it.

pub(super) mod detail;
pub(super) mod list;
