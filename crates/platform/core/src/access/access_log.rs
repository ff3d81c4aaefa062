//! The access log: who signed in or was refused, and who changed whose access (`docs/operate/audit.md`).
//!
//! A use case hands the store a change of access with the content of its entry; the store commits both or neither. The
//! entries of all nodes form one chain of hashes, which `lotwire verify --all` checks.
//!
//! Guarantees:
//! - No entry contains a password, code, token, key, or any input of a failed sign-in.
//! - Callers who are not signed in add at most one entry for each hour and node: the platform counts sign-ins that fail
//!   at name or password, and logs the count.
//! - Entries are never removed.

mod event;
mod refused;

use std::net::IpAddr;

use jiff::Timestamp;
use kit_runtime::clock::rfc3339_ms;
use serde::{Deserialize, Serialize, Serializer};
use uuid::Uuid;

pub use event::AccessEvent;

use crate::error::{PlatformError, PlatformResult};
use crate::port::{AccessChange, AccessEntry, Page};
use crate::{Caller, Platform, Scope};

/// The actor who created the first administrator with a set-up code.
const SETUP_CODE: &str = "setup-code";
/// The actor of changes that follow from what the issuer of single sign-on says.
pub(crate) const SINGLE_SIGN_ON: &str = "single-sign-on";
/// The actor of entries that the platform makes by itself.
const PLATFORM: &str = "platform";

/// The content of an entry.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct AccessContent {
    /// The server's time.
    #[serde(serialize_with = "in_milliseconds")]
    pub at: Timestamp,
    /// Who did it: `user:<uuid>`, `key:<uuid>`, `bidder:<uuid>`, `command-line`, `setup-code`, `single-sign-on` or `platform`.
    pub actor: String,
    /// The session of the actor. The entry of its sign-in has the address.
    pub session: Option<Uuid>,
    /// IP address of a sign-in, if it is known; none for other events.
    pub address: Option<String>,
    /// What happened.
    #[serde(flatten)]
    pub event: AccessEvent,
}

/// An entry of the access log, decoded.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AccessRow {
    /// From 1 without gaps.
    pub number: i64,
    /// The content.
    pub content: AccessContent,
    /// Its hash, which covers all entries before.
    pub hash: platform_rules::LogHash,
}

fn in_milliseconds<S: Serializer>(at: &Timestamp, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(&rfc3339_ms(*at))
}

impl Platform {
    /// Entries of the access log before the number `page.after`, the latest first. Needs `users:read`.
    ///
    /// Errors: `forbidden`.
    pub async fn access_log(&self, caller: &Caller, page: Page<i64>) -> PlatformResult<Vec<AccessRow>> {
        caller.require_staff()?;
        caller.require(Scope::UsersRead)?;
        let entries = self.store().latest_access_entries(page.after, page.limit).await?;
        entries.into_iter().map(row).collect()
    }

    /// The content of an entry about an action of this caller.
    pub(crate) fn note(&self, caller: &Caller, event: AccessEvent) -> PlatformResult<String> {
        self.content(caller.actor.clone(), caller.session, None, event)
    }

    /// The content of an entry about a sign-in.
    pub(crate) fn note_sign_in(
        &self,
        (user, session): (Uuid, Option<Uuid>),
        from: Option<IpAddr>,
        event: AccessEvent,
    ) -> PlatformResult<String> {
        self.content(format!("user:{user}"), session, from, event)
    }

    /// The content of an entry about a user who was created with a set-up code.
    pub(crate) fn note_setup(&self, from: Option<IpAddr>, event: AccessEvent) -> PlatformResult<String> {
        self.content(SETUP_CODE.to_owned(), None, from, event)
    }

    /// The content of an entry about a change that follows from what the issuer of single sign-on says.
    pub(crate) fn note_issuer(&self, from: Option<IpAddr>, event: AccessEvent) -> PlatformResult<String> {
        self.content(SINGLE_SIGN_ON.to_owned(), None, from, event)
    }

    /// Appends an entry without a change of access.
    pub(crate) async fn note_alone(&self, content: String) -> PlatformResult<()> {
        self.store().apply_access_change(AccessChange::EntryOnly, content).await?;
        Ok(())
    }

    fn content(
        &self,
        actor: String,
        session: Option<Uuid>,
        from: Option<IpAddr>,
        event: AccessEvent,
    ) -> PlatformResult<String> {
        let address = from.map(|from| from.to_canonical().to_string());
        let content = AccessContent { at: self.now(), actor, session, address, event };
        serde_json::to_string(&content)
            .map_err(|error| PlatformError::Internal(format!("an entry of the access log can't be encoded: {error}")))
    }
}

fn row(entry: AccessEntry) -> PlatformResult<AccessRow> {
    let content = serde_json::from_str(&entry.content).map_err(|error| {
        PlatformError::Internal(format!("entry {} of the access log can't be read: {error}", entry.number))
    })?;
    Ok(AccessRow { number: entry.number, content, hash: entry.hash })
}
