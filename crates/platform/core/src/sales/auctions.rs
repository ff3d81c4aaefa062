//! Creates and reads auctions, and changes their status. Edits, copies and moved ends are in modules of their own.

pub mod after_change;
pub mod copy;
pub mod edit;
pub mod move_ends;
mod rehearse;
pub mod requested_status;
pub mod shift;

use contract::models::{CurrencyCode, UrlAttachmentApiModel};
use contract::{AuctionStatus, ItemStatus};
use jiff::Timestamp;
use platform_rules::lifecycle::{self, AuctionCommand};
use platform_rules::{
    Admission, Auction, AuctionKind, BASIS_POINTS_MAX, Charges, EXTENSION_SECONDS_MAX, IncrementTable, InternetBids,
    Item, ItemCommand, OpenBuyers, SaleMode, Stagger, TestClock, WebcastPhase,
};
use uuid::Uuid;

use self::after_change::AuctionAfterChange;
use self::requested_status::RequestedStatus;
use crate::caller::visible;
use crate::customers::addresses::AddressInput;
use crate::error::{PlatformResult, Problem};
use crate::port::{BulkOperation, ITEMS_READ_MAX, ItemCounts, Page};
use crate::sales::attachments;
use crate::sales::new_item::{ItemContext, NewItem, TITLE_CHARS_MAX, problems_in};
use crate::steps::decide::{Decision, expect_version};
use crate::steps::idempotency::{IdempotentRequest, Outcome};
use crate::steps::input::{check_text, is_time_zone, require_usable};
use crate::{Caller, Platform, Scope};

/// Seconds between two groups of staggered ends, at most: a week.
const STAGGER_SECONDS_MAX: u32 = 7 * 24 * 3600;

/// The input for a new auction.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewAuction {
    /// The auctioneer that holds it.
    pub auctioneer: Uuid,
    /// Timed or webcast.
    pub kind: AuctionKind,
    /// Title; at most 500 characters, and may be empty in a draft.
    pub title: String,
    /// ISO 4217 code.
    pub currency: String,
    /// IANA time zone.
    pub time_zone: String,
    /// Where the auction is held or its items can be viewed.
    pub address: Option<AddressInput>,
    /// When bidding or the webcast starts.
    pub starts_at: Option<Timestamp>,
    /// Closing time: the planned end of the first items of a timed auction, or of the webcast.
    pub ends_at: Option<Timestamp>,
    /// Staggered ends of a timed auction.
    pub stagger: Option<Stagger>,
    /// Extension window of soft close in seconds; none turns it off. Timed auctions only.
    pub extension_seconds: Option<u32>,
    /// Increment table; none for the default table.
    pub increments: Option<IncrementTable>,
    /// Buyer's premium and tax on hammer prices.
    pub charges: Charges,
    /// Whether internet bids in a webcast need the clerk.
    pub internet_bids: InternetBids,
    /// Images, documents and videos; at most 50.
    pub attachments: Vec<UrlAttachmentApiModel>,
    /// Whether bidders have to be registered.
    pub registration: Admission,
    /// DRAFT, PREVIEW or LIVE.
    pub status: AuctionStatus,
    /// Items that the same call creates, in running order; at most 1,000. A LIVE auction needs at least one LIVE item.
    pub items: Vec<NewItem>,
    /// Real, or a sandbox. The test clock of a sandbox starts at the server's time and moves only when it is advanced.
    pub sale_mode: SaleMode,
}

impl NewAuction {
    /// A real DRAFT auction with the required fields only.
    pub fn new(
        auctioneer: Uuid,
        kind: AuctionKind,
        title: impl Into<String>,
        currency: impl Into<String>,
        time_zone: impl Into<String>,
    ) -> Self {
        Self {
            auctioneer,
            kind,
            title: title.into(),
            currency: currency.into(),
            time_zone: time_zone.into(),
            address: None,
            starts_at: None,
            ends_at: None,
            stagger: None,
            extension_seconds: None,
            increments: None,
            charges: Charges::default(),
            internet_bids: InternetBids::default(),
            attachments: Vec::new(),
            registration: Admission::default(),
            status: AuctionStatus::Draft,
            items: Vec::new(),
            sale_mode: SaleMode::Real,
        }
    }
}

/// The result of creating an auction.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CreatedAuction {
    /// The auction.
    pub auction: Auction,
    /// Its items, in running order.
    pub items: Vec<Item>,
}

impl CreatedAuction {
    /// The counts of its items.
    pub fn counts(&self) -> ItemCounts {
        let live = self.items.iter().filter(|item| item.status == ItemStatus::Live).count() as u64;
        ItemCounts { total: self.items.len() as u64, live, ..ItemCounts::default() }
    }
}

