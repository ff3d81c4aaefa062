//! Corrections of sold items, read from the audit log: the journal has status changes only, and a correction changes no status.

use std::collections::{BTreeMap, BTreeSet};

use jiff::Timestamp;
use platform_rules::{Item, ItemChange};
use serde_json::Value;
use uuid::Uuid;

use crate::audit::OPENED;
use crate::audit::commitments::{Commitments, open_commitments};
use crate::audit::entry::Content;
use crate::error::PlatformResult;
use crate::port::{LogEntry, LogKind, Page};
use crate::{Caller, Platform, Scope};

/// Corrections of a sale that one call reads: the latest ones.
const CORRECTIONS_MAX: usize = 1_000;
/// Entries of an item that one read returns.
const ENTRIES_READ_MAX: usize = 1_000;

/// What a correction changed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Corrected {
    /// The hammer price, in minor units.
    Price {
        /// The price before; none if the log before the entry can't be read.
        before: Option<i64>,
        /// The price after.
        after: i64,
    },
    /// The buyer.
    Buyer {
        /// Paddle before; none when the buyer was open.
        before: Option<String>,
        /// Paddle after.
        after: String,
    },
}

/// The correction of a sold item.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Correction {
    /// The item.
    pub item: Uuid,
    /// The server's time.
    pub at: Timestamp,
    /// Who did it, as the journal names callers.
    pub actor: String,
    /// The reason that a person gave; none for the first name of an open buyer.
    pub reason: Option<String>,
    /// What changed.
    pub what: Corrected,
}

/// Which corrections of an auction are wanted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct CorrectionQuery {
    /// Of this item only.
    pub item: Option<Uuid>,
    /// At this time or later.
    pub from: Option<Timestamp>,
    /// Before this time.
    pub before: Option<Timestamp>,
}

impl CorrectionQuery {
    fn includes(&self, content: &Content) -> bool {
        self.item.is_none_or(|item| item == content.subject)
            && self.from.is_none_or(|from| content.at >= from)
            && self.before.is_none_or(|before| content.at < before)
    }
}

impl Platform {
    /// Corrections of the hammer prices and buyers of an auction, the latest first.
    ///
    /// Errors: `not_found`, `forbidden`.
    pub async fn corrections(
        &self,
        caller: &Caller,
        auction: Uuid,
        query: CorrectionQuery,
    ) -> PlatformResult<Vec<Correction>> {
        caller.require(Scope::EventsRead)?;
        self.visible_auction(caller, auction).await?;
        let entries = self.store().corrections_of_auction(auction, CORRECTIONS_MAX).await?;
        let contents = entries.iter().filter_map(|entry| serde_json::from_str::<Content>(&entry.content).ok());
        let wanted: Vec<Content> = contents.filter(|content| query.includes(content)).collect();
        let mut numbers: BTreeMap<Uuid, BTreeSet<i64>> = BTreeMap::new();
        for Content { subject, number, .. } in &wanted {
            numbers.entry(*subject).or_default().insert(*number);
        }
        let mut before = BTreeMap::new();
        for (item, numbers) in numbers {
            before.extend(self.sold_before(item, &numbers).await?);
        }
        Ok(wanted
            .into_iter()
            .filter_map(|content| {
                let sold = before.remove(&(content.subject, content.number)).unwrap_or_default();
                correction(content, sold)
            })
            .collect())
    }

    /// Price and buyer of an item before each of these entries. Entries after one that can't be read are missing.
    async fn sold_before(
        &self,
        item: Uuid,
        numbers: &BTreeSet<i64>,
    ) -> PlatformResult<BTreeMap<(Uuid, i64), (Option<i64>, Option<String>)>> {
        let (mut found, mut state, mut after) = (BTreeMap::new(), None::<Item>, 0);
        let Some(last) = numbers.last().copied() else { return Ok(found) };
        while after < last {
            let entries = self.store().log_entries(item, Page { after: Some(after), limit: ENTRIES_READ_MAX }).await?;
            if entries.is_empty() {
                break;
            }
            for entry in entries.iter().filter(|entry| entry.number <= last) {
                if let (true, Some(state)) = (numbers.contains(&entry.number), &state) {
                    let buyer = state.standing.as_ref().and_then(|standing| standing.known_bidder());
                    found.insert((item, entry.number), (state.price(), buyer.map(str::to_owned)));
                }
                let Some(next) = state_after(state, entry) else { return Ok(found) };
                state = Some(next);
            }
            after = entries.last().map_or(last, |entry| entry.number);
        }
        Ok(found)
    }
}

/// The item after an entry of its log; none when the entry can't be read, which a verification reports.
fn state_after(state: Option<Item>, entry: &LogEntry) -> Option<Item> {
    let mut change = serde_json::from_str::<Content>(&entry.content).ok()?.change;
    let kept: Option<Commitments> = entry.concealed.as_deref().map(serde_json::from_str).transpose().ok()?;
    open_commitments(LogKind::Item, &mut change, &kept.unwrap_or_default(), &BTreeSet::new()).ok()?;
    if change.get("change").and_then(Value::as_str) == Some(OPENED) {
        return serde_json::from_value(change.get_mut("state")?.take()).ok();
    }
    let mut item = state?;
    item.apply(&serde_json::from_value::<ItemChange>(change).ok()?);
    Some(item)
}

fn correction(content: Content, (price, buyer): (Option<i64>, Option<String>)) -> Option<Correction> {
    let what = match serde_json::from_value(content.change).ok()? {
        ItemChange::PriceCorrected { amount, .. } => Corrected::Price { before: price, after: amount },
        ItemChange::BuyerChanged { bidder, .. } => Corrected::Buyer { before: buyer, after: bidder },
        _ => return None,
    };
    let Content { subject, at, actor, reason, .. } = content;
    Some(Correction { item: subject, at, actor, reason, what })
}
