//! Delivering a message once more.

use async_trait::async_trait;
use provider_core::port::{IdempotentAnswer, RESEND_DUE, Resend, ResendStore, StoreError, StoreResult};

use super::rows::{self, Client, SqlResult};
use super::{PostgresStore, answers};

#[async_trait]
impl ResendStore for PostgresStore {
    async fn resend(&self, resend: Resend, answer: Option<IdempotentAnswer>) -> StoreResult<()> {
        self.transaction(&(&resend, &answer), |db, &(resend, answer)| Box::pin(enter(db, resend, answer.as_ref())))
            .await?;
        self.engine.notify().await;
        Ok(())
    }
}

/// A row that somebody has is marked for what comes after; see [`return_for_manual`]. Endpoint and message stay until the transaction
/// ends, so that what deletes them finds the row.
async fn enter(db: &impl Client, resend: &Resend, answer: Option<&IdempotentAnswer>) -> SqlResult<()> {
    let Resend { application, message, endpoint } = resend;
    answers::keep_or_replay(db, answer).await?;
    for (table, id) in [("endpoints", endpoint), ("messages", message)] {
        let there = format!("SELECT id FROM {table} WHERE id = $1 AND application = $2 FOR KEY SHARE");
        if rows::one(db, &there, &[&&**id, &&**application], |row| rows::id(row, 0)).await?.is_none() {
            return Err(StoreError::NotFound.into());
        }
    }
    enter_row(db, endpoint, message).await
}

/// The row of an attempt that was asked for.
pub(super) async fn enter_row(db: &impl Client, endpoint: &str, message: &str) -> SqlResult<()> {
    let enter = "INSERT INTO deliveries AS d (endpoint, message, owner, attempts, next_at, manual) \
         VALUES ($1, $2, NULL, 0, $3, 1) ON CONFLICT (endpoint, message) DO UPDATE SET \
             manual = CASE WHEN d.owner IS NULL THEN 1 ELSE 2 END, \
             next_at = CASE WHEN d.owner IS NULL THEN excluded.next_at ELSE d.next_at END";
    rows::write(db, enter, &[&endpoint, &message, &RESEND_DUE]).await.map(drop)
}

/// Makes those rows nobody's for which an attempt was asked for while their owner was at another.
pub(super) async fn return_for_manual(db: &impl Client, endpoints: &[&str], messages: &[&str]) -> SqlResult<()> {
    let return_for_manual = "UPDATE deliveries d SET owner = NULL, next_at = $3, manual = 1 \
         FROM unnest($1::text[], $2::text[]) AS asked (endpoint, message) \
         WHERE d.endpoint = asked.endpoint AND d.message = asked.message AND d.manual = 2";
    rows::write(db, return_for_manual, &[&endpoints, &messages, &RESEND_DUE]).await.map(drop)
}
