//! The clerk's commands on the ring of a webcast.

use platform_rules::ring::{Confirmed, ConfirmedPrice};
use platform_rules::{Auction, BidLog, Bidder, Item, Rejection, RingCommand, ring};
use uuid::Uuid;

use super::desk::ItemAfterCommand;
use super::{RingState, RingVersion, expect_ring};
use crate::error::{PlatformError, PlatformResult};
use crate::port::Bid;
use crate::steps::change_builder::ChangeBuilder;
use crate::steps::decide::Decision;
use crate::steps::idempotency::{IdempotentRequest, Outcome};
use crate::{Caller, Platform, Scope};

/// A command of the clerk. Without an amount, a bid is at the asking price, which is the one that the clerk saw.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ClerkCommand {
    /// Begins the live phase.
    Begin,
    /// Sends an item into the empty ring; a PASSED item is offered again.
    Send {
        /// The item; none for the next waiting item in running order.
        item: Option<Uuid>,
    },
    /// Sets the asking price. Bids at the new price or above are struck; raising the price reinstates them. A price
    /// that needs a confirmation is refused without it, with `large_jump` or `cancels_bids`.
    SetAskingPrice {
        /// Minor units.
        amount: i64,
        /// What the clerk confirmed.
        confirmed: ConfirmedPrice,
    },
    /// Enters a bid made in the room.
    RoomBid {
        /// The bidder's paddle; 1 to 64 characters.
        bidder: String,
        /// Minor units.
        amount: Option<i64>,
        /// The clerk confirmed an amount far above the asking price, which is refused with `large_jump` otherwise.
        large_jump: bool,
    },
    /// Enters a bid made in the room by a bidder whose paddle the clerk does not know yet. If it wins, the buyer is
    /// open until [`Platform::change_buyer`] names them.
    OpenRoomBid {
        /// Minor units.
        amount: Option<i64>,
        /// As for [`ClerkCommand::RoomBid`].
        large_jump: bool,
    },
    /// Enters a bid that another internet platform relayed to the clerk.
    RelayedBid {
        /// The bidder's paddle; 1 to 64 characters.
        bidder: String,
        /// Minor units.
        amount: Option<i64>,
        /// As for [`ClerkCommand::RoomBid`].
        large_jump: bool,
    },
    /// Accepts a pending internet bid.
    Accept {
        /// The bid.
        bid: Uuid,
    },
    /// Bids for an absentee, as far as the book needs; see [`platform_rules::ring::commission_amount`].
    CommissionBid {
        /// The absentee's paddle; none for the absentee who comes next in the book.
        bidder: Option<String>,
    },
    /// Undoes the last bid: the bid that stood before it stands again. If a lowered asking price struck bids since, all of
    /// them count again instead.
    Undo {
        /// Why.
        reason: String,
    },
    /// Retracts a bid for its bidder: no earlier bid stands again.
    Retract {
        /// The bid.
        bid: Uuid,
        /// Why.
        reason: String,
    },
    /// Gives fair warning before the item is sold or passed.
    FairWarning,
    /// Pauses bidding.
    Pause,
    /// Resumes bidding.
    Resume,
    /// Sells the item to the standing bid. What is not confirmed is refused, with `higher_bid_waits` or
    /// `reserve_not_met`.
    Sell {
        /// What the clerk confirmed.
        confirmed: Confirmed,
    },
    /// Passes the item: it is not sold. While a higher bid waits, this is refused with `higher_bid_waits`.
    Pass {
        /// The clerk confirmed that a higher internet or commission bid may wait.
        over_waiting_bid: bool,
    },
    /// Takes the item out of the ring, neither sold nor passed.
    Remove,
    /// Offers a PASSED item again: it is LIVE and can be sent.
    OfferAgain {
        /// The item.
        item: Uuid,
    },
    /// Reopens the lot that was sold or passed last.
    Reopen {
        /// Why.
        reason: String,
    },
}

/// The result of a clerk's command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ClerkCommandResult {
    /// The ring after it, with the desk.
    pub ring: RingState,
    /// The item that the command changed; none when it began the live phase.
    pub about: Option<Item>,
    /// The bid that the command entered or accepted.
    pub bid: Option<Bid>,
}

impl Platform {
    /// Runs a clerk's command. `seen` holds the versions that the clerk saw: of two concurrent clerks, the second one
    /// gets `precondition_failed`.
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
        // Before a stored answer is replayed.
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

