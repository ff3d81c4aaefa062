//! Paddles that look like a registered one. Each page that takes a paddle proposes the registered one before it takes the other.

use platform_core::PlatformError;
use platform_core::bidders::SimilarPaddle;
use platform_core::port::RegistrationStatus;
use platform_rules::{Admission, Auction};
use uuid::Uuid;

use crate::buyer_words;
use crate::session::Session;

/// Proposes the registered paddle, such as "Paddle 101 (Jane Smith) is registered. Did you mean it?"
pub(crate) fn did_you_mean(similar: &SimilarPaddle) -> String {
    let name = similar.name.as_ref().map_or(String::new(), |name| format!(" ({name})"));
    format!("Paddle {}{name} is registered. Did you mean it?", similar.paddle)
}

/// What to write in place of a paddle that looks like a registered one; none for another paddle. For lists and bookings, which
/// are not asked about one by one.
pub(crate) async fn advice(session: &Session, auction: Uuid, paddle: &str) -> Result<Option<String>, PlatformError> {
    let similar = session.platform().similar_paddle(&session.caller, auction, paddle).await?;
    Ok(similar.map(|similar| {
        let proposal = did_you_mean(&similar);
        format!("{proposal} Write {}, or register {paddle} under Registrations first.", similar.paddle)
    }))
}

/// Why a paddle may be a slip, although registration is open: it has no registration, or one that waits for approval.
pub(crate) async fn unregistered(
    session: &Session,
    auction: &Auction,
    paddle: &str,
) -> Result<Option<String>, PlatformError> {
    if auction.registration != Admission::Open {
        return Ok(None);
    }
    let found = buyer_words::registration(session, auction.uuid, paddle).await?;
    Ok(match found.map(|found| found.status) {
        None => Some(format!("Paddle {paddle} is not registered.")),
        Some(RegistrationStatus::Pending) => Some(format!("The registration of paddle {paddle} waits for approval.")),
        Some(_) => None,
    })
}

/// The proposal for this paddle; none for a registered paddle, and for one that looks like no other.
pub(crate) async fn proposal(session: &Session, auction: Uuid, paddle: &str) -> Result<Option<String>, PlatformError> {
    let similar = session.platform().similar_paddle(&session.caller, auction, paddle).await?;
    Ok(similar.as_ref().map(did_you_mean))
}
