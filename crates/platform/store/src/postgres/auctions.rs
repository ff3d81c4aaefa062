//! Auctions, items and bids, and the commit that changes them.
//!
//! Each combination of filter columns has an index that continues with the key of the list. A statement reads the first
//! keys of each combination of filter values, sorts the keys, and reads the rows of the page.
//!
//! PostgreSQL's statistics make it choose a bad index in two cases. If all rows have the same values (one customer, all
//! items LIVE), it reads the index of the whole list and checks row by row, so a filter without a match reads all rows.
//! If an auction is newer than the statistics, PostgreSQL expects no rows of it, so that every index on the auction
//! seems equally good. Therefore the lists of all modules state the range of their index, in the order of its columns:
//! `(customer, cursor) > ($1, $2)` and `customer <= $1`. Only the right index has that order. A query for one row reads
//! the first row of such a range. Where this is not enough, the tables declare the number of customers to expect
//! (`n_distinct`). A LATERAL with a LIMIT reads the rows of a page; the planner can't turn it into a join that reads
//! both sides from the beginning.

use std::collections::HashMap;

use async_trait::async_trait;
use contract::ItemStatus;
use kit_engine::postgres::{Connection, Postgres};
use kit_runtime::batcher::Batcher;
use platform_core::bidding::bid::Bid;
use platform_core::port::{
    AuctionFilter, AuctionOwner, AuctionStore, Change, CommitReceipt, NodeId, Page, StoreError, StoreResult,
};
use platform_rules::{Auction, Hidden, Item, ItemCounts, SaleMode};
use uuid::Uuid;

use super::PostgresStore;
use super::batching::{self, READ_BATCHES};
use super::commit::group::{self, GroupResult};
use super::customers::OF_CUSTOMER;
use super::rows::{self, SqlResult, after};
use crate::codec::{
    self, LIVE, PASSED, PREVIEW, SOLD, SOLD_BUY_NOW, SUSPENDED, UNSOLD, auction_kind_code, corrupt, from_json,
};

const FILTER_BY_CUSTOMER: &str = "customer = $6 AND";

const FILTER_BY_AUCTIONEER: &str = "auctioneer = $6 AND";

const ITEMS_WITH_STATUS: &str = "SELECT i.state FROM (SELECT p.position FROM unnest($2::integer[]) AS s (status) \
     CROSS JOIN (VALUES (false), (true)) AS b (has_bids) \
     CROSS JOIN LATERAL (SELECT position FROM items WHERE auction = $1 AND status = s.status \
         AND (has_bids, position) > (b.has_bids, $3) AND has_bids <= b.has_bids ORDER BY has_bids, position LIMIT $4) AS p \
     ORDER BY p.position LIMIT $4) AS f \
     CROSS JOIN LATERAL (SELECT state FROM items WHERE (auction, position) >= ($1, f.position) \
         ORDER BY auction, position LIMIT 1) AS i \
     ORDER BY f.position";

const ITEM_BY_LOT_NUMBER: &str = "SELECT state FROM (SELECT auction, lot_number, state FROM items \
         WHERE (auction, lot_number) >= ($1, $2) ORDER BY auction, lot_number LIMIT 1) AS f \
     WHERE auction = $1 AND lot_number = $2";

type ItemWithAuction = (Item, Auction);

/// Combines concurrent reads of items.
pub(super) type ItemReads = Batcher<Uuid, StoreResult<Option<ItemWithAuction>>>;

#[async_trait]
impl AuctionStore for PostgresStore {
    async fn auction(&self, uuid: Uuid) -> StoreResult<Option<Auction>> {
        Ok(auction(&self.client().await?, uuid).await?)
    }

    async fn auctions(&self, customer: Option<Uuid>, page: Page<Uuid>) -> StoreResult<Vec<Auction>> {
        Ok(auctions(&self.client().await?, customer, page).await?)
    }

