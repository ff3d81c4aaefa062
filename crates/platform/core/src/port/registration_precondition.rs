//! What a bid was decided on and does not change.

use uuid::Uuid;

/// The registration of a bidder as a bid was decided on it. The bid becomes true only while that is still so, whoever
/// changed it on whichever node: that is what lets a registration be remembered instead of read for each bid.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct ExpectedRegistration {
    /// The auction.
    pub auction: Uuid,
    /// The bidder's paddle.
    pub paddle: String,
    /// [`Registration::version`](super::Registration::version); 0 when there was none.
    pub version: i64,
}
