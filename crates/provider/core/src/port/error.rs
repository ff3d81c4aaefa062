//! Errors of store calls.

/// The error of a store call. A failed call changed nothing, except that after `Unavailable` the change may have been
/// committed and its confirmation lost.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// A unique name, uid or event id is taken; the value is the field's name.
    #[error("the value of \"{0}\" is already taken")]
    Taken(&'static str),
    /// The row to change does not exist.
    #[error("the row does not exist")]
    NotFound,
    /// The stored state differs from the state that the caller read. The caller reads it again and repeats the change.
    #[error("the stored state has changed since it was read")]
    Conflict,
    /// The idempotency key was used before; its stored response can be read.
    #[error("the idempotency key was used before")]
    Replayed,
    /// The owner has the maximum number of rows of this kind.
    #[error("the limit on the number of rows is reached")]
    LimitReached,
    /// The disk of the database is full: nothing was written. The same call succeeds when there is room again.
    #[error("the disk of the database is full: {0}")]
    DiskFull(String),
    /// The database can't be reached or is busy; the same call may succeed later.
    #[error("the database is not available: {0}")]
    Unavailable(String),
    /// This program can't use the database as it is. The text says why, and what to do.
    #[error("{0}")]
    Unusable(String),
    /// The database contains a value that the store can't read.
    #[error("the database contains an unreadable value: {0}")]
    Corrupt(String),
}

/// Result of a store call.
pub type StoreResult<T> = Result<T, StoreError>;
