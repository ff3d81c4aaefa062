//! Ends a live stream when its caller's access ends: the session, the API key, the user's role or the clerk's assignment.
//!
//! Guarantee: a stream ends within five seconds of the access, on every node, because the store is asked each time. Streams of
//! the same session or key share the answer. While the store can't be reached, streams go on. A check is no use of a session.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use async_trait::async_trait;
use jiff::{SignedDuration, Timestamp};
use kit_runtime::clock::SharedClock;
use uuid::Uuid;

use crate::error::PlatformResult;

/// Time between two checks of a stream.
const CHECK_EVERY: SignedDuration = SignedDuration::from_millis(2_500);
/// Age of the oldest answer that another stream's check may use.
const SHARED_FOR: SignedDuration = SignedDuration::from_secs(2);
/// Answers that are kept at most.
const ANSWERS_MAX: usize = 10_000;

/// Answers about sessions and keys that streams share.
#[derive(Default)]
pub(crate) struct AccessAnswers(Mutex<HashMap<Uuid, (bool, Timestamp)>>);

impl AccessAnswers {
    pub(crate) fn get(&self, id: Uuid, now: Timestamp) -> Option<bool> {
        let answers = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let (goes_on, at) = answers.get(&id).copied()?;
        (at <= now && now.duration_since(at) < SHARED_FOR).then_some(goes_on)
    }

    pub(crate) fn put(&self, id: Uuid, goes_on: bool, now: Timestamp) {
        let mut answers = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if answers.len() >= ANSWERS_MAX {
            answers.retain(|_, (_, at)| now.duration_since(*at) < SHARED_FOR);
        }
        if answers.len() < ANSWERS_MAX {
            answers.insert(id, (goes_on, now));
        }
    }
}

/// Answers whether the caller of a stream still has access.
#[async_trait]
pub(crate) trait AccessCheck: Send + Sync {
    /// True while the caller may go on listening.
    async fn goes_on(&self) -> PlatformResult<bool>;
}

/// Watches the access of one stream's caller.
pub(super) struct AccessWatch {
    check: Box<dyn AccessCheck>,
    pub(super) check_at: Timestamp,
}

impl AccessWatch {
    pub(super) fn new(check: Box<dyn AccessCheck>, now: Timestamp) -> Self {
        Self { check, check_at: now + CHECK_EVERY }
    }

    /// True while the caller may go on listening.
    pub(super) async fn goes_on(&mut self, clock: &SharedClock) -> bool {
        let goes_on = match self.check.goes_on().await {
            Ok(goes_on) => goes_on,
            Err(error) => {
                tracing::debug!(%error, "the access of a live stream could not be checked");
                true
            }
        };
        // Set after the check, so that a check that was cancelled is repeated.
        self.check_at = clock.now() + CHECK_EVERY;
        goes_on
    }
}
