//! Writes with their answers.

use async_trait::async_trait;
use jiff::Timestamp;
use platform_core::port::{AnsweredWrites, IdempotentAnswer, StoreError, StoreResult};
use uuid::Uuid;

use super::{PostgresStore, access, consumers, rows};

#[async_trait]
impl AnsweredWrites for PostgresStore {
    async fn next_auctioneer_id(&self) -> StoreResult<i64> {
        let draw = "SELECT nextval(pg_get_serial_sequence('auctioneers', 'id'))";
        let drawn = rows::one(&self.client().await?, draw, &[], |row| rows::get(row, 0)).await?;
        drawn.ok_or_else(|| StoreError::Corrupt("auctioneers are not counted".to_owned()))
    }

    async fn resume_queue(&self, customer: Uuid, at: Timestamp, answer: Option<IdempotentAnswer>) -> StoreResult<()> {
        self.write(&(customer, at, answer), |db, (customer, at, answer)| {
            Box::pin(async move {
                access::keep_or_replay(db, answer.as_ref()).await?;
                consumers::resume_queue(db, *customer, *at).await
            })
        })
        .await?;
        self.postgres.notify().await;
        Ok(())
    }
}
