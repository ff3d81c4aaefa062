//! The platform's store port: what the platform stores, stated in its own terms.
//!
//! The platform's use cases call it; the `platform-store` crate implements it on SQLite and on PostgreSQL, and one
//! conformance suite runs on both. Each trait covers one aggregate, in a file with its types and guarantees; [`Store`]
//! is all of them. No transaction crosses the port: a use case loads, decides, and hands over one [`Change`]. The store
//! commits each [`Change`] as a whole or not at all, with its journal rows, its outbox rows and the answer to its
//! idempotency key.
//!
//! Guarantees of every implementation:
//! - When a call that writes has returned `Ok`, its changes are on disk and survive `kill -9` (SQLite:
//!   `synchronous=FULL`; PostgreSQL: `synchronous_commit=on`).
//! - Journal cursors rise in the order in which commits become visible: a reader that has read cursor *n* never finds a
//!   new row at or below *n*.
//! - The store inserts one outbox row for each announced journal row of a customer whose connection is complete at the
//!   time of the commit, and for each that a new connection asks for ([`StartFrom`]).
//! - Every method may be called at the same time from any task.

mod access_log;
mod api_keys;
mod auctions;
mod audit;
mod bidder_accounts;
mod bidder_messages;
mod bids;
mod bulk_changes;
mod catalogue_mappings;
mod catalogue_uploads;
mod clerks;
mod consumers;
mod customers;
mod date_names;
mod endpoint_readings;
mod hold;
mod house_domains;
mod houses;
mod idempotency;
mod images;
mod installation;
mod invitations;
mod item_ends;
mod journal;
mod late_bids;
mod limit_requests;
mod lot_offers;
mod mails;
mod nodes;
mod notices;
mod outbox;
mod parties;
mod party_matches;
mod party_merges;
mod registration_changes;
mod registrations;
mod screens;
mod sealings;
mod sessions;
mod site_grants;
mod staff_reads;
mod telephone_bookings;
mod users;

pub use platform_rules::ItemCounts;

pub use access_log::{AccessChange, AccessChangeResult, AccessEntry, AccessLogStore};
pub use api_keys::{ApiKey, ApiKeyStore};
pub use auctions::{AuctionFilter, AuctionOwner, AuctionStore, Change, CommitReceipt, Versioned};
pub(crate) use audit::SubjectChanges;
pub use audit::{
    AuditStore, ErasedValues, LogEntry, LogKind, OrphanRow, PositionNumbering, PositionedEntry, RemainingValues,
    UnloggedChanges,
};
pub use bidder_accounts::{
    AcceptedConditions, BidderAccount, BidderAccountChange, BidderAccountStore, BidderDetails, BidderLink,
    BidderProfile, BidderSession, WatchedItem,
};
pub use bidder_messages::{BidderMessage, BidderMessageStore};
pub use bids::{Bid, BidSource, BidStrike, StruckBid};
pub use bulk_changes::{BulkChange, BulkChangeStep, BulkChangeStore, BulkOperation, NewItem};
pub use catalogue_mappings::{CatalogueMappingStore, ColumnMapping};
pub use catalogue_uploads::{
    CatalogueUpload, CatalogueUploadStore, PART_BYTES, RowNumbers, UploadPartResult, UploadQuota, UploadedSheet,
};
pub use clerks::{Clerk, ClerkAssignResult, ClerkStore};
pub use consumers::{Consumer, ConsumerStore, Contact, ContactRecord, Parked, ProviderAddress, StartFrom};
pub use customers::{Address, Auctioneer, AuctioneerChange, AuctioneerProfile, Customer, CustomerStore, NewAuctioneer};
pub use endpoint_readings::{
    DELIVERIES_KEPT_MAX, DeliveryState, EndpointCondition, EndpointFigures, EndpointReading, EndpointReadingStore,
    EndpointRecord, EventDelivery, FailedAttempt, ReadingClaim, ReadingEnd, ReadingFigures, ReadingOutcome,
    UNDELIVERED_COUNTED_MAX, UndeliveredOfSale,
};
pub use hold::HoldStore;
pub use house_domains::{DomainCheck, DomainFinding, DomainTrouble, HouseDomain, HouseDomainStore, ServedDomain};
pub use houses::{
    Conditions, House, HouseProfile, HouseSaleroom, HouseSite, HouseStore, HouseWrite, Logo, OutageEnds,
    RegistrationRule, SaleFacts,
};
pub use idempotency::{IdempotencyStore, IdempotentAnswer};
pub use images::{ImageContent, ImageStore, ImageVariant, ItemImage};
pub use installation::InstallationStore;
pub use invitations::{Invitation, InvitationStore};
pub use item_ends::{ItemEndStore, LotsEndingBy};
pub use journal::{JournalEntry, JournalRow, JournalStore, SubjectKind};
pub use late_bids::{KeptLateBid, LateBidStore, WithdrawnBid};
pub use limit_requests::{DecidedLimit, LimitDecision, LimitRequest, LimitRequestStore};
pub use lot_offers::{EndedOffer, LotOffer, LotOfferStore, OfferEnd, OfferOutcome};
pub use mails::{
    ClaimedMail, HeldCount, HeldMails, HouseMails, Language, MAILS_COUNTED_MAX, MailBacklog, MailCounts, MailKind,
    MailResult, MailState, MailStore, MailText, NewMail, Reminder, ReminderStep, StoredMail,
};
pub use nodes::{Downtime, NOTIFICATION_BYTES_MAX, NodeId, NodeStore, Notification, Notifications};
pub use notices::{
    CauseOfNotice, ClaimedPush, Notice, NoticeCause, NoticeFacts, NoticeKind, NoticeStep, NoticeStore, OpenCause,
    PUSHES_WAITING_MAX, PushSubscription,
};
pub use outbox::{
    Backlog, CUSTOMER_EVENTS_COUNTED_MAX, CustomerBacklog, Failing, OutboxEvent, OutboxSettlement, OutboxStore,
    OvertakenPolicy, PublishResult, QuarantinedEvent, event_of,
};
pub use parties::{
    IdentityCheck, Money, NAMESAKES_MAX, Party, PartyBlock, PartyChange, PartyDetails, PartyErasure, PartyErasureWrite,
    PartyFilter, PartyKeys, PartyPosition, PartyStore, PartyWrite, phone_digits, search_form,
};
pub use party_matches::{ContactKind, MatchReason};
pub use party_merges::{DistinctParties, MergedInto, PartyMergeStore, PartyMergeWrite};
pub use registration_changes::RegistrationChange;
pub use registrations::{
    BidderItem, ExpectedRegistration, Registration, RegistrationStatus, RegistrationStore, RegistrationWrite,
    SpendingVersion,
};
pub use screens::{GuideRate, Predecessor, ScreenKind, ScreenLink, ScreenStore};
pub use sealings::{SealedAnswer, SealedLocation, SealedReplacement, SealingStore};
pub use sessions::{Session, SessionStore, SessionsToEnd};
pub use site_grants::{SITE_REDIRECT_CHARS_MAX, SiteGrant, SiteGrantStore, SiteGrantsToEnd, SiteToken, SiteTokenKind};
pub use staff_reads::{JournalWindow, StaffReadStore};
pub use telephone_bookings::{TelephoneBooking, TelephoneBookingStore};
pub use users::{
    Digest, MadeLinks, OpenIdentity, Profile, Totp, TotpChange, User, UserChange, UserChangeResult, UserStore,
};

