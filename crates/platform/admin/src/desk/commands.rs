//! The clerk's commands. Each is answered after its commit, with the state that it led to.

use axum::body::Bytes;
use axum::extract::{FromRequest, Request};
use axum::response::Response;
use platform_core::ring::{ClerkCommand, ClerkCommandResult, Confirmed, ConfirmedPrice, RingVersion};
use platform_core::sales::items::buyer::NamedBuyer;
use platform_core::{IdempotentRequest, Outcome, PlatformError};
use platform_rules::Item;
use platform_rules::item::ConfirmedBuyer;
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use super::amounts::Money;
use super::buyer;
use super::problem::DeskProblem;
use super::state::{self, DeskState};
use crate::admin::Admin;
use crate::session::{PathIds, Session};

/// Stored with the command's idempotency key. The desk reads the present state instead of an old one.
const DONE: &str = "{}";

/// A command as the desk's script sends it. Amounts are in minor units.
#[derive(Debug, Deserialize)]
#[serde(tag = "command", rename_all = "kebab-case", rename_all_fields = "camelCase", deny_unknown_fields)]
enum CommandIn {
    Begin,
    Send {
        item: Option<Uuid>,
    },
    AskingPrice {
        amount: i64,
        #[serde(default)]
        large_jump: bool,
        #[serde(default)]
        below_standing_bid: bool,
    },
    Bid {
        bidder: Option<String>,
        amount: Option<i64>,
        #[serde(default)]
        large_jump: bool,
    },
    Accept {
        bid: Uuid,
    },
    CommissionBid,
    Undo {
        reason: String,
    },
    FairWarning,
    Pause,
    Resume,
    Sell {
        #[serde(default)]
        below_reserve: bool,
        #[serde(default)]
        over_waiting_bid: bool,
    },
    Pass {
        #[serde(default)]
        over_waiting_bid: bool,
    },
    Remove,
    OfferAgain {
        item: Uuid,
    },
    Reopen {
        reason: String,
    },
    ChangeBuyer {
        item: Uuid,
        version: i64,
        bidder: String,
        reason: String,
        #[serde(default)]
        not_approved: bool,
        #[serde(default)]
        over_limit: bool,
    },
}

/// A command with the versions that its clerk saw, and the key that makes it repeatable.
pub(super) struct CommandRequest {
    command: CommandIn,
    seen: RingVersion,
    key: String,
    hash: [u8; 32],
}

impl FromRequest<Admin> for CommandRequest {
    type Rejection = DeskProblem;

    async fn from_request(request: Request, _: &Admin) -> Result<Self, DeskProblem> {
        let (parts, body) = request.into_parts();
        let tag =
            kit_http::etag::if_match(&parts.headers).map_err(|error| DeskProblem::malformed(error.to_string()))?;
        let tag = tag.ok_or_else(|| DeskProblem::malformed("If-Match is missing."))?;
        let seen = state::parse_tag(&tag).ok_or_else(|| DeskProblem::malformed("If-Match names no ring."))?;
        let key =
            kit_http::idempotency::key(&parts.headers).map_err(|error| DeskProblem::malformed(error.to_string()))?;
        let key = key.ok_or_else(|| DeskProblem::malformed("Idempotency-Key is missing."))?;
        kit_http::json::check_content_type(&parts.headers)?;
        let bytes: Bytes = kit_http::json::read(body).await?;
        let command = serde_json::from_slice(&bytes)
            .map_err(|error| DeskProblem::malformed(format!("The command can't be read: {error}.")))?;
        // The path is not part of it, so that the look-up recognises the command. The tag names the ring.
        let hash = kit_identity::token_hash(&format!("desk\n{tag}\n{}", String::from_utf8_lossy(&bytes)));
        Ok(Self { command, seen, key, hash })
    }
}

impl CommandRequest {
    fn idempotent<'a, T>(
        &'a self,
        session: &Session,
        render: &'a (dyn Fn(&T) -> String + Sync),
        tag: &'a (dyn Fn(&T) -> Option<String> + Sync),
    ) -> IdempotentRequest<'a, T> {
        IdempotentRequest {
            caller: session.caller.id,
            key: &self.key,
            request_hash: self.hash,
            status: 200,
            render,
            tag,
        }
    }
}

/// The answer to a command that was done.
#[derive(Serialize)]
struct DoneAnswer {
    state: DeskState,
}

