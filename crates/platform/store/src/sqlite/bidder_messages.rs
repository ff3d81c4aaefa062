//! Messages of staff to the bidders of a sale.

use async_trait::async_trait;
use platform_core::port::{BidderMessage, BidderMessageStore, NoticeCause, StoreError, StoreResult};
use rusqlite::{Connection, Row, params};
use uuid::Uuid;

use super::rows::{self, SqlResult};
use super::{SqliteStore, notices};
use crate::codec::ms;

const MESSAGE: &str = "SELECT uuid, auction, registration, actor, subject, body, at_ms FROM bidder_messages";

#[async_trait]
impl BidderMessageStore for SqliteStore {
    async fn send_message(&self, message: BidderMessage, cause: NoticeCause) -> StoreResult<()> {
        let insert = "INSERT INTO bidder_messages (uuid, auction, registration, actor, subject, body, at_ms) \
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7) ON CONFLICT DO NOTHING";
        self.write(move |db| {
            let BidderMessage { uuid, auction, registration, actor, subject, text, at } = &message;
            let registration = registration.as_ref().map(Uuid::as_bytes);
            let values = params![uuid.as_bytes(), auction.as_bytes(), registration, actor, subject, text, ms(*at)];
            match rows::execute(db, insert, values)? {
                1 => notices::put_causes(db, std::slice::from_ref(&cause)),
                _ => Err(StoreError::Taken("message").into()),
            }
        })
        .await
    }

    async fn bidder_message(&self, uuid: Uuid) -> StoreResult<Option<BidderMessage>> {
        let select = format!("{MESSAGE} WHERE uuid = ?1");
        self.read(move |db| rows::one(db, &select, [uuid.as_bytes()], message)).await
    }

    async fn messages_of_auction(&self, auction: Uuid, limit: usize) -> StoreResult<Vec<BidderMessage>> {
        let select = format!("{MESSAGE} WHERE auction = ?1 ORDER BY uuid DESC LIMIT ?2");
        self.read(move |db| rows::list(db, &select, (auction.as_bytes(), rows::limit(limit)), message)).await
    }
}

/// Deletes the messages to an erased person's registration alone.
pub(super) fn erase(db: &Connection, auction: Uuid, registration: Uuid) -> SqlResult<()> {
    let delete = "DELETE FROM bidder_messages WHERE auction = ?1 AND registration = ?2";
    rows::execute(db, delete, (auction.as_bytes(), registration.as_bytes())).map(drop)
}

fn message(row: &Row<'_>) -> SqlResult<BidderMessage> {
    let registration: Option<[u8; 16]> = row.get(2)?;
    Ok(BidderMessage {
        uuid: rows::uuid(row, 0)?,
        auction: rows::uuid(row, 1)?,
        registration: registration.map(Uuid::from_bytes),
        actor: row.get(3)?,
        subject: row.get(4)?,
        text: row.get(5)?,
        at: rows::time(row, 6)?,
    })
}