/// Position in the journal; 0 is before the first row.
pub type Cursor = i64;

/// Items that a use case reads with one call when it goes through all items of an auction.
pub const ITEMS_READ_MAX: usize = 5_000;

/// Why a store call failed.
#[derive(Debug, Clone, thiserror::Error)]
pub enum StoreError {
    /// Another transaction changed the same record first. Load again, then decide again.
    #[error("another transaction changed the record first")]
    Conflict,
    /// Another record has this unique name or key; the field's name.
    #[error("already taken: {0}")]
    Taken(&'static str),
    /// The caller used this idempotency key before. Read the stored answer.
    #[error("the idempotency key was used before")]
    Replayed,
    /// The disk of the database is full: nothing was written. The same call succeeds when there is room again.
    #[error("the disk of the database is full: {0}")]
    DiskFull(String),
    /// The database can't be reached or is busy. A later call may succeed.
    #[error("the database is not available: {0}")]
    Unavailable(String),
    /// This program can't use the database as it is. The text says why, and what to do.
    #[error("{0}")]
    Unusable(String),
    /// A stored value can't be decoded.
    #[error("the database holds a value that can't be read: {0}")]
    Corrupt(String),
}

/// Result of a store call.
pub type StoreResult<T> = Result<T, StoreError>;

/// One page of a list in its stable order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Page<K> {
    /// The page begins after this key; at the beginning of the list when there is none.
    pub after: Option<K>,
    /// Entries on the page at most; public surfaces allow 1 to 250.
    pub limit: usize,
}

/// The whole port, as use cases hold it: `Arc<dyn Store>`.
pub trait Store:
    NodeStore
    + InstallationStore
    + CustomerStore
    + ApiKeyStore
    + IdempotencyStore
    + UserStore
    + SessionStore
    + InvitationStore
    + BidderAccountStore
    + LimitRequestStore
    + LotOfferStore
    + LateBidStore
    + BidderMessageStore
    + SiteGrantStore
    + ClerkStore
    + ScreenStore
    + TelephoneBookingStore
    + AccessLogStore
    + AuctionStore
    + ItemEndStore
    + RegistrationStore
    + PartyStore
    + PartyMergeStore
    + HouseStore
    + HouseDomainStore
    + MailStore
    + NoticeStore
    + BulkChangeStore
    + CatalogueMappingStore
    + CatalogueUploadStore
    + ImageStore
    + JournalStore
    + ConsumerStore
    + EndpointReadingStore
    + OutboxStore
    + AuditStore
    + SealingStore
    + HoldStore
    + StaffReadStore
    + 'static
{
}

impl<S> Store for S where
    S: NodeStore
        + InstallationStore
        + CustomerStore
        + ApiKeyStore
        + IdempotencyStore
        + UserStore
        + SessionStore
        + InvitationStore
        + BidderAccountStore
        + LimitRequestStore
        + LotOfferStore
        + LateBidStore
        + BidderMessageStore
        + SiteGrantStore
        + BidderAccountStore
        + ClerkStore
        + ScreenStore
        + TelephoneBookingStore
        + AccessLogStore
        + AuctionStore
        + ItemEndStore
        + RegistrationStore
        + PartyStore
        + PartyMergeStore
        + HouseStore
        + HouseDomainStore
        + MailStore
        + NoticeStore
        + BulkChangeStore
        + CatalogueMappingStore
        + CatalogueUploadStore
        + ImageStore
        + JournalStore
        + ConsumerStore
        + EndpointReadingStore
        + OutboxStore
        + AuditStore
        + SealingStore
        + HoldStore
        + StaffReadStore
        + 'static
{
}
