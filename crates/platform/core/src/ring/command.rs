//! The clerk's commands.

use platform_rules::{Auction, BidLog, Bidder, Item, Rejection, RingCommand, ring};
use uuid::Uuid;

use super::desk::ItemAfterCommand;
use super::{RingState, RingVersion, expect_ring};
use crate::bidding::bid::Bid;
use crate::change_builder::ChangeBuilder;
use crate::decide::Decision;
use crate::error::{PlatformError, PlatformResult};
use crate::idempotency::{IdempotentRequest, Outcome};
use crate::{Caller, Platform, Scope};

/// What the clerk wants. An amount that is left out is the asking price, which is the one that the clerk saw.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ClerkCommand {
    /// The live phase begins: absentees leave no more bids.
    Begin,
    /// An item enters the empty ring; a PASSED one is offered again by it.
    Send {
        /// The item; none for the next one that waits, in running order.
        item: Option<Uuid>,
    },
    /// Another price is asked for. What stands at it or above is struck; a higher one brings that back.
    SetAskingPrice {
        /// Minor units.
        amount: i64,
    },
    /// A bid in the room.
    RoomBid {
        /// Who bids, such as a paddle number; 1 to 64 characters.
        bidder: String,
        /// Minor units.
        amount: Option<i64>,
    },
    /// A bid that came over the internet by another way, and that the clerk takes.
    RelayedBid {
        /// Who bids; 1 to 64 characters.
        bidder: String,
        /// Minor units.
        amount: Option<i64>,
    },
    /// An internet bid that waits is accepted.
    Accept {
        /// The bid.
        bid: Uuid,
    },
    /// A bid for an absentee, within what they left.
    CommissionBid {
        /// Who left it.
        bidder: String,
        /// Minor units.
        amount: Option<i64>,
    },
    /// The last bid is taken back: what stood before stands again.
    Undo {
        /// Why.
        reason: String,
    },
    /// A bidder takes a bid back: no earlier one comes back.
    Retract {
        /// The bid.
        bid: Uuid,
        /// Why.
        reason: String,
    },
    /// The hammer is about to fall.
    FairWarning,
    /// No bid is taken for the moment.
    Pause,
    /// Bids are taken again.
    Resume,
    /// The hammer falls.
    Sell,
    /// Not sold.
    Pass,
    /// The item leaves the ring undecided.
    Remove,
    /// A PASSED item is LIVE and waits to be sent again.
    OfferAgain {
        /// The item.
        item: Uuid,
    },
    /// The item that left the ring last comes back.
    Reopen {
        /// Why.
        reason: String,
    },
}

/// What a clerk's command made of the ring.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ClerkCommandResult {
    /// The ring after it, with the desk.
    pub ring: RingState,
    /// The item that the command was about; none for the begin of the live phase.
    pub about: Option<Item>,
    /// The bid that was taken by it.
    pub bid: Option<Bid>,
}

impl Platform {
    /// Does what the clerk wants. `seen` is the ring that the clerk saw: of two clerks one gets `precondition_failed`,
    /// never two sales.
    ///
    /// Errors: `not_found`, `clerk_not_assigned`, `precondition_failed`, and those of [`platform_rules::ring::decide`]
    /// and [`platform_rules::ring::begin`].
    pub async fn clerk(
        &self,
        caller: &Caller,
        auction: Uuid,
        command: &ClerkCommand,
        seen: RingVersion,
        answering: Option<IdempotentRequest<'_, ClerkCommandResult>>,
    ) -> PlatformResult<Outcome<ClerkCommandResult>> {
        caller.require(Scope::RingWrite)?;
        // Before anything that was answered earlier is shown again.
        self.require_clerk_of(caller, auction).await?;
        let bid = self.ids().uuid_v7();
        let Some(item) = self.queue_for(caller, auction, command).await? else {
            return self
                .decide(answering.as_ref(), || {
                    self.decide_clerk_command(caller, auction, (command, bid), seen, answering)
                })
                .await;
        };
        let queue = self.item_queue(item)?;
        queue
            .decide(answering.as_ref(), || async {
                queue.drain().await;
                self.decide_clerk_command(caller, auction, (command, bid), seen, answering).await
            })
            .await
    }

    /// The item whose bids the command waits for, and which wait for it: that in the ring, or the one that it names. A
    /// guess that keeps it from losing against them; what it is really about is said by the ring when it has its turn.
    async fn queue_for(&self, caller: &Caller, auction: Uuid, command: &ClerkCommand) -> PlatformResult<Option<Uuid>> {
        match command {
            ClerkCommand::Begin | ClerkCommand::Send { item: None } => Ok(None),
            ClerkCommand::Send { item: Some(item) } | ClerkCommand::OfferAgain { item } => Ok(Some(*item)),
            _ => {
                let auction = self.visible_auction(caller, auction).await?;
                Ok(auction.in_ring.or(auction.last_in_ring))
            }
        }
    }

