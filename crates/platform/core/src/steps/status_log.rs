//! The log lines of status changes and bids. Together with the lines of the publisher and the provider they tell what happened to one
//! lot: a search for its id finds the whole story.

use std::sync::Arc;

use contract::event::Event;
use kit_runtime::trace::STORY;
use uuid::Uuid;

use crate::port::{Change, CommitReceipt, JournalEntry, StoreResult, SubjectKind};

/// The lines of changes that are being committed.
pub(crate) struct StatusLog(Vec<ChangeLines>);

/// The lines of one change.
struct ChangeLines {
    request_id: Option<Arc<str>>,
    trace_id: Option<String>,
    entries: Vec<StatusLine>,
    /// Items and numbers of accepted bids.
    bids: Vec<(Uuid, i64)>,
}

struct StatusLine {
    item: Option<Uuid>,
    auction: Option<Uuid>,
    customer: Uuid,
    event_id: Option<String>,
    from: Option<&'static str>,
    to: &'static str,
    cause: &'static str,
    actor: String,
    /// A change that is not announced, or one of all items of an auction, is logged at `debug`: an auction can have 100,000
    /// items.
    is_info: bool,
}

impl StatusLog {
    /// The lines of changes before their commit. Bids are many, and are logged at `debug`.
    pub(crate) fn of(changes: &[Change]) -> Self {
        let logs_all = tracing::enabled!(target: STORY, tracing::Level::DEBUG);
        let logs_some = logs_all || tracing::enabled!(target: STORY, tracing::Level::INFO);
        let has_lines =
            |change: &Change| (logs_some && !change.journal.is_empty()) || (logs_all && !change.bids.is_empty());
        if !changes.iter().any(has_lines) {
            return Self(Vec::new());
        }
        Self(changes.iter().map(|change| ChangeLines::of(change, logs_all)).collect())
    }

    /// Logs the lines of the changes that were committed.
    pub(crate) fn committed(&self, results: &[StoreResult<CommitReceipt>]) {
        for (change, _) in self.0.iter().zip(results).filter(|(_, result)| result.is_ok()) {
            change.log();
        }
    }
}

impl ChangeLines {
    /// The lines at `info`, and with `logs_all` those at `debug`, too.
    fn of(change: &Change, logs_all: bool) -> Self {
        let is_bulk = change.bulk_change.is_some();
        let lines = change.journal.iter().map(|entry| StatusLine::of(entry, is_bulk));
        let bids = if logs_all { change.bids.as_slice() } else { &[] };
        let origin = change.origin.as_ref();
        Self {
            request_id: origin.map(|origin| origin.request_id.clone()),
            trace_id: change.trace_parent().map(|position| position.trace_id().to_string()),
            entries: lines.filter(|line| line.is_info || logs_all).collect(),
            bids: bids.iter().map(|bid| (bid.item, bid.number)).collect(),
        }
    }

    fn log(&self) {
        let (request_id, trace_id) = (self.request_id.as_deref(), self.trace_id.as_deref());
        for (item, number) in &self.bids {
            tracing::debug!(target: STORY, item_id = %item, number, request_id, trace_id, "bid accepted");
        }
        for line in &self.entries {
            let StatusLine { item, auction, customer, event_id, from, to, cause, actor, is_info } = line;
            let (item_id, auction_id) = (item.map(tracing::field::display), auction.map(tracing::field::display));
            macro_rules! status_changed {
                ($level:ident) => {
                    tracing::$level!(
                        target: STORY,
                        item_id,
                        auction_id,
                        customer_id = %customer,
                        event_id,
                        from,
                        to,
                        cause,
                        actor,
                        request_id,
                        trace_id,
                        "status changed"
                    )
                };
            }
            if *is_info {
                status_changed!(info);
            } else {
                status_changed!(debug);
            }
        }
    }
}

impl StatusLine {
    fn of(entry: &JournalEntry, is_bulk: bool) -> Self {
        let auction = match (&entry.event, entry.kind) {
            (Some(Event::ItemStatusChange(event)), _) => Some(event.auction_uuid),
            (_, SubjectKind::Auction) => Some(entry.subject),
            (_, SubjectKind::Item) => None,
        };
        Self {
            item: (entry.kind == SubjectKind::Item).then_some(entry.subject),
            auction,
            customer: entry.customer,
            event_id: entry.event.as_ref().map(|_| format!("{}.{}", entry.subject, entry.sequence)),
            from: entry.from,
            to: entry.to,
            cause: entry.cause,
            actor: entry.actor.clone(),
            is_info: entry.event.is_some() && !(is_bulk && entry.kind == SubjectKind::Item),
        }
    }
}
