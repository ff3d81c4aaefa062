//! Refusals of a buyer at the desk. A missing registration and a limit can be confirmed; the desk asks.

use platform_core::PlatformError;
use platform_rules::Rejection;
use uuid::Uuid;

use super::amounts::Money;
use super::problem::DeskProblem;
use crate::session::Session;
use crate::{buyer_words, paddles};

/// Why this paddle was not named as the buyer of the lot. The error is one of reading the sale.
pub(super) async fn refusal(
    session: &Session,
    webcast: Uuid,
    (item, paddle): (Uuid, &str),
    error: PlatformError,
) -> Result<DeskProblem, PlatformError> {
    let platform = session.platform();
    let auction = platform.ring(&session.caller, webcast).await?.auction;
    let money = Money::of(&auction.currency);
    let lot = platform.item(&session.caller, item).await.map(|(item, _)| item.lot_number).ok();
    let (mut registers, mut similar) = (false, None);
    let message = match &error {
        PlatformError::Rejected(rejection) => {
            let found = buyer_words::registration(session, webcast, paddle).await?;
            registers = found.is_none();
            if matches!(rejection, Rejection::BidderNotApproved | Rejection::SpendingLimitReached { .. }) {
                similar = platform.similar_paddle(&session.caller, webcast, paddle).await?;
            }
            let lot = lot.as_ref().map_or("this lot".to_owned(), |number| format!("lot {number}"));
            match &similar {
                Some(similar) => Some(paddles::did_you_mean(similar)),
                None => buyer_words::of(rejection, (paddle, found.as_ref()), &lot, &|minor| money.text(minor)),
            }
        }
        _ => None,
    };
    let problem = DeskProblem::in_words(error, lot.as_deref(), &money);
    Ok(match message {
        Some(message) => problem.about_buyer(message, registers).with_similar(similar.map(|similar| similar.paddle)),
        None => problem,
    })
}
