//! The address of the stream, and the words and formats that the script of the live pages shows. All words come from the page, so
//! a page in another language uses the same script.

use contract::AuctionStatus;
use jiff::Timestamp;
use platform_core::saleroom::SaleroomSale;
use platform_rules::{Auction, AuctionKind};
use platform_words::{Words, key, short_names, time_format};

use crate::house::House;
use crate::lot_words;
use crate::messages::Messages;

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
    /// The form of a date, and the names in it, from Monday and January.
    pub(crate) time: &'static str,
    pub(crate) weekdays: String,
    pub(crate) months: String,
    pub(crate) is_timed: bool,
    /// The live part of a sale's page has a line about the lot in the ring.
    pub(crate) has_stage: bool,
    /// Messages of the clerk.
    pub(crate) messages: Messages,
    pub(crate) words: Vec<(&'static str, String)>,
}

impl LiveView {
    /// The live part of a page whose stream has this address; none when the sale is over.
    pub(crate) fn of<const N: usize>(house: &House<N>, sale: &SaleroomSale, stream: String) -> Option<Self> {
        let auction = &sale.auction;
        if !matches!(auction.status, AuctionStatus::Preview | AuctionStatus::Live) {
            return None;
        }
        let words = house.words;
        let (currency, zone) = (words.currency(auction), words.zone(auction));
        let [weekdays, months] = short_names(words.language()).map(|names| names.join("|"));
        Some(Self {
            stream,
            money: currency.show(0).replace('0', "{}"),
            minor_units: currency.minor_units(),
            zone: zone.name().to_owned(),
            zone_words: zone.abbreviations(auction.ends_at.or(auction.starts_at).unwrap_or(Timestamp::UNIX_EPOCH)),
            is_timed: auction.kind == AuctionKind::Timed,
            has_stage: auction.kind == AuctionKind::Webcast && auction.status == AuctionStatus::Live,
            messages: Messages::of(words, sale),
            time: time_format(words.language()),
            weekdays,
            months,
            words: lot_words::of_script(words),
        })
    }
}

/// The rule by which bids extend the end of a lot; empty for a sale that is called out.
pub(crate) fn rule_of_end(words: Words, auction: &Auction) -> String {
    match (auction.kind, auction.extension_seconds) {
        (AuctionKind::Webcast, _) => String::new(),
        (AuctionKind::Timed, None) => words.of("rule-fixed").into_owned(),
        (AuctionKind::Timed, Some(seconds)) => words.fill("rule-extends", "time", duration(words, seconds)),
    }
}

/// `1 minute`, `90 seconds`, `2 hours`.
fn duration(words: Words, seconds: u32) -> String {
    let (count, unit) = match seconds {
        seconds if seconds.is_multiple_of(3_600) => (seconds / 3_600, key("duration-hours")),
        seconds if seconds.is_multiple_of(60) => (seconds / 60, key("duration-minutes")),
        seconds => (seconds, key("duration-seconds")),
    };
    words.with(unit, [("n", count.into())])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_duration_has_the_largest_unit_that_fits() {
        let cases = [(30, "30 seconds"), (60, "1 minute"), (90, "90 seconds"), (300, "5 minutes"), (3_600, "1 hour")];
        for (seconds, expected) in cases {
            assert_eq!(duration(Words::default(), seconds), expected);
        }
    }
}
