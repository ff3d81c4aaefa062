//! What keeps an auction from its next status, and what a change of status causes.

use contract::AuctionStatus;
use jiff::Timestamp;
use platform_rules::lifecycle::{AuctionCommand, decide};
use platform_rules::{Auction, AuctionKind, Item, ItemCounts, Rejection};

use crate::sale::labels::{self, count};
use kit_design::error_page::sentence;
use kit_design::form_field::FormField;

/// The tick of [`archive_with_open_buyers`].
pub(crate) const BUYERS_OPEN: &str = "buyersOpen";
/// Lots that it names, at most.
pub(crate) const OPEN_LOTS_SHOWN_MAX: usize = 30;

/// What keeps an auction from going live, in the order in which to mend it.
pub(crate) fn of_live(auction: &Auction, counts: &ItemCounts, now: Timestamp) -> Vec<String> {
    if !matches!(auction.status, AuctionStatus::Draft | AuctionStatus::Preview) {
        return Vec::new();
    }
    let mut blockers = Vec::new();
    let draft = Auction { status: AuctionStatus::Draft, ..auction.clone() };
    let preview = Auction { status: AuctionStatus::Preview, ..auction.clone() };
    for (from, to) in [(draft, AuctionStatus::Preview), (preview, AuctionStatus::Live)] {
        if let Err(rejection) = decide(&from, counts, AuctionCommand::to_status(to, None), now) {
            let words = words(&rejection);
            if !blockers.contains(&words) {
                blockers.push(words);
            }
        }
    }
    if counts.total == 0 {
        blockers.push("Add lots.".to_owned());
    }
    blockers
}

/// The first blocker of an auction that is not live yet.
pub(crate) fn first(auction: &Auction, counts: &ItemCounts, now: Timestamp) -> Option<String> {
    of_live(auction, counts, now).into_iter().next()
}

/// Why a status can't be requested now; none when it can.
pub(crate) fn of(auction: &Auction, counts: &ItemCounts, to: AuctionStatus, now: Timestamp) -> Option<String> {
    // The page asks for a reason where one is required.
    let reason = is_mistake(auction.status, to).then(|| "a reason".to_owned());
    decide(auction, counts, AuctionCommand::to_status(to, reason), now).err().map(|rejection| words(&rejection))
}

/// True when the auction is archived as a mistake, which needs a reason.
pub(crate) fn is_mistake(from: AuctionStatus, to: AuctionStatus) -> bool {
    to == AuctionStatus::Archived && matches!(from, AuctionStatus::Draft | AuctionStatus::Preview)
}

/// A rejection with the fields in the words of the form.
fn words(rejection: &Rejection) -> String {
    match rejection {
        Rejection::FieldsMissing { fields } => {
            let fields: Vec<&str> = fields.iter().map(|field| field_words(field)).collect();
            format!("Fill in: {}.", fields.join(", "))
        }
        Rejection::ItemsNotFinished { live, suspended } => {
            let open: Vec<String> = [(*live, "live"), (*suspended, "suspended")]
                .into_iter()
                .filter(|(lots, _)| *lots > 0)
                .map(|(lots, word)| format!("{} {word}", count(lots, "lot is", "lots are")))
                .collect();
            format!("Not yet: {}.", open.join(", and "))
        }
        Rejection::AuctionHasBids => "Not possible: a lot has bids.".to_owned(),
        Rejection::EndNotInFuture => "Set a closing time in the future.".to_owned(),
        other => sentence(&other.to_string()),
    }
}

fn field_words(field: &str) -> &str {
    match field {
        "timeZone" => "time zone",
        "startsAt" => "start",
        "endsAt" => "closing time",
        other => other,
    }
}

/// The button that requests a status.
pub(crate) fn action(from: AuctionStatus, to: AuctionStatus) -> &'static str {
    match (from, to) {
        (AuctionStatus::Draft, AuctionStatus::Preview) => "Open preview",
        (_, AuctionStatus::Preview) => "Return to preview",
        (_, AuctionStatus::Draft) => "Return to draft",
        (_, AuctionStatus::Live) => "Go live",
        (_, AuctionStatus::Reconciliation) => "Begin reconciliation",
        (_, AuctionStatus::Archived) => "Archive auction",
    }
}