impl Platform {
    /// Creates an auction and the items of the call in one commit.
    ///
    /// Errors: `not_found` (auctioneer), `invalid`, `taken` (a lot number), `disk_full`, and those of
    /// [`lifecycle::decide`].
    pub async fn create_auction(
        &self,
        caller: &Caller,
        new: &NewAuction,
        answering: Option<IdempotentRequest<'_, CreatedAuction>>,
    ) -> PlatformResult<Outcome<CreatedAuction>> {
        caller.require(Scope::AuctionsWrite)?;
        self.config().disk_reserve.check()?;
        let found = self.store().auctioneer(new.auctioneer).await?;
        let auctioneer = visible(caller, found, "auctioneer", |auctioneer| auctioneer.customer)?;
        require_usable(self.problems_of_new_auction(new), None)?;
        let (address_id, address) = match &new.address {
            Some(entry) => {
                self.enter_address(auctioneer.customer, entry, None).await.map(|(id, new)| (Some(id), new))?
            }
            None => (None, None),
        };
        let uuid = self.ids().uuid_v7();
        self.decide(answering.as_ref(), || async {
            let now = self.now();
            let auction = Auction { address_id, ..new_auction(uuid, auctioneer.customer, new, now) };
            let live = new.items.iter().filter(|item| item.status == ItemStatus::Live).count() as u64;
            let counts = ItemCounts { total: new.items.len() as u64, live, ..ItemCounts::default() };
            let changes = lifecycle::decide(&auction, &counts, AuctionCommand::Create { status: new.status }, now)?;
            let mut draft = self.build_change(&caller.actor, now);
            draft.address(address.clone());
            let auction = draft.auction(auction, &changes);
            let mut items = Vec::with_capacity(new.items.len());
            for (position, item) in (0_i64..).zip(&new.items) {
                let state = self.new_item(&auction, item, position, now);
                let changes =
                    platform_rules::item::decide(&auction, &state, ItemCommand::Create { status: item.status }, now)?;
                items.push(draft.item(&auction, state, &changes));
            }
            let result = CreatedAuction { auction, items };
            let change = draft.finish(answering.as_ref(), &result);
            Ok(Decision { customer: auctioneer.customer, change, result })
        })
        .await
        .inspect(|_| self.ends_changed().notify())
    }

    /// An auction.
    pub async fn auction(&self, caller: &Caller, uuid: Uuid) -> PlatformResult<Auction> {
        caller.require_one_of(&[Scope::AuctionsRead, Scope::AuctionsWrite, Scope::RingWrite])?;
        self.visible_auction(caller, uuid).await
    }

    /// Auctions that the caller sees, of one customer if named, in order of creation.
    pub async fn auctions(
        &self,
        caller: &Caller,
        customer: Option<Uuid>,
        page: Page<Uuid>,
    ) -> PlatformResult<Vec<Auction>> {
        caller.require(Scope::AuctionsRead)?;
        if let Some(customer) = customer {
            self.visible_customer(caller, customer).await?;
        }
        Ok(self.store().auctions(customer.or(caller.customer), page).await?)
    }

    /// How many items an auction has, by status.
    pub async fn item_counts(&self, caller: &Caller, auction: Uuid) -> PlatformResult<ItemCounts> {
        self.auction(caller, auction).await?;
        Ok(self.store().item_counts(auction).await?)
    }

    /// Number of SOLD items whose buyer's paddle is not known yet: see [`Platform::clerk`]. Errors: `forbidden`,
    /// `not_found`.
    pub async fn open_buyers(&self, caller: &Caller, auction: Uuid) -> PlatformResult<u64> {
        self.auction(caller, auction).await?;
        Ok(self.store().open_buyers(auction).await?)
    }

    /// A page of the SOLD items whose buyer's paddle is not known yet, in running order. Errors: `forbidden`,
    /// `not_found`.
    pub async fn lots_with_open_buyer(
        &self,
        caller: &Caller,
        auction: Uuid,
        wanted: Page<i64>,
    ) -> PlatformResult<Vec<Item>> {
        let auction = self.auction(caller, auction).await?.uuid;
        let (mut open, mut after) = (Vec::new(), wanted.after);
        while open.len() < wanted.limit {
            let page = Page { after, limit: ITEMS_READ_MAX };
            let sold = self.store().items_with_status(auction, &[ItemStatus::Sold], page).await?;
            let Some(last) = sold.last().map(|item| item.position) else { break };
            let room = wanted.limit - open.len();
            open.extend(sold.into_iter().filter(Item::is_buyer_open).take(room));
            after = Some(last);
        }
        Ok(open)
    }

