//! The filters of a catalogue beside its search: by price, by end, and by what the bidder did. They compare what the pages show, so
//! that no filter tells more than a page.

use std::collections::HashSet;

use jiff::tz::TimeZone;
use jiff::{SignedDuration, Timestamp};
use platform_core::PlatformResult;
use platform_core::port::Page;
use platform_core::saleroom::{SaleroomLot, SaleroomLots, SaleroomSale};
use uuid::Uuid;

use crate::catalogue::{LOTS_MAX, Part};
use crate::house::House;

/// Lots that are read at once, and how often for one page. A further page goes on where this one stopped.
const CHUNK: usize = 250;
const CHUNKS_MAX: usize = 10;

/// The filters of a request.
#[derive(Debug, Default)]
pub(crate) struct LotFilter {
    /// Lowest and highest price, minor units. Before the first bid, the price is that of the least bid.
    price: [Option<i64>; 2],
    /// What is wrong with a typed price; empty when nothing is.
    pub(crate) faults: [String; 2],
    ends_by: Option<(Timestamp, Timestamp)>,
    /// The lots that the bidder watches, or bid on.
    only: Option<HashSet<Uuid>>,
}

impl LotFilter {
    pub(crate) async fn of(house: &House<1>, sale: &SaleroomSale, part: &Part) -> PlatformResult<Self> {
        let mut filter = Self::default();
        let currency = house.words.currency(&sale.auction);
        for (place, typed) in part.price.iter().enumerate().filter(|(_, typed)| !typed.is_empty()) {
            match currency.parse_in_words(typed) {
                Ok(amount) => filter.price[place] = Some(amount),
                Err(fault) => filter.faults[place] = fault,
            }
        }
        let now = house.platform().now();
        filter.ends_by = end_of(part.ends, now, &sale.auction.time_zone).map(|end| (now, end));
        if let Some(bidder) = house.bidder.as_ref().filter(|_| !part.own.is_empty()) {
            let sales = house.platform().own_lots(&house.saleroom, bidder).await?;
            let lots = sales.into_iter().filter(|own| own.auction.uuid == sale.auction.uuid).flat_map(|own| own.lots);
            let is_wanted = |own: &platform_core::saleroom::OwnLot| match part.own {
                "watched" => own.is_watched,
                _ => {
                    own.own.as_ref().is_some_and(|own| own.has_bid || own.waiting.is_some() || own.commission.is_some())
                }
            };
            filter.only = Some(lots.filter(is_wanted).map(|own| own.lot.sale.uuid).collect());
        }
        Ok(filter)
    }

    /// Lots have to be read to know whether they match.
    pub(crate) fn reads_lots(&self) -> bool {
        self.price.iter().any(Option::is_some) || self.ends_by.is_some() || self.only.is_some()
    }

    /// The next lots that match the filters and the search.
    pub(crate) async fn lots(&self, house: &House<1>, auction: Uuid, part: &Part) -> PlatformResult<SaleroomLots> {
        let platform = house.platform();
        let wanted = part.wanted();
        if !self.reads_lots() {
            let page = Page { after: part.after, limit: LOTS_MAX };
            return platform.saleroom_lots(&house.saleroom, auction, wanted, page).await;
        }
        let (mut lots, mut after): (Vec<SaleroomLot>, _) = (Vec::new(), part.after);
        for _ in 0..CHUNKS_MAX {
            let page = Page { after, limit: CHUNK };
            let found = platform.saleroom_lots(&house.saleroom, auction, wanted, page).await?;
            for lot in found.lots.into_iter().filter(|lot| self.matches(lot)) {
                if lots.len() == LOTS_MAX {
                    return Ok(SaleroomLots { next: lots.last().map(|last| last.position), lots });
                }
                lots.push(lot);
            }
            after = found.next;
            if after.is_none() {
                break;
            }
        }
        Ok(SaleroomLots { lots, next: after })
    }

    fn matches(&self, lot: &SaleroomLot) -> bool {
        let [from, to] = self.price;
        let price = lot.sale.price.or(lot.sale.minimum_bid);
        let has_price = (from.is_none() && to.is_none())
            || price.is_some_and(|price| from.is_none_or(|from| price >= from) && to.is_none_or(|to| price <= to));
        let ends = self.ends_by.is_none_or(|(now, end)| {
            lot.sale.effective_end_time.is_some_and(|at| now <= at && at <= end) && lot.result.is_none()
        });
        has_price && ends && self.only.as_ref().is_none_or(|only| only.contains(&lot.sale.uuid))
    }
}

/// Until when a lot ends that the filter finds: within an hour, or on the present day of the sale's time zone.
fn end_of(name: &str, now: Timestamp, zone: &str) -> Option<Timestamp> {
    match name {
        "hour" => now.checked_add(SignedDuration::from_hours(1)).ok(),
        "today" => {
            let zone = TimeZone::get(zone).unwrap_or(TimeZone::UTC);
            now.to_zoned(zone).end_of_day().ok().map(|end| end.timestamp())
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn today_ends_at_midnight_of_the_sale() {
        let now: Timestamp = "2026-12-04T22:30:00Z".parse().unwrap();
        let end = |name, zone| end_of(name, now, zone).map(|end| end.to_string());
        assert_eq!(end("hour", "UTC").unwrap(), "2026-12-04T23:30:00Z");
        assert!(end("today", "Europe/London").unwrap().starts_with("2026-12-04T23:59:59"));
        assert!(end("today", "Europe/Berlin").unwrap().starts_with("2026-12-04T22:59:59"));
        assert!(end("today", "Asia/Tokyo").unwrap().starts_with("2026-12-05T14:59:59"));
        assert_eq!(end("", "UTC"), None);
    }
}
