//! What happened: the announced events of a customer, and the history of one auction or item.

use uuid::Uuid;

use crate::error::{PlatformError, PlatformResult};
use crate::journal::JournalRow;
use crate::port::{Cursor, Page};
use crate::{Caller, Platform, Scope};

impl Platform {
    /// Announced events of a customer after a cursor, in the journal's order, so that a consumer can reconcile after an
    /// outage (decisions, section 3). A caller that is confined to a customer need not name it; staff must.
    ///
    /// Errors: `not_found`, `invalid` (no customer named, or a cursor behind the last event that was never given), `forbidden`.
    pub async fn events_after(
        &self,
        caller: &Caller,
        customer: Option<Uuid>,
        page: Page<Cursor>,
    ) -> PlatformResult<Vec<JournalRow>> {
        caller.require(Scope::EventsRead)?;
        let customer = customer
            .or(caller.customer)
            .ok_or_else(|| PlatformError::invalid("/customer", "name the customer whose events are wanted"))?;
        self.seen_customer(caller, customer).await?;
        let rows = self.store().events_after(customer, page).await?;
        match page.after {
            Some(after) if after > 0 && rows.is_empty() => self.require_given(customer, after).await?,
            _ => {}
        }
        Ok(rows)
    }

    /// Behind the last event, only that event's own cursor makes sense. With any other (of another installation, or from
    /// before a backup was restored) everything up to it would be missed in silence.
    async fn require_given(&self, customer: Uuid, after: Cursor) -> PlatformResult<()> {
        let at = Page { after: Some(after - 1), limit: 1 };
        let is_given = self.store().events_after(customer, at).await?.iter().any(|row| row.cursor == after);
        let message =
            "is behind the last event, and was never given as `next`: begin at 0, or at a cursor that you were given";
        if is_given { Ok(()) } else { Err(PlatformError::invalid("/after", message)) }
    }

    /// Every status change of an auction or item, announced or not, by its sequence.
    ///
    /// Errors: `not_found`, `forbidden`.
    pub async fn history(&self, caller: &Caller, subject: Uuid, page: Page<i64>) -> PlatformResult<Vec<JournalRow>> {
        caller.require(Scope::EventsRead)?;
        match self.seen_auction(caller, subject).await {
            Err(PlatformError::NotFound(_)) => drop(self.seen_item(caller, subject).await?),
            found => drop(found?),
        }
        Ok(self.store().history(subject, page).await?)
    }
}
