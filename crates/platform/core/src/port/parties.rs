//! The register of a house: the people and firms that bid, consign or both.

use async_trait::async_trait;
use contract::models::{AddressModel, CurrencyCode};
use jiff::Timestamp;
use platform_rules::{Cause, Item, LogHead};
use serde::{Deserialize, Serialize};
use unicode_normalization::UnicodeNormalization as _;
use unicode_normalization::char::is_combining_mark;
use uuid::Uuid;

use super::{
    ErasedValues, LogEntry, MergedInto, Page, Registration, RegistrationWrite, RemainingValues, StoreResult, Versioned,
};

/// A person or firm in the register of a house. A registration names its bidder's record, an item its consignor's.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Party {
    /// UUID, version 7.
    pub uuid: Uuid,
    /// The house: a customer of the platform.
    pub customer: Uuid,
    /// What staff entered. Its audit log has it as one concealed value.
    pub details: PartyDetails,
    /// The proof of identity that a user of the house saw. The audit log conceals it.
    pub identity: Option<IdentityCheck>,
    /// Why the party may not bid in any sale of the house; none if it may.
    pub block: Option<PartyBlock>,
    /// When the person was erased; none unless they were. Then `details` has only what invoices need.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub erasure: Option<PartyErasure>,
    /// The record that it was merged into; none unless it was.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub merged: Option<MergedInto>,
    /// Who changed it last.
    pub actor: String,
    /// Number of its last change, from 1.
    pub version: i64,
    /// When it was entered.
    pub created_at: Timestamp,
    /// When it was changed last.
    pub updated_at: Timestamp,
    /// Head of its audit log.
    pub log: LogHead,
}

/// What staff enter about a party.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct PartyDetails {
    /// Name of the person or firm; 1 to 200 characters.
    pub name: String,
    /// It bids in sales of the house. A party bids, consigns or both.
    pub is_bidder: bool,
    /// It consigns lots to the house.
    pub is_consignor: bool,
    /// The house's own reference, such as the number of a consignor; unique in the house; 1 to 60 characters.
    pub reference: Option<String>,
    /// E-mail address.
    pub email: Option<String>,
    /// Telephone number; 1 to 60 characters.
    pub phone: Option<String>,
    /// VAT identification number; 1 to 60 characters.
    pub vat_number: Option<String>,
    /// Postal addresses, at most 5, without primary keys: they are not reference data.
    pub addresses: Vec<AddressModel>,
    /// The deposit that the house holds.
    pub deposit: Option<Money>,
    /// The spending limit of new registrations in sales of this currency.
    pub limit: Option<Money>,
    /// A note of the staff; 1 to 2,000 characters.
    pub note: Option<String>,
}

/// An amount with its currency.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Money {
    /// Minor units.
    pub amount: i64,
    /// ISO 4217.
    pub currency: CurrencyCode,
}

/// A proof of identity, and who saw it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct IdentityCheck {
    /// What was seen, such as "passport".
    pub document: String,
    /// Who saw it, as the journal names callers.
    pub seen_by: String,
    /// When it was entered.
    pub seen_at: Timestamp,
}

/// Why a party may not bid.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PartyBlock {
    /// The reason that a person gave. The audit log conceals it.
    pub reason: String,
    /// Who blocked it.
    pub actor: String,
    /// Since when.
    pub at: Timestamp,
}

/// The erasure of a person.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct PartyErasure {
    /// Who erased it.
    pub actor: String,
    /// When.
    pub at: Timestamp,
    /// Until when name, addresses and VAT number are kept for the invoices of its purchases; none when nothing is kept.
    pub kept_until: Option<Timestamp>,
}

/// A change of a party, as its audit log stores it. The log entry and the state have its actor and time.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "change", rename_all = "camelCase", rename_all_fields = "camelCase", deny_unknown_fields)]
pub enum PartyChange {
    /// Details were edited. The change has all of them, so that the log does not reveal which of them changed.
    Edited {
        /// The new details.
        details: Box<PartyDetails>,
        /// The proof of identity.
        identity: Option<IdentityCheck>,
    },
    /// It was blocked from bidding.
    Blocked {
        /// The reason that a person gave.
        reason: String,
    },
    /// It may bid again.
    Unblocked,
    /// The person was erased, or what was kept of an erased person. The names of all concealed values that the log had
    /// until then are in the entry.
    Erased {
        /// What invoices need; none when nothing is kept.
        details: Option<Box<PartyDetails>>,
        /// Until when it is kept.
        kept_until: Option<Timestamp>,
        /// The values that the erasure removed from earlier entries.
        removed: Vec<ErasedValues>,
    },
    /// It was merged into another record, or the record that it was merged into was.
    Merged {
        /// The record that stays.
        into: Uuid,
        /// Its own details. Only the reference can differ from those before.
        details: Box<PartyDetails>,
    },
    /// Another record was merged into it.
    TookOver {
        /// The other record.
        record: Uuid,
        /// The details that a person chose from both.
        details: Box<PartyDetails>,
        /// The proof of identity that a person chose.
        identity: Option<IdentityCheck>,
        /// The block of either.
        block: Option<PartyBlock>,
    },
}

