//! Domains of houses' own, on which their salerooms stand after a DNS record has proven them.

use async_trait::async_trait;
use jiff::{SignedDuration, Timestamp};
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use super::{StoreResult, Versioned};

/// The domain that a house entered.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct HouseDomain {
    /// The customer.
    pub customer: Uuid,
    /// The domain in the form of DNS: lower-case ASCII.
    pub domain: String,
    /// The text that only a record for this house and domain has. It is public once the record exists.
    pub token: String,
    /// Since when the domain is proven; none before, and after its record was missing for too long.
    pub proven_at: Option<Timestamp>,
    /// Since when the record of a proven domain is missing.
    pub missing_since: Option<Timestamp>,
    /// Since when the name server of a proven domain does not answer; none once it has answered.
    #[serde(default)]
    pub unanswered_since: Option<Timestamp>,
    /// When the domain stopped being proven, because its record was missing or another house proved it.
    pub lost_at: Option<Timestamp>,
    /// The last look-up of the record.
    pub last_check: Option<DomainCheck>,
    /// When the record is looked up again; none for a domain that is not proven.
    pub due_at: Option<Timestamp>,
    /// Who entered it, as the journal names callers.
    pub actor: String,
    /// Number of its last change.
    pub version: i64,
}

/// A trouble of a house's domain, with the time at which it began.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DomainTrouble {
    /// Its record is missing.
    RecordMissing(Timestamp),
    /// Its name server has not answered for a day.
    Unanswered(Timestamp),
    /// It is not served any more.
    Lost(Timestamp),
}

impl HouseDomain {
    /// How long a name server may be silent before staff read of it.
    const SILENT_MAX: SignedDuration = SignedDuration::from_hours(24);

    /// The trouble of the domain at its last look-up; none when it is well.
    pub fn trouble(&self) -> Option<DomainTrouble> {
        if let Some(since) = self.lost_at {
            return Some(DomainTrouble::Lost(since));
        }
        if let Some(since) = self.missing_since {
            return Some(DomainTrouble::RecordMissing(since));
        }
        let (since, check) = (self.unanswered_since?, self.last_check.as_ref()?);
        (check.at.duration_since(since) >= Self::SILENT_MAX).then_some(DomainTrouble::Unanswered(since))
    }
}

/// A look-up of the record of a domain.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct DomainCheck {
    /// When it ended.
    pub at: Timestamp,
    /// What it found.
    pub finding: DomainFinding,
}

/// What a look-up of the record of a domain found.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum DomainFinding {
    /// The record with the token of this house.
    Proof,
    /// The record, but another house has proven the domain, and its record still exists.
    HeldByOther,
    /// There is no text record of this name.
    NoRecord,
    /// Text records with other values, of which some are kept.
    OtherValues(Vec<String>),
    /// No answer that counts, and why.
    Unanswered(String),
}

/// A proven domain and the address of its saleroom.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ServedDomain {
    /// The domain.
    pub domain: String,
    /// The customer.
    pub customer: Uuid,
    /// The first part of the paths of the house's pages.
    pub address: String,
}

/// Domains of houses: at most one of each house, and each proven for at most one house.
#[async_trait]
pub trait HouseDomainStore: Send + Sync {
    /// The domain that a house entered.
    async fn house_domain(&self, customer: Uuid) -> StoreResult<Option<HouseDomain>>;
    /// The house for which a domain is proven.
    async fn proven_domain(&self, domain: &str) -> StoreResult<Option<HouseDomain>>;
    /// The proven domains of houses whose saleroom has an address, by domain.
    async fn served_domains(&self, limit: usize) -> StoreResult<Vec<ServedDomain>>;
    /// Domains whose record has to be looked up by now, the earliest first.
    async fn domains_due(&self, now: Timestamp, limit: usize) -> StoreResult<Vec<HouseDomain>>;
    /// Domains with a trouble, by customer.
    async fn troubled_domains(&self, limit: usize) -> StoreResult<Vec<HouseDomain>>;
    /// Writes the domains of one house, or of the house that loses a domain and then of the house that proves it: all or none.
    /// `Conflict` when a version changed, `Taken` when the domain is proven for another house.
    async fn put_house_domains(&self, domains: Vec<Versioned<HouseDomain>>) -> StoreResult<()>;
    /// Deletes the domain of a house. `Conflict` when its version changed.
    async fn delete_house_domain(&self, customer: Uuid, version: i64) -> StoreResult<()>;
}
