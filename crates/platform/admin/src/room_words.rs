//! Refusals of the rules in words of the room, for the clerk's desk and the commission book.

use platform_rules::Rejection;

/// The refusal as a sentence; none when the rules' own text suits a clerk. `lot` is the lot that it is about, such as
/// `Lot 12`, and `money` writes an amount in minor units.
pub(crate) fn of(rejection: &Rejection, lot: &str, money: &dyn Fn(i64) -> String) -> Option<String> {
    Some(match rejection {
        Rejection::BidTooLow { minimum } => format!("Bid at least {}.", money(*minimum)),
        Rejection::BidTooHigh { maximum } | Rejection::PriceAtMaximum { maximum } => {
            format!("No bid can be above {}. Bid less.", money(*maximum))
        }
        Rejection::LargeJump { maximum } => {
            format!("This is far above the asking price. Up to {} needs no confirmation.", money(*maximum))
        }
        Rejection::LargeDrop { minimum } => {
            format!("This is far below the asking price. From {} on, no confirmation is needed.", money(*minimum))
        }
        Rejection::UnusualAmount { known, of, is_above } => {
            let far = known.comparison(*is_above);
            format!("{lot}: this is {far} the {} of {}. Correct it, or confirm it.", known.words(), money(*of))
        }
        Rejection::CancelsBids { count: 1 } => "This price cancels 1 bid. Confirm it, or ask for more.".to_owned(),
        Rejection::CancelsBids { count } => format!("This price cancels {count} bids. Confirm it, or ask for more."),
        Rejection::NoStandingBid => format!("No bid stands on {}. Pass the lot, or take a bid.", in_text(lot)),
        Rejection::ReserveNotMet => format!("{lot} is below its reserve. Press again to confirm, or pass it."),
        Rejection::HigherBidWaits { .. } => format!("A higher bid waits on {}. Take it, or confirm.", in_text(lot)),
        Rejection::NotInRing => "No lot is in the ring. Send one first.".to_owned(),
        Rejection::RingOccupied { .. } => "Another lot is in the ring. Sell, pass or remove it first.".to_owned(),
        Rejection::RingPaused => "Bidding is paused. Resume it first.".to_owned(),
        Rejection::NotPaused => "Bidding is not paused.".to_owned(),
        Rejection::PreBiddingOver => "The sale has begun already. Send a lot.".to_owned(),
        Rejection::AuctionNotLive { status } => {
            format!("The sale is {}. Lots are sold while it is live.", word(status))
        }
        Rejection::AuctionNotStarted { .. } => "The sale has not begun yet: its page says when it begins.".to_owned(),
        Rejection::AuctionClosed { status } => format!("The sale is {}, so nothing changes any more.", word(status)),
        Rejection::ItemNotInAuction => format!("{lot} is in another sale."),
        Rejection::ItemsFollowing => "The lots of the sale are being changed. Press again in a few seconds.".to_owned(),
        Rejection::ItemNotLive { status } => format!("{lot} is {}, so this can't be done.", word(status)),
        Rejection::ItemInRing => format!("{lot} is in the ring, so its commission bids are closed."),
        Rejection::ItemNotPassed { status } => {
            format!("{lot} is {}. Only a passed lot is offered again.", word(status))
        }
        Rejection::ItemNotSold { status } => format!("{lot} is {}. Only a sold lot has a buyer.", word(status)),
        Rejection::NotLastItem => {
            "Only the lot that was sold or passed last is reopened, before another lot is sent.".to_owned()
        }
        Rejection::IllegalTransition { from, .. } => {
            format!("{lot} is {}, so this can't be done.", word(from.unwrap_or("new")))
        }
        Rejection::NothingToUndo => format!("There is no bid to undo on {}.", in_text(lot)),
        Rejection::BidNotFound | Rejection::BidStruck => "This bid does not count any more.".to_owned(),
        Rejection::NotPending => "This web bid does not wait any more.".to_owned(),
        Rejection::AlreadyLeading => "This bidder leads already.".to_owned(),
        Rejection::NoCommission | Rejection::CommissionExceeded => {
            "No commission bid is above the bid that stands.".to_owned()
        }
        Rejection::TooManyBids { maximum } => format!("{lot} has {maximum} bids and takes no more. Sell or pass it."),
        Rejection::BidLogIncomplete => "The bids of the lot can't be read. Reload the page.".to_owned(),
        Rejection::BidderNotApproved => "The bidder is not approved for this sale.".to_owned(),
        Rejection::BidderSuspended => {
            "The bidder is suspended from this sale. A manager ends that under Registrations.".to_owned()
        }
        Rejection::VendorBarred => format!("The vendor and the auctioneer can't buy {}.", in_text(lot)),
        Rejection::SpendingLimitReached { .. } => "This is above the bidder's limit in this sale.".to_owned(),
        Rejection::ReasonRequired => "Give a reason.".to_owned(),
        Rejection::FieldInvalid { field: "bidder", problem } => format!("This is no paddle: it {problem}."),
        Rejection::FieldInvalid { field: "amount", .. } => format!("Ask for at least {}.", money(1)),
        _ => return None,
    })
}

/// Within a sentence.
fn in_text(lot: &str) -> String {
    let mut chars = lot.chars();
    chars.next().map(|first| first.to_lowercase().chain(chars).collect()).unwrap_or_default()
}

/// A status as a word, such as `sold`.
pub(crate) fn word(status: &str) -> String {
    status.to_lowercase().replace('_', " ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn refusals_name_the_lot_and_write_amounts_as_people_do() {
        let money = |minor: i64| format!("£{}", minor / 100);
        let words = |rejection| of(&rejection, "Lot 12", &money).unwrap();
        assert_eq!(words(Rejection::BidTooLow { minimum: 22_000 }), "Bid at least £220.");
        assert_eq!(
            words(Rejection::ItemNotLive { status: "SOLD_BUY_NOW" }),
            "Lot 12 is sold buy now, so this can't be done."
        );
        assert_eq!(words(Rejection::NothingToUndo), "There is no bid to undo on lot 12.");
        assert_eq!(
            words(Rejection::ItemNotPassed { status: "SOLD" }),
            "Lot 12 is sold. Only a passed lot is offered again."
        );
    }
}
