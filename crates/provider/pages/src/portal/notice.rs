//! Notices on the page that follows a form. The query parameter `done` names the notice.

use kit_design::fields::FormFields;

const NOTICES: &[(&str, &str)] = &[
    ("created", "The endpoint was added. Send it an example to see that your receiver works."),
    ("saved", "The endpoint was saved. The next delivery uses the new settings."),
    ("enabled", "The endpoint is enabled. To send the messages that it missed, open Replay."),
    (
        "disabled",
        "The endpoint is disabled and receives nothing. A waiting message is cancelled when its next attempt is due, unless you enable the endpoint before.",
    ),
    ("deleted", "The endpoint was deleted."),
    ("rotated", "The endpoint has a new signing secret."),
    ("header-set", "The header was set. The next delivery carries it."),
    ("header-removed", "The header was removed."),
    ("sent", "The example was sent."),
    ("resent", "The message is being sent once more."),
    ("recovering", "The failed messages are being sent again. Progress is shown below."),
    ("replaying", "The missing messages are being sent. Progress is shown below."),
    ("stopped", "The replay was stopped. Messages that it had taken are still sent."),
    ("ended", "The replay had ended already."),
    ("retried", "The message is being retried."),
    ("unblocked", "That message does not block its key any more."),
    ("skipped", "The message was skipped. The next message with its ordering key is delivered."),
];

/// The notice that `?done=` names; none for an unknown name.
pub(super) fn from_query(query: &FormFields) -> Option<&'static str> {
    let done = query.text("done");
    NOTICES.iter().find(|(name, _)| *name == done).map(|(_, notice)| *notice)
}
