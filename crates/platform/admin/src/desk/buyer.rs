//! Refusals of a buyer at the desk. A missing registration and a limit can be confirmed; the desk asks.

use platform_core::PlatformError;
use platform_core::port::{Registration, RegistrationStatus};
use platform_rules::Rejection;
use uuid::Uuid;

use super::amounts::Money;
use super::problem::DeskProblem;
use crate::paddles;
use crate::session::Session;

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
        PlatformError::Rejected(rejection @ (Rejection::BidderNotApproved | Rejection::SpendingLimitReached)) => {
            let found = match platform.registrations_of(&session.caller, webcast, paddle).await {
                // A key or a person without `bidders:read` learns no more than the refusal.
                Err(PlatformError::Forbidden(_)) => None,
                found => found?.pop(),
            };
            registers = found.is_none();
            similar = platform.similar_paddle(&session.caller, webcast, paddle).await?;
            Some(match &similar {
                Some(similar) => paddles::did_you_mean(similar),
                None => why(rejection, paddle, found.as_ref(), &money),
            })
        }
        PlatformError::Rejected(Rejection::BidderSuspended) => {
            Some(format!("Paddle {paddle} is suspended from this sale. A manager ends that under Registrations."))
        }
        PlatformError::Rejected(Rejection::VendorBarred) => {
            let lot = lot.as_ref().map_or("this lot".to_owned(), |number| format!("lot {number}"));
            Some(format!("Paddle {paddle} is the vendor of {lot} or the auctioneer, and can't buy it."))
        }
        _ => None,
    };
    let problem = DeskProblem::in_words(error, lot.as_deref(), &money);
    Ok(match message {
        Some(message) => problem.about_buyer(message, registers).with_similar(similar.map(|similar| similar.paddle)),
        None => problem,
    })
}

fn why(rejection: &Rejection, paddle: &str, found: Option<&Registration>, money: &Money) -> String {
    match (rejection, found) {
        (Rejection::SpendingLimitReached, Some(Registration { limit: Some(limit), .. })) => {
            format!("This is above the limit of paddle {paddle}, which is {} in this sale.", money.text(*limit))
        }
        (Rejection::SpendingLimitReached, _) => format!("This is above the limit of paddle {paddle} in this sale."),
        (_, None) => format!("Paddle {paddle} is not registered."),
        (_, Some(registration)) if registration.status == RegistrationStatus::Refused => {
            let reason = registration.reason.as_ref().map_or(String::new(), |reason| format!(": {reason}"));
            format!("Paddle {paddle} was declined{reason}.")
        }
        (_, Some(_)) => format!("The registration of paddle {paddle} waits for approval."),
    }
}
