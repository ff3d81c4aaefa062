//! What search engines find in the open salerooms: sales and lots that visitors see.

use uuid::Uuid;

use super::visits::ON_VIEW;
use super::{Saleroom, SiteMap};
use crate::Platform;
use crate::error::PlatformResult;
use crate::port::{House, Page};

/// Open salerooms, at most.
const SALEROOMS_MAX: usize = 1_000;
/// Past sales of a house, at most; the latest come first.
const PAST_SALES_MAX: usize = 100;
/// Lots of a house, at most.
const LOTS_MAX: usize = 10_000;
/// Rows read at once.
const ROWS: usize = 250;

impl Platform {
    /// The addresses of the open salerooms at the shared host, in order; at most 1,000. Those with a domain of their own are there.
    pub async fn open_salerooms(&self) -> PlatformResult<Vec<String>> {
        let (mut open, mut after) = (Vec::new(), None);
        let domains = self.served_domains().await?;
        loop {
            let houses = self.store().houses_with_saleroom(Page { after, limit: ROWS }).await?;
            let is_last = houses.len() < ROWS;
            after = houses.last().and_then(|house| house.saleroom.address.clone());
            let is_shared = |house: &House| house.saleroom.is_open && domains.of_customer(house.customer).is_none();
            let open_ones = houses.into_iter().filter(is_shared);
            open.extend(open_ones.filter_map(|house| house.saleroom.address));
            if is_last || open.len() >= SALEROOMS_MAX {
                open.truncate(SALEROOMS_MAX);
                return Ok(open);
            }
        }
    }

    /// The sales of a saleroom with their lots: those that are live or announced, then the latest 100 past ones. The lots end at
    /// 10,000.
    pub async fn site_map(&self, saleroom: &Saleroom) -> PlatformResult<SiteMap> {
        let coming = self.coming_sales(saleroom).await?;
        let past = self.past_sales(saleroom, Page { after: None, limit: PAST_SALES_MAX }).await?.entries;
        let (mut sales, mut room) = (Vec::new(), LOTS_MAX);
        for sale in coming.into_iter().chain(past) {
            let lots = self.lots_on_map(sale.auction.uuid, room).await?;
            room -= lots.len();
            sales.push((sale.auction.uuid, lots));
        }
        Ok(SiteMap { sales })
    }

    /// The lots of a sale that visitors see, in running order; at most `room`.
    async fn lots_on_map(&self, auction: Uuid, room: usize) -> PlatformResult<Vec<Uuid>> {
        let (mut lots, mut after) = (Vec::new(), None);
        while lots.len() < room {
            let limit = ROWS.min(room - lots.len());
            let items = self.store().items_with_status(auction, &ON_VIEW, Page { after, limit }).await?;
            after = items.last().map(|item| item.position);
            lots.extend(items.iter().map(|item| item.uuid));
            if items.len() < limit {
                break;
            }
        }
        Ok(lots)
    }
}
