//! Writes with their answers.

use async_trait::async_trait;
use jiff::Timestamp;
use platform_core::port::{AnsweredWrites, IdempotentAnswer, StoreError, StoreResult};
use rusqlite::Connection;
use uuid::Uuid;

use super::rows::{self, SqlResult};
use super::{SqliteStore, access, consumers};

#[async_trait]
impl AnsweredWrites for SqliteStore {
    async fn next_auctioneer_id(&self) -> StoreResult<i64> {
        self.write(next_auctioneer_id).await
    }

    async fn resume_queue(&self, customer: Uuid, at: Timestamp, answer: Option<IdempotentAnswer>) -> StoreResult<()> {
        self.write(move |db| {
            access::keep_or_replay(db, answer.as_ref())?;
            consumers::resume_queue(db, customer, at)
        })
        .await
    }
}

/// The table counts its ids itself; a row that is given none goes on from here.
fn next_auctioneer_id(db: &Connection) -> SqlResult<i64> {
    let begin = "INSERT INTO sqlite_sequence (name, seq) \
         SELECT 'auctioneers', 0 WHERE NOT EXISTS (SELECT 1 FROM sqlite_sequence WHERE name = 'auctioneers')";
    rows::execute(db, begin, [])?;
    let draw = "UPDATE sqlite_sequence SET seq = seq + 1 WHERE name = 'auctioneers' RETURNING seq";
    let drawn = rows::one(db, draw, [], |row| Ok(row.get(0)?))?;
    Ok(drawn.ok_or_else(|| StoreError::Corrupt("auctioneers are not counted".to_owned()))?)
}
