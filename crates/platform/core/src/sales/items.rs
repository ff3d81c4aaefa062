//! Adds and reads items, and changes their status outside the ring. Edits and relisting are in modules of their own.

pub mod arrange;
pub mod buyer;
pub mod edit;
pub mod edit_many;
pub mod hammer_price;
pub mod lot_offers;
pub mod pause;
pub mod post_sale;
pub mod relist;
pub mod unpaid;

use std::collections::HashSet;

use contract::{AuctionStatus, ItemStatus};
use jiff::Timestamp;
use platform_rules::{Auction, Hidden, Item, ItemCommand, RingStatus, SaleMode};
use uuid::Uuid;

use crate::error::{PlatformError, PlatformResult, Problem};
use crate::port::{ITEMS_READ_MAX, Page};
use crate::sales::attachments;
use crate::sales::new_item::{ItemContext, NewItem, problems_in};
use crate::steps::change_builder::ChangeBuilder;
use crate::steps::decide::{Decision, expect_version};
use crate::steps::idempotency::{IdempotentRequest, Outcome};
use crate::steps::input::require_usable;
use crate::{Caller, Platform, Role, Scope};

impl Platform {
    /// Adds at most 1,000 items at the end of an auction's running order, all or none.
    ///
    /// Errors: `not_found`, `precondition_failed` (the auction's version), `invalid`, `taken` (a lot number),
    /// `disk_full`, and those of [`platform_rules::item::decide`].
    pub async fn add_items(
        &self,
        caller: &Caller,
        auction: Uuid,
        items: &[NewItem],
        expected_version: Option<i64>,
        answering: Option<IdempotentRequest<'_, Vec<Item>>>,
    ) -> PlatformResult<Outcome<Vec<Item>>> {
        caller.require(Scope::AuctionsWrite)?;
        self.config().disk_reserve.check()?;
        self.decide(answering.as_ref(), || async {
            let auction = self.visible_auction(caller, auction).await?;
            expect_version(expected_version, auction.version)?;
            require_usable(self.problems_of_new_items(&auction, items), None)?;
            let customer = auction.customer;
            let (draft, items) = self.draft_items(caller, auction, items, ItemOrigin::Call).await?;
            let change = draft.finish(answering.as_ref(), &items);
            Ok(Decision { customer, change, result: items })
        })
        .await
        .inspect(|_| self.ends_changed().notify())
    }

    /// An item with its auction. The legal next statuses depend on both.
    pub async fn item(&self, caller: &Caller, uuid: Uuid) -> PlatformResult<(Item, Auction)> {
        caller.require_one_of(&[Scope::AuctionsRead, Scope::AuctionsWrite, Scope::RingWrite])?;
        self.visible_item(caller, uuid).await
    }

    /// Items of an auction in running order, after a position.
    pub async fn items(&self, caller: &Caller, auction: Uuid, page: Page<i64>) -> PlatformResult<Vec<Item>> {
        self.auction(caller, auction).await?;
        Ok(self.store().items(auction, page).await?)
    }

    /// Changes the status of an item as an administrator: set-up, suspension, withdrawal. From SOLD or PASSED to LIVE,
    /// this is a correction; from SOLD or SOLD_BUY_NOW to UNSOLD, the buyer did not pay. `expected_version` is the version of the item that the caller saw.
    ///
    /// Errors: `not_found`, `precondition_failed`, and those of [`platform_rules::item::decide`].
    pub async fn change_item_status(
        &self,
        caller: &Caller,
        uuid: Uuid,
        to: ItemStatus,
        reason: Option<String>,
        expected_version: Option<i64>,
        answering: Option<IdempotentRequest<'_, Item>>,
    ) -> PlatformResult<Outcome<Item>> {
        caller.require(Scope::AuctionsWrite)?;
        let command = ItemCommand::ChangeStatus { to, reason };
        self.command_item(caller, uuid, command, expected_version, answering).await
    }

    /// Corrects a sale or a pass: the item is LIVE again. Administrators and the clerks of the webcast may do it.
    ///
    /// Errors: `not_found`, `precondition_failed`, and those of [`platform_rules::item::decide`].
    pub async fn correct_item(
        &self,
        caller: &Caller,
        uuid: Uuid,
        reason: String,
        expected_version: Option<i64>,
        answering: Option<IdempotentRequest<'_, Item>>,
    ) -> PlatformResult<Outcome<Item>> {
        caller.require_one_of(&[Scope::AuctionsWrite, Scope::RingWrite])?;
        if caller.role == Some(Role::Clerk) {
            let (_, auction) = self.visible_item(caller, uuid).await?;
            self.require_clerk(caller, &auction).await?;
        }
        self.command_item(caller, uuid, ItemCommand::Correct { reason }, expected_version, answering).await
    }

    /// Moves the end of an item of a timed auction to a later time, with a reason. The item need not be LIVE, because
    /// it can become LIVE again.
    ///
    /// Errors: `not_found`, `precondition_failed`, `end_not_later`, `wrong_auction_kind`, `auction_closed`,
    /// `reason_required`.
    pub async fn move_end(
        &self,
        caller: &Caller,
        item: Uuid,
        (to, reason): (Timestamp, String),
        expected_version: Option<i64>,
        answering: Option<IdempotentRequest<'_, Item>>,
    ) -> PlatformResult<Outcome<Item>> {
        caller.require(Scope::AuctionsWrite)?;
        self.command_item(caller, item, ItemCommand::MoveEnd { to, reason }, expected_version, answering).await
    }

