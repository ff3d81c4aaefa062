//! What moving the ends will do to each lot, decided by the same rules as the move itself.

use jiff::{SignedDuration, Timestamp};
use kit_design::error_page::sentence;
use platform_core::port::Page;
use platform_core::sales::auctions::move_ends::{MoveEnds, NewEnds};
use platform_rules::{Auction, Item, new_item_end};

use crate::page_error::PageError;
use crate::sale::Sale;
use crate::sale::labels;
use crate::session::Session;

/// Lots whose new ends are computed for a preview of the whole auction.
const COMPUTED_MAX: usize = 1_000;
/// Rows at the beginning that the page shows.
const SHOWN_MAX: usize = 12;

/// The result of a move before it is applied.
pub(super) struct Preview {
    pub(super) moved: String,
    pub(super) kept: String,
    /// Why the move would be refused as a whole; empty when it would not.
    pub(super) refusal: String,
    pub(super) unknown: String,
    pub(super) rows: Vec<Row>,
    pub(super) last: Option<Row>,
    /// The auction has more lots than were computed.
    pub(super) is_partial: bool,
}

/// The end of a lot before and after.
pub(super) struct Row {
    pub(super) lot_number: String,
    pub(super) title: String,
    pub(super) before: String,
    pub(super) after: String,
}

impl Preview {
    pub(super) async fn of(
        session: &Session,
        sale: &Sale,
        wanted: &MoveEnds,
        unknown: Vec<String>,
    ) -> Result<Self, PageError> {
        let items = items(session, sale, wanted).await?;
        let planned = planned(&sale.auction, wanted);
        let (mut moved, mut kept, mut refusal, mut rows) = (0, 0, String::new(), Vec::new());
        for (place, item) in (0_i64..).zip(&items) {
            let place = if wanted.items.is_some() { place } else { item.position };
            let to = match wanted.ends {
                NewEnds::Shift { seconds } => item.end_time.and_then(|end| later(end, seconds)),
                NewEnds::Plan(_) => new_item_end(&planned, place),
            };
            match platform_rules::item::move_plan(&planned, item, to, wanted.reason.as_deref(), sale.now) {
                Ok(changes) if changes.is_empty() => kept += 1,
                Ok(_) => {
                    moved += 1;
                    rows.push(row(sale, item, to));
                }
                Err(rejection) if refusal.is_empty() => {
                    refusal = format!("Lot {}: {}", item.lot_number, sentence(&rejection.to_string()));
                }
                Err(_) => {}
            }
        }
        let last = if rows.len() > SHOWN_MAX { rows.pop() } else { None };
        rows.truncate(SHOWN_MAX);
        Ok(Self {
            moved: labels::count(moved, "end moves", "ends move"),
            kept: labels::count(kept, "lot keeps its end", "lots keep their ends"),
            refusal,
            unknown: unknown.join(", "),
            rows,
            last,
            is_partial: wanted.items.is_none() && sale.counts.total > items.len() as u64,
        })
    }
}

async fn items(session: &Session, sale: &Sale, wanted: &MoveEnds) -> Result<Vec<Item>, PageError> {
    let Some(named) = &wanted.items else {
        let page = Page { after: None, limit: COMPUTED_MAX };
        return Ok(session.platform().items(&session.caller, sale.auction.uuid, page).await?);
    };
    let mut items = Vec::with_capacity(named.len());
    for uuid in named {
        items.push(session.platform().item(&session.caller, *uuid).await?.0);
    }
    Ok(items)
}

/// The auction as it will be.
fn planned(auction: &Auction, wanted: &MoveEnds) -> Auction {
    match wanted.ends {
        NewEnds::Plan(plan) => Auction { ends_at: Some(plan.ends_at), stagger: plan.stagger, ..auction.clone() },
        NewEnds::Shift { seconds } if wanted.items.is_none() => {
            Auction { ends_at: auction.ends_at.and_then(|end| later(end, seconds)), ..auction.clone() }
        }
        NewEnds::Shift { .. } => auction.clone(),
    }
}

fn later(at: Timestamp, seconds: i64) -> Option<Timestamp> {
    at.checked_add(SignedDuration::from_secs(seconds)).ok()
}

fn row(sale: &Sale, item: &Item, to: Option<Timestamp>) -> Row {
    let shown = |at: Option<Timestamp>| at.map_or("–".to_owned(), |at| sale.zone.show(at));
    Row {
        lot_number: item.lot_number.clone(),
        title: item.title.clone(),
        before: shown(item.effective_end_time.or(item.end_time)),
        after: shown(to),
    }
}
