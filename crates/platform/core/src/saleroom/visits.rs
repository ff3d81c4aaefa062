//! What visitors of a saleroom read.

use std::collections::HashMap;

use contract::{AuctionStatus, ItemStatus};
use platform_rules::{Auction, Item, PublicBid, SaleMode};
use uuid::Uuid;

use super::{LotsWanted, Saleroom, SaleroomLot, SaleroomLotPage, SaleroomLots, SaleroomMessage, SaleroomSale};
use crate::error::{PlatformError, PlatformResult};
use crate::images::ImageVariant;
use crate::live::desk_link;
use crate::port::{AuctionFilter, AuctionOwner, Conditions, ItemImage, Page, VISITOR_MESSAGES_SHOWN, VisitorMessage};
use crate::sales::search::{AuctionSearch, Found, ItemSearch};
use crate::{Caller, Platform, Scope};

/// Sales in a list, at most.
const SALES_MAX: usize = 100;
/// Lots read at once, and how often, to find the lot before one.
const STEP_BACK: i64 = 100;
const STEPS_BACK_MAX: usize = 20;
/// Categories of a sale from which a visitor chooses.
const CATEGORIES_MAX: usize = 100;
/// Bids of a lot's page.
const BIDS_SHOWN: i64 = 20;
/// Lots that visitors see: those on view, on sale, or past.
pub(super) const ON_VIEW: [ItemStatus; 7] = [
    ItemStatus::Preview,
    ItemStatus::Live,
    ItemStatus::Suspended,
    ItemStatus::Sold,
    ItemStatus::SoldBuyNow,
    ItemStatus::Passed,
    ItemStatus::Unsold,
];

impl Platform {
    /// The saleroom at an address.
    ///
    /// Errors: `not_found`, also for one that is closed.
    pub async fn saleroom(&self, address: &str) -> PlatformResult<Saleroom> {
        let house = self.store().house_at(address).await?.filter(|house| house.saleroom.is_open);
        let house = house.ok_or(PlatformError::NotFound("saleroom"))?;
        let customer = self.customer(&visitor(house.customer), house.customer).await?;
        let domain = self.served_domains().await?.of_customer(house.customer).map(str::to_owned);
        Ok(Saleroom { name: customer.name, house, domain })
    }

    /// The sales of the house that are live or announced, in the order in which they were created.
    pub async fn coming_sales(&self, saleroom: &Saleroom) -> PlatformResult<Vec<SaleroomSale>> {
        let filter = AuctionFilter {
            of: AuctionOwner::Customer(saleroom.house.customer),
            statuses: vec![AuctionStatus::Preview, AuctionStatus::Live],
            kind: None,
            sale_mode: Some(SaleMode::Real),
        };
        let page = Page { after: None, limit: SALES_MAX };
        let mut sales = Vec::new();
        for auction in self.store().filtered_auctions(&filter, page).await?.into_iter().filter(is_announced) {
            sales.push(self.sale_on_view(auction).await?);
        }
        Ok(sales)
    }

    /// The sales of the house that are over, the latest first: those created before the UUID of the page.
    pub async fn past_sales(&self, saleroom: &Saleroom, page: Page<Uuid>) -> PlatformResult<Found<SaleroomSale, Uuid>> {
        let wanted = AuctionSearch {
            statuses: vec![AuctionStatus::Reconciliation, AuctionStatus::Archived],
            ..AuctionSearch::default()
        };
        let found = self.search_auctions(&visitor(saleroom.house.customer), &wanted, page).await?;
        let mut entries = Vec::new();
        for auction in found.entries.into_iter().filter(is_announced) {
            entries.push(self.sale_on_view(auction).await?);
        }
        Ok(Found { entries, next: found.next })
    }

    /// A sale of the house.
    ///
    /// Errors: `not_found`, also for a sale that visitors don't see.
    pub async fn saleroom_sale(&self, saleroom: &Saleroom, auction: Uuid) -> PlatformResult<SaleroomSale> {
        let auction = self.auction_on_view(saleroom, auction).await?;
        self.sale_on_view(auction).await
    }

    /// The version of the conditions under which a sale is held.
    ///
    /// Errors: `not_found`, also for a sale without conditions.
    pub async fn saleroom_conditions(&self, saleroom: &Saleroom, sale: &SaleroomSale) -> PlatformResult<Conditions> {
        let number = sale.facts.as_ref().and_then(|facts| facts.conditions);
        let number = number.ok_or(PlatformError::NotFound("conditions"))?;
        self.conditions(&visitor(saleroom.house.customer), saleroom.house.customer, number).await
    }

