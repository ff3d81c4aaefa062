//! What all papers share: the words at the top of each printed page, and the tools above the paper on screen.

use kit_design::frame::Frame;
use platform_core::users::UserRefusal;
use platform_core::{PlatformError, Scope};
use platform_rules::AuctionKind;
use uuid::Uuid;

use crate::auctions::owners;
use crate::page_error::PageError;
use crate::sale::Sale;
use crate::session::Session;

/// A paper of a sale.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum PaperKind {
    Catalogue,
    ClerkingSheets,
    PaddleList,
    CommissionBook,
    Results,
}

impl PaperKind {
    /// All papers, in the order in which a sale needs them.
    pub(super) const ALL: [Self; 5] =
        [Self::Catalogue, Self::ClerkingSheets, Self::PaddleList, Self::CommissionBook, Self::Results];

    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Catalogue => "Catalogue",
            Self::ClerkingSheets => "Clerking sheets",
            Self::PaddleList => "Paddle list",
            Self::CommissionBook => "Commission book",
            Self::Results => "Results",
        }
    }

    /// Path of the paper below the page that lists them.
    pub(super) const fn path(self) -> &'static str {
        match self {
            Self::Catalogue => "catalogue",
            Self::ClerkingSheets => "clerking",
            Self::PaddleList => "paddles",
            Self::CommissionBook => "book",
            Self::Results => "results",
        }
    }

    /// True if the sale has this paper and the user may open it.
    pub(super) async fn is_for(self, session: &Session, sale: &Sale) -> Result<bool, PageError> {
        Ok(match self {
            Self::Catalogue | Self::ClerkingSheets | Self::Results => true,
            Self::PaddleList => {
                session.may(Scope::BiddersRead)
                    && (session.may(Scope::AuctionsWrite) || is_clerk(session, sale).await?)
            }
            Self::CommissionBook => sale.auction.kind == AuctionKind::Webcast && is_clerk(session, sale).await?,
        })
    }
}

/// True if the user may open the clerk's desk of this sale, which shows reserves and maxima.
pub(super) async fn is_clerk(session: &Session, sale: &Sale) -> Result<bool, PageError> {
    if sale.auction.kind != AuctionKind::Webcast || !session.may(Scope::RingWrite) {
        return Ok(false);
    }
    match session.platform().ring(&session.caller, sale.auction.uuid).await {
        Ok(_) => Ok(true),
        // A clerk who is not assigned to the webcast.
        Err(PlatformError::Forbidden(_) | PlatformError::User(UserRefusal::ClerkNotAssigned)) => Ok(false),
        Err(error) => Err(error.into()),
    }
}

/// True if the user sees reserves of this sale on screen: in the grid, or at the desk.
pub(super) async fn sees_reserves(session: &Session, sale: &Sale) -> Result<bool, PageError> {
    Ok(session.may(Scope::AuctionsWrite) || is_clerk(session, sale).await?)
}

/// What a paper says about itself.
pub(super) struct Paper {
    pub(super) name: &'static str,
    /// The auctioneer that holds the sale.
    pub(super) house: String,
    pub(super) auction: Uuid,
    pub(super) sale: String,
    /// When the sale is, with its zone.
    pub(super) date: String,
    /// When and by whom the paper was made.
    pub(super) printed: String,
    /// What the paper contains, such as `312 lots`.
    pub(super) contents: String,
    /// It has figures or names that only some roles may see.
    pub(super) is_confidential: bool,
    /// Class of the sheet: its size, and others.
    pub(super) class: &'static str,
    /// What a reader of the page has to know before printing.
    pub(super) warnings: Vec<String>,
}

impl Paper {
    pub(super) async fn new(session: &Session, sale: &Sale, kind: PaperKind) -> Result<Self, PageError> {
        let names = owners::auctioneer_names(session, std::slice::from_ref(&sale.auction)).await?;
        Ok(Self {
            name: kind.name(),
            house: names.into_values().next().unwrap_or_default(),
            auction: sale.auction.uuid,
            sale: sale.title(),
            date: sale.dates(),
            printed: format!("Printed {} by {}", sale.zone.show(session.now()), session.shown_name()),
            contents: String::new(),
            is_confidential: false,
            class: "a4",
            warnings: Vec::new(),
        })
    }

    /// The same, which says "Confidential" on each page.
    pub(super) fn confidential(self, is_confidential: bool) -> Self {
        Self { is_confidential, ..self }
    }

    /// The frame around the paper on screen.
    pub(super) fn frame(&self, session: &Session, sale: &Sale) -> Frame {
        sale.frame(session, self.name, &kit_design::fields::FormFields::default())
    }
}
