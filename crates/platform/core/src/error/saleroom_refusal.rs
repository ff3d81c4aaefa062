//! Refusals of what bidders do in a saleroom, beside those of the rules and of sign-in.

use crate::port::OfferOutcome;

/// Why a wish of a bidder in a saleroom was refused. Nothing changed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SaleroomRefusal {
    /// The house takes no bids from accounts.
    #[error("the house takes no online bids: contact it")]
    AccountsClosed,
    /// The link of a mail was used, replaced by a later one, or has expired.
    #[error("the link was used before, or it is too old: ask for another one")]
    LinkVoid,
    /// No mail can be sent.
    #[error("the mail could not be sent: try again in some minutes")]
    MailUnavailable,
    /// The address or the house received too many mails.
    #[error("too many mails were sent: try again in {minutes} minutes")]
    TooManyMails {
        /// When a mail is possible again.
        minutes: u64,
    },
    /// The sale takes no registrations any more.
    #[error("the sale is over and takes no registrations")]
    SaleOver,
    /// The sale is held under another version of the conditions than the one that the bidder accepted.
    #[error("the conditions of this sale have changed: read and accept version {number}")]
    ConditionsChanged {
        /// Number of the version.
        number: u32,
    },
    /// The bidder has no approved registration for the sale.
    #[error("a bid needs an approved registration for this sale: register first")]
    RegistrationRequired,
    /// The next bid is not the one that the bidder saw. The bid was not placed.
    #[error("the price has moved, and the bid was not placed: the next bid is {minimum} minor units")]
    PriceMoved {
        /// Amount of the next bid, minor units.
        minimum: i64,
        /// Another bidder leads at the amount of the bid: the earlier of two equal bids counts.
        is_equal: bool,
    },
    /// Premium or taxes are not those that the bidder saw.
    #[error("premium or taxes have changed since the price was shown: read the total again")]
    RatesMoved,
    /// The bidder leads already, and a further bid of the next amount would only raise the price that they pay.
    #[error("the bidder leads already: raise the maximum instead")]
    AlreadyLeading,
    /// A lot is in the ring, and no desk holds its live stream.
    #[error("the saleroom has lost its link, and bidding is paused: try again when it is back")]
    LinkLost,
    /// The bidder watches the maximum number of items.
    #[error("{maximum} lots are watched, which is the maximum: stop watching one first")]
    TooManyWatched {
        /// The maximum.
        maximum: usize,
    },
    /// The time of an offer has passed, or the lot or its sale has changed since.
    #[error("the offer has ended: its time has passed, or the lot has changed")]
    OfferOver,
    /// The lot, or what premium and taxes make of the price, is not as the bidder saw it.
    #[error("the lot, or its price with premium and taxes, has changed since the offer was shown: read it again")]
    OfferChanged,
    /// Staff withdrew the offer.
    #[error("the house has withdrawn the offer")]
    OfferWithdrawn,
    /// The bidder answered the offer otherwise before.
    #[error("the offer was {} before", outcome.name())]
    OfferAnswered {
        /// The answer.
        outcome: OfferOutcome,
    },
    /// The house does not list the web site, or not with this address.
    #[error("the house does not list this web site with this address")]
    SiteNotListed,
    /// A code or token of a web site was used, has expired, or belongs to another site or house.
    #[error("the code or token was used before, is too old, or is not this site's: ask the bidder again")]
    GrantVoid,
}

impl SaleroomRefusal {
    /// Stable code of the refusal.
    pub fn code(&self) -> &'static str {
        match self {
            Self::AccountsClosed => "accounts_closed",
            Self::LinkVoid => "link_void",
            Self::MailUnavailable => "mail_unavailable",
            Self::TooManyMails { .. } => "too_many_mails",
            Self::SaleOver => "sale_over",
            Self::ConditionsChanged { .. } => "conditions_changed",
            Self::RegistrationRequired => "registration_required",
            Self::PriceMoved { .. } => "price_moved",
            Self::AlreadyLeading => "already_leading",
            Self::RatesMoved => "rates_moved",
            Self::LinkLost => "link_lost",
            Self::TooManyWatched { .. } => "too_many_watched",
            Self::OfferOver => "offer_over",
            Self::OfferChanged => "offer_changed",
            Self::OfferWithdrawn => "offer_withdrawn",
            Self::OfferAnswered { .. } => "offer_answered",
            Self::SiteNotListed => "site_not_listed",
            Self::GrantVoid => "grant_void",
        }
    }
}

impl From<SaleroomRefusal> for crate::PlatformError {
    fn from(refusal: SaleroomRefusal) -> Self {
        Self::Saleroom(refusal)
    }
}
