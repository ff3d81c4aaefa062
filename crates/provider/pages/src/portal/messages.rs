//! Pages of messages: the list, and one message with its attempts.

mod curl;
pub(super) mod detail;
pub(super) mod list;
pub(super) mod live;
