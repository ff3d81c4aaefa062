//! What was sent to the application, and what became of it.

pub(super) mod list;
pub(super) mod one;
