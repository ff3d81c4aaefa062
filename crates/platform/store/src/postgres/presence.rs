//! What there is among the items of auctions.

use async_trait::async_trait;
use contract::ItemStatus;
use platform_core::port::{ItemPresence, StoreResult};
use platform_rules::ItemCounts;
use uuid::Uuid;

use super::PostgresStore;
use super::rows;
use crate::codec::{LIVE, SUSPENDED};

#[async_trait]
impl ItemPresence for PostgresStore {
    async fn item_presence(&self, auctions: &[Uuid]) -> StoreResult<Vec<ItemCounts>> {
        // Each of these is a place in the index; with `has_bids` alone it would be gone through.
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
            let (live, suspended, with_bids): (bool, bool, bool) =
                (rows::get(row, 0)?, rows::get(row, 1)?, rows::get(row, 2)?);
            let (live, suspended, with_bids) = (u64::from(live), u64::from(suspended), u64::from(with_bids));
            Ok(ItemCounts { live, suspended, with_bids, ..ItemCounts::default() })
        });
        Ok(found.await?)
    }
}
