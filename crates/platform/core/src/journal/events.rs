//! The event feed of a customer, and the history of one auction or item.

use uuid::Uuid;

use crate::error::{PlatformError, PlatformResult};
use crate::journal::{JournalRow, SubjectKind};
use crate::port::{Cursor, Page, QuarantinedEvent};
use crate::{Caller, Platform, Scope};

impl Platform {
    /// Announced events of a customer after a cursor, in the journal's order, so that a consumer can reconcile after an
    /// outage. A caller that is confined to a customer need not name it; staff must.
    ///
    /// A cursor beyond the journal's end is refused: a reader that waits behind it would miss every event until then
    /// without noticing.
    ///
    /// Errors: `not_found`, `invalid` (no customer named), `forbidden`, `cursor_beyond_end`.
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
        self.visible_customer(caller, customer).await?;
        let rows = self.store().events_after(customer, page).await?;
        if let (true, Some(after)) = (rows.is_empty(), page.after)
            && after > self.store().last_cursor().await?
        {
            return Err(PlatformError::CursorBeyondEnd(after));
        }
        Ok(rows)
    }

    /// Every status change of an auction or item, announced or not, by its sequence.
    ///
    /// Errors: `not_found`, also for one of the other kind; `forbidden`.
    pub async fn history(
        &self,
        caller: &Caller,
        (kind, subject): (SubjectKind, Uuid),
        page: Page<i64>,
    ) -> PlatformResult<Vec<JournalRow>> {
        self.require_history(caller, (kind, subject)).await?;
        Ok(self.store().history(subject, page).await?)
    }

    /// Events of an auction or item that the provider refused for good, by cursor.
    ///
    /// Errors: as of [`Platform::history`].
    pub async fn quarantined_of(
        &self,
        caller: &Caller,
        of: (SubjectKind, Uuid),
    ) -> PlatformResult<Vec<QuarantinedEvent>> {
        self.require_history(caller, of).await?;
        Ok(self.store().quarantined_of(of.1).await?)
    }

    async fn require_history(&self, caller: &Caller, (kind, subject): (SubjectKind, Uuid)) -> PlatformResult<()> {
        caller.require(Scope::EventsRead)?;
        match kind {
            SubjectKind::Auction => drop(self.visible_auction(caller, subject).await?),
            SubjectKind::Item => drop(self.visible_item(caller, subject).await?),
        }
        Ok(())
    }
}
