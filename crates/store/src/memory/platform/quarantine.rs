//! The end of a connection, and events in quarantine.

use ::platform::port::{AfterLater, Cursor, IdempotentAnswer, Page, Quarantine, StoreError, StoreResult};
use async_trait::async_trait;
use uuid::Uuid;

use super::{Memory, Tables};

#[async_trait]
impl Quarantine for Memory {
    async fn disconnect(&self, customer: Uuid) -> StoreResult<Option<u64>> {
        Ok(self.tables().outbox.disconnect(customer))
    }

    async fn passed_by(&self, customer: Uuid, cursors: Vec<Cursor>) -> StoreResult<Vec<Cursor>> {
        let tables = self.tables();
        Ok(cursors.into_iter().filter(|cursor| tables.is_passed_by(customer, *cursor)).collect())
    }

    async fn send_again(
        &self,
        customer: Uuid,
        cursors: Vec<Cursor>,
        after_later: AfterLater,
        answer: Option<IdempotentAnswer>,
    ) -> StoreResult<()> {
        let mut tables = self.tables();
        tables.access.check_answer(answer.as_ref())?;
        let refused = |cursor: &Cursor| {
            after_later == AfterLater::Refuse && tables.is_passed_by(customer, *cursor)
                || !tables.outbox.is_aside(customer, *cursor)
        };
        if !tables.outbox.is_connected(customer) || cursors.iter().any(refused) {
            return Err(StoreError::Conflict);
        }
        for cursor in cursors {
            if let Some(mut event) = tables.outbox.take_out(customer, cursor) {
                event.attempts = 0;
                if !tables.outbox.has(cursor) {
                    tables.outbox.enter(event, None);
                }
            }
        }
        answer.into_iter().for_each(|answer| tables.access.keep_answer(answer));
        Ok(())
    }

    async fn drop_quarantined(
        &self,
        customer: Uuid,
        cursors: Vec<Cursor>,
        answer: Option<IdempotentAnswer>,
    ) -> StoreResult<()> {
        let mut tables = self.tables();
        tables.access.check_answer(answer.as_ref())?;
        if !cursors.iter().all(|cursor| tables.outbox.is_aside(customer, *cursor)) {
            return Err(StoreError::Conflict);
        }
        for cursor in cursors {
            tables.outbox.take_out(customer, cursor);
        }
        answer.into_iter().for_each(|answer| tables.access.keep_answer(answer));
        Ok(())
    }
}

impl Tables {
    fn is_passed_by(&self, customer: Uuid, cursor: Cursor) -> bool {
        let Some((subject, sequence)) = self.outbox.aside(customer, cursor) else { return false };
        let later = self.sales.history(subject, Page { after: Some(sequence), limit: usize::MAX });
        let mut announced = later.iter().filter(|row| row.body.is_some());
        announced.any(|row| !self.outbox.waits(row.cursor) && !self.outbox.is_aside(customer, row.cursor))
    }
}
