//! Entries of the access log.

use platform_core::access::access_log::AccessRow;
use serde::Serialize;
use serde_json::Value;
use utoipa::ToSchema;
use uuid::Uuid;

use super::time;

/// An entry of the access log.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = AccessEntry)]
pub(crate) struct AccessEntryView {
    /// From 1 without gaps.
    pub(crate) number: i64,
    /// When it happened.
    #[schema(format = DateTime)]
    pub(crate) at: String,
    /// Who acted: `user:<uuid>`, `key:<uuid>`, `command-line`, `setup-code`, `single-sign-on` or `platform`.
    pub(crate) actor: String,
    /// The session in which the actor acted; null for an API key.
    pub(crate) session: Option<Uuid>,
    /// IP address of a sign-in; null if it is unknown.
    pub(crate) address: Option<String>,
    /// What happened: `signedIn`, `signInRefused`, `signInsRefused`, `userCreated`, `userChanged`, `userRemoved`,
    /// `userInvited`, `invitationWithdrawn`, `invitationAccepted`, `passwordReset`, `newPasswordRequired`, `passwordChanged`,
    /// `singleSignOnLinked`, `singleSignOnUnlinked`, `secondFactorOn`, `secondFactorOff`, `clerkAssigned`, `clerkTakenOff`, `screenLinkCreated`, `screenLinkRevoked`, `partyViewed`, `registrationViewed`, `lotOffered`, `lotOfferWithdrawn`, `lotOfferAccepted`, `lotOfferDeclined`, `partyExported`, `registerListed`, `registerExported`, `mailsListed`, `lateBidsListed`, `mailViewed`, `reminderPreviewed`,
    /// `keyCreated`, `keyRevoked`, `connectionEntered` or `connectionEnded`. There may be others later.
    pub(crate) event: String,
    /// The subject and further facts: an object whose members depend on the event.
    #[schema(value_type = Object)]
    pub(crate) details: Value,
    /// SHA-256 over this entry and all earlier ones, as 64 hexadecimal digits.
    pub(crate) hash: String,
}

impl From<&AccessRow> for AccessEntryView {
    fn from(row: &AccessRow) -> Self {
        // An event serialises to an object with the members `event` and `details`.
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
