//! Delivering a message once more.

use ::provider::port::{IdempotentAnswer, Resend, Resends, StoreError, StoreResult};
use async_trait::async_trait;

use super::Memory;
use super::deliveries::Manual;

#[async_trait]
impl Resends for Memory {
    async fn resend(&self, resend: Resend, answer: Option<IdempotentAnswer>) -> StoreResult<()> {
        let mut tables = self.tables();
        tables.config.check_answer(answer.as_ref())?;
        let Resend { application, message, endpoint } = resend;
        let known = tables.config.endpoint(&application, &endpoint).is_some_and(|found| found.id == endpoint);
        if !known || !tables.work.messages.contains_key(&(application.clone(), message.clone())) {
            return Err(StoreError::NotFound);
        }
        tables.config.keep_answer(answer);
        let row_key = (endpoint.clone(), message.clone());
        let is_held = tables.work.is_held(&row_key);
        match tables.work.rows.get_mut(&row_key) {
            Some(row) if is_held || row.owner.is_some() => row.manual = Manual::Later,
            Some(_) => tables.work.make_manual(&row_key),
            None => tables.work.enter_manual(application, row_key),
        }
        Ok(())
    }
}
