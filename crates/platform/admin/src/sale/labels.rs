//! Statuses, causes and actors of sales in words.

use std::cmp::Reverse;

use askama::Template;
use askama::filters::HtmlSafe;
use contract::{AuctionStatus, ItemStatus};
use jiff::Timestamp;
use platform_core::journal::corrections::Corrected;
use platform_core::port::{BulkChange, BulkOperation, RegistrationStatus};
use platform_core::users::{UserName, UserNames};
use platform_rules::{AuctionKind, Cause, StandingBid};
use uuid::Uuid;

use crate::session::Session;
use platform_words::Currency;

/// A status as a word with a mark and a colour.
#[derive(Debug, Clone, Copy, Template)]
#[template(source = "<span class=\"status {{ kind }}\">{{ words }}</span>", ext = "html")]
pub(crate) struct Badge {
    kind: &'static str,
    words: &'static str,
}

impl HtmlSafe for Badge {}

impl Badge {
    pub(crate) const fn new(kind: &'static str, words: &'static str) -> Self {
        Self { kind, words }
    }

    /// The class of its colour.
    pub(crate) const fn kind(&self) -> &'static str {
        self.kind
    }

    pub(crate) const fn words(&self) -> &'static str {
        self.words
    }
}

impl From<AuctionStatus> for Badge {
    fn from(status: AuctionStatus) -> Self {
        let kind = match status {
            AuctionStatus::Draft | AuctionStatus::Archived => "off",
            AuctionStatus::Preview => "info",
            AuctionStatus::Live => "live",
            AuctionStatus::Reconciliation => "wait",
        };
        Self { kind, words: status.label() }
    }
}

impl From<ItemStatus> for Badge {
    fn from(status: ItemStatus) -> Self {
        let kind = match status {
            ItemStatus::Draft | ItemStatus::Unsold => "off",
            ItemStatus::Preview => "info",
            ItemStatus::Live => "live",
            ItemStatus::Sold | ItemStatus::SoldBuyNow => "good",
            ItemStatus::Withdrawn => "bad",
            ItemStatus::Suspended | ItemStatus::Passed => "wait",
        };
        Self { kind, words: status.label() }
    }
}

impl From<RegistrationStatus> for Badge {
    fn from(status: RegistrationStatus) -> Self {
        match status {
            RegistrationStatus::Pending => Self::new("wait", "Waiting"),
            RegistrationStatus::Approved => Self::new("good", "Approved"),
            RegistrationStatus::Refused => Self::new("bad", "Declined"),
            RegistrationStatus::Suspended => Self::new("wait", "Suspended"),
        }
    }
}

/// The kind of an auction in words.
pub(crate) fn kind(kind: AuctionKind) -> &'static str {
    match kind {
        AuctionKind::Timed => "Timed auction",
        AuctionKind::Webcast => "Webcast",
    }
}

/// The label of a status that the journal names.
pub(crate) fn journal_badge(name: &str) -> Badge {
    let auction = AuctionStatus::ALL.iter().find(|status| status.name() == name).map(|status| Badge::from(*status));
    let item = ItemStatus::ALL.iter().find(|status| status.name() == name).map(|status| Badge::from(*status));
    auction.or(item).unwrap_or(Badge::new("off", "Unknown"))
}

/// The cause of a journal row in words.
pub(crate) fn cause(name: &str) -> &'static str {
    let Some(cause) = Cause::ALL.into_iter().find(|cause| cause.as_str() == name) else { return "Another cause" };
    match cause {
        Cause::Created => "Created",
        Cause::Imported => "Imported from a catalogue",
        Cause::StatusChangedByAdministrator => "Changed by hand",
        Cause::AuctionWentLive => "Its auction went live",
        Cause::EndReached => "Its end was reached",
        Cause::SoldInRing => "Sold by the clerk",
        Cause::PassedInRing => "Passed by the clerk",
        Cause::OfferedAgain => "Offered again",
        Cause::Corrected => "Sale or pass corrected",
        Cause::Suspended => "Suspended",
        Cause::Resumed => "Suspension ended",
        Cause::Withdrawn => "Withdrawn",
        Cause::Reinstated => "Reinstated",
        Cause::Reconciled => "Its auction was reconciled",
        Cause::BoughtNow => "Bought at its buy-now price",
        Cause::Reopened => "Reopened",
        Cause::AuctionArchived => "Archived as a mistake",
        Cause::Relisted => "Relisted in another auction",
        Cause::BuyerDidNotPay => "Unpaid",
        Cause::PostSaleOfferAccepted => "Sold to an offer after the sale",
        _ => "Changed",
    }
}

