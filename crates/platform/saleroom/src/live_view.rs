//! The address of the stream, and the words and formats that the script of the live pages shows. All words come from the page, so
//! a page in another language uses the same script.

use contract::AuctionStatus;
use jiff::Timestamp;
use platform_core::saleroom::SaleroomSale;
use platform_rules::{Auction, AuctionKind};
use platform_words::{Currency, SaleZone};

use crate::lot_words;

/// The live part of a page.
pub(crate) struct LiveView {
    /// Path and query of the stream.
    pub(crate) stream: String,
    /// An amount, with `{}` for the number: `£{}`.
    pub(crate) money: String,
    /// Minor units of one major unit.
    pub(crate) minor_units: i64,
    /// IANA name of the time zone of the sale, and its abbreviations.
    pub(crate) zone: String,
    pub(crate) zone_words: String,
    pub(crate) is_timed: bool,
    /// The live part of a sale's page has a line about the lot in the ring.
    pub(crate) has_stage: bool,
    pub(crate) words: &'static [(&'static str, &'static str)],
}

impl LiveView {
    /// The live part of a page whose stream has this address; none when the sale is over.
    pub(crate) fn of(sale: &SaleroomSale, stream: String) -> Option<Self> {
        let auction = &sale.auction;
        if !matches!(auction.status, AuctionStatus::Preview | AuctionStatus::Live) {
            return None;
        }
        let (currency, zone) = (Currency::of(auction), SaleZone::of(auction));
        Some(Self {
            stream,
            money: currency.show(0).replace('0', "{}"),
            minor_units: currency.minor_units(),
            zone: zone.name().to_owned(),
            zone_words: zone.abbreviations(auction.ends_at.or(auction.starts_at).unwrap_or(Timestamp::UNIX_EPOCH)),
            is_timed: auction.kind == AuctionKind::Timed,
            has_stage: auction.kind == AuctionKind::Webcast && auction.status == AuctionStatus::Live,
            words: lot_words::OF_SCRIPT,
        })
    }
}

/// The rule by which bids extend the end of a lot; empty for a sale that is called out.
pub(crate) fn rule_of_end(auction: &Auction) -> String {
    match (auction.kind, auction.extension_seconds) {
        (AuctionKind::Webcast, _) => String::new(),
        (AuctionKind::Timed, None) => "Bids do not extend the end.".to_owned(),
        (AuctionKind::Timed, Some(seconds)) => {
            let time = duration(seconds);
            format!("A bid in the last {time} extends the end to {time} after that bid, as often as bids come in.")
        }
    }
}

/// `1 minute`, `90 seconds`, `2 hours`.
fn duration(seconds: u32) -> String {
    let (count, unit) = match seconds {
        seconds if seconds.is_multiple_of(3_600) => (seconds / 3_600, "hour"),
        seconds if seconds.is_multiple_of(60) => (seconds / 60, "minute"),
        seconds => (seconds, "second"),
    };
    format!("{count} {unit}{}", if count == 1 { "" } else { "s" })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_duration_has_the_largest_unit_that_fits() {
        let cases = [(30, "30 seconds"), (60, "1 minute"), (90, "90 seconds"), (300, "5 minutes"), (3_600, "1 hour")];
        for (seconds, expected) in cases {
            assert_eq!(duration(seconds), expected);
        }
    }
}