impl PartyChange {
    /// The cause, as the log stores it.
    pub(crate) fn cause(&self) -> Cause {
        match self {
            Self::Edited { .. } => Cause::Edited,
            Self::Blocked { .. } | Self::Unblocked => Cause::StatusChangedByAdministrator,
            Self::Erased { .. } => Cause::PersonErased,
            Self::Merged { .. } | Self::TookOver { .. } => Cause::PersonMerged,
        }
    }
}

impl Party {
    /// Applies the change that `actor` made at `at`, and raises the version.
    pub(crate) fn apply(&mut self, change: &PartyChange, actor: &str, at: Timestamp) {
        match change.clone() {
            PartyChange::Edited { details, identity } => (self.details, self.identity) = (*details, identity),
            PartyChange::Blocked { reason } => self.block = Some(PartyBlock { reason, actor: actor.to_owned(), at }),
            PartyChange::Unblocked => self.block = None,
            PartyChange::Erased { details, kept_until, .. } => {
                let erased = self.erasure.take().map(|erasure| (erasure.actor, erasure.at));
                let (actor, at) = erased.unwrap_or_else(|| (actor.to_owned(), at));
                self.erasure = Some(PartyErasure { actor, at, kept_until });
                (self.details, self.identity, self.block) = (details.map(|kept| *kept).unwrap_or_default(), None, None);
            }
            PartyChange::Merged { into, details } => {
                self.merged = Some(MergedInto { into, actor: actor.to_owned(), at });
                self.details = *details;
            }
            PartyChange::TookOver { details, identity, block, .. } => {
                (self.details, self.identity, self.block) = (*details, identity, block);
            }
        }
        actor.clone_into(&mut self.actor);
        self.updated_at = at;
        self.version += 1;
    }

    /// The record that stands for its person: itself, or the one that it was merged into.
    pub fn record(&self) -> Uuid {
        self.merged.as_ref().map_or(self.uuid, |merged| merged.into)
    }

    /// The name with the reference, such as `Anna Bell (C-1042)`.
    pub fn label(&self) -> String {
        match &self.details.reference {
            Some(reference) => format!("{} ({reference})", self.details.name),
            None => self.details.name.clone(),
        }
    }

    /// The columns that lists and searches use. They are empty for an erased person, whom no search finds.
    pub fn keys(&self) -> PartyKeys {
        if self.erasure.is_some() {
            return PartyKeys::default();
        }
        let PartyDetails { name, reference, email, phone, .. } = &self.details;
        let phone = phone.as_deref().map(phone_digits).filter(|digits| !digits.is_empty());
        let texts = [Some(name), reference.as_ref(), email.as_ref(), phone.as_ref()];
        let texts: Vec<String> = texts.into_iter().flatten().map(|text| search_form(text)).collect();
        PartyKeys { name: search_form(name), search: texts.join("\n") }
    }
}

impl PartyDetails {
    /// What invoices need.
    pub(crate) fn for_invoices(&self) -> Self {
        let Self { name, vat_number, addresses, .. } = self;
        Self { name: name.clone(), vat_number: vat_number.clone(), addresses: addresses.clone(), ..Self::default() }
    }
}

impl Registration {
    /// True when it has a value that an erasure of its person removes.
    pub fn describes_person(&self) -> bool {
        self.name.is_some() || self.email.is_some() || self.note.is_some()
    }

    /// Fills what was not entered from the record in the register: name, e-mail address, and the limit if it is in the
    /// currency of the sale.
    pub(crate) fn take_from(&mut self, details: &PartyDetails, currency: &str) {
        self.name = self.name.take().or_else(|| Some(details.name.clone()).filter(|name| !name.is_empty()));
        self.email = self.email.take().or_else(|| details.email.clone());
        let limit = details.limit.as_ref().filter(|limit| limit.currency.as_str() == currency);
        self.limit = self.limit.or_else(|| limit.map(|limit| limit.amount));
    }
}

/// Derived texts that lists and searches compare.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct PartyKeys {
    /// The name in [`search_form`]. Lists are in its order.
    pub name: String,
    /// Name, reference, e-mail address and the digits of the telephone number, one on each line.
    pub search: String,
}

/// A text in lower case without accents, so that "muller" finds "Müller".
pub fn search_form(text: &str) -> String {
    text.nfkd().filter(|char| !is_combining_mark(*char)).flat_map(char::to_lowercase).collect()
}

/// The digits of a telephone number, so that "+49 (0)30 1234" is found by "30 12 34" too.
pub fn phone_digits(text: &str) -> String {
    text.chars().filter(char::is_ascii_digit).collect()
}

