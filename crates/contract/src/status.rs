//! The statuses of auctions and items: names, codes, labels and meanings.
//!
//! Events and APIs use the name; the reference data API returns the code, the label and the meaning too. Code 1 (`NEW`)
//! is reserved for a record during its creation, so it is not a status here. The codes 7 and 11 to 16 of items are
//! reserved.

use crate::enum_names::named;

/// Status of an auction.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum AuctionStatus {
    /// `DRAFT`, 2.
    Draft,
    /// `PREVIEW`, 3.
    Preview,
    /// `LIVE`, 4.
    Live,
    /// `RECONCILIATION`, 5.
    Reconciliation,
    /// `ARCHIVED`, 6.
    Archived,
}

impl AuctionStatus {
    /// Every status, ordered by code.
    pub const ALL: &'static [Self] = &[Self::Draft, Self::Preview, Self::Live, Self::Reconciliation, Self::Archived];

    /// The name in JSON and in the store, such as `DRAFT`.
    pub const fn name(self) -> &'static str {
        self.words().0
    }

    /// The code in the reference data. It never changes, and is never reused.
    pub const fn code(self) -> i32 {
        match self {
            Self::Draft => 2,
            Self::Preview => 3,
            Self::Live => 4,
            Self::Reconciliation => 5,
            Self::Archived => 6,
        }
    }

    /// Label for people, such as `In preparation`.
    pub const fn label(self) -> &'static str {
        self.words().1
    }

    /// The meaning of the status in one sentence.
    pub const fn meaning(self) -> &'static str {
        self.words().2
    }

    /// The status with this code; none for an unused code.
    pub fn from_code(code: i32) -> Option<Self> {
        Self::ALL.iter().copied().find(|status| status.code() == code)
    }

    const fn words(self) -> (&'static str, &'static str, &'static str) {
        match self {
            Self::Draft => ("DRAFT", "Draft", "The auction is being prepared and only its staff can see it."),
            Self::Preview => ("PREVIEW", "Preview", "The catalogue can be viewed; bidding has not been opened."),
            Self::Live => ("LIVE", "Live", "The auction is open and its items take bids."),
            Self::Reconciliation => {
                ("RECONCILIATION", "Reconciliation", "The sale is over and its results are being settled.")
            }
            Self::Archived => ("ARCHIVED", "Archived", "The auction is settled and kept for reference."),
        }
    }
}

named!(AuctionStatus, "auction status");

/// Status of an item.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ItemStatus {
    /// `DRAFT`, 2.
    Draft,
    /// `PREVIEW`, 3.
    Preview,
    /// `LIVE`, 4.
    Live,
    /// `WITHDRAWN`, 5.
    Withdrawn,
    /// `SOLD`, 6.
    Sold,
    /// `UNSOLD`, 8.
    Unsold,
    /// `SUSPENDED`, 9.
    Suspended,
    /// `SOLD_BUY_NOW`, 10.
    SoldBuyNow,
    /// `PASSED`, 17.
    Passed,
}

impl ItemStatus {
    /// Every status, ordered by code.
    pub const ALL: &'static [Self] = &[
        Self::Draft,
        Self::Preview,
        Self::Live,
        Self::Withdrawn,
        Self::Sold,
        Self::Unsold,
        Self::Suspended,
        Self::SoldBuyNow,
        Self::Passed,
    ];

    /// The name in JSON and in the store, such as `SOLD_BUY_NOW`.
    pub const fn name(self) -> &'static str {
        self.words().0
    }

    /// The code in the reference data. It never changes, and is never reused.
    pub const fn code(self) -> i32 {
        match self {
            Self::Draft => 2,
            Self::Preview => 3,
            Self::Live => 4,
            Self::Withdrawn => 5,
            Self::Sold => 6,
            Self::Unsold => 8,
            Self::Suspended => 9,
            Self::SoldBuyNow => 10,
            Self::Passed => 17,
        }
    }

    /// Label for people, such as `Sold (buy now)`.
    pub const fn label(self) -> &'static str {
        self.words().1
    }

    /// The meaning of the status in one sentence.
    pub const fn meaning(self) -> &'static str {
        self.words().2
    }

    /// The status with this code; none for a reserved or unused code.
    pub fn from_code(code: i32) -> Option<Self> {
        Self::ALL.iter().copied().find(|status| status.code() == code)
    }

    const fn words(self) -> (&'static str, &'static str, &'static str) {
        match self {
            Self::Draft => ("DRAFT", "Draft", "The item is being prepared and only its auction's staff can see it."),
            Self::Preview => ("PREVIEW", "Preview", "The item can be viewed; it does not take bids."),
            Self::Live => ("LIVE", "Live", "The item takes bids, or waits for its turn in a webcast."),
            Self::Withdrawn => ("WITHDRAWN", "Withdrawn", "The item was taken out of the auction."),
            Self::Sold => ("SOLD", "Sold", "The hammer fell for the highest bid."),
            Self::Unsold => ("UNSOLD", "Unsold", "The item ended with no bid, or with none that met its reserve."),
            Self::Suspended => ("SUSPENDED", "Suspended", "Bidding is stopped until an administrator decides."),
            Self::SoldBuyNow => ("SOLD_BUY_NOW", "Sold (buy now)", "The item was bought at its buy-now price."),
            Self::Passed => ("PASSED", "Passed", "The clerk passed the item in a webcast; it may be offered again."),
        }
    }
}