/// What the end of a sale means for the lots whose buyer is open; none when no buyer is.
pub(crate) fn open_buyers(open: u64, to: AuctionStatus) -> Option<String> {
    let until = match to {
        AuctionStatus::Archived => "Name the buyers first: afterwards they can't be named any more.",
        _ => "Name the buyers on Results, until the auction is archived.",
    };
    (open > 0).then(|| format!("{} without a buyer. {until}", count(open, "sold lot is", "sold lots are")))
}

/// The tick that archives an auction although buyers are open, with the numbers of their lots, the first of `open`.
pub(crate) fn archive_with_open_buyers(open: u64, lots: &[Item]) -> FormField {
    let mut numbers: Vec<String> = lots.iter().map(|item| item.lot_number.clone()).collect();
    let more = open.saturating_sub(numbers.len() as u64);
    if more > 0 {
        numbers.push(format!("and {} more", labels::number(more)));
    }
    let (buyers, lots) = (count(open, "buyer", "buyers"), if open == 1 { "lot" } else { "lots" });
    FormField::tick(BUYERS_OPEN, format!("Archive with {buyers} open: {lots} {}", numbers.join(", ")), "yes")
}

/// Which lots the catalogue of a preview has: visitors do not see drafts.
fn catalogue_shown(counts: &ItemCounts, lots: &str) -> String {
    if counts.total == 0 {
        return "The catalogue can be viewed. It has no lots yet.".to_owned();
    }
    if counts.preview == counts.total {
        return format!("The catalogue can be viewed, with {lots}.");
    }
    let shown = labels::number(counts.preview);
    format!(
        "The catalogue can be viewed, with {shown} of {lots}: visitors see only lots in preview. To show drafts, choose “Move to \
        preview” on the page of the lots."
    )
}

/// What a change of status will cause, one sentence each.
pub(crate) fn consequences(auction: &Auction, counts: &ItemCounts, to: AuctionStatus) -> Vec<String> {
    let lots = count(counts.total, "lot", "lots");
    let mut out = Vec::new();
    match (auction.status, to) {
        (AuctionStatus::Draft, AuctionStatus::Preview) => {
            out.push(catalogue_shown(counts, &lots));
            out.push("Bidding stays closed.".to_owned());
        }
        (_, AuctionStatus::Preview) => {
            out.push("Bidding closes, and the live lots become drafts.".to_owned());
            out.push("If a bid arrives before this is done, the auction stays live.".to_owned());
        }
        (_, AuctionStatus::Draft) => out.push("Only staff see the catalogue.".to_owned()),
        (_, AuctionStatus::Live) => {
            out.push(format!(
                "Bidding opens. Every lot that is a draft or in preview goes live: {lots} in the catalogue."
            ));
            if auction.kind == AuctionKind::Timed {
                out.push(
                    "Each lot ends by itself at its end, sold or unsold, and the customer is notified of each."
                        .to_owned(),
                );
            } else {
                out.push("Absentee bids are taken until the clerk sends the first lot.".to_owned());
            }
            out.push("You can return to preview only while no lot has a bid.".to_owned());
        }
        (_, AuctionStatus::Reconciliation) => {
            if counts.passed > 0 {
                out.push(format!(
                    "{} unsold, and each is announced.",
                    count(counts.passed, "passed lot becomes", "passed lots become")
                ));
            }
            out.push("Sold and passed lots can't be reopened any more.".to_owned());
            out.push("This can't be undone.".to_owned());
        }
        (AuctionStatus::Reconciliation, AuctionStatus::Archived) => {
            out.push("Buyers, registrations and lots can't be changed any more.".to_owned());
            out.push("This can't be undone.".to_owned());
        }
        (_, AuctionStatus::Archived) => {
            let verb = if counts.total == 1 { "is" } else { "are" };
            out.push(format!("The auction is closed as a mistake, and {lots} {verb} withdrawn."));
            out.push("This can't be undone.".to_owned());
        }
    }
    out
}
