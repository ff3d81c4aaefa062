//! Events that the provider refused permanently. Support sends them again when the cause is removed, or drops them.
//!
//! The order of each subject is preserved: an event returns to its place in the outbox, before the waiting events of its
//! subject. If a later event of its subject was published already, the call is refused, unless the caller explicitly asks
//! to send it.

use uuid::Uuid;

use crate::error::{PlatformError, PlatformResult};
use crate::port::{Cursor, OvertakenPolicy, Page, StoreError};
use crate::steps::idempotency::{IdempotentRequest, Outcome};
use crate::steps::input::check_text;
use crate::{Caller, Platform, Scope};

/// Events that one call can name.
pub const CURSORS_MAX: usize = 250;
/// Events that one call sends again if it names none.
const SENT_MAX: usize = 1_000;
/// Quarantined events that such a call reads, including those that stay in quarantine.
const LOOKED_AT_MAX: usize = 20_000;
const PAGE_MAX: usize = 250;
const TRIES_MAX: usize = 5;
const REASON_CHARS_MAX: usize = 500;

/// Which events to send again.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum QuarantineSelection {
    /// The oldest thousand that can be sent.
    All,
    /// The named events, all or none.
    These(Vec<Cursor>),
}

/// The result of sending events again.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ResendReport {
    /// Events that now wait in the outbox.
    pub sent: Vec<Cursor>,
    /// Events that stay in quarantine, because later events of their subjects were published.
    pub left: Vec<Cursor>,
    /// Number of events that are now in quarantine.
    pub quarantined: u64,
}

impl Platform {
    /// Returns events from quarantine to the outbox, so that they are published again.
    ///
    /// Errors: `not_found` (customer), `invalid` (also an event that is not in quarantine), `not_connected`,
    /// `later_published`.
    pub async fn send_quarantined(
        &self,
        caller: &Caller,
        customer: Uuid,
        (which, after_later): (&QuarantineSelection, OvertakenPolicy),
        answering: Option<IdempotentRequest<'_, ResendReport>>,
    ) -> PlatformResult<Outcome<ResendReport>> {
        caller.require(Scope::CustomersWrite)?;
        self.visible_customer(caller, customer).await?;
        if let Some(answer) = self.replay(answering.as_ref()).await? {
            return Ok(Outcome::Replayed(answer));
        }
        for _ in 0..TRIES_MAX {
            if !self.store().consumer(customer).await?.is_some_and(|consumer| consumer.is_complete()) {
                return Err(PlatformError::NotConnected);
            }
            let result = self.chosen(customer, which, after_later).await?;
            let answer = answering.as_ref().map(|answering| answering.answer(&result, self.now()));
            match self.store().requeue_quarantined(customer, result.sent.clone(), after_later, answer).await {
                Ok(()) => {
                    self.publisher().wake_lane(customer);
                    tracing::info!(customer_id = %customer, actor = caller.actor, cursors = ?result.sent, ?after_later, "events in quarantine are sent again");
                    return Ok(Outcome::Fresh(result));
                }
                Err(StoreError::Replayed) => return self.replayed(answering.as_ref()).await,
                Err(StoreError::Conflict) => {}
                Err(error) => return Err(error.into()),
            }
        }
        Err(PlatformError::Busy)
    }

    /// Removes events from quarantine permanently: they are never published. They stay in the journal and the events feed.
    /// The reason is written to the server's log.
    ///
    /// Errors: `not_found` (customer), `invalid` (also an event that is not in quarantine).
    pub async fn drop_quarantined(
        &self,
        caller: &Caller,
        customer: Uuid,
        (cursors, reason): (&[Cursor], &str),
        answering: Option<IdempotentRequest<'_, u64>>,
    ) -> PlatformResult<Outcome<u64>> {
        caller.require(Scope::CustomersWrite)?;
        self.visible_customer(caller, customer).await?;
        check_text(reason, REASON_CHARS_MAX).map_err(|message| PlatformError::invalid("/reason", message))?;
        if let Some(answer) = self.replay(answering.as_ref()).await? {
            return Ok(Outcome::Replayed(answer));
        }
        let cursors = self.in_quarantine(customer, cursors).await?;
        let count = cursors.len() as u64;
        let answer = answering.as_ref().map(|answering| answering.answer(&count, self.now()));
        match self.store().drop_quarantined(customer, cursors.clone(), answer).await {
            Ok(()) => {
                tracing::info!(customer_id = %customer, actor = caller.actor, ?cursors, reason, "events in quarantine were dropped");
                Ok(Outcome::Fresh(count))
            }
            Err(StoreError::Replayed) => self.replayed(answering.as_ref()).await,
            Err(error) => Err(error.into()),
        }
    }

    async fn chosen(
        &self,
        customer: Uuid,
        which: &QuarantineSelection,
        after_later: OvertakenPolicy,
    ) -> PlatformResult<ResendReport> {
        let quarantined = self.store().backlog(customer).await?.quarantined;
        let mut result = ResendReport { sent: Vec::new(), left: Vec::new(), quarantined };
        match which {
            QuarantineSelection::These(cursors) => {
                result.sent = self.in_quarantine(customer, cursors).await?;
                if after_later == OvertakenPolicy::Refuse
                    && let Some(passed) = self.store().overtaken(customer, result.sent.clone()).await?.first()
                {
                    return Err(PlatformError::LaterPublished(*passed));
                }
            }
            QuarantineSelection::All => self.choose(customer, after_later, &mut result).await?,
        }
        result.quarantined = quarantined.saturating_sub(result.sent.len() as u64);
        Ok(result)
    }

    /// Chooses the oldest events that can be sent, page by page.
    async fn choose(
        &self,
        customer: Uuid,
        after_later: OvertakenPolicy,
        result: &mut ResendReport,
    ) -> PlatformResult<()> {
        let mut after = None;
        while result.sent.len() < SENT_MAX && result.sent.len() + result.left.len() < LOOKED_AT_MAX {
            let limit = PAGE_MAX.min(SENT_MAX - result.sent.len());
            let page = self.store().quarantined(customer, Page { after, limit }).await?;
            let cursors: Vec<Cursor> = page.iter().map(|quarantined| quarantined.event.cursor).collect();
            after = cursors.last().copied();
            if cursors.is_empty() {
                break;
            }
            let passed = match after_later {
                OvertakenPolicy::Refuse => self.store().overtaken(customer, cursors.clone()).await?,
                OvertakenPolicy::Send => Vec::new(),
            };
            result.sent.extend(cursors.into_iter().filter(|cursor| !passed.contains(cursor)));
            result.left.extend(passed);
        }
        Ok(())
    }

    /// The named events without repetitions and in order, if all of them are in quarantine.
    async fn in_quarantine(&self, customer: Uuid, cursors: &[Cursor]) -> PlatformResult<Vec<Cursor>> {
        if cursors.is_empty() || cursors.len() > CURSORS_MAX {
            return Err(PlatformError::invalid("/cursors", format!("must name 1 to {CURSORS_MAX} events")));
        }
        let mut cursors = cursors.to_vec();
        cursors.sort_unstable();
        cursors.dedup();
        for cursor in &cursors {
            let page = Page { after: Some(cursor.saturating_sub(1)), limit: 1 };
            let found = self.store().quarantined(customer, page).await?;
            if found.first().is_none_or(|quarantined| quarantined.event.cursor != *cursor) {
                let message = format!("names {cursor}, which is not in this customer's quarantine");
                return Err(PlatformError::invalid("/cursors", message));
            }
        }
        Ok(cursors)
    }
}
