//! An item with its auction. Every bid begins with it, so those that are asked for at the same time are read together.

use std::collections::HashMap;

use async_trait::async_trait;
use kit_runtime::batcher::Batcher;
use platform_core::port::{ItemsWithAuctions, StoreError, StoreResult};
use platform_rules::{Auction, Item};
use uuid::Uuid;

use super::PostgresStore;
use super::rows::{self, SqlResult};
use crate::codec::{corrupt, from_json};
use crate::postgres::batching::{self, READ_BATCHES};
use kit_engine::postgres::Postgres;

type ItemWithAuction = (Item, Auction);
/// Reads of lots that wait for each other.
pub(super) type ItemReads = Batcher<Uuid, StoreResult<Option<ItemWithAuction>>>;

/// Starts reading.
pub(super) fn start(postgres: &Postgres) -> ItemReads {
    let postgres = postgres.clone();
    Batcher::start("lots", READ_BATCHES, move |wanted| {
        let postgres = postgres.clone();
        async move { all(&postgres, &wanted).await }
    })
}

#[async_trait]
impl ItemsWithAuctions for PostgresStore {
    async fn item_with_auction(&self, item: Uuid) -> StoreResult<Option<ItemWithAuction>> {
        self.lots.submit(item).await.map_err(batching::batcher_closed)?
    }
}

async fn all(postgres: &Postgres, wanted: &[Uuid]) -> Vec<StoreResult<Option<ItemWithAuction>>> {
    match read(postgres, wanted).await.map_err(StoreError::from) {
        Ok(found) => wanted.iter().map(|item| found.item_with_auction(item)).collect(),
        Err(error) => wanted.iter().map(|_| Err(error.clone())).collect(),
    }
}

struct Found {
    /// As JSON: what can't be read is the matter of those who want it.
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

async fn read(postgres: &Postgres, wanted: &[Uuid]) -> SqlResult<Found> {
    let client = postgres.client().await?;
    let items = client.prepare_cached("SELECT uuid, state FROM items WHERE uuid = ANY($1)").await?;
    let auctions = "SELECT uuid, state FROM auctions \
         WHERE uuid = ANY(ARRAY(SELECT DISTINCT auction FROM items WHERE uuid = ANY($1)))";
    let auctions = client.prepare_cached(auctions).await?;
    // One round trip, and yet first the items, which the server does in this order.
    let values: rows::Values<'_> = &[&wanted];
    let (items, auctions) = tokio::try_join!(biased; client.query(&items, values), client.query(&auctions, values))?;
    let items = items.iter().map(|row| Ok((rows::get(row, 0)?, rows::get(row, 1)?)));
    let auctions = auctions.iter().map(|row| Ok((rows::get(row, 0)?, from_json(rows::get(row, 1)?))));
    Ok(Found { items: items.collect::<SqlResult<_>>()?, auctions: auctions.collect::<SqlResult<_>>()? })
}
