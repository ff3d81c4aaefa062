//! Why a paddle can't be the buyer of a lot, in words for staff: at the desk, on Results and in the commission book.

use platform_core::PlatformError;
use platform_core::port::{Registration, RegistrationStatus};
use platform_rules::Rejection;
use uuid::Uuid;

use crate::session::Session;

/// The registration of the paddle; none when it has none, or when the user may not see bidders.
pub(crate) async fn registration(
    session: &Session,
    auction: Uuid,
    paddle: &str,
) -> Result<Option<Registration>, PlatformError> {
    match session.platform().registrations_of(&session.caller, auction, paddle).await {
        // A key or a person without `bidders:read` learns no more than the refusal.
        Err(PlatformError::Forbidden(_)) => Ok(None),
        found => Ok(found?.pop()),
    }
}

/// The refusal as a sentence; none for one that is not about the buyer. `lot` is such as `Lot 12`, and `money` writes an
/// amount in minor units.
pub(crate) fn of(
    rejection: &Rejection,
    (paddle, found): (&str, Option<&Registration>),
    lot: &str,
    money: &dyn Fn(i64) -> String,
) -> Option<String> {
    Some(match (rejection, found) {
        (Rejection::SpendingLimitReached { .. }, Some(_)) => {
            let amounts = limit(rejection, money)?;
            format!("Paddle {paddle} is above its limit: {amounts}.")
        }
        (Rejection::SpendingLimitReached { .. }, None) => {
            format!("This is above the limit of paddle {paddle} in this sale.")
        }
        (Rejection::BidderNotApproved | Rejection::BuyerNotRegistered, None) => {
            format!("Paddle {paddle} is not registered.")
        }
        (Rejection::BidderNotApproved, Some(found)) if found.status == RegistrationStatus::Refused => {
            let reason = found.reason.as_ref().map_or(String::new(), |reason| format!(": {reason}"));
            format!("Paddle {paddle} was declined{reason}.")
        }
        (Rejection::BidderNotApproved, Some(_)) => format!("The registration of paddle {paddle} waits for approval."),
        (Rejection::BidderSuspended, _) => {
            format!("Paddle {paddle} is suspended from this sale. A manager ends that under Registrations.")
        }
        (Rejection::VendorBarred, _) => {
            format!("Paddle {paddle} is the vendor of {lot} or the auctioneer, and can't buy it.")
        }
        _ => return None,
    })
}

/// Such as "£8,100,000 bought, £2,400,000 for this lot, limit £10,000,000"; none for another refusal.
pub(crate) fn limit(rejection: &Rejection, money: &dyn Fn(i64) -> String) -> Option<String> {
    let Rejection::SpendingLimitReached { limit, committed, amount } = *rejection else { return None };
    let bought = if committed > 0 { format!("{} bought, ", money(committed)) } else { String::new() };
    Some(format!("{bought}{} for this lot, limit {}", money(amount), money(limit)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_limit_names_what_was_bought_before() {
        let money = |minor: i64| format!("£{minor}");
        let above = |committed| Rejection::SpendingLimitReached { limit: 100, committed, amount: 24 };
        assert_eq!(limit(&above(81), &money).unwrap(), "£81 bought, £24 for this lot, limit £100");
        assert_eq!(limit(&above(0), &money).unwrap(), "£24 for this lot, limit £100");
        let unknown = of(&Rejection::BidderNotApproved, ("12", None), "lot 8", &money);
        assert_eq!(unknown.unwrap(), "Paddle 12 is not registered.");
    }
}