    /// Decides a command on the ring as the store has it.
    async fn decide_clerk_command(
        &self,
        caller: &Caller,
        auction: Uuid,
        (command, bid): (&ClerkCommand, Uuid),
        seen: RingVersion,
        answering: Option<IdempotentRequest<'_, ClerkCommandResult>>,
    ) -> PlatformResult<Decision<ClerkCommandResult>> {
        let (auction, in_ring) = self.read_ring(caller, auction).await?;
        expect_ring(seen, &auction, in_ring.as_ref())?;
        auction.require_open()?;
        let now = self.time_of(&auction);
        let mut draft = self.build_change(&caller.actor, now);
        let result = if *command == ClerkCommand::Begin {
            let changes = ring::begin(&auction)?;
            let auction = draft.auction(auction, &changes);
            let desk = self.desk(&auction, in_ring.as_ref(), None).await?;
            let ring = RingState { auction, item: in_ring, desk: Some(desk) };
            ClerkCommandResult { ring, about: None, bid: None }
        } else {
            let before = self.target(caller, &auction, in_ring.as_ref(), command).await?;
            let mut log = self.bid_log(&before).await?;
            let wanted = self.to_ring_command(command, bid, &auction, (&before, &log), &mut draft).await?;
            let decided = match ring::decide(&auction, &before, wanted, now) {
                Ok(decided) => decided,
                Err(rejection) => return Err(self.explain_rejection(&auction, &before, rejection).await),
            };
            decided.item.iter().for_each(|change| log.apply(change));
            // The auction's version moves with every command, which makes it one that the other clerk has not seen.
            let auction = draft.auction(auction, &decided.auction);
            let item = draft.item(&auction, before, &decided.item);
            let in_ring = if auction.in_ring == Some(item.uuid) {
                Some(item.clone())
            } else {
                in_ring.filter(|other| auction.in_ring == Some(other.uuid))
            };
            let touched = ItemAfterCommand { after: &item, log: &log };
            let desk = self.desk(&auction, in_ring.as_ref(), Some(touched)).await?;
            let ring = RingState { auction, item: in_ring, desk: Some(desk) };
            ClerkCommandResult { ring, about: Some(item), bid: draft.last_bid().cloned() }
        };
        let change = draft.finish(answering.as_ref(), &result);
        Ok(Decision { customer: result.ring.auction.customer, change, result })
    }

    /// The item that the command is about.
    async fn target(
        &self,
        caller: &Caller,
        auction: &Auction,
        in_ring: Option<&Item>,
        command: &ClerkCommand,
    ) -> PlatformResult<Item> {
        match command {
            ClerkCommand::Send { item: None } => {
                let next = self.upcoming(auction, None, 1, usize::MAX).await?.pop();
                let is_behind = |next: &Item| auction.ring_position.is_none_or(|sent| next.position > sent);
                if !next.as_ref().is_some_and(is_behind) {
                    // It may be one that has still to follow its auction.
                    self.require_no_bulk_change(auction).await?;
                }
                next.ok_or(PlatformError::NotFound("item that waits"))
            }
            ClerkCommand::Send { item: Some(item) } | ClerkCommand::OfferAgain { item } => {
                self.item_of(caller, auction, *item).await
            }
            ClerkCommand::Reopen { .. } => match (auction.in_ring, auction.last_in_ring) {
                (Some(item), _) => Err(Rejection::RingOccupied { item }.into()),
                (None, Some(last)) => self.item_of(caller, auction, last).await,
                (None, None) => Err(Rejection::NotLastItem.into()),
            },
            _ => in_ring.cloned().ok_or_else(|| Rejection::NotInRing.into()),
        }
    }

    /// The command in the words of the rules.
    async fn to_ring_command(
        &self,
        command: &ClerkCommand,
        bid: Uuid,
        auction: &Auction,
        (item, log): (&Item, &BidLog),
        draft: &mut ChangeBuilder<'_>,
    ) -> PlatformResult<RingCommand> {
        let asked = |amount: Option<i64>| amount.unwrap_or_else(|| platform_rules::minimum_bid(auction, item));
        let log = || log.clone();
        Ok(match command.clone() {
            ClerkCommand::Send { .. } => RingCommand::Send,
            ClerkCommand::SetAskingPrice { amount } => RingCommand::SetAskingPrice { amount, log: log() },
            ClerkCommand::RoomBid { bidder, amount } => {
                let bidder = self.admit_for_clerk(auction, &bidder, draft).await?;
                RingCommand::RoomBid { bid, bidder, amount: asked(amount) }
            }
            ClerkCommand::RelayedBid { bidder, amount } => {
                let bidder = self.admit_for_clerk(auction, &bidder, draft).await?;
                RingCommand::RelayedBid { bid, bidder, amount: asked(amount) }
            }
            ClerkCommand::Accept { bid } => {
                let pending = item.pending.iter().find(|pending| pending.bid == bid).ok_or(Rejection::NotPending)?;
                let bidder = self.admit_for_clerk(auction, &pending.bidder, draft).await?;
                RingCommand::AcceptPending { bid, bidder }
            }
            ClerkCommand::CommissionBid { bidder, amount } => {
                let bidder = self.admit_for_clerk(auction, &bidder, draft).await?;
                RingCommand::CommissionBid { bid, bidder, amount: asked(amount), log: log() }
            }
            ClerkCommand::Undo { reason } => RingCommand::Undo { reason, log: log() },
            ClerkCommand::Retract { bid, reason } => RingCommand::Retract { bid, reason, log: log() },
            ClerkCommand::FairWarning => RingCommand::FairWarning,
            ClerkCommand::Pause => RingCommand::Pause,
            ClerkCommand::Resume => RingCommand::Resume,
            ClerkCommand::Sell => RingCommand::Sell,
            ClerkCommand::Pass => RingCommand::Pass,
            ClerkCommand::Remove => RingCommand::Remove,
            ClerkCommand::OfferAgain { .. } => RingCommand::OfferAgain,
            ClerkCommand::Reopen { reason } => RingCommand::Reopen { reason },
            ClerkCommand::Begin => return Err(PlatformError::Internal("a phase is no item's".into())),
        })
    }
    /// Who it is that the clerk takes a bid of, as far as the platform knows them.
    async fn admit_for_clerk(
        &self,
        auction: &Auction,
        paddle: &str,
        draft: &mut ChangeBuilder<'_>,
    ) -> PlatformResult<Bidder> {
        let admitted = self.admit_to_webcast(auction, paddle).await?;
        draft.set_bidder_preconditions(&admitted);
        Ok(admitted.bidder)
    }
}
