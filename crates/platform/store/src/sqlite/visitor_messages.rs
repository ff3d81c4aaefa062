//! Messages of the clerk to all visitors of a webcast.

use async_trait::async_trait;
use jiff::Timestamp;
use platform_core::port::{StoreError, StoreResult, VisitorMessage, VisitorMessageStore};
use rusqlite::{Row, params};
use uuid::Uuid;

use super::SqliteStore;
use super::rows::{self, SqlResult};
use crate::codec::ms;

#[async_trait]
impl VisitorMessageStore for SqliteStore {
    async fn put_visitor_message(&self, message: VisitorMessage) -> StoreResult<()> {
        let insert = "INSERT INTO visitor_messages (auction, number, item, actor, body, at_ms) \
             VALUES (?1, ?2, ?3, ?4, ?5, ?6) ON CONFLICT DO NOTHING";
        self.write(move |db| {
            let VisitorMessage { auction, number, item, actor, text, at, cleared: _ } = &message;
            let item = item.as_ref().map(Uuid::as_bytes);
            match rows::execute(db, insert, params![auction.as_bytes(), number, item, actor, text, ms(*at)])? {
                1 => Ok(()),
                _ => Err(StoreError::Conflict.into()),
            }
        })
        .await
    }

    async fn clear_visitor_message(&self, auction: Uuid, number: i64, actor: &str, at: Timestamp) -> StoreResult<()> {
        let update = "UPDATE visitor_messages SET cleared_by = ?3, cleared_at_ms = ?4 \
             WHERE auction = ?1 AND number = ?2 AND cleared_at_ms IS NULL";
        let actor = actor.to_owned();
        self.write(move |db| rows::execute(db, update, params![auction.as_bytes(), number, actor, ms(at)]).map(drop))
            .await
    }

    async fn visitor_messages(&self, auction: Uuid, limit: usize) -> StoreResult<Vec<VisitorMessage>> {
        let select = "SELECT auction, number, item, actor, body, at_ms, cleared_by, cleared_at_ms FROM visitor_messages \
             WHERE auction = ?1 ORDER BY number DESC LIMIT ?2";
        self.read(move |db| rows::list(db, select, (auction.as_bytes(), rows::limit(limit)), message)).await
    }
}

fn message(row: &Row<'_>) -> SqlResult<VisitorMessage> {
    let item: Option<[u8; 16]> = row.get(2)?;
    let cleared_by: Option<String> = row.get(6)?;
    Ok(VisitorMessage {
        auction: rows::uuid(row, 0)?,
        number: row.get(1)?,
        item: item.map(Uuid::from_bytes),
        actor: row.get(3)?,
        text: row.get(4)?,
        at: rows::time(row, 5)?,
        cleared: cleared_by.zip(rows::optional_time(row, 7)?),
    })
}