/// `POST /webcasts/{webcast}/desk/commands`: 200 with the state after the command, or 412 with the present state.
pub(super) async fn give(
    session: Session,
    PathIds([webcast]): PathIds<1>,
    request: CommandRequest,
) -> Result<Response, DeskProblem> {
    let done = match &request.command {
        CommandIn::ChangeBuyer { item, version, bidder, reason, not_approved, over_limit } => {
            let confirmed = ConfirmedBuyer { not_approved: *not_approved, over_limit: *over_limit };
            let buyer = NamedBuyer { paddle: bidder.clone(), reason: Some(reason.clone()), confirmed };
            match change_buyer(&session, &request, (*item, *version), &buyer).await {
                Ok(()) => Ok(None),
                Err(PlatformError::PreconditionFailed { .. }) => {
                    return Err(DeskProblem::outpaced(state::read(&session, webcast).await?));
                }
                Err(error) => return Err(buyer::refusal(&session, webcast, (*item, bidder), error).await?),
            }
        }
        command => run(&session, webcast, &request, command).await,
    };
    let state = match done {
        Ok(Some(ring)) => state::around(&session, &ring.ring).await?,
        Ok(None) => state::read(&session, webcast).await?,
        Err(PlatformError::PreconditionFailed { .. }) => {
            return Err(DeskProblem::outpaced(state::read(&session, webcast).await?));
        }
        Err(error) => {
            let ring = session.platform().ring(&session.caller, webcast).await?;
            let lot = ring.item.as_ref().map(|item| item.lot_number.as_str());
            return Err(DeskProblem::in_words(error, lot, &Money::of(&ring.auction.currency)));
        }
    };
    Ok(state::respond(&DoneAnswer { state }))
}

/// Runs a command on the ring; none when it was done before with the same key.
async fn run(
    session: &Session,
    webcast: Uuid,
    request: &CommandRequest,
    command: &CommandIn,
) -> Result<Option<ClerkCommandResult>, PlatformError> {
    let command = ring_command(command)?;
    let (render, tag) = (|_: &ClerkCommandResult| DONE.to_owned(), |_: &ClerkCommandResult| None);
    let answering = request.idempotent(session, &render, &tag);
    let outcome = session.platform().clerk(&session.caller, webcast, &command, request.seen, Some(answering)).await?;
    Ok(match outcome {
        Outcome::Fresh(result) => Some(result),
        Outcome::Replayed(_) => None,
    })
}

fn ring_command(command: &CommandIn) -> Result<ClerkCommand, PlatformError> {
    Ok(match command {
        CommandIn::Begin => ClerkCommand::Begin,
        CommandIn::Send { item } => ClerkCommand::Send { item: *item },
        CommandIn::AskingPrice { amount, large_jump, below_standing_bid } => {
            let (large_jump, below_standing_bid) = (*large_jump, *below_standing_bid);
            ClerkCommand::SetAskingPrice {
                amount: *amount,
                confirmed: ConfirmedPrice { large_jump, below_standing_bid },
            }
        }
        CommandIn::Bid { bidder: Some(bidder), amount, large_jump } => {
            ClerkCommand::RoomBid { bidder: bidder.clone(), amount: *amount, large_jump: *large_jump }
        }
        CommandIn::Bid { bidder: None, amount, large_jump } => {
            ClerkCommand::OpenRoomBid { amount: *amount, large_jump: *large_jump }
        }
        CommandIn::Accept { bid } => ClerkCommand::Accept { bid: *bid },
        CommandIn::CommissionBid => ClerkCommand::CommissionBid { bidder: None },
        CommandIn::Undo { reason } => ClerkCommand::Undo { reason: reason.clone() },
        CommandIn::FairWarning => ClerkCommand::FairWarning,
        CommandIn::Pause => ClerkCommand::Pause,
        CommandIn::Resume => ClerkCommand::Resume,
        CommandIn::Sell { below_reserve, over_waiting_bid } => {
            let (below_reserve, over_waiting_bid) = (*below_reserve, *over_waiting_bid);
            ClerkCommand::Sell { confirmed: Confirmed { below_reserve, over_waiting_bid } }
        }
        CommandIn::Pass { over_waiting_bid } => ClerkCommand::Pass { over_waiting_bid: *over_waiting_bid },
        CommandIn::Remove => ClerkCommand::Remove,
        CommandIn::OfferAgain { item } => ClerkCommand::OfferAgain { item: *item },
        CommandIn::Reopen { reason } => ClerkCommand::Reopen { reason: reason.clone() },
        CommandIn::ChangeBuyer { .. } => {
            return Err(PlatformError::Internal("a change of the buyer is no command on the ring".into()));
        }
    })
}

/// Names the buyer of a sold lot, or changes it. Needs the version of the lot, not that of the ring.
async fn change_buyer(
    session: &Session,
    request: &CommandRequest,
    (item, version): (Uuid, i64),
    buyer: &NamedBuyer,
) -> Result<(), PlatformError> {
    let (render, tag) = (|_: &Item| DONE.to_owned(), |_: &Item| None);
    let answering = request.idempotent(session, &render, &tag);
    session.platform().change_buyer(&session.caller, item, buyer, Some(version), Some(answering)).await.map(drop)
}

/// What became of a command.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct OutcomeAnswer {
    is_done: bool,
    state: DeskState,
}

/// `POST /webcasts/{webcast}/desk/outcome`: whether this command was done, and the present state. Does nothing. The desk
/// asks after its link was lost, with the same headers and body as the command.
pub(super) async fn outcome(
    session: Session,
    PathIds([webcast]): PathIds<1>,
    request: CommandRequest,
) -> Result<Response, DeskProblem> {
    let (render, tag) = (|(): &()| DONE.to_owned(), |(): &()| None);
    let asked = request.idempotent(&session, &render, &tag);
    let is_done = session.platform().replay(Some(&asked)).await?.is_some();
    Ok(state::respond(&OutcomeAnswer { is_done, state: state::read(&session, webcast).await? }))
}
