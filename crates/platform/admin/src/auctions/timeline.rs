//! The journal of a sale: status changes of the auction and its lots, newest first, each event announced.

use std::collections::HashMap;
use std::collections::hash_map::Entry;

use askama::Template;
use axum::response::Response;
use kit_design::fields::QueryFields;
use kit_design::frame::{Frame, render_page};
use kit_design::relative_time::RelativeTime;
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
    older: Option<i64>,
    is_first: bool,
}

struct Row {
    cursor: i64,
    at: RelativeTime,
    /// Path of the lot; none for the auction itself.
    lot: Option<(Uuid, String)>,
    from: Option<Badge>,
    to: Badge,
    cause: &'static str,
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
    let lots = lot_numbers(&session, &journal.rows).await?;
    let names = session.names(journal.rows.iter().map(|entry| entry.actor.as_str())).await?;
    let rows = journal.rows.iter().map(|entry| row(&session, &sale, entry, (&lots, &names))).collect();
    let (frame, head) = (sale.frame(&session, "Timeline", &query), sale.head(&session, Tab::Timeline));
    render_page(&TimelinePage { frame, head, rows, older: journal.older, is_first: before.is_none() })
}

async fn lot_numbers(session: &Session, rows: &[JournalRow]) -> Result<HashMap<Uuid, String>, PageError> {
    let mut lots = HashMap::new();
    for row in rows.iter().filter(|row| row.kind == SubjectKind::Item) {
        if let Entry::Vacant(vacant) = lots.entry(row.subject) {
            let (item, _) = session.platform().item(&session.caller, row.subject).await?;
            vacant.insert(item.lot_number);
        }
    }
    Ok(lots)
}

fn row(session: &Session, sale: &Sale, entry: &JournalRow, (lots, names): (&HashMap<Uuid, String>, &UserNames)) -> Row {
    let event = entry.event_id();
    Row {
        cursor: entry.cursor,
        at: sale.zone.relative(entry.at, session.now()),
        lot: lots.get(&entry.subject).map(|lot| (entry.subject, lot.clone())),
        from: entry.from.as_deref().map(labels::journal_badge),
        to: labels::journal_badge(&entry.to),
        cause: labels::cause(&entry.cause),
        actor: labels::actor(session, names, &entry.actor),
        reason: entry.reason.clone().unwrap_or_default(),
        event: event.unwrap_or_default(),
    }
}
