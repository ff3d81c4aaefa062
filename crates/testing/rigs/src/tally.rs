//! Counts what was committed, acknowledged and delivered, and what of it is missing or wrong.

use std::collections::HashSet;

use consumer::ExpectedEvent;
use serde::Serialize;
use testkit::site::CustomerSite;

use crate::RigError;
use crate::sales::Acknowledged;

/// The comparison of the platform's feed with the receiver's log and with the responses to the clerk.
#[derive(Debug, Serialize)]
pub(crate) struct Tally {
    /// Announced events in the platform's feed.
    pub(crate) committed: u64,
    /// Distinct events at the receiver.
    pub(crate) delivered: u64,
    /// Committed events that were not delivered.
    pub(crate) missing: u64,
    /// Delivered events that were not committed.
    pub(crate) phantom: u64,
    /// Repeated deliveries of a message.
    pub(crate) duplicated: u64,
    pub(crate) invalid: u64,
    pub(crate) out_of_order: u64,
    /// Clerk's commands with a 2xx response.
    pub(crate) acknowledged: u64,
    /// Acknowledged commands whose event is not in the feed.
    pub(crate) acknowledged_missing: u64,
}

impl Tally {
    /// Reads the feed and compares.
    pub(crate) async fn count(site: &CustomerSite, acknowledged: &Acknowledged) -> Result<Self, RigError> {
        let expected = site.announced_events().await?;
        let report = site.receiver.read(|record| record.compare(&expected));
        let copies = site.receiver.read(|record| record.duplicates());
        let committed: HashSet<&ExpectedEvent> = expected.iter().collect();
        Ok(Self {
            committed: report.expected,
            delivered: report.received,
            missing: report.lost,
            // The report also counts unexpected events as duplicates. They are not copies of a message.
            phantom: report.duplicates - copies,
            duplicated: copies,
            invalid: report.invalid,
            out_of_order: report.out_of_order,
            acknowledged: acknowledged.events.len() as u64,
            acknowledged_missing: acknowledged.events.iter().filter(|event| !committed.contains(event)).count() as u64,
        })
    }

    /// True if no event is missing or wrong.
    pub(crate) fn is_complete(&self) -> bool {
        self.missing + self.phantom + self.invalid + self.out_of_order + self.acknowledged_missing == 0
    }

    /// The counts as lines of text.
    pub(crate) fn describe(&self) -> String {
        format!(
            "  committed {}, delivered {}, missing {}, never committed {}\n  copies {}, bad signatures {}, out of order {}\n  \
             acknowledged sales {}, of these not committed {}",
            self.committed,
            self.delivered,
            self.missing,
            self.phantom,
            self.duplicated,
            self.invalid,
            self.out_of_order,
            self.acknowledged,
            self.acknowledged_missing,
        )
    }
}
