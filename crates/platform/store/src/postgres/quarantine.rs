//! The end of a connection, and events in quarantine.

use async_trait::async_trait;
use deadpool_postgres::{GenericClient, Transaction};
use platform_core::port::{Cursor, IdempotentAnswer, OvertakenPolicy, Quarantine, StoreError, StoreResult};
use uuid::Uuid;

use super::rows::{self, SqlResult};
use super::{PostgresStore, access, locks};

#[async_trait]
impl Quarantine for PostgresStore {
    async fn disconnect(&self, customer: Uuid) -> StoreResult<Option<u64>> {
        let waited = self.write(&customer, |db, customer| Box::pin(disconnect(db, *customer))).await?;
        self.postgres.notify().await;
        Ok(waited)
    }

    async fn overtaken(&self, customer: Uuid, cursors: Vec<Cursor>) -> StoreResult<Vec<Cursor>> {
        Ok(overtaken(&self.client().await?, customer, &cursors).await?)
    }

    async fn requeue_quarantined(
        &self,
        customer: Uuid,
        cursors: Vec<Cursor>,
        after_later: OvertakenPolicy,
        answer: Option<IdempotentAnswer>,
    ) -> StoreResult<()> {
        self.write(&(customer, cursors, after_later, answer), |db, (customer, cursors, after_later, answer)| {
            Box::pin(async move {
                access::keep_or_replay(db, answer.as_ref()).await?;
                requeue_quarantined(db, *customer, cursors, *after_later).await
            })
        })
        .await?;
        self.postgres.notify().await;
        Ok(())
    }

    async fn drop_quarantined(
        &self,
        customer: Uuid,
        cursors: Vec<Cursor>,
        answer: Option<IdempotentAnswer>,
    ) -> StoreResult<()> {
        self.write(&(customer, cursors, answer), |db, (customer, cursors, answer)| {
            Box::pin(async move {
                access::keep_or_replay(db, answer.as_ref()).await?;
                take_out(db, *customer, cursors).await
            })
        })
        .await
    }
}

pub(super) async fn disconnect(db: &Transaction<'_>, customer: Uuid) -> SqlResult<Option<u64>> {
    // A commit that saw the connection has entered its rows before we look, or sees it gone.
    locks::journal(db).await?;
    if rows::execute(db, "DELETE FROM consumers WHERE customer = $1", &[&customer]).await? == 0 {
        return Ok(None);
    }
    let delete = "DELETE FROM outbox WHERE customer = $1 AND cursor IN \
         (SELECT cursor FROM outbox WHERE customer = $1 ORDER BY cursor FOR UPDATE)";
    rows::execute(db, delete, &[&customer]).await.map(Some)
}

async fn requeue_quarantined(
    db: &Transaction<'_>,
    customer: Uuid,
    cursors: &[Cursor],
    after_later: OvertakenPolicy,
) -> SqlResult<()> {
    // No later event of their subjects is entered, or claimed, between the look at them and these.
    locks::journal(db).await?;
    let later = "SELECT o.cursor FROM outbox o \
         WHERE o.subject IN (SELECT subject FROM journal WHERE cursor = ANY($1)) ORDER BY o.cursor FOR UPDATE";
    rows::list(db, later, &[&cursors], |_| Ok(())).await?;
    let connected = "SELECT 1 FROM consumers \
         WHERE customer = $1 AND application_id IS NOT NULL AND api_key IS NOT NULL FOR UPDATE";
    if rows::one(db, connected, &[&customer], |_| Ok(())).await?.is_none() {
        return Err(StoreError::Conflict.into());
    }
    if after_later == OvertakenPolicy::Refuse && !overtaken(db, customer, cursors).await?.is_empty() {
        return Err(StoreError::Conflict.into());
    }
    let enter = "INSERT INTO outbox (cursor, customer, subject, attempts) \
         SELECT q.cursor, q.customer, j.subject, 0 FROM quarantine q JOIN journal j ON j.cursor = q.cursor \
         WHERE q.customer = $1 AND q.cursor = ANY($2) ORDER BY q.cursor ON CONFLICT (customer, cursor) DO NOTHING";
    rows::execute(db, enter, &[&customer, &cursors]).await?;
    take_out(db, customer, cursors).await
}

async fn take_out(db: &Transaction<'_>, customer: Uuid, cursors: &[Cursor]) -> SqlResult<()> {
    let delete = "DELETE FROM quarantine WHERE customer = $1 AND cursor = ANY($2)";
    let count = rows::execute(db, delete, &[&customer, &cursors]).await?;
    if count == cursors.len() as u64 { Ok(()) } else { Err(StoreError::Conflict.into()) }
}

async fn overtaken(db: &impl GenericClient, customer: Uuid, cursors: &[Cursor]) -> SqlResult<Vec<Cursor>> {
    let select = "SELECT j.cursor FROM journal j WHERE j.cursor = ANY($2) AND j.customer = $1 AND EXISTS \
         (SELECT 1 FROM journal l WHERE l.subject = j.subject AND l.sequence > j.sequence AND l.body IS NOT NULL \
             AND NOT EXISTS (SELECT 1 FROM outbox o WHERE o.customer = $1 AND o.cursor = l.cursor AND o.owner IS NULL) \
             AND NOT EXISTS (SELECT 1 FROM quarantine q WHERE q.customer = $1 AND q.cursor = l.cursor)) \
         ORDER BY j.cursor";
    rows::list(db, select, &[&customer, &cursors], |row| rows::get(row, 0)).await
}