    /// The lots of a sale that a visitor wants, in running order after a position.
    ///
    /// Errors: `not_found`.
    pub async fn saleroom_lots(
        &self,
        saleroom: &Saleroom,
        auction: Uuid,
        wanted: LotsWanted<'_>,
        page: Page<i64>,
    ) -> PlatformResult<SaleroomLots> {
        let auction = self.auction_on_view(saleroom, auction).await?;
        let is_wanted = |status: &ItemStatus| wanted.statuses.is_empty() || wanted.statuses.contains(status);
        let statuses: Vec<ItemStatus> = ON_VIEW.into_iter().filter(is_wanted).collect();
        if statuses.is_empty() {
            return Ok(SaleroomLots { lots: Vec::new(), next: None });
        }
        let category = Some(wanted.category.to_owned()).filter(|category| !category.is_empty());
        let wanted = ItemSearch { statuses, text: wanted.text.to_owned(), category, ..ItemSearch::default() };
        let caller = visitor(saleroom.house.customer);
        let found = self.search_items(&caller, auction.uuid, &wanted, page).await?;
        Ok(SaleroomLots { lots: self.lots_on_view(&auction, &found.entries).await?, next: found.next })
    }

    /// The categories of the lots of a sale in alphabetical order, at most [`CATEGORIES_MAX`]. Those that differ in case only are one.
    pub async fn saleroom_categories(&self, sale: &SaleroomSale) -> PlatformResult<Vec<String>> {
        let mut found = self.store().item_categories(sale.auction.uuid, &ON_VIEW, CATEGORIES_MAX).await?;
        found.sort_by_cached_key(|category| category.to_lowercase());
        found.dedup_by_key(|category| category.to_lowercase());
        Ok(found)
    }

    /// A lot with its latest bids.
    ///
    /// Errors: `not_found`, also for a lot that visitors don't see.
    pub async fn saleroom_lot(
        &self,
        saleroom: &Saleroom,
        (auction, item): (Uuid, Uuid),
    ) -> PlatformResult<SaleroomLotPage> {
        let auction = self.auction_on_view(saleroom, auction).await?;
        let (caller, not_found) = (visitor(saleroom.house.customer), PlatformError::NotFound("lot"));
        let (known, of) = self.item(&caller, item).await?;
        if of.uuid != auction.uuid || !ON_VIEW.contains(&known.status) {
            return Err(not_found);
        }
        let after = (known.shown_bids() - BIDS_SHOWN).max(0);
        let limit = usize::try_from(BIDS_SHOWN).unwrap_or_default();
        // The item that decides which amounts are public is read after the bids.
        let (item, bids) = self.bids(&caller, item, Page { after: Some(after), limit }).await?;
        let bids = bids.iter().rev().filter_map(|bid| PublicBid::of(&item, &bid.record())).collect();
        let mut lots = self.lots_on_view(&auction, std::slice::from_ref(&item)).await?;
        Ok(SaleroomLotPage {
            lot: lots.pop().ok_or(not_found)?,
            bids,
            neighbours: [self.lot_before(&item).await?, self.lot_after(&item).await?],
            read_at: self.time_of(&auction),
        })
    }

    /// A variant of an image of a lot that visitors see: its media type and content.
    ///
    /// Errors: `not_found`.
    pub async fn saleroom_image(
        &self,
        saleroom: &Saleroom,
        image: Uuid,
        variant: ImageVariant,
    ) -> PlatformResult<(String, Vec<u8>)> {
        let not_found = || PlatformError::NotFound("image");
        let (image, content, _) = self.image_content(None, image, variant).await?;
        if image.customer != saleroom.house.customer {
            return Err(not_found());
        }
        let (item, auction) = self.item(&visitor(image.customer), image.item).await?;
        if !is_announced(&auction) || !ON_VIEW.contains(&item.status) {
            return Err(not_found());
        }
        let media_type = if variant == ImageVariant::Full { image.media_type } else { "image/jpeg".to_owned() };
        Ok((media_type, content))
    }

    /// The logo of the house, if its UUID is this one.
    ///
    /// Errors: `not_found`.
    pub async fn saleroom_logo(&self, saleroom: &Saleroom, logo: Uuid) -> PlatformResult<Vec<u8>> {
        let known = saleroom.house.logo.as_ref().filter(|known| known.uuid == logo);
        let content = match known {
            Some(known) => self.store().logo_content(known.uuid).await?,
            None => None,
        };
        content.ok_or(PlatformError::NotFound("logo"))
    }

    /// A lot that visitors see, with its auction.
    ///
    /// Errors: `not_found`.
    pub(super) async fn lot_on_view(&self, saleroom: &Saleroom, lot: (Uuid, Uuid)) -> PlatformResult<(Item, Auction)> {
        let (item, auction) = self.item(&visitor(saleroom.house.customer), lot.1).await?;
        let is_on_view = auction.uuid == lot.0 && is_announced(&auction) && ON_VIEW.contains(&item.status);
        if is_on_view { Ok((item, auction)) } else { Err(PlatformError::NotFound("lot")) }
    }