/// The correction of a sold lot in words: `Price corrected: €1,000 to €1,100`, `Buyer corrected: paddle 12 to 15`.
pub(crate) fn correction(what: &Corrected, currency: &Currency) -> String {
    match what {
        Corrected::Price { before: Some(before), after } => {
            format!("Price corrected: {} to {}", currency.show(*before), currency.show(*after))
        }
        Corrected::Price { before: None, after } => format!("Price corrected to {}", currency.show(*after)),
        Corrected::Buyer { before: Some(before), after } => format!("Buyer corrected: paddle {before} to {after}"),
        Corrected::Buyer { before: None, after } => format!("Buyer named: paddle {after}"),
    }
}

/// Rows of both lists with their times, the latest first. Both are in this order; at one time, a correction follows the change.
pub(crate) fn latest_first<T>(changes: Vec<(Timestamp, T)>, corrections: Vec<(Timestamp, T)>) -> Vec<T> {
    let mut rows: Vec<_> = corrections.into_iter().chain(changes).collect();
    rows.sort_by_key(|(at, _)| Reverse(*at));
    rows.into_iter().map(|(_, row)| row).collect()
}

/// Who did something, in words. `names` are those of [`Session::names`] for the page's actors.
pub(crate) fn actor(session: &Session, names: &UserNames, actor: &str) -> String {
    if actor == session.caller.actor {
        return session.shown_name().to_owned();
    }
    match actor.split_once(':') {
        Some(("user", uuid)) => {
            let user = Uuid::try_parse(uuid).ok().and_then(|uuid| names.get(&uuid));
            user.and_then(UserName::shown).unwrap_or("Another user").to_owned()
        }
        Some(("key", _)) => "An API key".to_owned(),
        Some(("bidder", _)) => "A bidder".to_owned(),
        _ if actor == "timer" => "The clock".to_owned(),
        _ if actor == "command-line" => "The command line".to_owned(),
        _ => actor.to_owned(),
    }
}

/// Who leads or bought, in words. A buyer in the room may be named after the hammer.
pub(crate) fn bidder(standing: &StandingBid) -> String {
    standing.known_bidder().map_or("Buyer open".to_owned(), |paddle| format!("Paddle {paddle}"))
}

/// What a bulk change does, in words.
pub(crate) fn bulk_operation(change: &BulkChange) -> &'static str {
    match change.operation {
        BulkOperation::GoLive => "The lots are going live",
        BulkOperation::ReturnToPreview | BulkOperation::ResetToDraft => "The lots are returning to draft",
        BulkOperation::Reconcile => "Passed lots are becoming unsold",
        BulkOperation::Archive { .. } => "The lots are being withdrawn",
        BulkOperation::ShiftEnds { .. } | BulkOperation::PlanEnds { .. } | BulkOperation::ReplanEnds { .. } => {
            "The ends of the lots are moving"
        }
        BulkOperation::EditTerms { .. } => "The new terms are being applied",
        BulkOperation::Import { .. } => "The catalogue is being imported",
        BulkOperation::Copy { .. } => "The lots are being copied",
    }
}

/// A number with separators between thousands.
pub(crate) fn number(count: u64) -> String {
    let digits = count.to_string();
    let mut out = String::new();
    for (place, digit) in digits.chars().enumerate() {
        if place > 0 && (digits.len() - place).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

/// `1 lot`, `312 lots`.
pub(crate) fn count(count: u64, one: &str, many: &str) -> String {
    format!("{} {}", number(count), if count == 1 { one } else { many })
}

/// A part in whole percent, rounded half up: `82 %`, with a space that does not break. 0 of nothing.
pub(crate) fn percent(part: u64, whole: u64) -> String {
    let (part, whole) = (u128::from(part), u128::from(whole));
    format!("{}\u{a0}%", (200 * part + whole).checked_div(2 * whole).unwrap_or(0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percent_is_rounded_half_up() {
        let shown =
            [(817, 1_000), (1, 2), (125, 1_000), (124, 1_000), (0, 0), (7, 7)].map(|(part, of)| percent(part, of));
        assert_eq!(shown, ["82\u{a0}%", "50\u{a0}%", "13\u{a0}%", "12\u{a0}%", "0\u{a0}%", "100\u{a0}%"]);
    }

    #[test]
    fn counts_and_journal_words_are_for_people() {
        assert_eq!([count(1, "lot", "lots"), count(12_345, "lot", "lots")], ["1 lot", "12,345 lots"]);
        assert_eq!(cause("end_reached"), "Its end was reached");
        assert_eq!(cause("buyer_did_not_pay"), "Unpaid");
        assert!(journal_badge("SOLD").to_string().contains(">Sold<"));
        assert!(journal_badge("LIVE").to_string().contains(">Live<"));
    }
}
