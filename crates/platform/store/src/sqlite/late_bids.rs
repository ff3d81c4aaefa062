//! Bids that arrived after the end of their lot, and bids that no longer count.

use async_trait::async_trait;
use platform_core::port::{KeptLateBid, LateBidStore, StoreResult, WithdrawnBid};
use rusqlite::{Connection, Row, params};
use uuid::Uuid;

use super::SqliteStore;
use super::rows::{self, SqlResult};
use crate::codec::{ms, strike};

const LATE: &str = "SELECT uuid, auction, item, paddle, amount, received_at_ms, late_ms FROM late_bids";
const STRUCK: &str = "SELECT b.item, b.bidder, b.amount, b.at_ms, b.struck, b.struck_reason, b.struck_actor, b.struck_at_ms \
     FROM items i JOIN bids b ON b.item = i.uuid";

#[async_trait]
impl LateBidStore for SqliteStore {
    async fn keep_late_bid(&self, bid: KeptLateBid, (of_item, of_paddle): (usize, usize)) -> StoreResult<()> {
        let insert = "INSERT INTO late_bids (uuid, auction, item, paddle, amount, received_at_ms, late_ms) \
             SELECT ?1, ?2, ?3, ?4, ?5, ?6, ?7 WHERE (SELECT count(*) FROM late_bids WHERE item = ?3) < ?8 \
             AND (SELECT count(*) FROM late_bids WHERE item = ?3 AND paddle = ?4) < ?9";
        self.write(move |db| {
            let KeptLateBid { uuid, auction, item, paddle, amount, received_at, late_ms } = &bid;
            let values = params![
                uuid.as_bytes(),
                auction.as_bytes(),
                item.as_bytes(),
                paddle,
                amount,
                ms(*received_at),
                late_ms,
                rows::limit(of_item),
                rows::limit(of_paddle)
            ];
            rows::execute(db, insert, values).map(drop)
        })
        .await
    }

    async fn late_bids_of(&self, auction: Uuid, paddle: Option<&str>, limit: usize) -> StoreResult<Vec<KeptLateBid>> {
        let select = format!("{LATE} WHERE auction = ?1 AND (?2 IS NULL OR paddle = ?2) ORDER BY uuid DESC LIMIT ?3");
        let paddle = paddle.map(str::to_owned);
        self.read(move |db| rows::list(db, &select, (auction.as_bytes(), paddle, rows::limit(limit)), late_bid)).await
    }

    async fn struck_bids_of(&self, auction: Uuid, limit: usize) -> StoreResult<Vec<WithdrawnBid>> {
        let select = format!(
            "{STRUCK} WHERE i.auction = ?1 AND b.struck IS NOT NULL \
             ORDER BY b.struck_at_ms DESC, b.item, b.number LIMIT ?2"
        );
        self.read(move |db| rows::list(db, &select, (auction.as_bytes(), rows::limit(limit)), struck_bid)).await
    }
}

/// Deletes the late bids of an erased person.
pub(super) fn erase(db: &Connection, auction: Uuid, paddle: &str) -> SqlResult<()> {
    let delete = "DELETE FROM late_bids WHERE auction = ?1 AND paddle = ?2";
    rows::execute(db, delete, (auction.as_bytes(), paddle)).map(drop)
}

fn late_bid(row: &Row<'_>) -> SqlResult<KeptLateBid> {
    Ok(KeptLateBid {
        uuid: rows::uuid(row, 0)?,
        auction: rows::uuid(row, 1)?,
        item: rows::uuid(row, 2)?,
        paddle: row.get(3)?,
        amount: row.get(4)?,
        received_at: rows::time(row, 5)?,
        late_ms: row.get(6)?,
    })
}

fn struck_bid(row: &Row<'_>) -> SqlResult<WithdrawnBid> {
    Ok(WithdrawnBid {
        item: rows::uuid(row, 0)?,
        paddle: row.get(1)?,
        amount: row.get(2)?,
        at: rows::time(row, 3)?,
        strike: strike(row.get(4)?)?,
        reason: row.get(5)?,
        actor: row.get(6)?,
        struck_at: rows::time(row, 7)?,
    })
}
