//! Event types that messages had, but the account has not registered.

use jiff::Timestamp;

use super::Id;

/// An event type that is not registered, with an API key that sent messages of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnknownEventType {
    /// The account.
    pub account: Id,
    /// The event type.
    pub name: String,
    /// Id of the API key, or of another caller.
    pub key: Id,
    /// Name of the key when it last sent such a message.
    pub key_name: String,
    /// Accepted messages.
    pub messages: u64,
    /// When the first of them was accepted.
    pub first_at: Timestamp,
    /// When the last of them was accepted.
    pub last_at: Timestamp,
}
