//! Entries of the log of access.

use platform_core::access_log::AccessRow;
use serde::Serialize;
use serde_json::Value;
use utoipa::ToSchema;
use uuid::Uuid;

use super::time;

/// An entry of the log of access.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = AccessEntry)]
pub(crate) struct AccessEntryView {
    /// From 1 without gaps.
    pub(crate) number: i64,
    #[schema(format = DateTime)]
    pub(crate) at: String,
    /// Who did it: `user:<uuid>`, `key:<uuid>`, `command-line` or `platform`.
    pub(crate) actor: String,
    /// The session that it was done in.
    pub(crate) session: Option<Uuid>,
    /// Where it came from, at signing in; null when that is not known.
    pub(crate) address: Option<String>,
    /// What happened: `signedIn`, `signInRefused`, `signInsRefused`, `userCreated`, `userChanged`, `userRemoved`, `passwordReset`,
    /// `passwordChanged`, `secondFactorOn`, `secondFactorOff`, `clerkAssigned`, `clerkTakenOff`, `keyCreated`, `keyRevoked`,
    /// `connectionEntered` or `connectionEnded`. There may be others later.
    pub(crate) event: String,
    /// Whom it was about, and what else there is to say: an object whose members depend on the event.
    #[schema(value_type = Object)]
    pub(crate) details: Value,
    /// SHA-256 over this entry and all before, as 64 hexadecimal digits.
    pub(crate) hash: String,
}

impl From<&AccessRow> for AccessEntryView {
    fn from(row: &AccessRow) -> Self {
        // An event is always an object of two members.
        let mut event = serde_json::to_value(&row.content.event).unwrap_or_default();
        let details = event.get_mut("details").map(Value::take).unwrap_or_default();
        Self {
            number: row.number,
            at: time(row.content.at),
            actor: row.content.actor.clone(),
            session: row.content.session,
            address: row.content.address.clone(),
            event: event.get("event").and_then(Value::as_str).unwrap_or_default().to_owned(),
            details,
            hash: row.hash.to_string(),
        }
    }
}
