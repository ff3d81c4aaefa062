//! Messages of the clerk to all visitors of a webcast.

use async_trait::async_trait;
use jiff::Timestamp;
use platform_core::port::{StoreError, StoreResult, VisitorMessage, VisitorMessageStore};
use tokio_postgres::Row;
use uuid::Uuid;

use super::PostgresStore;
use super::rows::{self, SqlResult};
use crate::codec::ms;

#[async_trait]
impl VisitorMessageStore for PostgresStore {
    async fn put_visitor_message(&self, message: VisitorMessage) -> StoreResult<()> {
        let insert = "INSERT INTO visitor_messages (auction, number, item, actor, body, at_ms) \
             VALUES ($1, $2, $3, $4, $5, $6) ON CONFLICT DO NOTHING";
        let VisitorMessage { auction, number, item, actor, text, at, cleared: _ } = &message;
        let values: rows::Values<'_> = &[auction, number, item, actor, text, &ms(*at)];
        match rows::execute(&self.client().await?, insert, values).await? {
            1 => Ok(()),
            _ => Err(StoreError::Conflict),
        }
    }

    async fn clear_visitor_message(&self, auction: Uuid, number: i64, actor: &str, at: Timestamp) -> StoreResult<()> {
        let update = "UPDATE visitor_messages SET cleared_by = $3, cleared_at_ms = $4 \
             WHERE auction = $1 AND number = $2 AND cleared_at_ms IS NULL";
        let values: rows::Values<'_> = &[&auction, &number, &actor, &ms(at)];
        Ok(rows::execute(&self.client().await?, update, values).await.map(drop)?)
    }

    async fn visitor_messages(&self, auction: Uuid, limit: usize) -> StoreResult<Vec<VisitorMessage>> {
        let select = "SELECT auction, number, item, actor, body, at_ms, cleared_by, cleared_at_ms FROM visitor_messages \
             WHERE auction = $1 ORDER BY number DESC LIMIT $2";
        Ok(rows::list(&self.client().await?, select, &[&auction, &rows::limit(limit)], message).await?)
    }
}

fn message(row: &Row) -> SqlResult<VisitorMessage> {
    let cleared_by: Option<String> = rows::get(row, 6)?;
    Ok(VisitorMessage {
        auction: rows::get(row, 0)?,
        number: rows::get(row, 1)?,
        item: rows::get(row, 2)?,
        actor: rows::get(row, 3)?,
        text: rows::get(row, 4)?,
        at: rows::time(row, 5)?,
        cleared: cleared_by.zip(rows::optional_time(row, 7)?),
    })
}
