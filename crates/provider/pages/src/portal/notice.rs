//! A word about what was just done, on the page that follows a form. The address of that page says which.

use crate::shared::fields::FormFields;

const NOTICES: &[(&str, &str)] = &[
    ("created", "The endpoint was added. Send it an example to see that your receiver works."),
    ("saved", "Saved. The next delivery is made with it."),
    ("enabled", "The endpoint is enabled. What it missed can be sent again under Replay."),
    ("disabled", "The endpoint is disabled and receives nothing. What waited for it was dropped."),
    ("deleted", "The endpoint was deleted."),
    ("rotated", "The endpoint has a new signing secret."),
    ("header-set", "The header was set. The next delivery has it."),
    ("header-removed", "The header was removed."),
    ("sent", "The example was sent."),
    ("resent", "The message is being sent once more."),
    ("recovering", "What failed is being sent again. Its progress is shown below."),
    ("replaying", "What the endpoint never had is being sent. Its progress is shown below."),
    ("skipped", "The message was skipped. The next one of its key goes out."),
];

/// What `?done=` says; none for a word that is none of these.
pub(super) fn from_query(query: &FormFields) -> Option<&'static str> {
    let done = query.text("done");
    NOTICES.iter().find(|(word, _)| *word == done).map(|(_, notice)| *notice)
}
