//! What processes on one store tell each other in passing: it is not kept, and may be lost.

use std::sync::Arc;

use async_trait::async_trait;
use tokio::sync::broadcast;

use super::StoreResult;

/// Longest notice, bytes of ASCII without quotes.
pub const NOTICE_BYTES_MAX: usize = 7_000;

/// A part of the [`Store`](super::Store): notices between the processes that work on it.
#[async_trait]
pub trait Noticeboard: Send + Sync {
    /// Tells the other processes; a store that only one process serves from tells nobody. The notice has at most
    /// [`NOTICE_BYTES_MAX`] bytes of ASCII and no quote.
    async fn tell(&self, notice: &str) -> StoreResult<()>;

    /// What other processes tell from now on, never what this one told; none when there can be no others.
    fn notices(&self) -> Option<Notices>;
}

/// What was heard.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Heard {
    /// Another process told this.
    Notice(Arc<str>),
    /// Something may have been told that was not heard.
    Gap,
}

/// Notices as they come.
#[derive(Debug)]
pub struct Notices(broadcast::Receiver<Option<Arc<str>>>);

impl Notices {
    /// `None` in the channel stands for a gap.
    pub fn new(heard: broadcast::Receiver<Option<Arc<str>>>) -> Self {
        Self(heard)
    }

    /// The next one; none when the store is closed.
    pub async fn next(&mut self) -> Option<Heard> {
        match self.0.recv().await {
            Ok(Some(notice)) => Some(Heard::Notice(notice)),
            Ok(None) | Err(broadcast::error::RecvError::Lagged(_)) => Some(Heard::Gap),
            Err(broadcast::error::RecvError::Closed) => None,
        }
    }
}
