//! Sign-ins that failed at the name or the password: counted, so that a stranger can't fill the log.

use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};

use super::{AccessEvent, PLATFORM};
use crate::Platform;
use crate::error::PlatformResult;

/// Seconds from one note of them to the next.
const EVERY_S: i64 = 3_600;

/// Those of this node that were not noted yet.
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
    /// Notes how many sign-ins were refused on this node, once an hour at most. Called once a minute.
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
