//! Accounts of bidders in the saleroom of a house: their sessions, the links that confirm an e-mail address, and what a bidder
//! accepted and watches.

use std::collections::BTreeSet;

use async_trait::async_trait;
use contract::models::AddressModel;
use jiff::Timestamp;
use kit_identity::user::Change;
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use super::{Digest, Language, NoticeKind, PartyWrite, Registration, StoreResult};

/// A bidder's account at one house. The same e-mail address has another account at another house. An account that its bidder
/// deleted has `disabled_at`, no details and no password; it keeps its address and record, so that the same person opens it again.
pub type BidderAccount = kit_identity::user::User<Uuid, BidderProfile>;
/// A session of a bidder.
pub type BidderSession = kit_identity::sessions::Session<Uuid>;

/// The fields of an account that sign-in does not need.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BidderProfile {
    /// The house.
    pub customer: Uuid,
    /// The bidder's record in the register of the house; none before the first registration for a sale. A record that was
    /// merged stays here: the register knows the record that stands for it.
    pub party: Option<Uuid>,
    /// What the bidder entered.
    pub details: BidderDetails,
}

/// What a bidder enters about themselves.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct BidderDetails {
    /// Name of the person or firm; 1 to 200 characters.
    pub name: String,
    /// Telephone number; 1 to 60 characters.
    pub phone: Option<String>,
    /// Postal address, without a primary key: it is not reference data.
    pub address: Option<AddressModel>,
    /// Language of pages and mails; none: what the browser asks for, or the house's.
    pub language: Option<Language>,
    /// IANA time zone in which times are shown beside those of a sale.
    pub time_zone: Option<String>,
    /// Notices of which the bidder wants no mail.
    pub no_mails_about: BTreeSet<NoticeKind>,
}

impl BidderDetails {
    /// The bidder receives mails of this kind.
    pub fn wants_mail_about(&self, kind: NoticeKind) -> bool {
        !self.no_mails_about.contains(&kind)
    }
}

/// A link that was mailed to an address, with which its reader opens an account there or chooses another password.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BidderLink {
    /// The house.
    pub customer: Uuid,
    /// E-mail address in lower case.
    pub email: String,
    /// SHA-256 of its code.
    pub hash: Digest,
    /// When it is void, used or not.
    pub expires_at: Timestamp,
}

/// A change of an account with everything that is committed with it.
#[derive(Debug, Clone)]
pub struct BidderAccountChange {
    /// The change. Password, details, party, `disabled_at` and version are stored; a closed account watches nothing.
    pub change: Change<Uuid, BidderProfile>,
    /// The link that it uses up, and the time at which the link must not have expired.
    pub link: Option<(Digest, Timestamp)>,
    /// The new record in the register that the account names.
    pub party: Option<PartyWrite>,
}

/// The version of the conditions that a bidder accepted for a sale.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AcceptedConditions {
    /// The account.
    pub account: Uuid,
    /// The auction.
    pub auction: Uuid,
    /// The version of the house's conditions.
    pub number: u32,
    /// When it was accepted.
    pub at: Timestamp,
}

/// An item that a bidder watches.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WatchedItem {
    /// The account.
    pub account: Uuid,
    /// The item's auction.
    pub auction: Uuid,
    /// The item.
    pub item: Uuid,
    /// Since when.
    pub at: Timestamp,
}

/// Accounts of bidders.
#[async_trait]
pub trait BidderAccountStore: Send + Sync {
    /// Stores a link. Earlier ones to the same address stay usable until one of them is used.
    async fn put_bidder_link(&self, link: BidderLink) -> StoreResult<()>;
    /// The link with this code; an expired one too.
    async fn bidder_link(&self, hash: Digest) -> StoreResult<Option<BidderLink>>;
    /// An account.
    async fn bidder_account(&self, uuid: Uuid) -> StoreResult<Option<BidderAccount>>;
    /// The account at a house with this address, in lower case.
    async fn bidder_account_by_email(&self, customer: Uuid, email: &str) -> StoreResult<Option<BidderAccount>>;
    /// The open accounts that name one of these records of the register.
    async fn bidder_accounts_of(&self, parties: &[Uuid]) -> StoreResult<Vec<BidderAccount>>;
    /// Opens an account with the link that was mailed to its address. `Conflict` when the link was used or has expired;
    /// `Taken("email")` when the house has an account with the address.
    async fn open_bidder_account(&self, account: BidderAccount, link: Digest, now: Timestamp) -> StoreResult<()>;
    /// Commits a change as a whole or not at all. `Conflict` when the version changed, the account does not exist, or the link was
    /// used or has expired.
    async fn change_bidder_account(&self, change: BidderAccountChange) -> StoreResult<()>;
    /// Deletes an account with its sessions, acceptances and watched items. `Conflict` when the version changed.
    async fn delete_bidder_account(&self, uuid: Uuid, version: i64) -> StoreResult<()>;
    /// Begins a session, and ends the oldest ones beyond `sessions_max`. `Conflict` when the account has another version.
    async fn begin_bidder_session(&self, session: BidderSession, version: i64, sessions_max: usize) -> StoreResult<()>;
    /// The session with this token and its account.
    async fn bidder_session(&self, hash: Digest) -> StoreResult<Option<(BidderSession, BidderAccount)>>;
    /// Records the use of a session. A session that does not exist is no error.
    async fn touch_bidder_session(&self, uuid: Uuid, at: Timestamp) -> StoreResult<()>;
    /// Ends one session.
    async fn end_bidder_session(&self, uuid: Uuid) -> StoreResult<()>;
    /// Deletes at most `limit` sessions that expired before `now` or were last used before `idle_before`, and at most `limit`
    /// expired links; returns their number.
    async fn delete_expired_bidder_access(
        &self,
        now: Timestamp,
        idle_before: Timestamp,
        limit: usize,
    ) -> StoreResult<usize>;
    /// Stores an acceptance in the place of an earlier one for the same sale.
    async fn accept_conditions(&self, accepted: AcceptedConditions) -> StoreResult<()>;
    /// What a bidder accepted for a sale.
    async fn accepted_conditions(&self, account: Uuid, auction: Uuid) -> StoreResult<Option<AcceptedConditions>>;
    /// The registration in an auction that names a record of the party's person. The first one, should there be several.
    async fn registration_of_party(&self, auction: Uuid, party: Uuid) -> StoreResult<Option<Registration>>;
    /// Begins to watch an item, or goes on. False, and nothing is stored, for a new item when the bidder watches `items_max`.
    async fn watch_item(&self, watched: WatchedItem, items_max: usize) -> StoreResult<bool>;
    /// Ends watching an item.
    async fn unwatch_item(&self, account: Uuid, item: Uuid) -> StoreResult<()>;
    /// The items that a bidder watches, the latest first, at most `limit`; of one auction, or of all.
    async fn watched_items(&self, account: Uuid, auction: Option<Uuid>, limit: usize) -> StoreResult<Vec<WatchedItem>>;
}
