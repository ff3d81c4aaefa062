//! An installation that was restored from a backup is on hold: no node starts until an operator resumes it.
//!
//! The backup ends before the present. Lots whose ends passed meanwhile would be sold on the bids that the backup has, and events
//! would be published whose numbers a provider may have seen with other contents. So the operator sees both first.

use std::sync::Arc;
use std::time::Duration;

use jiff::Timestamp;
pub use kit_runtime::hold::Hold;
use platform_rules::{Auction, Item};
use uuid::Uuid;

use crate::Platform;
use crate::error::PlatformResult;
use crate::port::{Cursor, MailBacklog, Page};

/// Customers read at once.
const CUSTOMERS_READ_MAX: usize = 250;

/// What the platform would do as soon as a node starts.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct WorkOnHold {
    /// Live lots whose end has passed, the earliest first.
    pub passed_ends: Vec<PassedEnd>,
    /// Customers with events that are not published yet.
    pub unpublished: Vec<UnpublishedEvents>,
    /// Mails to bidders that are not sent yet.
    pub mails: MailBacklog,
}

/// A live lot whose end has passed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PassedEnd {
    /// The item.
    pub item: Uuid,
    /// Its auction.
    pub auction: Uuid,
    /// Title of the auction.
    pub auction_title: String,
    /// The number in the catalogue.
    pub lot_number: String,
    /// When it ended.
    pub at: Timestamp,
}

/// Events of a customer that are not published yet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnpublishedEvents {
    /// The customer.
    pub customer: Uuid,
    /// Its name.
    pub name: String,
    /// Their number.
    pub count: u64,
    /// Server time of the oldest.
    pub oldest_at: Option<Timestamp>,
}

impl Platform {
    /// The hold; none when the installation may work. For the operator; it checks no caller.
    pub async fn hold(&self) -> PlatformResult<Option<Hold>> {
        Ok(self.store().hold().await?)
    }

    /// Puts a restored installation on hold and counts the restore. No node may run. For the operator; it checks no caller.
    pub async fn put_on_hold(&self, hold: Hold) -> PlatformResult<()> {
        self.store().put_hold(Some(hold)).await?;
        // The minute of the restore is above the number of every earlier restore, also of those that the backup does not know.
        let minute = u32::try_from(hold.since.as_second() / 60).unwrap_or_default();
        self.store().count_restore(minute).await?;
        Ok(())
    }

    /// Ends the hold. For the operator; it checks no caller.
    pub async fn end_hold(&self) -> PlatformResult<()> {
        Ok(self.store().put_hold(None).await?)
    }

    /// The cursor of the journal's last entry, 0 before the first. For the operator; it checks no caller.
    pub async fn journal_end(&self) -> PlatformResult<Cursor> {
        Ok(self.store().last_cursor().await?)
    }

    /// What would happen as soon as a node starts. For the operator; it checks no caller.
    pub async fn work_on_hold(&self) -> PlatformResult<WorkOnHold> {
        let mut due = self.store().due_items(self.now(), usize::MAX).await?;
        due.sort_by_key(|(item, _)| (item.effective_end_time, item.auction, item.position));
        let passed_end = |(item, auction): &(Item, Arc<Auction>)| PassedEnd {
            item: item.uuid,
            auction: auction.uuid,
            auction_title: auction.title.clone(),
            lot_number: item.lot_number.clone(),
            at: item.effective_end_time.unwrap_or_default(),
        };
        let passed_ends = due.iter().map(passed_end).collect();
        let (mut unpublished, mut after) = (Vec::new(), None);
        loop {
            let page = self.store().customers(Page { after, limit: CUSTOMERS_READ_MAX }).await?;
            for customer in &page {
                let backlog = self.store().backlog(customer.uuid).await?;
                if backlog.pending > 0 {
                    unpublished.push(UnpublishedEvents {
                        customer: customer.uuid,
                        name: customer.name.clone(),
                        count: backlog.pending,
                        oldest_at: backlog.oldest_at,
                    });
                }
            }
            if page.len() < CUSTOMERS_READ_MAX {
                let mails = self.store().waiting_mails(Timestamp::MAX).await?;
                return Ok(WorkOnHold { passed_ends, unpublished, mails });
            }
            after = page.last().map(|customer| customer.uuid);
        }
    }

    /// Extends the passed ends of all live lots until `grace` from now, and returns their number. No node may run. For the operator;
    /// it checks no caller.
    pub async fn extend_passed_ends(&self, grace: Duration) -> PlatformResult<usize> {
        let mut extended = 0;
        loop {
            let report = self.extend_due_ends(self.now(), grace).await?;
            extended += report.items;
            // After a conflict the lot may still be due.
            if report.conflicts == 0 {
                return Ok(extended);
            }
        }
    }
}
