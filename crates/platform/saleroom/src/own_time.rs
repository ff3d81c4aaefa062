//! A time by the visitor's own clock, beside the one in the time zone of a sale: in the zone of the bidder's account, or, by script, in
//! the one of the browser. It is shown only where it differs.

use askama::Template;
use askama::filters::HtmlSafe;
use jiff::Timestamp;
use platform_rules::Auction;

use crate::house::House;

/// A time of a sale. Write it with `{{ own }}` in a template; without script and account it writes nothing that is seen.
#[derive(Debug, Clone, Template)]
#[template(path = "own_time.html")]
pub(crate) struct OwnTime {
    at: Timestamp,
    /// IANA name of the time zone of the account; empty for the browser's.
    zone: String,
    /// Such as `Your time: Fri 4 Dec 2026, 20:00`; empty when it is the sale's own.
    shown: String,
}

impl HtmlSafe for OwnTime {}

impl OwnTime {
    pub(crate) fn of<const N: usize>(house: &House<N>, auction: &Auction, at: Timestamp) -> Self {
        let words = house.words;
        let details = house.bidder.as_ref().map(|bidder| &bidder.account.profile.details);
        let zone = details.and_then(|details| details.time_zone.clone()).unwrap_or_default();
        let own = words.zone_named(&zone);
        let differs = !zone.is_empty() && own.differs_from(&words.zone(auction), at);
        let shown = if differs { words.fill("own-time", "time", own.show_date(at)) } else { String::new() };
        Self { at, zone, shown }
    }
}
