//! Writes with their answers.

use ::platform::port::{Answered, IdempotentAnswer, StoreResult};
use async_trait::async_trait;
use jiff::Timestamp;
use uuid::Uuid;

use super::Memory;

#[async_trait]
impl Answered for Memory {
    async fn next_auctioneer_id(&self) -> StoreResult<i64> {
        Ok(self.tables().access.next_auctioneer_id())
    }

    async fn resume(&self, customer: Uuid, at: Timestamp, answer: Option<IdempotentAnswer>) -> StoreResult<()> {
        let mut tables = self.tables();
        tables.access.check_answer(answer.as_ref())?;
        if let Some(answer) = answer {
            tables.access.keep_answer(answer);
        }
        tables.outbox.resume(customer, at);
        Ok(())
    }
}
