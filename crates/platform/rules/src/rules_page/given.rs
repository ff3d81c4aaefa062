//! The first cell of an example: the state at the beginning, such as `opening 100, increment 10, reserve 400`.

use contract::{AuctionStatus, ItemStatus};
use uuid::Uuid;

use crate::increments::IncrementRow;
use crate::sample::{at, auction, item};
use crate::{Auction, AuctionKind, Bidder, Hidden, IncrementTable, InternetBids, Item, Stagger, new_item_end};

/// The state at the beginning of an example.
pub(super) struct Given {
    pub(super) auction: Auction,
    pub(super) item: Item,
    /// Bidders that the cell describes; all other bidders are vouched for.
    pub(super) bidders: Vec<Bidder>,
}

impl Given {
    pub(super) fn read(cell: &str) -> Result<Self, String> {
        let words: Vec<Vec<&str>> = cell.split(',').map(|part| part.split_whitespace().collect()).collect();
        let kind = if words.contains(&vec!["webcast"]) { AuctionKind::Webcast } else { AuctionKind::Timed };
        let auction = auction(kind, AuctionStatus::Live);
        let (low_estimate, high_estimate) = (None, None);
        let opening_bid = 100;
        let fixed_increment = Some(10);
        let item =
            Item { low_estimate, high_estimate, opening_bid, fixed_increment, ..item(&auction, ItemStatus::Live) };
        let mut given = Self { auction, item, bidders: Vec::new() };
        for fact in words {
            given.take(&fact)?;
        }
        let end = new_item_end(&given.auction, given.item.position);
        (given.item.end_time, given.item.effective_end_time) = (end, end);
        Ok(given)
    }

    fn take(&mut self, fact: &[&str]) -> Result<(), String> {
        match *fact {
            ["webcast"] | [] => {}
            ["internet", "bids", "accepted", "at", "once"] => {
                self.auction.internet_bids = InternetBids::AcceptedAtOnce;
            }
            ["opening", amount] => self.item.opening_bid = number(amount)?,
            ["increment", amount] => self.item.fixed_increment = Some(number(amount)?),
            ["table", ref rows @ ..] => {
                self.auction.increments = table(rows)?;
                self.item.fixed_increment = None;
            }
            ["reserve", amount] => self.item.reserve = Some(Hidden::new(number(amount)?)),
            ["buy", "now", amount] => self.item.buy_now = Some(number(amount)?),
            ["start", seconds] => self.auction.starts_at = Some(at(number(seconds)?)),
            ["end", seconds] => self.auction.ends_at = Some(at(number(seconds)?)),
            ["window", seconds] => self.auction.extension_seconds = Some(number(seconds)?),
            ["stagger", seconds, "for", items] => {
                self.auction.stagger = Some(Stagger { seconds: number(seconds)?, items: number(items)? });
            }
            ["place", position] => self.item.position = number(position)?,
            ["vendor", paddle] => {
                self.item.vendor = Some(Uuid::from_u128(70));
                self.bidder(paddle).party = self.item.vendor;
            }
            ["auctioneer", paddle] => self.bidder(paddle).party = Some(Uuid::from_u128(3)),
            ["limit", paddle, limit] => self.bidder(paddle).limit = Some(number(limit)?),
            ["committed", paddle, committed] => self.bidder(paddle).committed = number(committed)?,
            ["not", "approved", paddle] => self.bidder(paddle).approved = false,
            ["suspended", paddle] => self.bidder(paddle).suspended = true,
            _ => return Err(format!("unknown fact {:?}", fact.join(" "))),
        }
        Ok(())
    }

    fn bidder(&mut self, paddle: &str) -> &mut Bidder {
        let place = self.bidders.iter().position(|bidder| bidder.paddle == paddle).unwrap_or_else(|| {
            self.bidders.push(Bidder::vouched_for(paddle));
            self.bidders.len() - 1
        });
        &mut self.bidders[place]
    }
}

/// Parses `0:5 100:10`: lower bounds and their increments.
fn table(rows: &[&str]) -> Result<IncrementTable, String> {
    let row = |row: &&str| {
        let (from, increment) = row.split_once(':').ok_or("a row is `from:increment`")?;
        Ok::<_, String>(IncrementRow { from: number(from)?, increment: number(increment)? })
    };
    let rows = rows.iter().map(row).collect::<Result<_, _>>()?;
    IncrementTable::new(rows).map_err(|error| error.to_string())
}

pub(super) fn number<N: std::str::FromStr>(word: &str) -> Result<N, String> {
    word.parse().map_err(|_| format!("{word:?} is not a number"))
}
