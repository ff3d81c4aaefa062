//! A lot's status changes with the event that announced each.

use std::collections::HashMap;

use kit_design::error_page::sentence;
use kit_design::relative_time::RelativeTime;
use platform_core::Scope;
use platform_core::journal::SubjectKind;
use platform_core::port::Page;
use platform_rules::Item;

use crate::page_error::PageError;
use crate::sale::Sale;
use crate::sale::labels::{self, Badge};
use crate::session::Session;

/// Changes that the page of a lot shows at most: the latest ones.
const ROWS_MAX: usize = 50;

/// A status change.
pub(super) struct HistoryRow {
    pub(super) sequence: i64,
    pub(super) at: RelativeTime,
    pub(super) from: Option<Badge>,
    pub(super) to: Badge,
    pub(super) cause: &'static str,
    pub(super) actor: String,
    pub(super) reason: String,
    /// Position in the event feed; none when the change was not announced.
    pub(super) cursor: Option<i64>,
    /// Why the event is in quarantine; none when it is not.
    pub(super) quarantined: Option<String>,
}

/// The latest status changes, newest first; empty for a user who may not read events.
pub(super) async fn load(session: &Session, sale: &Sale, item: &Item) -> Result<Vec<HistoryRow>, PageError> {
    if !session.may(Scope::EventsRead) {
        return Ok(Vec::new());
    }
    let rows = i64::try_from(ROWS_MAX).unwrap_or(i64::MAX);
    let page = Page { after: Some((item.sequence - rows).max(0)), limit: ROWS_MAX };
    let subject = (SubjectKind::Item, item.uuid);
    let history = session.platform().history(&session.caller, subject, page).await?;
    let mut refused = quarantined(session, item).await?;
    let row = |entry: platform_core::journal::JournalRow| HistoryRow {
        quarantined: refused.remove(&entry.sequence),
        sequence: entry.sequence,
        at: sale.zone.relative(entry.at, session.now()),
        from: entry.from.as_deref().map(labels::journal_badge),
        to: labels::journal_badge(&entry.to),
        cause: labels::cause(&entry.cause),
        actor: labels::actor(session, &entry.actor),
        reason: entry.reason.unwrap_or_default(),
        cursor: entry.body.map(|_| entry.cursor),
    };
    Ok(history.into_iter().rev().map(row).collect())
}

/// Why events of the lot are in quarantine, by the number of the change.
pub(super) async fn quarantined(session: &Session, item: &Item) -> Result<HashMap<i64, String>, PageError> {
    let of = (SubjectKind::Item, item.uuid);
    let events = session.platform().quarantined_of(&session.caller, of).await?;
    Ok(events.into_iter().map(|refused| (refused.event.sequence, sentence(&refused.error))).collect())
}
