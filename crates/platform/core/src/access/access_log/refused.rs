//! Counts sign-ins that fail at the name or the password, so that callers who are not signed in can't fill the access
//! log.

use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};

use super::{AccessEvent, PLATFORM};
use crate::Platform;
use crate::error::PlatformResult;

/// Seconds between two entries about refused sign-ins.
const EVERY_S: i64 = 3_600;

/// Refused sign-ins of this node that are not logged yet.
#[derive(Default)]
pub(crate) struct RefusedSignIns {
    count: AtomicU64,
    noted_at_s: AtomicI64,
}

impl RefusedSignIns {
    pub(crate) fn add(&self) {
        self.count.fetch_add(1, Ordering::Relaxed);
    }
}

impl Platform {
    /// Logs the number of refused sign-ins of this node, at most once an hour. Called once a minute.
    pub async fn note_refused_sign_ins(&self) -> PlatformResult<()> {
        let (refused, now_s) = (&self.sign_in_state().refused, self.now().as_second());
        if now_s - refused.noted_at_s.load(Ordering::Relaxed) < EVERY_S {
            return Ok(());
        }
        let count = refused.count.swap(0, Ordering::Relaxed);
        if count == 0 {
            return Ok(());
        }
        let content = self.content(PLATFORM.to_owned(), None, None, AccessEvent::SignInsRefused { count })?;
        if let Err(error) = self.note_alone(content).await {
            refused.count.fetch_add(count, Ordering::Relaxed);
            return Err(error);
        }
        refused.noted_at_s.store(now_s, Ordering::Relaxed);
        Ok(())
    }
}
