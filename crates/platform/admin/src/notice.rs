//! Notices on the page that follows a form. The query parameter `done` names the notice.

use kit_design::fields::FormFields;

const NOTICES: &[(&str, &str)] = &[
    ("set-up", "You are signed in as the first administrator. Turn on a second factor under your account."),
    ("password", "Your password was changed. Your other sessions have ended."),
    ("second-factor-off", "The second factor is off."),
    ("session-ended", "The session has ended."),
    ("customer-created", "The customer was created. Nothing is sent until you connect it to its provider."),
    ("customer-renamed", "The customer was renamed."),
    ("connected", "The connection was saved, and the provider accepts the application and the key."),
    (
        "customer-connected",
        "The customer is connected: the provider answered. Add the endpoints that receive its events in the App Portal.",
    ),
    ("connection-saved", "The connection was saved. The provider did not accept it yet: see the cause below."),
    (
        "connection-incomplete",
        "The connection was saved. Nothing is sent until both the application and the key are there.",
    ),
    ("resumed", "The provider accepts the application and the key. Waiting events are being published."),
    ("event-types", "Both event types are registered in the customer's provider account."),
    ("disconnected", "The customer is disconnected. Its API key was deleted."),
    (
        "disconnected-key-remains",
        "The customer is disconnected. The provider still accepts its API key: revoke the key in the provider's dashboard.",
    ),
    ("quarantine-sent", "The events wait to be published again."),
    ("quarantine-left", "Some events stay in quarantine, because later events of their lots were published already."),
    ("quarantine-dropped", "The event was dropped. It stays in the journal and in the event feed."),
    ("house-saved", "The house was saved. Sales that exist keep their currency and time zone."),
    ("saleroom", "The saleroom was saved."),
    ("domain", "The domain was saved. It is served once its record is found."),
    ("domain-removed", "The domain was removed. The saleroom stands at the shared address."),
    ("sites", "The web sites were saved."),
    ("mail-texts-saved", "The texts were saved. Mails that wait keep theirs."),
    ("mail-again", "The mail waits to be sent again. A limit of its house or its recipient may hold it back."),
    ("mail-now", "The mail is due now. A limit of its house or its recipient may hold it back."),
    (
        "mail-not-now",
        "The mail was not tried again: it is being tried, or its state changed since you opened the page.",
    ),
    ("conditions-added", "The version was added. New sales begin with it; others keep theirs until you change them."),
    (
        "facts-missing",
        "The auction was created without venue, viewing times, description and conditions: enter them here and save.",
    ),
    ("auctioneer-created", "The auctioneer was created."),
    ("auctioneer-saved", "The auctioneer was saved."),
    ("party-created", "The record was added to the register."),
    ("party-saved", "The record was saved. Registrations keep the name and limit that they were made with."),
    ("people-imported", "The people were imported."),
    ("party-blocked", "The bidder is blocked. Cancel the bids that still stand on their lots."),
    ("party-unblocked", "The block has ended. Approve the registrations with which the bidder may bid again."),
    ("party-erased", "The person was erased. Paddles, bids and purchases stay without the name."),
    ("parties-merged", "The records were merged. The merged one leads to this record."),
    ("parties-merged-own-lots", "The records were merged. The person has bids on lots of their own: cancel them."),
    ("record-merged", "You opened a record that was merged into this one."),
    ("parties-apart", "The records stay apart, and are not proposed again."),
    ("joined", "You are signed in. Turn on a second factor under your account."),
    ("invitation-withdrawn", "The invitation was withdrawn. Its link no longer works."),
    ("new-password-required", "The user has to choose another password before anything else."),
    ("user-saved", "The user was changed. Their sessions have ended."),
    ("name-saved", "The name was saved."),
    ("user-unchanged", "Nothing was changed."),
    ("user-removed", "The user was removed."),
    ("sessions-ended", "The user's sessions have ended."),
    ("user-unlinked", "The user is not linked to single sign-on any more, and their sessions have ended."),
    ("user-second-factor-off", "The user's second factor is off."),
    ("key-revoked", "The API key was revoked. Other nodes refuse it within 5 seconds."),
    ("screen-link-revoked", "The link was revoked. Screens that used it show nothing any more."),
    ("commissions-entered", "The commission bids were entered. None replaced another."),
    ("telephone-booked", "The telephone bid was booked. The desk shows it when the lot is in the ring."),
    ("telephone-withdrawn", "The telephone bid was withdrawn."),
    ("rate-saved", "The rate was saved. The room screen shows it within a minute, or with the next bid."),
    ("rate-removed", "The rate was removed."),
    ("clock-advanced", "The clock was advanced, and the lots that became due have ended."),
    ("clerk-assigned", "The clerk is assigned to the webcast."),
    ("clerk-removed", "The clerk is not assigned to the webcast any more, from the next command on."),
];

/// The notice that `?done=` names; none for an unknown name.
pub(crate) fn from_query(query: &FormFields) -> Option<&'static str> {
    let done = query.text("done");
    NOTICES.iter().find(|(name, _)| *name == done).map(|(_, notice)| *notice)
}
