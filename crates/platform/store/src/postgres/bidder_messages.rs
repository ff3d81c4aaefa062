//! Messages of staff to the bidders of a sale.

use async_trait::async_trait;
use kit_engine::postgres::Transaction;
use platform_core::port::{BidderMessage, BidderMessageStore, NoticeCause, StoreError, StoreResult};
use tokio_postgres::Row;
use uuid::Uuid;

use super::rows::{self, SqlResult};
use super::{PostgresStore, notices};
use crate::codec::ms;

const MESSAGE: &str = "SELECT uuid, auction, registration, actor, subject, body, at_ms FROM bidder_messages";

#[async_trait]
impl BidderMessageStore for PostgresStore {
    async fn send_message(&self, message: BidderMessage, cause: NoticeCause) -> StoreResult<()> {
        self.write(&(message, cause), |db, (message, cause)| Box::pin(send(db, message, cause))).await
    }

    async fn bidder_message(&self, uuid: Uuid) -> StoreResult<Option<BidderMessage>> {
        let select = format!("{MESSAGE} WHERE uuid = $1");
        Ok(rows::one(&self.client().await?, &select, &[&uuid], message).await?)
    }

    async fn messages_of_auction(&self, auction: Uuid, limit: usize) -> StoreResult<Vec<BidderMessage>> {
        let select = format!("{MESSAGE} WHERE auction = $1 ORDER BY uuid DESC LIMIT $2");
        Ok(rows::list(&self.client().await?, &select, &[&auction, &rows::limit(limit)], message).await?)
    }
}

async fn send(db: &Transaction<'_>, message: &BidderMessage, cause: &NoticeCause) -> SqlResult<()> {
    let insert = "INSERT INTO bidder_messages (uuid, auction, registration, actor, subject, body, at_ms) \
         VALUES ($1, $2, $3, $4, $5, $6, $7) ON CONFLICT DO NOTHING";
    let BidderMessage { uuid, auction, registration, actor, subject, text, at } = message;
    let values: rows::Values<'_> = &[uuid, auction, registration, actor, subject, text, &ms(*at)];
    match rows::execute(db, insert, values).await? {
        1 => notices::put_causes(db, &[cause]).await,
        _ => Err(StoreError::Taken("message").into()),
    }
}

/// Deletes the messages to an erased person's registration alone.
pub(super) async fn erase(db: &Transaction<'_>, auction: Uuid, registration: Uuid) -> SqlResult<()> {
    let delete = "DELETE FROM bidder_messages WHERE auction = $1 AND registration = $2";
    rows::execute(db, delete, &[&auction, &registration]).await.map(drop)
}

fn message(row: &Row) -> SqlResult<BidderMessage> {
    Ok(BidderMessage {
        uuid: rows::get(row, 0)?,
        auction: rows::get(row, 1)?,
        registration: rows::get(row, 2)?,
        actor: rows::get(row, 3)?,
        subject: rows::get(row, 4)?,
        text: rows::get(row, 5)?,
        at: rows::time(row, 6)?,
    })
}
