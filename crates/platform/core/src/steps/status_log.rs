//! The log lines of status changes. Together with the lines of the publisher and the provider they tell what happened to one
//! lot: a search for its id finds the whole story.

use contract::event::Event;
use kit_runtime::trace::STORY;
use uuid::Uuid;

use crate::journal::{JournalEntry, SubjectKind};
use crate::port::{Change, CommitReceipt, StoreResult};

/// The lines of changes that are being committed.
pub(crate) struct StatusLog(Vec<ChangeLines>);

/// The lines of one change.
struct ChangeLines {
    request_id: Option<std::sync::Arc<str>>,
    trace_id: Option<String>,
    is_bulk: bool,
    entries: Vec<StatusLine>,
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
}

impl StatusLog {
    /// The lines of changes before their commit. A bid changes no status and has none.
    pub(crate) fn of(changes: &[Change]) -> Self {
        let is_enabled = tracing::enabled!(target: STORY, tracing::Level::INFO);
        if !is_enabled || changes.iter().all(|change| change.journal.is_empty()) {
            return Self(Vec::new());
        }
        Self(changes.iter().map(ChangeLines::of).collect())
    }

    /// Logs the lines of the changes that were committed.
    pub(crate) fn committed(&self, results: &[StoreResult<CommitReceipt>]) {
        for (change, _) in self.0.iter().zip(results).filter(|(_, result)| result.is_ok()) {
            change.log();
        }
    }
}

impl ChangeLines {
    fn of(change: &Change) -> Self {
        let origin = change.origin.as_ref();
        Self {
            request_id: origin.map(|origin| origin.request_id.clone()),
            trace_id: change.trace_parent().map(|position| position.trace_id().to_string()),
            is_bulk: change.bulk_change.is_some(),
            entries: change.journal.iter().map(StatusLine::of).collect(),
        }
    }

    /// A change that is not announced, or one of all items of an auction, is logged at `debug`: an auction can have 100,000
    /// items.
    fn log(&self) {
        for line in &self.entries {
            let StatusLine { item, auction, customer, event_id, from, to, cause, actor } = line;
            let (item_id, auction_id) = (item.map(tracing::field::display), auction.map(tracing::field::display));
            let (request_id, trace_id) = (self.request_id.as_deref(), self.trace_id.as_deref());
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
            if event_id.is_some() && !(self.is_bulk && item.is_some()) {
                status_changed!(info);
            } else {
                status_changed!(debug);
            }
        }
    }
}

impl StatusLine {
    fn of(entry: &JournalEntry) -> Self {
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
        }
    }
}
