//! Wishes of bidders for a higher limit in a sale.

use async_trait::async_trait;
use kit_engine::postgres::Transaction;
use platform_core::port::{
    DecidedLimit, LimitDecision, LimitRequest, LimitRequestStore, NoticeCause, StoreError, StoreResult,
};
use tokio_postgres::Row;
use uuid::Uuid;

use super::rows::{self, SqlResult};
use super::{PostgresStore, notices};
use crate::codec::ms;

const REQUEST: &str = "SELECT registration, auction, amount, words, asked_at_ms, granted, reason, actor, decided_at_ms \
     FROM limit_requests";

#[async_trait]
impl LimitRequestStore for PostgresStore {
    async fn ask_limit(&self, request: LimitRequest) -> StoreResult<()> {
        let put = "INSERT INTO limit_requests AS r (registration, auction, amount, words, asked_at_ms) \
             VALUES ($1, $2, $3, $4, $5) \
             ON CONFLICT (registration) DO UPDATE SET amount = excluded.amount, words = excluded.words, \
             asked_at_ms = excluded.asked_at_ms, granted = NULL, reason = NULL, actor = NULL, decided_at_ms = NULL \
             WHERE r.decided_at_ms IS NOT NULL";
        let LimitRequest { registration, auction, amount, words, asked_at, decision: _ } = &request;
        let values: rows::Values<'_> = &[registration, auction, amount, words, &ms(*asked_at)];
        match rows::execute(&self.client().await?, put, values).await? {
            1 => Ok(()),
            _ => Err(StoreError::Taken("limit_request")),
        }
    }

    async fn limit_request(&self, registration: Uuid) -> StoreResult<Option<LimitRequest>> {
        let select = format!("{REQUEST} WHERE registration = $1");
        Ok(rows::one(&self.client().await?, &select, &[&registration], request).await?)
    }

    async fn open_limit_requests(&self, auction: Uuid, limit: usize) -> StoreResult<Vec<LimitRequest>> {
        let select = format!(
            "{REQUEST} WHERE auction = $1 AND decided_at_ms IS NULL ORDER BY asked_at_ms, registration LIMIT $2"
        );
        Ok(rows::list(&self.client().await?, &select, &[&auction, &rows::limit(limit)], request).await?)
    }

    async fn decline_limit(&self, declined: DecidedLimit, cause: Option<NoticeCause>) -> StoreResult<()> {
        self.write(&(declined, cause), |db, (declined, cause)| {
            Box::pin(async move {
                decide(db, declined).await?;
                notices::put_causes(db, &cause.iter().collect::<Vec<_>>()).await
            })
        })
        .await
    }
}

/// `Conflict` when the wish is not open any more.
pub(super) async fn decide(db: &Transaction<'_>, decided: &DecidedLimit) -> SqlResult<()> {
    let update = "UPDATE limit_requests SET granted = $3, reason = $4, actor = $5, decided_at_ms = $6 \
         WHERE registration = $1 AND asked_at_ms = $2 AND decided_at_ms IS NULL";
    let DecidedLimit { registration, asked_at, decision: LimitDecision { granted, reason, actor, at } } = decided;
    let values: rows::Values<'_> = &[registration, &ms(*asked_at), granted, reason, actor, &ms(*at)];
    match rows::execute(db, update, values).await? {
        1 => Ok(()),
        _ => Err(StoreError::Conflict.into()),
    }
}

/// Deletes the wish of an erased person's registration.
pub(super) async fn erase(db: &Transaction<'_>, registration: Uuid) -> SqlResult<()> {
    rows::execute(db, "DELETE FROM limit_requests WHERE registration = $1", &[&registration]).await.map(drop)
}

fn request(row: &Row) -> SqlResult<LimitRequest> {
    let decided_at = rows::optional_time(row, 8)?;
    let actor: Option<String> = rows::get(row, 7)?;
    let (granted, reason) = (rows::get(row, 5)?, rows::get(row, 6)?);
    let decision = decided_at.map(|at| LimitDecision { granted, reason, actor: actor.unwrap_or_default(), at });
    Ok(LimitRequest {
        registration: rows::get(row, 0)?,
        auction: rows::get(row, 1)?,
        amount: rows::get(row, 2)?,
        words: rows::get(row, 3)?,
        asked_at: rows::time(row, 4)?,
        decision,
    })
}
