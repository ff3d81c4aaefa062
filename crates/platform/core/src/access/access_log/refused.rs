//! Counts sign-ins that fail at the name or the password, so that callers who are not signed in can't fill the access
//! log.

use super::{AccessEvent, PLATFORM};
use crate::Platform;
use crate::error::PlatformResult;

/// Seconds between two entries about refused sign-ins.
const EVERY_S: i64 = 3_600;

impl Platform {
    /// Logs the number of refused sign-ins of this node, at most once an hour. Called once a minute.
    pub async fn note_refused_sign_ins(&self) -> PlatformResult<()> {
        let (refused, now_s) = (&self.sign_in_state().refused, self.now().as_second());
        if now_s - refused.noted_at_s() < EVERY_S {
            return Ok(());
        }
        let count = refused.take();
        if count == 0 {
            return Ok(());
        }
        let content = self.content(PLATFORM.to_owned(), None, None, AccessEvent::SignInsRefused { count })?;
        if let Err(error) = self.note_alone(content).await {
            refused.put_back(count);
            return Err(error);
        }
        refused.noted(now_s);
        Ok(())
    }
}
