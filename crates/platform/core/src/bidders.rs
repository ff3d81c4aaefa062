//! Bidders and consignors: the register of a house, the registration of a bidder for an auction, its approval and
//! suspension, and the spending limit.
//!
//! Guarantees:
//! - A change of a registration applies to every bid that is committed after it, on every node. A bid carries the
//!   version of the registration that it was decided on, and the store refuses the bid when that version changed. In an
//!   auction with open admission the caller vouches for a paddle without a registration.
//! - Bids never take a bidder with a spending limit above it, however many bids arrive at the same time. The committed
//!   amount is the sum of the maxima of leading bids and of hammer prices. Each bid raises the registration's spending
//!   version; of two bids that were decided on the same version, the second one is decided again.
//! - A blocked person or firm has no approved registration: the block suspends those that exist, and no other is approved.
//! - The values of an erased person are in no table of the platform any more, the log included, and the log still verifies.
//!   What invoices need is kept for a configured time after the last purchase.
//! - A person whose records were merged is one person: purchases, lots, blocks, bars and erasure are those of all records. The
//!   merged record stays where registrations and lots name it, and names the record that stayed.
//! - A bidder without a limit is read once and cached, and no amount is counted. The items on which a registered bidder
//!   has bid are recorded, so that a limit can be set later.

mod blocking;
mod consignors;
mod duplicates;
mod erasure;
mod export;
mod late_bids;
mod limit_requests;
mod merge_choices;
mod merging;
mod paddle;
mod parties;
mod party;
mod party_input;
mod purchases;
mod registration_view;
mod registrations;
mod shared_contacts;
mod spending_limit;

pub use self::blocking::{ApprovalHindrance, StandingLot};
pub use self::consignors::{ConsignedSale, ConsignedSales, ConsignorFault};
pub use self::duplicates::{LikelyDuplicate, LikelyPair, LikelyPairs};
pub use self::erasure::ErasurePlan;
pub use self::export::{ExportedBid, ExportedLateBid, ExportedOffer, ExportedRequest, PartyExport};
pub use self::late_bids::{LATE_BIDS_OF_PADDLE_MAX, LateAndWithdrawn};
pub use self::limit_requests::LimitAnswer;
pub use self::merge_choices::{Combine, MergeChoices, MergedDetails, Side};
pub use self::merging::{CONSIGNED_COUNTED_MAX, MERGED_RECORDS_MAX, MergePlan, RecordPair, SharedSale};
pub use self::paddle::SimilarPaddle;
pub use self::parties::{FoundParties, PartyKind};
pub use self::party_input::{
    PARTY_ADDRESSES_MAX, PARTY_FIELD_CHARS_MAX, PARTY_NAME_CHARS_MAX, PARTY_NOTE_CHARS_MAX, PartyInput,
};
pub use self::purchases::{PartySale, Purchase, PurchaseState};
pub use self::registration_view::RegistrationView;
pub use self::registrations::{NewRegistration, RegistrationDecision, RegistrationPatch, next_statuses};
pub use self::shared_contacts::{SharedContact, SharedContacts, SharingPerson};
pub(crate) use self::spending_limit::{Admitted, LookUpIn};
pub use crate::port::{LimitRequest, RegistrationChange};
