//! Delivering a message once more.

use async_trait::async_trait;
use provider_core::port::{IdempotentAnswer, RESEND_DUE, Resend, ResendStore, StoreError, StoreResult};
use rusqlite::Connection;

use super::rows::{SqlResult, ms};
use super::{SqliteStore, answers};

#[async_trait]
impl ResendStore for SqliteStore {
    async fn resend(&self, resend: Resend, answer: Option<IdempotentAnswer>) -> StoreResult<()> {
        self.write(move |db| enter(db, &resend, answer.as_ref())).await
    }
}

/// A row that somebody has is marked for what comes after; see [`return_for_manual`].
fn enter(db: &Connection, resend: &Resend, answer: Option<&IdempotentAnswer>) -> SqlResult<()> {
    let Resend { application, message, endpoint } = resend;
    answers::keep_or_replay(db, answer)?;
    let there = "SELECT 1 FROM endpoints e JOIN messages m ON m.application = e.application \
         WHERE e.id = ?1 AND e.application = ?2 AND m.id = ?3";
    if !db.prepare_cached(there)?.exists((&**endpoint, &**application, &**message))? {
        return Err(StoreError::NotFound.into());
    }
    enter_row(db, endpoint, message)
}

/// The row of an attempt that was asked for.
pub(super) fn enter_row(db: &Connection, endpoint: &str, message: &str) -> SqlResult<()> {
    let enter = "INSERT INTO deliveries (endpoint, message, owner, attempts, next_at, manual) VALUES (?1, ?2, NULL, 0, ?3, 1) \
         ON CONFLICT (endpoint, message) DO UPDATE SET \
             manual = iif(owner IS NULL, 1, 2), next_at = iif(owner IS NULL, excluded.next_at, next_at)";
    db.prepare_cached(enter)?.execute((endpoint, message, ms(RESEND_DUE)))?;
    Ok(())
}

/// Makes a row nobody's for the attempt that was asked for while its owner was at another.
pub(super) fn return_for_manual(db: &Connection, endpoint: &str, message: &str) -> SqlResult<()> {
    let return_for_manual = "UPDATE deliveries SET owner = NULL, next_at = ?3, manual = 1 \
         WHERE endpoint = ?1 AND message = ?2 AND manual = 2";
    db.prepare_cached(return_for_manual)?.execute((endpoint, message, ms(RESEND_DUE)))?;
    Ok(())
}
