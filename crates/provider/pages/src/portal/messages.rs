//! Pages of messages: the list, and one message with its attempts.

pub(super) mod detail;
pub(super) mod list;
