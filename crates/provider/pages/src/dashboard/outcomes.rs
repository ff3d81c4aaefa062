//! Notices on the page that follows a form. The query parameter `done` names the notice.

use kit_design::fields::FormFields;

use super::form_errors::notice;

const NOTICES: &[(&str, &str)] = &[
    ("application-created", "The application was created. Open its App Portal to add an endpoint."),
    ("application-saved", "The application was saved."),
    ("application-deleted", "The application was deleted with its endpoints."),
    ("portal-link-revoked", "The portal link was revoked. Sessions that were opened with it have ended."),
    ("message-sent", "The message was accepted. The page shows its deliveries."),
    ("retried", "The message is being retried."),
    ("skipped", "The message was skipped. The next message with its ordering key is delivered."),
    ("unblocked", "That message does not block its key any more."),
    ("resent", "The message is being sent once more."),
    ("event-type-created", "The event type was created. Endpoints can choose it now."),
    ("event-type-saved", "The event type was saved."),
    ("event-type-archived", "The event type was archived. Messages of it are still accepted and delivered."),
    ("event-type-restored", "The event type is listed again."),
    ("event-type-deleted", "The event type was deleted."),
    ("event-types-added", "The event types were added. Endpoints can choose them now."),
    ("event-types-imported", "The event types were imported."),
    ("operational-created", "The endpoint was added. It receives the next operational event."),
    ("operational-saved", "The endpoint was saved. The next delivery uses the new settings."),
    ("operational-deleted", "The endpoint was deleted."),
    ("operational-rotated", "The endpoint has a new signing secret. The old one also signs for 24 hours."),
    ("unknown-event-types-saved", "The setting was saved. It applies to the next message."),
    ("payload-check-saved", "The payload check was saved. It applies to the next message."),
];

/// The notice that `?done=` names; none for an unknown name.
pub(super) fn from_query(query: &FormFields) -> Option<&'static str> {
    notice(query, NOTICES)
}
