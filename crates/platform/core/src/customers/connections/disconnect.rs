//! The end of a connection: a customer leaves, or its key must not be used any more.

use uuid::Uuid;

use crate::access::access_log::AccessEvent;
use crate::error::{PlatformError, PlatformResult};
use crate::port::{AccessChange, AccessChangeResult, StartFrom};
use crate::{Caller, Platform, Scope};

/// A connection that was ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct EndedConnection {
    /// Number of events that waited. They are not published.
    pub waited: u64,
    /// True if the provider still accepts an API key that the platform had made, because this process does not run the
    /// embedded provider. A person has to revoke it there.
    pub made_key_remains: bool,
}

impl Platform {
    /// Ends a customer's connection: its key is forgotten, nothing that waits is published, and nothing that happens
    /// from now on, unless it is connected again from a cursor. A key that the platform had made is revoked first; one that a
    /// person entered stays valid at the provider. A request that is on its way to the provider may still arrive. The
    /// journal is kept all the same, and events in quarantine stay there.
    ///
    /// Errors: `not_found` (customer, or not connected), `provider_refused` (the made key could not be revoked; nothing changed).
    pub async fn disconnect_consumer(&self, caller: &Caller, customer: Uuid) -> PlatformResult<EndedConnection> {
        caller.require(Scope::CustomersWrite)?;
        self.visible_customer(caller, customer).await?;
        let made_key_remains = self.revoke_made_key(customer).await?;
        let note = self.note(caller, AccessEvent::ConnectionEnded { customer })?;
        let ended = self.store().apply_access_change(AccessChange::Disconnect(customer), note).await?;
        let AccessChangeResult::Disconnected(waited) = ended else { return Err(PlatformError::NotFound("connection")) };
        self.publisher().connection_changed(customer);
        tracing::info!(customer_id = %customer, actor = caller.actor, waited, "a customer was disconnected from its provider");
        Ok(EndedConnection { waited, made_key_remains })
    }

    /// A consumer that starts behind the journal's end would miss every event until then without noticing.
    pub(super) async fn check_start(&self, start: StartFrom) -> PlatformResult<()> {
        match start {
            StartFrom::Cursor(cursor) if cursor < 0 => {
                Err(PlatformError::invalid("/startFrom", "is no cursor of the events feed: it begins with 0"))
            }
            StartFrom::Cursor(cursor) if cursor > self.store().last_cursor().await? => {
                Err(PlatformError::CursorBeyondEnd(cursor))
            }
            StartFrom::Cursor(_) | StartFrom::Now => Ok(()),
        }
    }
}
