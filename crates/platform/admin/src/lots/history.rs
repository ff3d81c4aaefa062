//! A lot's status changes with the event that announced each, and corrections of its price or buyer.

use std::collections::HashMap;

use contract::ItemStatus;
use jiff::Timestamp;
use kit_design::error_page::sentence;
use kit_design::relative_time::RelativeTime;
use platform_core::Scope;
use platform_core::customers::connections::endpoints::{DeliveryState, EventDelivery};
use platform_core::journal::SubjectKind;
use platform_core::journal::corrections::{Correction, CorrectionQuery};
use platform_core::port::Page;
use platform_rules::Item;

use crate::page_error::PageError;
use crate::sale::Sale;
use crate::sale::labels::{self, Badge};
use crate::session::Session;
use platform_words::SaleZone;

/// Changes that the page of a lot shows at most: the latest ones.
const ROWS_MAX: usize = 50;

/// A status change, or a correction.
pub(super) struct HistoryRow {
    pub(super) sequence: i64,
    pub(super) at: RelativeTime,
    pub(super) from: Option<Badge>,
    pub(super) to: Badge,
    pub(super) cause: String,
    pub(super) actor: String,
    pub(super) reason: String,
    /// Position in the event feed; none when the change was not announced.
    pub(super) cursor: Option<i64>,
    /// Why the event is in quarantine; none when it is not.
    pub(super) quarantined: Option<String>,
    /// The number of endpoints that received the event, by the last reading.
    pub(super) delivery: Delivery,
}

/// Whether the customer's endpoints received an event.
pub(super) struct Delivery {
    pub(super) badge: Badge,
    /// What the badge covers.
    pub(super) words: String,
    /// When that was read.
    pub(super) read_at: Option<RelativeTime>,
}

impl Delivery {
    /// An endpoint did not accept the event.
    pub(super) fn is_problem(&self) -> bool {
        self.badge.kind() == "bad"
    }

    /// The deliveries of the event with this number by the last reading, one for each endpoint.
    fn of(read: &[EventDelivery], sequence: i64, zone: &SaleZone, now: Timestamp) -> Self {
        let read: Vec<&EventDelivery> = read.iter().filter(|delivery| delivery.sequence == sequence).collect();
        let lacking: Vec<_> = read.iter().filter(|delivery| delivery.state != DeliveryState::Delivered).collect();
        let all = labels::count(read.len() as u64, "endpoint", "endpoints");
        let (badge, words, read_at) = if read.is_empty() {
            let words = "Whether it was delivered was not read yet.";
            (Badge::new("", "Announced"), words.to_owned(), None)
        } else if lacking.is_empty() {
            let words = format!("Accepted by {all}.");
            (Badge::new("good", "Delivered"), words, read.iter().map(|delivery| delivery.read_at).max())
        } else {
            let is_over = lacking.iter().all(|delivery| delivery.state == DeliveryState::Failed);
            let next = if is_over { "No further attempt is planned." } else { "A further attempt is planned." };
            let words = format!("{} of {all} did not accept it. {next}", lacking.len());
            (Badge::new("bad", "Not delivered"), words, lacking.iter().map(|delivery| delivery.read_at).min())
        };
        Self { badge, words, read_at: read_at.map(|at| zone.relative(at, now)) }
    }
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
    let read = session.platform().event_deliveries(&session.caller, subject).await?;
    let wanted = CorrectionQuery { item: Some(item.uuid), ..CorrectionQuery::default() };
    let corrections = session.platform().corrections(&session.caller, sale.auction.uuid, wanted).await?;
    let actors = history.iter().map(|entry| &entry.actor).chain(corrections.iter().map(|correction| &correction.actor));
    let names = session.names(actors.map(String::as_str)).await?;
    let mut row = |entry: platform_core::journal::JournalRow| HistoryRow {
        quarantined: refused.remove(&entry.sequence),
        delivery: Delivery::of(&read, entry.sequence, &sale.zone, session.now()),
        sequence: entry.sequence,
        at: sale.zone.relative(entry.at, session.now()),
        from: entry.from.as_deref().map(labels::journal_badge),
        to: labels::journal_badge(&entry.to),
        cause: labels::cause(&entry.cause).to_owned(),
        actor: labels::actor(session, &names, &entry.actor),
        reason: entry.reason.unwrap_or_default(),
        cursor: entry.body.map(|_| entry.cursor),
    };
    let correction_row = |correction: Correction| HistoryRow {
        quarantined: None,
        delivery: Delivery::of(&[], 0, &sale.zone, session.now()),
        sequence: 0,
        at: sale.zone.relative(correction.at, session.now()),
        from: None,
        to: ItemStatus::Sold.into(),
        cause: labels::correction(&correction.what, &sale.currency),
        actor: labels::actor(session, &names, &correction.actor),
        reason: correction.reason.unwrap_or_default(),
        cursor: None,
    };
    let changes = history.into_iter().rev().map(|entry| (entry.at, row(entry))).collect();
    let corrections = corrections.into_iter().map(|found| (found.at, correction_row(found))).collect();
    Ok(labels::latest_first(changes, corrections).into_iter().take(ROWS_MAX).collect())
}

/// The number of endpoints that received one event of the lot, by the last reading.
pub(super) async fn delivery(
    session: &Session,
    sale: &Sale,
    item: &Item,
    sequence: i64,
) -> Result<Delivery, PageError> {
    let read = session.platform().event_deliveries(&session.caller, (SubjectKind::Item, item.uuid)).await?;
    Ok(Delivery::of(&read, sequence, &sale.zone, session.now()))
}

/// Why events of the lot are in quarantine, by the number of the change.
pub(super) async fn quarantined(session: &Session, item: &Item) -> Result<HashMap<i64, String>, PageError> {
    let of = (SubjectKind::Item, item.uuid);
    let events = session.platform().quarantined_of(&session.caller, of).await?;
    Ok(events.into_iter().map(|refused| (refused.event.sequence, sentence(&refused.error))).collect())
}
