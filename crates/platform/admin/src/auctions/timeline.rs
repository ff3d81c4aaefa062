//! The journal of a sale: status changes of the auction and its lots, newest first, each event announced, with the corrections
//! of sold lots between them.

use std::collections::HashMap;
use std::collections::hash_map::Entry;

use askama::Template;
use axum::response::Response;
use contract::ItemStatus;
use jiff::Timestamp;
use kit_design::fields::QueryFields;
use kit_design::frame::{Frame, render_page};
use kit_design::relative_time::RelativeTime;
use platform_core::journal::corrections::{Correction, CorrectionQuery};
use platform_core::journal::{JournalRow, SubjectKind};
use platform_core::port::Page;
use platform_core::users::UserNames;
use uuid::Uuid;

use crate::page_error::PageError;
use crate::sale::labels::{self, Badge};
use crate::sale::{Head, Sale, Tab};
use crate::session::{PathIds, Session};

const ROWS_MAX: usize = 50;

#[derive(Template)]
#[template(path = "auctions/timeline.html")]
struct TimelinePage {
    frame: Frame,
    head: Head,
    rows: Vec<Row>,
    /// Query of the page with older rows.
    older: Option<String>,
    is_first: bool,
}

struct Row {
    cursor: i64,
    at: RelativeTime,
    /// Path of the lot; none for the auction itself.
    lot: Option<(Uuid, String)>,
    from: Option<Badge>,
    to: Badge,
    cause: String,
    actor: String,
    reason: String,
    /// The provider's id of the event; empty when it was not announced.
    event: String,
}

/// A page of the journal.
pub(super) async fn page(
    session: Session,
    PathIds([uuid]): PathIds<1>,
    QueryFields(query): QueryFields,
) -> Result<Response, PageError> {
    let sale = Sale::load(&session, uuid).await?;
    let before: Option<i64> = query.text("before").parse().ok();
    let wanted = Page { after: before, limit: ROWS_MAX };
    let journal = session.platform().sale_journal(&session.caller, uuid, wanted).await?;
    // Corrections of the time that this page shows: from its last row on, and before that of the page before.
    let until: Option<Timestamp> = query.text("until").parse().ok();
    let from = journal.rows.last().map(|last| last.at);
    let corrections = match (journal.older, from.or(until)) {
        (Some(_), None) => Vec::new(),
        (older, _) => {
            let wanted = CorrectionQuery { item: None, from: older.and(from.or(until)), before: until };
            session.platform().corrections(&session.caller, uuid, wanted).await?
        }
    };
    let items = journal.rows.iter().filter(|row| row.kind == SubjectKind::Item).map(|row| row.subject);
    let items = items.chain(corrections.iter().map(|correction| correction.item));
    let lots = lot_numbers(&session, items).await?;
    let actors = journal.rows.iter().map(|entry| &entry.actor).chain(corrections.iter().map(|found| &found.actor));
    let names = session.names(actors.map(String::as_str)).await?;
    let known = (&lots, &names);
    let changes = journal.rows.iter().map(|entry| (entry.at, row(&session, &sale, entry, known))).collect();
    let corrections =
        corrections.iter().map(|found| (found.at, correction_row(&session, &sale, found, known))).collect();
    let rows = labels::latest_first(changes, corrections);
    let until = from.or(until).map(|until| format!("&until={until}")).unwrap_or_default();
    let older = journal.older.map(|older| format!("before={older}{until}"));
    let (frame, head) = (sale.frame(&session, "Timeline", &query), sale.head(&session, Tab::Timeline));
    render_page(&TimelinePage { frame, head, rows, older, is_first: before.is_none() })
}

async fn lot_numbers(session: &Session, items: impl Iterator<Item = Uuid>) -> Result<HashMap<Uuid, String>, PageError> {
    let mut lots = HashMap::new();
    for uuid in items {
        if let Entry::Vacant(vacant) = lots.entry(uuid) {
            let (item, _) = session.platform().item(&session.caller, uuid).await?;
            vacant.insert(item.lot_number);
        }
    }
    Ok(lots)
}

/// Lot numbers, and names of users.
type Known<'a> = (&'a HashMap<Uuid, String>, &'a UserNames);

fn correction_row(session: &Session, sale: &Sale, correction: &Correction, (lots, names): Known<'_>) -> Row {
    Row {
        cursor: 0,
        at: sale.zone.relative(correction.at, session.now()),
        lot: lots.get(&correction.item).map(|lot| (correction.item, lot.clone())),
        from: None,
        to: ItemStatus::Sold.into(),
        cause: labels::correction(&correction.what, &sale.currency),
        actor: labels::actor(session, names, &correction.actor),
        reason: correction.reason.clone().unwrap_or_default(),
        event: String::new(),
    }
}

fn row(session: &Session, sale: &Sale, entry: &JournalRow, (lots, names): Known<'_>) -> Row {
    let event = entry.event_id();
    Row {
        cursor: entry.cursor,
        at: sale.zone.relative(entry.at, session.now()),
        lot: lots.get(&entry.subject).map(|lot| (entry.subject, lot.clone())),
        from: entry.from.as_deref().map(labels::journal_badge),
        to: labels::journal_badge(&entry.to),
        cause: labels::cause(&entry.cause).to_owned(),
        actor: labels::actor(session, names, &entry.actor),
        reason: entry.reason.clone().unwrap_or_default(),
        event: event.unwrap_or_default(),
    }
}
