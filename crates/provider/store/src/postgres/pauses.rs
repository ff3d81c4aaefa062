//! Endpoints that the dispatcher does not call before a given time.

use async_trait::async_trait;
use jiff::Timestamp;
use provider_core::port::{Pause, PauseStore, StoreError, StoreResult};

use super::rows::{self, Client, SqlResult};
use super::{PostgresStore, applications};
use crate::codec;

#[async_trait]
impl PauseStore for PostgresStore {
    async fn save_pause(&self, pause: Pause, now: Timestamp) -> StoreResult<()> {
        let client = self.client().await?;
        rows::write(&client, "DELETE FROM pauses WHERE until <= $1", &[&now]).await?;
        let note = "INSERT INTO pauses (endpoint, until, changed_at, requested_at, reason) VALUES ($1, $2, $3, $4, $5) \
             ON CONFLICT (endpoint) DO UPDATE SET until = excluded.until, changed_at = excluded.changed_at, requested_at = excluded.requested_at, \
             reason = excluded.reason";
        rows::write(&client, note, &[&&*pause.endpoint, &pause.until, &pause.changed_at, &now, &pause.reason.name()])
            .await?;
        Ok(())
    }

    async fn pauses(&self, since: Timestamp, now: Timestamp, limit: usize) -> StoreResult<Vec<Pause>> {
        let client = self.client().await?;
        let select = format!("{ACTIVE_PAUSES} AND p.requested_at >= $2 ORDER BY p.until DESC LIMIT $3");
        let limit = i64::try_from(limit).unwrap_or(i64::MAX);
        Ok(rows::all(&client, &select, &[&now, &since, &limit], pause_of).await?)
    }

    async fn pause(&self, endpoint: &str, now: Timestamp) -> StoreResult<Option<Pause>> {
        let client = self.client().await?;
        let select = format!("{ACTIVE_PAUSES} AND p.endpoint = $2");
        Ok(rows::one(&client, &select, &[&now, &endpoint], pause_of).await?)
    }

    async fn reset_endpoint_pause(&self, endpoint: &str, now: Timestamp) -> StoreResult<()> {
        self.transaction(&(endpoint, now), |db, &(endpoint, now)| Box::pin(reset_endpoint_pause(db, endpoint, now)))
            .await?;
        self.engine.notify().await;
        Ok(())
    }
}

/// Pauses that end after `$1` and whose endpoint is unchanged.
const ACTIVE_PAUSES: &str = "SELECT e.application, p.endpoint, p.until, p.changed_at, p.reason \
     FROM pauses p JOIN endpoints e ON e.id = p.endpoint JOIN applications a ON a.id = e.application \
     WHERE p.until > $1 AND p.changed_at >= e.updated_at AND p.changed_at >= a.updated_at";

fn pause_of(row: &tokio_postgres::Row) -> StoreResult<Pause> {
    Ok(Pause {
        application: rows::id(row, 0)?,
        endpoint: rows::id(row, 1)?,
        until: rows::get(row, 2)?,
        changed_at: rows::get(row, 3)?,
        reason: codec::pause_reason(rows::get(row, 4)?)?,
    })
}

/// Locks the application before the endpoint, as every change of an endpoint does.
async fn reset_endpoint_pause(db: &impl Client, endpoint: &str, now: Timestamp) -> SqlResult<()> {
    let application = "SELECT application FROM endpoints WHERE id = $1";
    let application = rows::one(db, application, &[&endpoint], |row| rows::id(row, 0)).await?;
    let application = application.ok_or(StoreError::NotFound)?;
    applications::lock(db, &application).await?;
    let touch = "UPDATE endpoints SET updated_at = greatest($2, updated_at + interval '1 millisecond') WHERE id = $1";
    if rows::write(db, touch, &[&endpoint, &now]).await? == 0 {
        return Err(StoreError::NotFound.into());
    }
    applications::raise_version(db, &application).await.map(drop)
}