    async fn filtered_auctions(&self, filter: &AuctionFilter, page: Page<Uuid>) -> StoreResult<Vec<Auction>> {
        let combinations = filter.combinations();
        let statuses: Vec<i32> = combinations.iter().map(|(status, _, _)| status.code()).collect();
        let kinds: Vec<i16> = combinations.iter().map(|(_, kind, _)| auction_kind_code(*kind)).collect();
        let sandboxes: Vec<bool> =
            combinations.iter().map(|(_, _, sale_mode)| *sale_mode == SaleMode::Sandbox).collect();
        let (after, limit) = (after(page), rows::limit(page.limit));
        let mut values: Vec<&(dyn tokio_postgres::types::ToSql + Sync)> =
            vec![&statuses, &kinds, &sandboxes, &after, &limit];
        let owner_condition = match &filter.of {
            AuctionOwner::All => "",
            AuctionOwner::Customer(customer) => {
                values.push(customer);
                FILTER_BY_CUSTOMER
            }
            AuctionOwner::Auctioneer(auctioneer) => {
                values.push(auctioneer);
                FILTER_BY_AUCTIONEER
            }
        };
        Ok(rows::list(&self.client().await?, &filtered_auctions_sql(owner_condition), &values, |row| {
            rows::json(row, 0)
        })
        .await?)
    }

    async fn item(&self, uuid: Uuid) -> StoreResult<Option<Item>> {
        Ok(item(&self.client().await?, uuid).await?)
    }

    async fn items(&self, auction: Uuid, page: Page<i64>) -> StoreResult<Vec<Item>> {
        Ok(items(&self.client().await?, auction, page).await?)
    }

    async fn items_with_status(
        &self,
        auction: Uuid,
        statuses: &[ItemStatus],
        page: Page<i64>,
    ) -> StoreResult<Vec<Item>> {
        let statuses: Vec<i32> = statuses.iter().map(|status| status.code()).collect();
        let after = page.after.unwrap_or(i64::MIN);
        let values: rows::Values<'_> = &[&auction, &statuses, &after, &rows::limit(page.limit)];
        Ok(rows::list(&self.client().await?, ITEMS_WITH_STATUS, values, |row| rows::json(row, 0)).await?)
    }

    async fn item_by_lot_number(&self, auction: Uuid, lot_number: &str) -> StoreResult<Option<Item>> {
        if lot_number.contains('\0') {
            return Ok(None);
        }
        Ok(rows::one(&self.client().await?, ITEM_BY_LOT_NUMBER, &[&auction, &lot_number], |row| rows::json(row, 0))
            .await?)
    }

    async fn item_with_auction(&self, item: Uuid) -> StoreResult<Option<ItemWithAuction>> {
        self.item_reads.submit(item).await.map_err(batching::batcher_closed)?
    }

    async fn item_counts(&self, auction: Uuid) -> StoreResult<ItemCounts> {
        Ok(item_counts(&self.client().await?, auction).await?)
    }

    async fn item_categories(&self, auction: Uuid, statuses: &[ItemStatus], limit: usize) -> StoreResult<Vec<String>> {
        let select = "SELECT DISTINCT category COLLATE \"C\" FROM items \
             WHERE auction = $1 AND category IS NOT NULL AND status = ANY($2) ORDER BY 1 LIMIT $3";
        let statuses: Vec<i32> = statuses.iter().map(|status| status.code()).collect();
        let values: rows::Values<'_> = &[&auction, &statuses, &rows::limit(limit)];
        Ok(rows::list(&self.client().await?, select, values, |row| rows::get(row, 0)).await?)
    }

    async fn open_buyers(&self, auction: Uuid) -> StoreResult<u64> {
        let select = "SELECT count(*) FROM items \
             WHERE auction = $1 AND status = $2 AND state::jsonb #>> '{standing,bidder}' = ''";
        let values: rows::Values<'_> = &[&auction, &ItemStatus::Sold.code()];
        let count = rows::one(&self.client().await?, select, values, |row| rows::get::<i64>(row, 0)).await?;
        Ok(count.unwrap_or_default().unsigned_abs())
    }

    async fn capped_item_counts(&self, auctions: &[Uuid]) -> StoreResult<Vec<ItemCounts>> {
        // Each combination of values is one position in the index. A condition on `has_bids` alone reads the whole
        // index.
        let some = "EXISTS (SELECT 1 FROM items WHERE auction = a.uuid AND status";
        let every: Vec<i32> = ItemStatus::ALL.iter().map(|status| status.code()).collect();
        let select = format!(
            "SELECT {some} = {LIVE}), {some} = {SUSPENDED}), \
             EXISTS (SELECT 1 FROM unnest($2::int[]) AS s (status), \
                 LATERAL (SELECT 1 FROM items WHERE auction = a.uuid AND status = s.status AND has_bids LIMIT 1) AS i) \
             FROM unnest($1::uuid[]) WITH ORDINALITY AS a (uuid, place) ORDER BY a.place"
        );
        let client = self.client().await?;
        let values: rows::Values<'_> = &[&auctions, &every];
        let found = rows::list(&client, &select, values, |row| {
            let live = u64::from(rows::get::<bool>(row, 0)?);
            let suspended = u64::from(rows::get::<bool>(row, 1)?);
            let with_bids = u64::from(rows::get::<bool>(row, 2)?);
            Ok(ItemCounts { live, suspended, with_bids, ..ItemCounts::default() })
        });
        Ok(found.await?)
    }