    /// Changes the status of an auction. When it goes LIVE, its DRAFT and PREVIEW items go LIVE; when it is reconciled,
    /// PASSED items become UNSOLD; when it is archived before it was LIVE, with a reason, its items become WITHDRAWN. The
    /// items of a large auction follow in steps ([`super::bulk_change`]). A large
    /// auction returns to PREVIEW only after every earlier bid has been committed or refused. `expected_version` is the
    /// version that the caller saw.
    ///
    /// Errors: `not_found`, `precondition_failed`, `items_following`, `invalid` (it goes LIVE and the end of a lot is
    /// over), and those of [`lifecycle::decide`] and
    /// [`platform_rules::item::decide`].
    pub async fn change_auction_status(
        &self,
        caller: &Caller,
        uuid: Uuid,
        to: impl Into<RequestedStatus> + Send,
        expected_version: Option<i64>,
        answering: Option<IdempotentRequest<'_, AuctionAfterChange>>,
    ) -> PlatformResult<Outcome<AuctionAfterChange>> {
        caller.require(Scope::AuctionsWrite)?;
        let RequestedStatus { to, reason, buyers_open } = to.into();
        let outcome = self
            .decide(answering.as_ref(), || async {
                let auction = self.visible_auction(caller, uuid).await?;
                expect_version(expected_version, auction.version)?;
                self.require_no_bulk_change(&auction).await?;
                let counts = self.store().item_counts(uuid).await?;
                // No buyer becomes open any more in RECONCILIATION.
                let is_archive = to == AuctionStatus::Archived;
                let count = if is_archive { self.store().open_buyers(uuid).await? } else { 0 };
                let buyers = OpenBuyers { count, confirmed: buyers_open };
                let now = self.time_of(&auction);
                let operation = bulk_change_of_status(auction.status, to, reason.as_deref());
                let is_long_return = operation == Some(BulkOperation::ResetToDraft) && !self.fits_first_step(&counts);
                let operation = if is_long_return { Some(BulkOperation::ReturnToPreview) } else { operation };
                let changes = if is_long_return {
                    lifecycle::begin_return_to_preview(&auction, &counts, now)?
                } else {
                    lifecycle::decide(
                        &auction,
                        &counts,
                        AuctionCommand::ChangeStatus { to, reason: reason.clone(), buyers },
                        now,
                    )?
                };
                let mut draft = self.build_change(&caller.actor, now);
                let auction = draft.auction(auction, &changes);
                if let Some(operation) = operation {
                    self.begin_bulk_change(&mut draft, &auction, (operation, &caller.actor), &counts, now).await?;
                }
                let (items, bulk_change) = (draft.counts_after(&counts), draft.bulk_change_after());
                let (customer, result) = (auction.customer, AuctionAfterChange { auction, items, bulk_change });
                let change = draft.finish(answering.as_ref().filter(|_| !is_long_return), &result);
                Ok(Decision { customer, change, result })
            })
            .await
            .inspect(|_| self.ends_changed().notify())?;
        match outcome {
            Outcome::Fresh(changed) if changed.auction.returning => {
                let auction = self.wait_for_return_to_preview(uuid).await?;
                let (items, bulk_change) =
                    (self.store().item_counts(uuid).await?, self.store().bulk_change(uuid).await?);
                let changed = AuctionAfterChange { auction, items, bulk_change };
                self.keep_answer(answering.as_ref(), &changed).await?;
                Ok(Outcome::Fresh(changed))
            }
            outcome => {
                self.bulk_changes_begun().notify();
                Ok(outcome)
            }
        }
    }