    pub(super) async fn auction_on_view(&self, saleroom: &Saleroom, auction: Uuid) -> PlatformResult<Auction> {
        let auction = self.auction(&visitor(saleroom.house.customer), auction).await?;
        if is_announced(&auction) { Ok(auction) } else { Err(PlatformError::NotFound("sale")) }
    }

    async fn sale_on_view(&self, auction: Auction) -> PlatformResult<SaleroomSale> {
        let counts = self.store().item_counts(auction.uuid).await?;
        let facts = self.store().sale_facts(auction.uuid).await?;
        let lots_open = counts.preview + counts.live + counts.suspended;
        let is_link_lost = desk_link::is_lost(self.store(), &auction, self.now()).await?;
        let messages = self.messages_on_view(&auction).await?;
        let film = match facts.as_ref().and_then(|facts| facts.film.as_ref()) {
            Some(film) if auction.status == AuctionStatus::Live => self.film_to_show(auction.kind, film).await?,
            _ => None,
        };
        Ok(SaleroomSale { auction, facts, lots: counts.on_view(), lots_open, is_link_lost, messages, film })
    }

    /// The latest messages of the clerk while a webcast is live, the newest first.
    async fn messages_on_view(&self, auction: &Auction) -> PlatformResult<Vec<SaleroomMessage>> {
        if !VisitorMessage::are_shown(auction) {
            return Ok(Vec::new());
        }
        let latest = self.store().visitor_messages(auction.uuid, VISITOR_MESSAGES_SHOWN).await?;
        let on_stage = VisitorMessage::on_stage(&latest).map(|message| message.number);
        let message = |VisitorMessage { number, item, text, at, .. }: VisitorMessage| SaleroomMessage {
            on_stage: on_stage == Some(number),
            number,
            text,
            at,
            item,
        };
        Ok(latest.into_iter().map(message).collect())
    }

    /// The lot before this one that visitors see. The search gives up behind many lots in a row that they don't see.
    async fn lot_before(&self, item: &Item) -> PlatformResult<Option<(Uuid, String)>> {
        let mut before = item.position;
        for _ in 0..STEPS_BACK_MAX {
            let page = Page { after: Some(before - STEP_BACK - 1), limit: STEP_BACK as usize };
            let items = self.store().items(item.auction, page).await?;
            let seen = items.iter().rev().find(|other| other.position < before && ON_VIEW.contains(&other.status));
            if let Some(seen) = seen {
                return Ok(Some((seen.uuid, seen.lot_number.clone())));
            }
            before -= STEP_BACK;
            if before <= 0 {
                break;
            }
        }
        Ok(None)
    }

    async fn lot_after(&self, item: &Item) -> PlatformResult<Option<(Uuid, String)>> {
        let page = Page { after: Some(item.position), limit: 1 };
        let next = self.store().items_with_status(item.auction, &ON_VIEW, page).await?.pop();
        Ok(next.map(|next| (next.uuid, next.lot_number)))
    }

    pub(super) async fn lots_on_view(&self, auction: &Auction, items: &[Item]) -> PlatformResult<Vec<SaleroomLot>> {
        let uuids: Vec<Uuid> = items.iter().map(|item| item.uuid).collect();
        let mut images: HashMap<Uuid, Vec<ItemImage>> = HashMap::new();
        for image in self.store().images(&uuids).await? {
            images.entry(image.item).or_default().push(image);
        }
        let lot = |item: &Item| SaleroomLot::of(auction, item, images.remove(&item.uuid).unwrap_or_default());
        Ok(items.iter().map(lot).collect())
    }
}

/// The identity of visitors: they read the sales of one house.
pub(super) fn visitor(customer: Uuid) -> Caller {
    Caller {
        actor: "visitor".to_owned(),
        id: Uuid::nil(),
        session: None,
        role: None,
        customer: Some(customer),
        scopes: [Scope::AuctionsRead, Scope::CustomersRead].into_iter().collect(),
    }
}

/// A lot that visitors see.
pub(super) fn is_lot_on_view(status: ItemStatus) -> bool {
    ON_VIEW.contains(&status)
}

/// A real sale that is announced, or was. A sale that was archived as a mistake was never live.
fn is_announced(auction: &Auction) -> bool {
    let is_shown = match auction.status {
        AuctionStatus::Draft => false,
        AuctionStatus::Preview | AuctionStatus::Live => true,
        AuctionStatus::Reconciliation | AuctionStatus::Archived => auction.was_live,
    };
    is_shown && auction.clock.is_none() && !auction.rehearsal
}