    async fn bids(&self, item: Uuid, page: Page<i64>) -> StoreResult<Vec<Bid>> {
        Ok(bids(&self.client().await?, item, page).await?)
    }

    async fn commit(
        &self,
        changes: Vec<Change>,
        assign_to: Option<NodeId>,
    ) -> StoreResult<Vec<StoreResult<CommitReceipt>>> {
        let changes = if group::can_group(&changes) {
            match self.group_committer.submit(changes).await.map_err(batching::batcher_closed)? {
                GroupResult::Done(answers) => return answers,
                GroupResult::Alone(changes) => changes,
            }
        } else {
            changes
        };
        Ok(super::commit::commit(&self.postgres, &changes, assign_to).await?)
    }
}

/// `owner_condition` is empty, or a condition that ends with AND.
fn filtered_auctions_sql(owner_condition: &str) -> String {
    format!(
        "SELECT a.state FROM (SELECT p.uuid \
         FROM unnest($1::integer[], $2::smallint[], $3::boolean[]) AS c (status, kind, sandbox) \
         CROSS JOIN LATERAL (SELECT uuid FROM auctions WHERE {owner_condition} status = c.status AND kind = c.kind \
             AND (sandbox, uuid) > (c.sandbox, $4) AND sandbox <= c.sandbox ORDER BY sandbox, uuid LIMIT $5) AS p \
         ORDER BY p.uuid LIMIT $5) AS f \
         CROSS JOIN LATERAL (SELECT state FROM auctions WHERE uuid = f.uuid LIMIT 1) AS a ORDER BY f.uuid"
    )
}

pub(super) async fn auction(db: &impl Connection, uuid: Uuid) -> SqlResult<Option<Auction>> {
    rows::one(db, "SELECT state FROM auctions WHERE uuid = $1", &[&uuid], |row| rows::json(row, 0)).await
}

pub(super) async fn auctions(
    db: &impl Connection,
    customer: Option<Uuid>,
    page: Page<Uuid>,
) -> SqlResult<Vec<Auction>> {
    let (after, limit) = (after(page), rows::limit(page.limit));
    match customer {
        None => {
            let select = "SELECT state FROM auctions WHERE uuid > $1 ORDER BY uuid LIMIT $2";
            rows::list(db, select, &[&after, &limit], |row| rows::json(row, 0)).await
        }
        Some(customer) => {
            let select = format!("SELECT state FROM auctions {OF_CUSTOMER}");
            rows::list(db, &select, &[&customer, &after, &limit], |row| rows::json(row, 0)).await
        }
    }
}

pub(super) async fn item(db: &impl Connection, uuid: Uuid) -> SqlResult<Option<Item>> {
    rows::one(db, "SELECT state FROM items WHERE uuid = $1", &[&uuid], |row| rows::json(row, 0)).await
}

pub(super) async fn items(db: &impl Connection, auction: Uuid, page: Page<i64>) -> SqlResult<Vec<Item>> {
    let select = "SELECT state FROM items WHERE auction = $1 AND position > $2 ORDER BY position LIMIT $3";
    let after = page.after.unwrap_or(i64::MIN);
    rows::list(db, select, &[&auction, &after, &rows::limit(page.limit)], |row| rows::json(row, 0)).await
}

