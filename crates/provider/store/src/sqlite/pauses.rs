//! Endpoints that the dispatcher does not call before a given time.

use async_trait::async_trait;
use jiff::Timestamp;
use provider_core::port::{Pause, PauseStore, StoreError, StoreResult};
use rusqlite::{Connection, Row, params};

use super::rows::{self, SqlResult, ms};
use super::{SqliteStore, applications};
use crate::codec;

#[async_trait]
impl PauseStore for SqliteStore {
    async fn save_pause(&self, pause: Pause, now: Timestamp) -> StoreResult<()> {
        self.write(move |db| {
            db.prepare_cached("DELETE FROM pauses WHERE until <= ?1")?.execute([ms(now)])?;
            let note = "INSERT INTO pauses (endpoint, until, changed_at, requested_at, reason) VALUES (?1, ?2, ?3, ?4, ?5) \
                 ON CONFLICT (endpoint) DO UPDATE SET until = excluded.until, changed_at = excluded.changed_at, requested_at = excluded.requested_at, \
             reason = excluded.reason";
            let values = params![&*pause.endpoint, ms(pause.until), ms(pause.changed_at), ms(now), pause.reason.name()];
            db.prepare_cached(note)?.execute(values)?;
            Ok(())
        })
        .await
    }

    async fn pauses(&self, since: Timestamp, now: Timestamp, limit: usize) -> StoreResult<Vec<Pause>> {
        self.read(move |db| {
            let select = format!("{ACTIVE_PAUSES} AND p.requested_at >= ?2 ORDER BY p.until DESC LIMIT ?3");
            let mut statement = db.prepare_cached(&select)?;
            let mut found = statement.query((ms(now), ms(since), i64::try_from(limit).unwrap_or(i64::MAX)))?;
            let mut pauses = Vec::new();
            while let Some(row) = found.next()? {
                pauses.push(pause_of(row)?);
            }
            Ok(pauses)
        })
        .await
    }

    async fn pause(&self, endpoint: &str, now: Timestamp) -> StoreResult<Option<Pause>> {
        let endpoint = endpoint.to_owned();
        self.read(move |db| {
            let select = format!("{ACTIVE_PAUSES} AND p.endpoint = ?2");
            rows::one(db, &select, (ms(now), &endpoint), pause_of)
        })
        .await
    }

    async fn reset_endpoint_pause(&self, endpoint: &str, now: Timestamp) -> StoreResult<()> {
        let endpoint = endpoint.to_owned();
        self.write(move |db| reset_endpoint_pause(db, &endpoint, now)).await
    }
}

/// Pauses that end after `?1` and whose endpoint is unchanged.
const ACTIVE_PAUSES: &str = "SELECT e.application, p.endpoint, p.until, p.changed_at, p.reason \
     FROM pauses p JOIN endpoints e ON e.id = p.endpoint JOIN applications a ON a.id = e.application \
     WHERE p.until > ?1 AND p.changed_at >= e.updated_at AND p.changed_at >= a.updated_at";

fn pause_of(row: &Row<'_>) -> SqlResult<Pause> {
    Ok(Pause {
        application: rows::id(row, 0)?,
        endpoint: rows::id(row, 1)?,
        until: rows::time(row, 2)?,
        changed_at: rows::time(row, 3)?,
        reason: codec::pause_reason(rows::text(row, 4)?)?,
    })
}

fn reset_endpoint_pause(db: &Connection, endpoint: &str, now: Timestamp) -> SqlResult<()> {
    let touch = "UPDATE endpoints SET updated_at = max(?2, updated_at + 1) WHERE id = ?1 RETURNING application";
    let application = rows::one(db, touch, (endpoint, ms(now)), |row| rows::id(row, 0))?.ok_or(StoreError::NotFound)?;
    applications::raise_version(db, &application)?;
    Ok(())
}
