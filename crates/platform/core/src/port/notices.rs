//! What processes on one store tell each other in passing: it is not kept, and may be lost.

use std::sync::Arc;

use async_trait::async_trait;
use tokio::sync::broadcast;

use super::StoreResult;

/// Longest notice, bytes of ASCII without quotes.
pub const NOTIFICATION_BYTES_MAX: usize = 7_000;

/// A part of the [`Store`](super::Store): notices between the processes that work on it.
#[async_trait]
pub trait NodeNotices: Send + Sync {
    /// Tells the other processes; a store that only one process serves from tells nobody. The notice has at most
    /// [`NOTIFICATION_BYTES_MAX`] bytes of ASCII and no quote.
    async fn broadcast(&self, notice: &str) -> StoreResult<()>;

    /// What other processes tell from now on, never what this one told; none when there can be no others.
    fn notifications(&self) -> Option<Notifications>;
}

/// What was heard.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Notification {
    /// Another process told this.
    Message(Arc<str>),
    /// Something may have been told that was not heard.
    Gap,
}

/// Notices as they come.
#[derive(Debug)]
pub struct Notifications(broadcast::Receiver<Option<Arc<str>>>);

impl Notifications {
    /// `None` in the channel stands for a gap.
    pub fn new(heard: broadcast::Receiver<Option<Arc<str>>>) -> Self {
        Self(heard)
    }

    /// The next one; none when the store is closed.
    pub async fn next(&mut self) -> Option<Notification> {
        match self.0.recv().await {
            Ok(Some(notice)) => Some(Notification::Message(notice)),
            Ok(None) | Err(broadcast::error::RecvError::Lagged(_)) => Some(Notification::Gap),
            Err(broadcast::error::RecvError::Closed) => None,
        }
    }
}