named!(ItemStatus, "item status");

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn auction_statuses_have_the_specified_names_and_codes() {
        let list: Vec<_> = AuctionStatus::ALL.iter().map(|status| (status.name(), status.code())).collect();
        assert_eq!(list, [("DRAFT", 2), ("PREVIEW", 3), ("LIVE", 4), ("RECONCILIATION", 5), ("ARCHIVED", 6)]);
    }

    #[test]
    fn item_statuses_have_the_specified_names_and_codes() {
        let list: Vec<_> = ItemStatus::ALL.iter().map(|status| (status.name(), status.code())).collect();
        let specified = [
            ("DRAFT", 2),
            ("PREVIEW", 3),
            ("LIVE", 4),
            ("WITHDRAWN", 5),
            ("SOLD", 6),
            ("UNSOLD", 8),
            ("SUSPENDED", 9),
            ("SOLD_BUY_NOW", 10),
            ("PASSED", 17),
        ];
        assert_eq!(list, specified);
    }

    #[test]
    fn a_status_is_found_by_its_code_and_reserved_codes_have_none() {
        for status in ItemStatus::ALL {
            assert_eq!(ItemStatus::from_code(status.code()), Some(*status));
        }
        for status in AuctionStatus::ALL {
            assert_eq!(AuctionStatus::from_code(status.code()), Some(*status));
        }
        for unused in [-1, 0, 1, 7, 11, 12, 13, 14, 15, 16, 18] {
            assert_eq!(ItemStatus::from_code(unused), None, "{unused}");
            assert_eq!(AuctionStatus::from_code(unused), None, "{unused}");
        }
    }

    #[test]
    fn a_status_is_written_and_read_as_its_exact_name() {
        for status in ItemStatus::ALL {
            let json = serde_json::to_string(status).unwrap();
            assert_eq!(json, format!("\"{status}\""));
            assert_eq!(serde_json::from_str::<ItemStatus>(&json).unwrap(), *status);
        }
        for near in ["sold", "Sold", " SOLD", "SOLD ", "", "NEW", "6"] {
            assert!(near.parse::<ItemStatus>().is_err(), "{near:?}");
        }
        assert!(serde_json::from_str::<ItemStatus>("6").is_err());
    }

    #[test]
    fn an_unknown_status_is_rejected_with_the_legal_names() {
        let error = "SOLD".parse::<AuctionStatus>().unwrap_err();
        assert_eq!(
            error.to_string(),
            r#""SOLD" is not an auction status; use one of DRAFT, PREVIEW, LIVE, RECONCILIATION, ARCHIVED"#
        );
        assert_eq!("x".repeat(1000).parse::<ItemStatus>().unwrap_err().given.len(), 64);
    }

    #[test]
    fn every_status_has_a_label_and_a_meaning() {
        let items = ItemStatus::ALL.iter().map(|status| (status.label(), status.meaning()));
        let auctions = AuctionStatus::ALL.iter().map(|status| (status.label(), status.meaning()));
        for (label, meaning) in items.chain(auctions) {
            assert!(!label.is_empty() && meaning.ends_with('.'), "{label}: {meaning}");
        }
    }
}
