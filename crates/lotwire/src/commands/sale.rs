//! Runs `lotwire sale`: a timed auction of three lots that lasts seconds.

use std::time::Duration;

use contract::{AuctionStatus, ItemStatus};
use platform_core::bidding::bids::NewBid;
use platform_core::port::Page;
use platform_core::sales::auctions::NewAuction;
use platform_core::sales::new_item::NewItem;
use platform_core::{Caller, Outcome};
use platform_rules::{AuctionKind, Stagger};
use serde_json::json;

use super::{hint, print, print_json, require_database};
use crate::cli::SaleCommand;
use crate::config::Config;
use crate::error::{CommandError, ErrorContext as _};
use crate::node::{NodeServices, open_platform};

/// Time after the last planned end within which a running server ends the lots.
const LATE_MAX: Duration = Duration::from_secs(30);
const POLL_PAUSE: Duration = Duration::from_millis(250);
/// The lots with their opening bids and the bids that they receive, in pence.
const LOTS: [(&str, i64, &[(&str, i64)]); 3] = [
    ("Carriage clock, brass, about 1890", 8_000, &[("paddle-7", 8_000), ("paddle-12", 12_000)]),
    ("Watercolour of a harbour, signed", 5_000, &[("paddle-3", 5_000)]),
    ("Set of six dining chairs", 20_000, &[]),
];

pub(super) async fn run(config: &Config, options: &SaleCommand) -> Result<(), CommandError> {
    require_database(config, "platform.db")?;
    let services = NodeServices::new(config)?;
    let platform = open_platform(config, &services).await?;
    let clerk = Caller::command_line();
    let page = Page { after: None, limit: 1 };
    let known = platform.auctioneers(&clerk, Some(options.customer), page).await.context("reading the customer")?;
    let auctioneer = match known.into_iter().next() {
        Some(auctioneer) => auctioneer,
        None => {
            let created = platform.create_auctioneer(&clerk, options.customer, "Sample auctioneer", None).await;
            created.and_then(Outcome::fresh).context("creating an auctioneer")?
        }
    };
    let lasts = Duration::from_secs(options.seconds.into());
    let ends_at = services.clock.now().checked_add(lasts).context("computing the end")?;
    let mut auction = NewAuction::new(auctioneer.uuid, AuctionKind::Timed, "Sample sale", "GBP", "Europe/London");
    auction.status = AuctionStatus::Live;
    auction.ends_at = Some(ends_at);
    auction.stagger = Some(Stagger { seconds: 1, items: 1 });
    for (number, (title, opening_bid, _)) in (1..).zip(LOTS) {
        let lot = NewItem::new(number.to_string(), title);
        auction.items.push(NewItem { opening_bid, status: ItemStatus::Live, ..lot });
    }
    let created = platform.create_auction(&clerk, &auction, None).await.and_then(Outcome::fresh);
    let created = created.context("creating the auction")?;
    let auction = created.auction.uuid;
    hint(&format!("Auction {auction} is LIVE with three lots. They end in {} seconds.", options.seconds));
    for (item, (_, _, bids)) in created.items.iter().zip(LOTS) {
        for (bidder, amount) in bids {
            let bid = NewBid { bidder: (*bidder).to_owned(), amount: *amount };
            let placed = platform.place_bid(&clerk, item.uuid, &bid, None, None).await;
            placed.context(format!("bidding on lot {}", item.lot_number))?;
        }
    }
    let last_end =
        ends_at.checked_add(Duration::from_secs(LOTS.len() as u64) + LATE_MAX).context("computing the end")?;
    let items = loop {
        let page = Page { after: None, limit: LOTS.len() };
        let items = platform.items(&clerk, auction, page).await.context("reading the lots")?;
        if items.iter().all(|item| item.status != ItemStatus::Live) {
            break items;
        }
        if services.clock.now() > last_end {
            return Err(CommandError::new(format!(
                "the lots of auction {auction} did not end. Does a server with the role platform run? `lotwire doctor` \
                 checks it"
            )));
        }
        kit_runtime::backoff::pause(POLL_PAUSE).await;
    };
    let lots =
        items.iter().map(|item| json!({ "uuid": item.uuid, "lot": item.lot_number, "status": item.status.name() }));
    if options.json {
        return print_json(&json!({ "auction": auction, "lots": lots.collect::<Vec<_>>() }));
    }
    for item in &items {
        print(&format!("Lot {}  {:<8}  {}  {}", item.lot_number, item.status.name(), item.uuid, item.title));
    }
    Ok(())
}
