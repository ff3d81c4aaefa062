//! Bidders: their registration for an auction, its approval and suspension, and their spending limit.
//!
//! Guarantees:
//! - A change of a registration applies to every bid that is committed after it, on every node. A bid carries the
//!   version of the registration that it was decided on, and the store refuses the bid when that version changed. In an
//!   auction with open admission the caller vouches for a paddle without a registration.
//! - Bids never take a bidder with a spending limit above it, however many bids arrive at the same time. The committed
//!   amount is the sum of the maxima of leading bids and of hammer prices. Each bid raises the registration's spending
//!   version; of two bids that were decided on the same version, the second one is decided again.
//! - A bidder without a limit is read once and cached, and no amount is counted. The items on which a registered bidder
//!   has bid are recorded, so that a limit can be set later.

mod paddle;
mod party;
mod registrations;
mod spending_limit;

pub use self::paddle::SimilarPaddle;
pub use self::registrations::{NewRegistration, RegistrationDecision, RegistrationPatch, next_statuses};
pub(crate) use self::spending_limit::{Admitted, LookUpIn};
pub use crate::port::RegistrationChange;
