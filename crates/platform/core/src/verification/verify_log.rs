//! Checks of the audit log as a whole. They find subjects that were deleted together with their log: the order in which
//! the entries were written, the anchors that an operator noted, and number sequences without gaps.

use serde::Deserialize;

use super::anchor::Anchor;
use super::verify::{Finding, ROWS_READ_MAX, VerifyReport};
use crate::Platform;
use crate::error::PlatformResult;
use crate::port::{Page, PositionNumbering};

/// Findings of one kind, at most.
const FINDINGS_MAX: usize = 100;
/// Cursors read at once: numbers only, so more than rows.
const CURSORS_READ_MAX: usize = 10_000;

/// Number of logs by kind.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct LogCounts {
    auctions: u64,
    items: u64,
    registrations: u64,
    parties: u64,
}

impl LogCounts {
    /// Counts the first entry of a log by its kind. An unreadable entry is not counted; the verification of the
    /// subject's log reports it.
    fn count(&mut self, content: &str) {
        #[derive(Deserialize)]
        struct OfKind {
            kind: String,
        }
        let Ok(OfKind { kind }) = serde_json::from_str(content) else { return };
        match kind.as_str() {
            "auction" => self.auctions += 1,
            "item" => self.items += 1,
            "registration" => self.registrations += 1,
            "party" => self.parties += 1,
            _ => {}
        }
    }
}

impl Platform {
    /// Reads the log of all subjects in the order in which it was written, up to its present end. Finds gaps where the
    /// store numbers without gaps, compares the log with the given anchors, and returns the anchor of its end. It
    /// counts the logs, and does not check their contents. `progress` is called after each page. For the operator; it
    /// checks no caller.
    pub async fn verify_log(
        &self,
        anchors: &[Anchor],
        progress: &(dyn Fn(&VerifyReport) + Send + Sync),
    ) -> PlatformResult<VerifyReport> {
        let mut verified = VerifyReport::default();
        let begun = self.walk_log(anchors, &mut verified, progress).await?;
        (verified.auctions, verified.items) = (begun.auctions, begun.items);
        (verified.registrations, verified.parties) = (begun.registrations, begun.parties);
        verified.entries = verified.log_entries;
        Ok(verified)
    }

    /// As [`Self::verify_log`], for a verification of everything. Returns the number of logs.
    pub(super) async fn walk_log(
        &self,
        anchors: &[Anchor],
        verified: &mut VerifyReport,
        progress: &(dyn Fn(&VerifyReport) + Send + Sync),
    ) -> PlatformResult<LogCounts> {
        let mut begun = LogCounts::default();
        let end = self.store().last_log_position().await?;
        let mut noted = AnchorCheck::new(anchors);
        let mut gaps = GapCheck::new("position", "the log");
        let mut anchor = Anchor::begin();
        'pages: loop {
            let page = Page { after: Some(anchor.position), limit: ROWS_READ_MAX };
            let entries = self.store().entries_by_position(page).await?;
            if entries.is_empty() {
                break;
            }
            for entry in entries {
                if entry.position > end {
                    break 'pages;
                }
                noted.pass(anchor, entry.position - 1);
                if self.store().position_numbering() == PositionNumbering::Gapless {
                    gaps.see(entry.position);
                }
                anchor = anchor.after(&entry);
                if entry.number == 1 {
                    begun.count(&entry.content);
                }
                verified.log_entries += 1;
            }
            progress(verified);
        }
        noted.pass(anchor, end);
        noted.end(end);
        verified.broken.extend(gaps.found.into_iter().chain(noted.found));
        verified.anchors_held += noted.held;
        verified.anchor = Some(anchor);
        Ok(begun)
    }

    /// The journal's cursors have no gaps, and no row names a missing row.
    pub(super) async fn verify_between_tables(&self, verified: &mut VerifyReport) -> PlatformResult<()> {
        let mut gaps = GapCheck::new("cursor", "the journal");
        let mut after = None;
        loop {
            let cursors = self.store().cursors(Page { after, limit: CURSORS_READ_MAX }).await?;
            let Some(last) = cursors.last().copied() else { break };
            cursors.into_iter().for_each(|cursor| gaps.see(cursor));
            after = Some(last);
        }
        verified.broken.extend(gaps.found);
        for row in self.store().orphan_rows(FINDINGS_MAX).await? {
            // An earlier finding about the subject says more.
            if verified.broken.iter().all(|known| known.subject != Some(row.subject)) {
                let what = format!("a row of the table {} refers to a row that does not exist", row.table);
                verified.broken.push(Finding { subject: Some(row.subject), kind: None, entry: None, what });
            }
        }
        Ok(())
    }
}

/// Compares noted anchors with the log.
struct AnchorCheck {
    /// The anchors left, the next one last.
    anchors: Vec<Anchor>,
    last_held: Option<Anchor>,
    held: u64,
    found: Vec<Finding>,
}

impl AnchorCheck {
    fn new(anchors: &[Anchor]) -> Self {
        let mut anchors = anchors.to_vec();
        anchors.sort_unstable_by_key(|anchor| std::cmp::Reverse(anchor.position));
        Self { anchors, last_held: None, held: 0, found: Vec::new() }
    }

    /// Checks the anchors up to the position `through`: the log has `anchor` there, because no entry follows up to it.
    fn pass(&mut self, anchor: Anchor, through: i64) {
        while let Some(noted) = self.anchors.pop_if(|noted| noted.position <= through) {
            if noted.hash == anchor.hash {
                self.held += 1;
                self.last_held = Some(noted);
                continue;
            }
            let since =
                self.last_held.map_or("; no earlier anchor matches".to_owned(), |held| format!(", after {held}"));
            self.find(format!(
                "the log differs from the anchor {noted}: an entry was changed, inserted or deleted{since}"
            ));
        }
    }

    /// Reports the anchors that are left: they belong to a longer log.
    fn end(&mut self, end: i64) {
        while let Some(noted) = self.anchors.pop() {
            self.find(format!(
                "the log ends at position {end}, before the anchor {noted}: its last entries were deleted"
            ));
        }
    }

    fn find(&mut self, what: String) {
        if self.found.len() < FINDINGS_MAX {
            self.found.push(Finding { subject: None, kind: None, entry: None, what });
        }
    }
}

/// Checks numbers from 1 for gaps.
struct GapCheck {
    number: &'static str,
    of: &'static str,
    last: i64,
    found: Vec<Finding>,
}

impl GapCheck {
    fn new(number: &'static str, of: &'static str) -> Self {
        Self { number, of, last: 0, found: Vec::new() }
    }

    fn see(&mut self, number: i64) {
        let (first, last) = (self.last + 1, number - 1);
        self.last = number;
        if first > last || self.found.len() == FINDINGS_MAX {
            return;
        }
        let Self { number, of, .. } = self;
        let what = if first == last {
            format!("{number} {first} of {of} is missing")
        } else {
            format!("{number}s {first} to {last} of {of} are missing")
        };
        self.found.push(Finding { subject: None, kind: None, entry: None, what });
    }
}