    pub(crate) async fn command_item(
        &self,
        caller: &Caller,
        uuid: Uuid,
        command: ItemCommand,
        expected_version: Option<i64>,
        answering: Option<IdempotentRequest<'_, Item>>,
    ) -> PlatformResult<Outcome<Item>> {
        let queue = self.item_queue(uuid)?;
        queue
            .decide(answering.as_ref(), || async {
                let (item, auction) = queue.visible_item(caller).await?;
                expect_version(expected_version, item.version)?;
                self.require_item_not_pending(&auction, &item).await?;
                let now = self.time_of(&auction);
                let changes = platform_rules::item::decide(&auction, &item, command.clone(), now)?;
                let mut draft = self.build_change(&caller.actor, now);
                let item = draft.item(&auction, item, &changes);
                let is_counted = matches!(item.status, ItemStatus::Live | ItemStatus::Suspended);
                if is_counted || auction.status == AuctionStatus::Reconciliation {
                    // The auction's status depends on these counts, and an archived auction changes no item. The new
                    // version makes a concurrent command on the auction conflict, so that it is decided again.
                    draft.auction(auction, &[]);
                }
                let change = draft.finish(answering.as_ref(), &item);
                Ok(Decision { customer: item.customer, change, result: item })
            })
            .await
            .inspect(|_| self.ends_changed().notify())
    }

    /// Builds new items, which were checked, after the auction's last one. The auction gets a new version, so that of two concurrent
    /// additions the second one is decided again with new positions.
    pub(crate) async fn draft_items<'a>(
        &self,
        caller: &'a Caller,
        auction: Auction,
        new: &[NewItem],
        entry: ItemOrigin,
    ) -> PlatformResult<(ChangeBuilder<'a>, Vec<Item>)> {
        self.require_no_bulk_change(&auction).await?;
        let now = self.time_of(&auction);
        let first = i64::try_from(self.store().item_counts(auction.uuid).await?.total).unwrap_or(i64::MAX);
        let items_max = self.config().auction_items_max;
        if usize::try_from(first).unwrap_or(usize::MAX).saturating_add(new.len()) > items_max {
            return Err(PlatformError::invalid(
                "",
                format!("the auction has {first} items: at most {items_max} are possible"),
            ));
        }
        let mut draft = self.build_change(&caller.actor, now);
        let auction = draft.auction(auction, &[]);
        let mut items = Vec::with_capacity(new.len());
        for (position, new) in (first..).zip(new) {
            let state = self.new_item(&auction, new, position, now);
            let changes = platform_rules::item::decide(&auction, &state, entry.command(new.status), now)?;
            items.push(draft.item(&auction, state, &changes));
        }
        Ok((draft, items))
    }

    /// The item before its creation is decided.
    pub(crate) fn new_item(&self, auction: &Auction, new: &NewItem, position: i64, now: Timestamp) -> Item {
        Item {
            uuid: self.ids().uuid_v7(),
            auction: auction.uuid,
            customer: auction.customer,
            lot_number: new.lot_number.clone(),
            position,
            title: new.title.clone(),
            description: new.description.clone(),
            category: new.category.clone(),
            image_url: new.image_url.clone(),
            attachments: new.attachments.clone(),
            low_estimate: new.low_estimate,
            high_estimate: new.high_estimate,
            opening_bid: new.opening_bid,
            reserve: new.reserve.map(Hidden::new),
            buy_now: new.buy_now,
            vendor: new.vendor,
            fixed_increment: new.fixed_increment,
            status: ItemStatus::Draft,
            announced: false,
            end_time: new.end_time,
            effective_end_time: None,
            ring: RingStatus::Waiting,
            standing: None,
            bid_count: 0,
            absentee_bids: 0,
            later_absentee_bids: Vec::new(),
            bids_lapsed: 0,
            bids_passed: 0,
            before_pass: None,
            post_sale_offer: false,
            price_before_correction: None,
            pending: Vec::new(),
            lost: Vec::new(),
            relisted_from: None,
            relisted_as: None,
            sandbox: auction.sale_mode() == SaleMode::Sandbox,
            rehearsal: auction.rehearsal,
            sequence: 0,
            version: 0,
            log: platform_rules::LogHead::default(),
            created_at: now,
        }
    }

    /// All problems of the items of one call: by themselves, among each other and in this auction.
    pub fn problems_of_new_items(&self, auction: &Auction, items: &[NewItem]) -> Vec<Problem> {
        let mut problems = self.problems_of_items(items);
        problems.extend(problems_in(ItemContext::of(auction), items));
        problems
    }

    /// The problems of the items of one call, by themselves and among each other.
    pub(crate) fn problems_of_items(&self, items: &[NewItem]) -> Vec<Problem> {
        let items_max = self.config().call_items_max;
        if items.len() > items_max {
            let message = format!(
                "has {} items: at most {items_max} are possible in one call; import a catalogue instead",
                items.len()
            );
            return vec![Problem::new("/items", message)];
        }
        let mut problems = Vec::new();
        let mut lots = HashSet::new();
        for (index, item) in items.iter().enumerate() {
            for (field, message) in item.problems() {
                problems.push(Problem::new(format!("/items/{index}/{}", field.json()), message));
            }
            problems.extend(attachments::problems(&format!("/items/{index}/attachments"), &item.attachments));
            if !lots.insert(item.lot_number.as_str()) {
                let message = format!("the lot number {} occurs twice: use another", item.lot_number);
                problems.push(Problem::new(format!("/items/{index}/lotNumber"), message));
            }
        }
        problems
    }
}

/// How items are created.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ItemOrigin {
    Call,
    Catalogue,
}

impl ItemOrigin {
    pub(crate) fn command(self, status: ItemStatus) -> ItemCommand {
        match self {
            Self::Call => ItemCommand::Create { status },
            Self::Catalogue => ItemCommand::Import { status },
        }
    }
}
