//! An auction with what every page about it shows: heading, tabs, and the progress of a bulk change. The modules are what
//! these pages share: amounts, labels, notices, refusals, times in the zone of the sale.

pub(crate) mod labels;
pub(crate) mod notice;
pub(crate) mod notified;
pub(crate) mod query;
pub(crate) mod refusal;
pub(crate) mod unusual;

use contract::AuctionStatus;
use jiff::Timestamp;
use kit_design::fields::FormFields;
use kit_design::frame::Frame;
use platform_core::port::BulkChange;
use platform_core::{Role, Scope};
use platform_rules::{Auction, AuctionKind, ItemCounts, SaleMode};
use uuid::Uuid;

use self::labels::Badge;
use crate::page_error::PageError;
use crate::session::{Section, Session};
use platform_words::Currency;
use platform_words::SaleZone;

/// An auction and its counts, as one request sees them.
pub(crate) struct Sale {
    pub(crate) auction: Auction,
    pub(crate) counts: ItemCounts,
    pub(crate) currency: Currency,
    pub(crate) zone: SaleZone,
    pub(crate) bulk_change: Option<BulkChange>,
    /// The time by the auction's own clock.
    pub(crate) now: Timestamp,
}

/// A page of an auction.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Tab {
    Overview,
    Lots,
    Ends,
    Registrations,
    Results,
    Timeline,
    Print,
}

/// What `auctions/head.html` shows.
#[derive(Debug, Clone)]
pub(crate) struct Head {
    pub(crate) id: Uuid,
    pub(crate) title: String,
    pub(crate) badge: Badge,
    pub(crate) facts: String,
    pub(crate) is_sandbox: bool,
    pub(crate) tabs: Vec<TabLink>,
    pub(crate) progress: Option<Progress>,
    /// The user may change the auction.
    pub(crate) may_write: bool,
    /// The user may copy the auction, also an archived one.
    pub(crate) may_copy: bool,
    /// "Import lots" is the primary action of this page.
    pub(crate) is_import_main: bool,
}

/// A link to a page of the auction.
#[derive(Debug, Clone)]
pub(crate) struct TabLink {
    pub(crate) words: &'static str,
    pub(crate) path: String,
    pub(crate) is_current: bool,
}

/// Progress of a bulk change.
#[derive(Debug, Clone)]
pub(crate) struct Progress {
    pub(crate) words: &'static str,
    pub(crate) done: i64,
    pub(crate) total: i64,
}

impl Sale {
    /// Loads an auction that the user may see.
    pub(crate) async fn load(session: &Session, uuid: Uuid) -> Result<Self, PageError> {
        let platform = session.platform();
        let auction = platform.auction(&session.caller, uuid).await?;
        let counts = platform.item_counts(&session.caller, uuid).await?;
        let bulk_change = platform.bulk_change(&session.caller, uuid).await?;
        let now = platform.time_of(&auction);
        let (currency, zone) = (Currency::of(&auction), SaleZone::of(&auction));
        Ok(Self { auction, counts, currency, zone, bulk_change, now })
    }

    /// Path of a page of the auction, below the site's base.
    pub(crate) fn path(&self, page: &str) -> String {
        format!("/auctions/{}{page}", self.auction.uuid)
    }

    /// True when the user has the scope, and the auction is not archived: an archived one changes no more.
    pub(crate) fn may_change(&self, session: &Session, scope: Scope) -> bool {
        session.may(scope) && self.auction.status != AuctionStatus::Archived
    }

    /// True if the user may edit, add, order and move lots, which ends with the reconciliation.
    pub(crate) fn may_edit_lots(&self, session: &Session) -> bool {
        session.may(Scope::AuctionsWrite) && self.auction.require_open().is_ok()
    }

    /// The title, or words for an auction without one.
    pub(crate) fn title(&self) -> String {
        self.auction.shown_title().to_owned()
    }

    /// The frame around a page of the auction, with the notice that the query names.
    pub(crate) fn frame(&self, session: &Session, page: &str, query: &FormFields) -> Frame {
        let title = format!("{page} · {}", self.title());
        session.frame(title, Section::Auctions).with_notice(notice::from_query(query))
    }

    pub(crate) fn head(&self, session: &Session, tab: Tab) -> Head {
        let Auction { uuid, kind, .. } = self.auction;
        let link = |words, own: Tab, page: &str| TabLink { words, path: self.path(page), is_current: own == tab };
        let mut tabs = vec![link("Overview", Tab::Overview, ""), link("Lots", Tab::Lots, "/lots")];
        if kind == AuctionKind::Timed {
            tabs.push(link("End times", Tab::Ends, "/ends"));
        }
        // Clerks see bidders of webcasts only.
        if session.may(Scope::BiddersRead) && !(session.role == Role::Clerk && kind == AuctionKind::Timed) {
            tabs.push(link("Registrations", Tab::Registrations, "/registrations"));
        }
        tabs.push(link("Results", Tab::Results, "/results"));
        if session.may(Scope::EventsRead) {
            tabs.push(link("Timeline", Tab::Timeline, "/timeline"));
        }
        if kind == AuctionKind::Webcast && self.may_change(session, Scope::RingWrite) {
            let ring =
                |words, page: &str| TabLink { words, path: format!("/webcasts/{uuid}/{page}"), is_current: false };
            tabs.extend([ring("Book", "book"), ring("Desk", "desk"), ring("Screens", "screens")]);
        }
        tabs.push(link("Print", Tab::Print, "/print"));
        let progress = self.bulk_change.as_ref().map(|change| Progress {
            words: labels::bulk_operation(change),
            done: change.through + 1,
            total: change.until + 1,
        });
        let facts = [
            labels::kind(kind).to_owned(),
            labels::count(self.counts.total, "lot", "lots"),
            self.currency.code().to_owned(),
            self.auction.time_zone.clone(),
        ];
        Head {
            id: uuid,
            title: self.title(),
            badge: self.auction.status.into(),
            facts: facts.join(" · "),
            is_sandbox: self.auction.sale_mode() == SaleMode::Sandbox,
            tabs,
            progress,
            may_write: self.may_change(session, Scope::AuctionsWrite),
            may_copy: session.may(Scope::AuctionsWrite),
            is_import_main: tab == Tab::Lots || (tab == Tab::Overview && self.counts.total == 0),
        }
    }

    /// The dates in the sale's zone.
    pub(crate) fn dates(&self) -> String {
        dates(&self.auction, &self.zone)
    }
}

/// The dates of an auction in its zone.
pub(crate) fn dates(auction: &Auction, zone: &SaleZone) -> String {
    match (auction.kind, auction.starts_at, auction.ends_at) {
        (AuctionKind::Timed, _, Some(ends_at)) => format!("Ends from {}", zone.show(ends_at)),
        (AuctionKind::Webcast, Some(starts_at), _) => format!("Starts {}", zone.show(starts_at)),
        _ => "No date yet".to_owned(),
    }
}

/// Loads the sale and checks that the user may change it.
pub(crate) async fn writable(session: &Session, uuid: Uuid) -> Result<Sale, PageError> {
    session.caller.require(Scope::AuctionsWrite)?;
    Sale::load(session, uuid).await
}
