//! Notices on the page that follows a form. The query parameter `done` names the notice.

use kit_design::fields::FormFields;

const NOTICES: &[(&str, &str)] = &[
    ("created", "The auction was created as a draft. Add its lots next."),
    ("copied", "The auction was copied as a draft. Check its dates."),
    ("saved", "The changes were saved."),
    ("status", "The status was changed."),
    ("lot-added", "The lot was added at the end of the running order."),
    ("lot-status", "The status of the lot was changed."),
    ("bid-cancelled", "The bid was cancelled, and the price is what it would be without it."),
    ("resent", "The provider is sending the event once more."),
    ("ends", "The ends were moved."),
    ("paused", "The lots are paused: they take no bids and do not end."),
    ("resumed", "The lots are live again, and their ends are later by the length of the pause."),
    ("imported", "The catalogue was imported."),
    ("reminded", "The mails of the reminder are queued. They appear on the page Mails of the house."),
    ("reopened", "The lot is live again."),
    ("offer", "The post-sale offer was recorded, and the lot is sold."),
    ("offered", "The lot was offered to the bidder, who receives a notice."),
    ("offer-withdrawn", "The offer was withdrawn."),
    ("offer-ended", "The offer had ended before: see the answer."),
    ("buyer", "The buyer was recorded. The price stays."),
    ("hammer-price", "The hammer price was corrected. The buyer stays."),
    ("renumbered", "The lots were renumbered."),
    ("images", "The images were stored."),
    ("image-removed", "The image was removed."),
    ("image-first", "The image is the first now."),
    ("clerk-assigned", "The clerk is assigned to the webcast."),
    ("clerk-removed", "The clerk is not assigned to the webcast any more, from the next command on."),
];

/// The notice that `?done=` names; none for an unknown name.
pub(crate) fn from_query(query: &FormFields) -> Option<&'static str> {
    let done = query.text("done");
    NOTICES.iter().find(|(name, _)| *name == done).map(|(_, notice)| *notice)
}
