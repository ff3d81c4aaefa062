//! Results of writes, and how often they are tried.

use super::idempotency::StoredAnswer;

/// Maximum number of attempts of a change that conflicts with concurrent changes. One change succeeds in each round, so
/// this is also the number of concurrent changes that can all succeed.
pub(crate) const CHANGE_TRIES_MAX: usize = 100;
/// Maximum number of attempts of a PUT while other callers create and delete the object.
pub(crate) const PUT_TRIES_MAX: usize = 10;

/// Result of a POST that creates an object.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Created<T> {
    /// The object was created: 201.
    New(T),
    /// The object already existed, and the caller accepts an existing object: 200.
    Existing(T),
    /// The request was repeated with the same idempotency key. This is the first response.
    Replayed(StoredAnswer),
}

/// Result of a PUT.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Put<T> {
    /// The object was created: 201.
    Created(T),
    /// The object was replaced: 200.
    Updated(T),
}
