//! What holds for the books as a whole, and shows that something is gone with everything that belonged to it: the order in which
//! the log was written, anchors that somebody noted of it, and numbers that have no holes.

use serde::Deserialize;

use super::anchor::Anchor;
use super::verify::{Broken, ROWS_READ_MAX, Verified};
use crate::Platform;
use crate::error::PlatformResult;
use crate::port::{Page, Positions};

/// Findings of one kind; where so much is gone, more lines say no more.
const FINDINGS_MAX: usize = 100;
/// Numbers without their rows are small.
const CURSORS_READ_MAX: usize = 10_000;

/// Logs whose beginning was read.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Begun {
    auctions: u64,
    items: u64,
    registrations: u64,
}

impl Begun {
    /// A first entry. What can't be read is nobody's: a look at contents says what is wrong with it.
    fn see(&mut self, content: &str) {
        #[derive(Deserialize)]
        struct OfKind {
            kind: String,
        }
        let Ok(OfKind { kind }) = serde_json::from_str(content) else { return };
        match kind.as_str() {
            "auction" => self.auctions += 1,
            "item" => self.items += 1,
            "registration" => self.registrations += 1,
            _ => {}
        }
    }
}

impl Platform {
    /// Goes through the log of everything in the order in which it was written, up to its end at this moment: looks for holes where
    /// none may be, holds it against anchors that were noted earlier, and gives the anchor of its end. Contents are not looked
    /// at otherwise; whose first entries were read is counted. `progress` is told now and then. For the operator; it asks no caller.
    pub async fn verify_log(
        &self,
        anchors: &[Anchor],
        progress: &(dyn Fn(&Verified) + Send + Sync),
    ) -> PlatformResult<Verified> {
        let mut verified = Verified::default();
        let begun = self.walk_log(anchors, &mut verified, progress).await?;
        (verified.auctions, verified.items, verified.registrations) =
            (begun.auctions, begun.items, begun.registrations);
        verified.entries = verified.log_entries;
        Ok(verified)
    }

    /// The same as a part of a look at everything: what it counts is for the caller to take.
    pub(super) async fn walk_log(
        &self,
        anchors: &[Anchor],
        verified: &mut Verified,
        progress: &(dyn Fn(&Verified) + Send + Sync),
    ) -> PlatformResult<Begun> {
        let mut begun = Begun::default();
        let end = self.store().log_end().await?;
        let mut noted = Noted::new(anchors);
        let mut holes = Holes::new("position", "the log");
        let mut anchor = Anchor::begin();
        'pages: loop {
            let page = Page { after: Some(anchor.position), limit: ROWS_READ_MAX };
            let entries = self.store().placed_entries(page).await?;
            if entries.is_empty() {
                break;
            }
            for entry in entries {
                if entry.position > end {
                    break 'pages;
                }
                noted.pass(anchor, entry.position - 1);
                if self.store().positions() == Positions::WithoutHoles {
                    holes.see(entry.position);
                }
                anchor = anchor.after(&entry);
                if entry.number == 1 {
                    begun.see(&entry.content);
                }
                verified.log_entries += 1;
            }
            progress(verified);
        }
        noted.pass(anchor, end);
        noted.end(end);
        verified.broken.extend(holes.found.into_iter().chain(noted.found));
        verified.anchors_held += noted.held;
        verified.anchor = Some(anchor);
        Ok(begun)
    }

    /// Cursors of the journal have no holes, and no row names what is not there.
    pub(super) async fn verify_between_tables(&self, verified: &mut Verified) -> PlatformResult<()> {
        let mut holes = Holes::new("cursor", "the journal");
        let mut after = None;
        loop {
            let cursors = self.store().cursors(Page { after, limit: CURSORS_READ_MAX }).await?;
            let Some(last) = cursors.last().copied() else { break };
            cursors.into_iter().for_each(|cursor| holes.see(cursor));
            after = Some(last);
        }
        verified.broken.extend(holes.found);
        for stray in self.store().strays(FINDINGS_MAX).await? {
            // What is known of this subject says more.
            if verified.broken.iter().all(|known| known.subject != Some(stray.subject)) {
                let what = format!("rows of {} name what is not there", stray.table);
                verified.broken.push(Broken { subject: Some(stray.subject), kind: None, entry: None, what });
            }
        }
        Ok(())
    }
}

/// Anchors that were noted, and what the log says to each.
struct Noted {
    /// The next one last.
    anchors: Vec<Anchor>,
    last_held: Option<Anchor>,
    held: u64,
    found: Vec<Broken>,
}

impl Noted {
    fn new(anchors: &[Anchor]) -> Self {
        let mut anchors = anchors.to_vec();
        anchors.sort_unstable_by_key(|anchor| std::cmp::Reverse(anchor.position));
        Self { anchors, last_held: None, held: 0, found: Vec::new() }
    }

    /// The log comes to `anchor`, and has no entry after it up to the position `through`.
    fn pass(&mut self, anchor: Anchor, through: i64) {
        while let Some(noted) = self.anchors.pop_if(|noted| noted.position <= through) {
            if noted.hash == anchor.hash {
                self.held += 1;
                self.last_held = Some(noted);
                continue;
            }
            let since = self.last_held.map_or("; nothing says since when".to_owned(), |held| format!(", after {held}"));
            self.find(format!(
                "the log is not what it was at the anchor {noted}: an entry was changed, put in or taken away{since}"
            ));
        }
    }

    /// Anchors that are left are of a longer log.
    fn end(&mut self, end: i64) {
        while let Some(noted) = self.anchors.pop() {
            self.find(format!("the log ends at position {end}, before the anchor {noted}: its last entries are gone"));
        }
    }

    fn find(&mut self, what: String) {
        if self.found.len() < FINDINGS_MAX {
            self.found.push(Broken { subject: None, kind: None, entry: None, what });
        }
    }
}

/// Numbers from 1, each of which has to be there.
struct Holes {
    number: &'static str,
    of: &'static str,
    last: i64,
    found: Vec<Broken>,
}

impl Holes {
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
        self.found.push(Broken { subject: None, kind: None, entry: None, what });
    }
}