pub(super) async fn item_counts(db: &impl Connection, auction: Uuid) -> SqlResult<ItemCounts> {
    let select = "SELECT status, has_bids, count(*) FROM items WHERE auction = $1 GROUP BY status, has_bids";
    let groups = rows::list(db, select, &[&auction], |row| {
        Ok((rows::get::<i32>(row, 0)?, rows::get::<bool>(row, 1)?, rows::count(row, 2)?))
    })
    .await?;
    let mut counts = ItemCounts::default();
    for (status, has_bids, count) in groups {
        counts.total += count;
        match status {
            PREVIEW => counts.preview += count,
            LIVE => counts.live += count,
            SUSPENDED => counts.suspended += count,
            PASSED => counts.passed += count,
            SOLD | SOLD_BUY_NOW => counts.sold += count,
            UNSOLD => counts.unsold += count,
            _ => {}
        }
        if has_bids {
            counts.with_bids += count;
        }
    }
    Ok(counts)
}

pub(super) async fn bids(db: &impl Connection, item: Uuid, page: Page<i64>) -> SqlResult<Vec<Bid>> {
    let select = "SELECT number, uuid, bidder, amount, source, actor, at_ms, maximum, before, asked, struck, struck_after, \
         struck_reason, struck_actor, struck_at_ms FROM bids \
         WHERE item = $1 AND number > $2 ORDER BY number LIMIT $3";
    let after = page.after.unwrap_or(i64::MIN);
    rows::list(db, select, &[&item, &after, &rows::limit(page.limit)], |row| {
        Ok(Bid {
            number: rows::get(row, 0)?,
            uuid: rows::get(row, 1)?,
            item,
            bidder: rows::get(row, 2)?,
            amount: rows::get(row, 3)?,
            source: codec::source(rows::get(row, 4)?)?,
            actor: rows::get(row, 5)?,
            at: rows::time(row, 6)?,
            maximum: Hidden::new(rows::get(row, 7)?),
            before: rows::get(row, 8)?,
            asked: rows::get(row, 9)?,
            struck: codec::struck((
                rows::get(row, 10)?,
                rows::get(row, 11)?,
                rows::get(row, 12)?,
                rows::get(row, 13)?,
                rows::get(row, 14)?,
            ))?,
        })
    })
    .await
}

pub(super) fn start_item_reads(postgres: &Postgres) -> ItemReads {
    let postgres = postgres.clone();
    Batcher::start("lots", READ_BATCHES, move |wanted| {
        let postgres = postgres.clone();
        async move { read_items(&postgres, &wanted).await }
    })
}

async fn read_items(postgres: &Postgres, wanted: &[Uuid]) -> Vec<StoreResult<Option<ItemWithAuction>>> {
    match read_found(postgres, wanted).await.map_err(StoreError::from) {
        Ok(found) => wanted.iter().map(|item| found.item_with_auction(item)).collect(),
        Err(error) => wanted.iter().map(|_| Err(error.clone())).collect(),
    }
}

struct Found {
    /// As JSON text, so that a state that can't be decoded is an error only for the callers that requested it.
    items: HashMap<Uuid, String>,
    auctions: HashMap<Uuid, StoreResult<Auction>>,
}

impl Found {
    fn item_with_auction(&self, item: &Uuid) -> StoreResult<Option<ItemWithAuction>> {
        let Some(json) = self.items.get(item) else { return Ok(None) };
        let item: Item = from_json(json)?;
        match self.auctions.get(&item.auction) {
            Some(auction) => Ok(Some((item, auction.clone()?))),
            None => Err(corrupt("an item has no auction")),
        }
    }
}

async fn read_found(postgres: &Postgres, wanted: &[Uuid]) -> SqlResult<Found> {
    let client = postgres.client().await?;
    let items = client.prepare_cached("SELECT uuid, state FROM items WHERE uuid = ANY($1)").await?;
    let auctions = "SELECT uuid, state FROM auctions \
         WHERE uuid = ANY(ARRAY(SELECT DISTINCT auction FROM items WHERE uuid = ANY($1)))";
    let auctions = client.prepare_cached(auctions).await?;
    // Both statements take one round trip. The server runs them in this order, items first.
    let values: rows::Values<'_> = &[&wanted];
    let (items, auctions) = tokio::try_join!(biased; client.query(&items, values), client.query(&auctions, values))?;
    let items = items.iter().map(|row| Ok((rows::get(row, 0)?, rows::get(row, 1)?)));
    let auctions = auctions.iter().map(|row| Ok((rows::get(row, 0)?, from_json(rows::get(row, 1)?))));
    Ok(Found { items: items.collect::<SqlResult<_>>()?, auctions: auctions.collect::<SqlResult<_>>()? })
}

#[cfg(test)]
mod query_plans;
