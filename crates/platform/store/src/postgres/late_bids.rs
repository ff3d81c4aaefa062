//! Bids that arrived after the end of their lot, and bids that no longer count.

use async_trait::async_trait;
use kit_engine::postgres::Transaction;
use platform_core::port::{KeptLateBid, LateBidStore, StoreResult, WithdrawnBid};
use tokio_postgres::Row;
use uuid::Uuid;

use super::PostgresStore;
use super::rows::{self, SqlResult};
use crate::codec::{ms, strike};

const LATE: &str = "SELECT uuid, auction, item, paddle, amount, received_at_ms, late_ms FROM late_bids";
const STRUCK: &str = "SELECT b.item, b.bidder, b.amount, b.at_ms, b.struck, b.struck_reason, b.struck_actor, b.struck_at_ms \
     FROM items i JOIN bids b ON b.item = i.uuid";

#[async_trait]
impl LateBidStore for PostgresStore {
    async fn keep_late_bid(&self, bid: KeptLateBid, (of_item, of_paddle): (usize, usize)) -> StoreResult<()> {
        let insert = "INSERT INTO late_bids (uuid, auction, item, paddle, amount, received_at_ms, late_ms) \
             SELECT $1::uuid, $2::uuid, $3::uuid, $4::text, $5::bigint, $6::bigint, $7::bigint \
             WHERE (SELECT count(*) FROM late_bids WHERE item = $3) < $8 \
             AND (SELECT count(*) FROM late_bids WHERE item = $3 AND paddle = $4) < $9";
        let KeptLateBid { uuid, auction, item, paddle, amount, received_at, late_ms } = &bid;
        let (of_item, of_paddle) = (rows::limit(of_item), rows::limit(of_paddle));
        let values: rows::Values<'_> =
            &[uuid, auction, item, paddle, amount, &ms(*received_at), late_ms, &of_item, &of_paddle];
        Ok(rows::execute(&self.client().await?, insert, values).await.map(drop)?)
    }

    async fn late_bids_of(&self, auction: Uuid, paddle: Option<&str>, limit: usize) -> StoreResult<Vec<KeptLateBid>> {
        let select =
            format!("{LATE} WHERE auction = $1 AND ($2::text IS NULL OR paddle = $2) ORDER BY uuid DESC LIMIT $3");
        Ok(rows::list(&self.client().await?, &select, &[&auction, &paddle, &rows::limit(limit)], late_bid).await?)
    }

    async fn struck_bids_of(&self, auction: Uuid, limit: usize) -> StoreResult<Vec<WithdrawnBid>> {
        let select = format!(
            "{STRUCK} WHERE i.auction = $1 AND b.struck IS NOT NULL \
             ORDER BY b.struck_at_ms DESC, b.item, b.number LIMIT $2"
        );
        Ok(rows::list(&self.client().await?, &select, &[&auction, &rows::limit(limit)], struck_bid).await?)
    }
}

/// Deletes the late bids of an erased person.
pub(super) async fn erase(db: &Transaction<'_>, auction: Uuid, paddle: &str) -> SqlResult<()> {
    let delete = "DELETE FROM late_bids WHERE auction = $1 AND paddle = $2";
    rows::execute(db, delete, &[&auction, &paddle]).await.map(drop)
}

fn late_bid(row: &Row) -> SqlResult<KeptLateBid> {
    Ok(KeptLateBid {
        uuid: rows::get(row, 0)?,
        auction: rows::get(row, 1)?,
        item: rows::get(row, 2)?,
        paddle: rows::get(row, 3)?,
        amount: rows::get(row, 4)?,
        received_at: rows::time(row, 5)?,
        late_ms: rows::get(row, 6)?,
    })
}

fn struck_bid(row: &Row) -> SqlResult<WithdrawnBid> {
    Ok(WithdrawnBid {
        item: rows::get(row, 0)?,
        paddle: rows::get(row, 1)?,
        amount: rows::get(row, 2)?,
        at: rows::time(row, 3)?,
        strike: strike(rows::get(row, 4)?)?,
        reason: rows::get(row, 5)?,
        actor: rows::get(row, 6)?,
        struck_at: rows::time(row, 7)?,
    })
}