    /// The item whose queue the command enters, so that it does not conflict with bids: the item that it names, or the
    /// item in the ring. This is a prediction; the command reads its item from the ring when it has its turn.
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
            // Every command raises the auction's version, so that the command of another clerk fails its precondition.
            let auction = draft.auction(auction, &decided.auction);
            let item = draft.item(&auction, before, &decided.item);
            let in_ring = if auction.in_ring == Some(item.uuid) {
                Some(item.clone())
            } else {
                in_ring.filter(|other| auction.in_ring == Some(other.uuid))
            };
            let changed = ItemAfterCommand { after: &item, log: &log };
            let desk = self.desk(&auction, in_ring.as_ref(), Some(changed)).await?;
            let ring = RingState { auction, item: in_ring, desk: Some(desk) };
            ClerkCommandResult { ring, about: Some(item), bid: draft.last_bid().cloned() }
        };
        let change = draft.finish(answering.as_ref(), &result);
        Ok(Decision { customer: result.ring.auction.customer, change, result })
    }

    /// The item that the command changes.
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
                if next.as_ref().is_none_or(|next| next.turn(auction).0) {
                    // A bulk change may not have made the next item LIVE yet.
                    self.require_no_bulk_change(auction).await?;
                }
                next.ok_or(PlatformError::NotFound("waiting item"))
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

    /// Translates the command into a command of the rules.
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
            ClerkCommand::Send { .. } => {
                let next = self.upcoming(auction, None, 1, usize::MAX).await?.pop();
                RingCommand::Send { is_next: next.is_some_and(|next| next.uuid == item.uuid) }
            }
            ClerkCommand::SetAskingPrice { amount, confirmed } => {
                RingCommand::SetAskingPrice { amount, confirmed, log: log() }
            }
            ClerkCommand::RoomBid { bidder, amount, large_jump } => {
                let bidder = self.admit_for_clerk(auction, &bidder, draft).await?;
                RingCommand::RoomBid { bid, bidder, amount: asked(amount), large_jump }
            }
            ClerkCommand::OpenRoomBid { amount, large_jump } => {
                RingCommand::OpenRoomBid { bid, amount: asked(amount), large_jump }
            }
            ClerkCommand::RelayedBid { bidder, amount, large_jump } => {
                let bidder = self.admit_for_clerk(auction, &bidder, draft).await?;
                RingCommand::RelayedBid { bid, bidder, amount: asked(amount), large_jump }
            }
            ClerkCommand::Accept { bid } => {
                let pending = item.pending.iter().find(|pending| pending.bid == bid).ok_or(Rejection::NotPending)?;
                let bidder = self.admit_for_clerk(auction, &pending.bidder, draft).await?;
                RingCommand::AcceptPending { bid, bidder }
            }
            ClerkCommand::CommissionBid { bidder } => {
                let log = log();
                let next = || -> PlatformResult<String> {
                    let commissions = ring::commissions(item, &log)?;
                    let next = ring::next_commission(item, &commissions).ok_or(Rejection::NoCommission)?;
                    Ok(next.bidder.clone())
                };
                let bidder = bidder.map_or_else(next, Ok)?;
                let bidder = self.admit_for_clerk(auction, &bidder, draft).await?;
                RingCommand::CommissionBid { bid, bidder, log }
            }
            ClerkCommand::Undo { reason } => RingCommand::Undo { reason, log: log() },
            ClerkCommand::Retract { bid, reason } => RingCommand::Retract { bid, reason, log: log() },
            ClerkCommand::FairWarning => RingCommand::FairWarning,
            ClerkCommand::Pause => RingCommand::Pause,
            ClerkCommand::Resume => RingCommand::Resume,
            ClerkCommand::Sell { confirmed } => RingCommand::Sell { confirmed, log: log() },
            ClerkCommand::Pass { over_waiting_bid } => RingCommand::Pass { over_waiting_bid, log: log() },
            ClerkCommand::Remove => RingCommand::Remove,
            ClerkCommand::OfferAgain { .. } => RingCommand::OfferAgain,
            ClerkCommand::Reopen { reason } => RingCommand::Reopen { reason },
            ClerkCommand::Begin => {
                return Err(PlatformError::Internal("the command that begins the live phase has no item".into()));
            }
        })
    }

    /// Looks up the bidder of a clerk's bid.
    async fn admit_for_clerk(
        &self,
        auction: &Auction,
        paddle: &str,
        draft: &mut ChangeBuilder<'_>,
    ) -> PlatformResult<Bidder> {
        let admitted = self.admit_to_webcast(auction, paddle).await?;
        draft.set_bidder_preconditions(admitted.spending_version, &admitted.precondition);
        Ok(admitted.bidder)
    }
}