/// Consignors of one name that [`PartyStore::parties_called`] lists.
pub const NAMESAKES_MAX: usize = 5;

/// Which parties of a house to list: those that match all fields.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PartyFilter {
    /// Only those that bid.
    pub is_bidder: bool,
    /// Only those that consign.
    pub is_consignor: bool,
    /// Only those that are blocked.
    pub is_blocked: bool,
    /// Parts of name, reference, e-mail address or telephone number, each in [`search_form`]; all have to be found.
    pub words: Vec<String>,
    /// Those who were registered with this paddle in a sale match too.
    pub paddle: Option<String>,
}

/// The position of a party in a list: the name of [`PartyKeys`], then the UUID.
pub type PartyPosition = (String, Uuid);

/// A party to be written.
#[derive(Debug, Clone)]
pub struct PartyWrite {
    /// Its next state, with the version that was loaded; 0 for a new one.
    pub party: Versioned<Party>,
    /// The entries of its audit log for this change.
    pub log: Vec<LogEntry>,
}

/// The erasure of a person, written together.
#[derive(Debug, Clone)]
pub struct PartyErasureWrite {
    /// The party and the records that were merged into it, by UUID, each with the entry of its erasure; none when it was erased
    /// before.
    pub parties: Vec<PartyWrite>,
    /// Registrations of the party, each with the entry of its erasure.
    pub registrations: Vec<RegistrationWrite>,
    /// What remains of the concealed values of earlier entries, of all these logs.
    pub remaining: Vec<RemainingValues>,
}

/// The registers of all houses.
#[async_trait]
pub trait PartyStore: Send + Sync {
    /// Writes a party with its log entries. `Conflict` when the version changed; `Taken("reference")`.
    async fn put_party(&self, entry: PartyWrite) -> StoreResult<()>;
    /// Erases a person: writes the party, and the registrations with their entries, replaces the concealed values of earlier
    /// entries, and deletes the telephone bookings of the registrations. `Conflict` when a version changed.
    async fn erase_party(&self, erasure: PartyErasureWrite) -> StoreResult<()>;
    /// Writes several parties with their log entries, all or none. Errors as [`PartyStore::put_party`].
    async fn put_parties(&self, entries: Vec<PartyWrite>) -> StoreResult<()>;
    /// A party.
    async fn party(&self, uuid: Uuid) -> StoreResult<Option<Party>>;
    /// These parties, in no order. An unknown one is left out.
    async fn parties_of(&self, uuids: &[Uuid]) -> StoreResult<Vec<Party>>;
    /// The party of a house with this reference.
    async fn party_by_reference(&self, customer: Uuid, reference: &str) -> StoreResult<Option<Party>>;
    /// Erased parties whose kept details are due to be removed at this time, the earliest first.
    async fn parties_kept_until(&self, now: Timestamp, limit: usize) -> StoreResult<Vec<Party>>;
    /// Items in auctions of the house that name this record as their consignor, in the order of their UUIDs. Reads all items
    /// of the house: for rare commands.
    async fn consigned_items(&self, customer: Uuid, party: Uuid, page: Page<Uuid>) -> StoreResult<Vec<Item>>;
    /// Parties of a house with one of these references, and consignors whose name in [`search_form`] is one of these names, at
    /// most [`NAMESAKES_MAX`] of each name; merged records too. In no order; one that matches twice can be listed twice.
    async fn parties_called(&self, customer: Uuid, names: &[String], references: &[String]) -> StoreResult<Vec<Party>>;
    /// Parties of a house that are neither erased nor merged, by name. A party is found also by what was entered in a record that
    /// was merged into it.
    async fn parties(&self, customer: Uuid, filter: &PartyFilter, page: Page<PartyPosition>)
    -> StoreResult<Vec<Party>>;
    /// Number of parties of a house that are neither erased nor merged, and match.
    async fn count_parties(&self, customer: Uuid, filter: &PartyFilter) -> StoreResult<u64>;
    /// Parties of all houses in the order of their UUIDs.
    async fn all_parties(&self, page: Page<Uuid>) -> StoreResult<Vec<Party>>;
    /// Registrations that name a record of the party's person, the latest first: those created before the UUID of the page.
    async fn registrations_of_party(&self, party: Uuid, page: Page<Uuid>) -> StoreResult<Vec<Registration>>;
    /// Auctions with items of a record of the vendor's person, the latest first: those created before the UUID of the page.
    async fn auctions_of_vendor(&self, vendor: Uuid, page: Page<Uuid>) -> StoreResult<Vec<Uuid>>;
    /// The first items of the vendor's records in an auction, in running order.
    async fn items_of_vendor(&self, vendor: Uuid, auction: Uuid, limit: usize) -> StoreResult<Vec<Item>>;
}
