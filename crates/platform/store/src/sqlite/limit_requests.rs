//! Wishes of bidders for a higher limit in a sale.

use async_trait::async_trait;
use platform_core::port::{
    DecidedLimit, LimitDecision, LimitRequest, LimitRequestStore, NoticeCause, StoreError, StoreResult,
};
use rusqlite::{Connection, Row, params};
use uuid::Uuid;

use super::rows::{self, SqlResult};
use super::{SqliteStore, notices};
use crate::codec::ms;

const REQUEST: &str = "SELECT registration, auction, amount, words, asked_at_ms, granted, reason, actor, decided_at_ms \
     FROM limit_requests";

#[async_trait]
impl LimitRequestStore for SqliteStore {
    async fn ask_limit(&self, request: LimitRequest) -> StoreResult<()> {
        let put = "INSERT INTO limit_requests (registration, auction, amount, words, asked_at_ms) VALUES (?1, ?2, ?3, ?4, ?5) \
             ON CONFLICT (registration) DO UPDATE SET amount = excluded.amount, words = excluded.words, \
             asked_at_ms = excluded.asked_at_ms, granted = NULL, reason = NULL, actor = NULL, decided_at_ms = NULL \
             WHERE decided_at_ms IS NOT NULL";
        self.write(move |db| {
            let LimitRequest { registration, auction, amount, words, asked_at, decision: _ } = &request;
            let values = params![registration.as_bytes(), auction.as_bytes(), amount, words, ms(*asked_at)];
            match rows::execute(db, put, values)? {
                1 => Ok(()),
                _ => Err(StoreError::Taken("limit_request").into()),
            }
        })
        .await
    }

    async fn limit_request(&self, registration: Uuid) -> StoreResult<Option<LimitRequest>> {
        let select = format!("{REQUEST} WHERE registration = ?1");
        self.read(move |db| rows::one(db, &select, [registration.as_bytes()], request)).await
    }

    async fn open_limit_requests(&self, auction: Uuid, limit: usize) -> StoreResult<Vec<LimitRequest>> {
        let select = format!(
            "{REQUEST} WHERE auction = ?1 AND decided_at_ms IS NULL ORDER BY asked_at_ms, registration LIMIT ?2"
        );
        self.read(move |db| rows::list(db, &select, (auction.as_bytes(), rows::limit(limit)), request)).await
    }

    async fn decline_limit(&self, declined: DecidedLimit, cause: Option<NoticeCause>) -> StoreResult<()> {
        self.write(move |db| {
            decide(db, &declined)?;
            notices::put_causes(db, cause.as_slice())
        })
        .await
    }
}

/// `Conflict` when the wish is not open any more.
pub(super) fn decide(db: &Connection, decided: &DecidedLimit) -> SqlResult<()> {
    let update = "UPDATE limit_requests SET granted = ?3, reason = ?4, actor = ?5, decided_at_ms = ?6 \
         WHERE registration = ?1 AND asked_at_ms = ?2 AND decided_at_ms IS NULL";
    let DecidedLimit { registration, asked_at, decision: LimitDecision { granted, reason, actor, at } } = decided;
    let values = params![registration.as_bytes(), ms(*asked_at), granted, reason, actor, ms(*at)];
    match rows::execute(db, update, values)? {
        1 => Ok(()),
        _ => Err(StoreError::Conflict.into()),
    }
}

/// Deletes the wish of an erased person's registration.
pub(super) fn erase(db: &Connection, registration: Uuid) -> SqlResult<()> {
    rows::execute(db, "DELETE FROM limit_requests WHERE registration = ?1", [registration.as_bytes()]).map(drop)
}

fn request(row: &Row<'_>) -> SqlResult<LimitRequest> {
    let decided_at = rows::optional_time(row, 8)?;
    let actor: Option<String> = row.get(7)?;
    let (granted, reason) = (row.get(5)?, row.get(6)?);
    let decision = decided_at.map(|at| LimitDecision { granted, reason, actor: actor.unwrap_or_default(), at });
    Ok(LimitRequest {
        registration: rows::uuid(row, 0)?,
        auction: rows::uuid(row, 1)?,
        amount: row.get(2)?,
        words: row.get(3)?,
        asked_at: rows::time(row, 4)?,
        decision,
    })
}