    /// All problems of the values by themselves.
    pub fn problems_of_new_auction(&self, new: &NewAuction) -> Vec<Problem> {
        let mut problems = Vec::new();
        if let Some(Err(message)) = (!new.title.is_empty()).then(|| check_text(&new.title, TITLE_CHARS_MAX)) {
            problems.push(Problem::new("/title", message));
        }
        problems.extend(currency_problem(&new.currency).map(|message| Problem::new("/currency", message)));
        if !is_time_zone(&new.time_zone) {
            problems.push(Problem::new("/timeZone", "is not the name of an IANA time zone, such as Europe/London"));
        }
        if let (Some(starts_at), Some(ends_at)) = (new.starts_at, new.ends_at)
            && starts_at >= ends_at
        {
            problems.push(Problem::new("/endsAt", "is not after the start (startsAt)"));
        }
        problems.extend(new.stagger.into_iter().flat_map(|stagger| stagger_problems(new.kind, stagger)));
        problems.extend(charges_problems(&new.charges));
        problems.extend(attachments::problems("/attachments", &new.attachments));
        if new.extension_seconds.is_some_and(|seconds| !(1..=EXTENSION_SECONDS_MAX).contains(&seconds)) {
            problems.push(Problem::new("/extensionSeconds", format!("must be at most {EXTENSION_SECONDS_MAX}")));
        }
        if new.kind != AuctionKind::Webcast && new.internet_bids != InternetBids::default() {
            problems.push(Problem::new("/internetBids", "is for webcasts only: leave it out"));
        }
        problems.extend(self.problems_of_items(&new.items));
        problems.extend(problems_in(ItemContext { kind: new.kind, starts_at: new.starts_at }, &new.items));
        problems
    }
}

/// The bulk change of the items that a change of the auction's status causes.
fn bulk_change_of_status(from: AuctionStatus, to: AuctionStatus, reason: Option<&str>) -> Option<BulkOperation> {
    match (from, to) {
        (_, AuctionStatus::Live) => Some(BulkOperation::GoLive),
        (AuctionStatus::Live, AuctionStatus::Preview) => Some(BulkOperation::ResetToDraft),
        (_, AuctionStatus::Reconciliation) => Some(BulkOperation::Reconcile),
        (AuctionStatus::Draft | AuctionStatus::Preview, AuctionStatus::Archived) => {
            Some(BulkOperation::Archive { reason: reason.unwrap_or_default().to_owned() })
        }
        _ => None,
    }
}

fn new_auction(uuid: Uuid, customer: Uuid, new: &NewAuction, now: Timestamp) -> Auction {
    Auction {
        uuid,
        customer,
        auctioneer: new.auctioneer,
        kind: new.kind,
        title: new.title.clone(),
        currency: new.currency.clone(),
        time_zone: new.time_zone.clone(),
        starts_at: new.starts_at,
        ends_at: new.ends_at,
        stagger: new.stagger,
        extension_seconds: new.extension_seconds,
        increments: new.increments.clone().unwrap_or_default(),
        status: AuctionStatus::Draft,
        charges: new.charges,
        internet_bids: new.internet_bids,
        registration: new.registration,
        phase: WebcastPhase::default(),
        address_id: None,
        attachments: new.attachments.clone(),
        in_ring: None,
        last_in_ring: None,
        ring_position: None,
        returning: false,
        was_live: false,
        rehearsal: false,
        clock: (new.sale_mode == SaleMode::Sandbox).then(|| TestClock::at(now)),
        sequence: 0,
        version: 0,
        log: platform_rules::LogHead::default(),
        created_at: now,
    }
}

/// Why an auction can't be in this currency.
pub(crate) fn currency_problem(currency: &str) -> Option<&'static str> {
    match currency.parse::<CurrencyCode>() {
        Ok(code) if code.is_withdrawn() => Some("was withdrawn from ISO 4217: use its successor"),
        Ok(code) if code.minor_digits().is_some() => None,
        Ok(_) => Some("is not legal tender: use a currency that buyers can pay in"),
        Err(_) => Some("is not an ISO 4217 code such as GBP"),
    }
}

/// The problems of premium and tax rates.
pub(crate) fn charges_problems(charges: &Charges) -> Vec<Problem> {
    let rates = [
        ("/charges/premiumBasisPoints", charges.premium_basis_points),
        ("/charges/hammerTaxBasisPoints", charges.hammer_tax_basis_points),
        ("/charges/premiumTaxBasisPoints", charges.premium_tax_basis_points),
    ];
    let too_high = rates.into_iter().filter(|(_, rate)| *rate > BASIS_POINTS_MAX);
    too_high.map(|(pointer, _)| Problem::new(pointer, format!("must be at most {BASIS_POINTS_MAX}"))).collect()
}

/// The problems of a stagger.
pub(crate) fn stagger_problems(kind: AuctionKind, stagger: Stagger) -> Vec<Problem> {
    let mut problems = Vec::new();
    if kind != AuctionKind::Timed {
        problems.push(Problem::new("/stagger", "is for timed auctions only: leave it out"));
    }
    if stagger.items == 0 {
        problems.push(Problem::new("/stagger/items", "must be 1 or more"));
    }
    if stagger.seconds > STAGGER_SECONDS_MAX {
        problems.push(Problem::new("/stagger/seconds", format!("must be at most {STAGGER_SECONDS_MAX}")));
    }
    problems
}
