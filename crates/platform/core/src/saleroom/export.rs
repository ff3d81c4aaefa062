//! What the house holds of a bidder's account, as one JSON document for the bidder (`docs/run-sales/saleroom.md`).
//!
//! It has nothing of other persons: no other bidder's bids, and no note of staff.

use std::time::Duration;

use jiff::Timestamp;
use kit_identity::throttle::Limit;
use serde::Serialize;
use uuid::Uuid;

use super::{Saleroom, SignedInBidder};
use crate::Platform;
use crate::bidders::{ExportedBid, ExportedLateBid, ExportedOffer, ExportedRequest};
use crate::error::PlatformResult;
use crate::port::{BidderDetails, Notice, NoticeFacts, Page, Registration, WatchedItem};

/// The `format` of the document.
const FORMAT: &str = "lotwire.bidder.1";
/// Registrations that are read at once.
const REGISTRATIONS_READ_MAX: usize = 250;
/// Lots of one sale, watched lots and notices in the document.
const LOTS_OF_SALE_MAX: usize = 2_000;
const WATCHED_MAX: usize = 5_000;
const NOTICES_MAX: usize = 5_000;
/// Exports of one account within a day.
const EXPORTS: Limit = Limit { attempts_max: 5, window: Duration::from_secs(24 * 60 * 60) };
/// The name that keeps exports apart from other attempts.
const EXPORT_REALM: &str = "bidder-export";

/// What the house holds of a bidder's account. Amounts are minor units.
#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct OwnExport {
    /// `lotwire.bidder.1`.
    pub format: &'static str,
    /// When it was written.
    pub exported_at: Timestamp,
    /// Name of the house.
    pub house: String,
    /// The e-mail address of the account.
    pub email: String,
    /// When the account was opened.
    pub opened_at: Timestamp,
    /// What the bidder entered.
    pub details: BidderDetails,
    /// Sales for which the bidder registered, the latest first.
    pub sales: Vec<ExportedSale>,
    /// Lots that the bidder watches, the latest first.
    pub watched: Vec<ExportedWatch>,
    /// Notices that are kept, the latest first.
    pub notices: Vec<ExportedNotice>,
    /// Web sites that the bidder allowed to act for them.
    pub sites: Vec<ExportedSite>,
}

/// A sale for which the bidder registered.
#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ExportedSale {
    /// The auction.
    pub auction: Uuid,
    /// Its title.
    pub title: String,
    /// Currency of its amounts; ISO 4217.
    pub currency: String,
    /// The paddle.
    pub paddle: String,
    /// Name and e-mail address with which the bidder is registered.
    pub name: Option<String>,
    /// See `name`.
    pub email: Option<String>,
    /// Status of the registration.
    pub status: &'static str,
    /// When the bidder registered.
    pub registered_at: Timestamp,
    /// Spending limit.
    pub limit: Option<i64>,
    /// The latest request for a higher limit.
    pub limit_request: Option<ExportedRequest>,
    /// Lots that the house offered to the bidder after they did not sell, the latest first.
    pub offers: Vec<ExportedOffer>,
    /// The bidder's bids that arrived after the end of their lot, the latest first.
    pub late_bids: Vec<ExportedLateBid>,
    /// Version of the conditions that the bidder accepted, and when.
    pub accepted_conditions: Option<(u32, Timestamp)>,
    /// The bidder's own bids, with their maxima.
    pub bids: Vec<ExportedBid>,
}

/// A lot that the bidder watches.
#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ExportedWatch {
    /// The auction.
    pub auction: Uuid,
    /// The lot.
    pub item: Uuid,
    /// Its number and title.
    pub lot_number: String,
    /// See `lot_number`.
    pub title: String,
    /// Since when.
    pub since: Timestamp,
}

/// A notice.
#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ExportedNotice {
    /// What it is about.
    pub kind: &'static str,
    /// What it said.
    pub facts: NoticeFacts,
    /// When it was made.
    pub at: Timestamp,
    /// When the bidder saw it.
    pub seen_at: Option<Timestamp>,
    /// It was mailed.
    pub is_mailed: bool,
}

/// A web site that the bidder allowed to act for them.
#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ExportedSite {
    /// Its origin.
    pub origin: String,
    /// Since when.
    pub since: Timestamp,
}

impl Platform {
    /// What the house holds of a bidder's account.
    ///
    /// Errors: `too_many_attempts`.
    pub async fn export_own_data(&self, saleroom: &Saleroom, bidder: &SignedInBidder) -> PlatformResult<OwnExport> {
        let account = &bidder.account;
        let taken = EXPORTS.at_account_of(EXPORT_REALM, &account.id.to_string(), None, None);
        self.take_attempts(&taken, None).await?;
        let (mut sales, mut after) = (Vec::new(), None);
        while let Some(party) = account.profile.party {
            let page = Page { after, limit: REGISTRATIONS_READ_MAX };
            let registrations = self.store().registrations_of_party(party, page).await?;
            let Some(last) = registrations.last().map(|registration| registration.uuid) else { break };
            for registration in registrations {
                sales.extend(self.exported_sale(account.id, registration).await?);
            }
            after = Some(last);
        }
        let mut watched = Vec::new();
        for WatchedItem { auction, item, at, .. } in self.store().watched_items(account.id, None, WATCHED_MAX).await? {
            let Some(found) = self.store().item(item).await? else { continue };
            let (lot_number, title) = (found.lot_number, found.title);
            watched.push(ExportedWatch { auction, item, lot_number, title, since: at });
        }
        let notices = self.store().notices(account.id, None, NOTICES_MAX).await?;
        let notice = |Notice { kind, facts, at, seen_at, is_mailed, .. }: Notice| ExportedNotice {
            kind: kind.name(),
            facts,
            at,
            seen_at,
            is_mailed,
        };
        let sites = self.store().site_grants(account.id).await?;
        Ok(OwnExport {
            format: FORMAT,
            exported_at: self.now(),
            house: saleroom.name.clone(),
            email: account.email.clone(),
            opened_at: account.created_at,
            details: account.profile.details.clone(),
            sales,
            watched,
            notices: notices.into_iter().map(notice).collect(),
            sites: sites.into_iter().map(|site| ExportedSite { origin: site.origin, since: site.created_at }).collect(),
        })
    }

    async fn exported_sale(&self, account: Uuid, registration: Registration) -> PlatformResult<Option<ExportedSale>> {
        let Some(auction) = self.store().auction(registration.auction).await? else { return Ok(None) };
        let mut bids = Vec::new();
        for item in self.store().items_of_bidder(auction.uuid, &registration.paddle, LOTS_OF_SALE_MAX).await? {
            bids.extend(self.exported_bids(&item, &registration.paddle).await?);
        }
        let accepted = self.store().accepted_conditions(account, auction.uuid).await?;
        let limit_request = self.store().limit_request(registration.uuid).await?.map(ExportedRequest::from);
        Ok(Some(ExportedSale {
            auction: auction.uuid,
            title: auction.title,
            currency: auction.currency,
            status: registration.status.as_str(),
            registered_at: registration.created_at,
            limit: registration.limit,
            limit_request,
            offers: self.exported_offers(registration.uuid).await?,
            late_bids: self.exported_late_bids(&registration).await?,
            accepted_conditions: accepted.map(|accepted| (accepted.number, accepted.at)),
            bids,
            paddle: registration.paddle,
            name: registration.name,
            email: registration.email,
        }))
    }
}
