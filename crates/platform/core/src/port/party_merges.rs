//! Records of a register that are about one person or firm: those that match, those that a person keeps apart, and those that
//! were merged.

use async_trait::async_trait;
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use super::{Page, Party, PartyWrite, RegistrationWrite, StoreResult};

/// The merge of a record into another one.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct MergedInto {
    /// The record that stayed. It was not merged itself: when it is, this one names the next record.
    pub into: Uuid,
    /// Who merged it.
    pub actor: String,
    /// When.
    pub at: Timestamp,
}

/// A merge, written together.
#[derive(Debug, Clone)]
pub struct PartyMergeWrite {
    /// The record that stays.
    pub kept: Uuid,
    /// The record that is merged into it.
    pub merged: Uuid,
    /// Both records, and those that were merged into the merged one before; by UUID.
    pub parties: Vec<PartyWrite>,
    /// Registrations of all of them in sales that are not over; by UUID.
    pub registrations: Vec<RegistrationWrite>,
}

/// Two records of a house that a person keeps apart.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DistinctParties {
    /// The house.
    pub customer: Uuid,
    /// Both records.
    pub pair: [Uuid; 2],
    /// Who decided it.
    pub actor: String,
    /// When.
    pub at: Timestamp,
}

/// Likely duplicates and merged records. A merged record keeps its registrations and lots; what a store lists for a person is
/// that of all records of the person.
#[async_trait]
pub trait PartyMergeStore: Send + Sync {
    /// Writes a merge. References of the written records may change places. What a person kept apart from the merged record is
    /// apart from the kept one, too. `Conflict` when a version changed; `Taken("reference")`.
    async fn merge_parties(&self, merge: PartyMergeWrite) -> StoreResult<()>;
    /// All records of the person of this record: the record that stayed first, then those that were merged into it, by UUID. An
    /// unknown record is the only one of its person.
    async fn records_of_person(&self, party: Uuid) -> StoreResult<Vec<Uuid>>;
    /// The records that were merged into one of these, by UUID.
    async fn merged_records(&self, into: &[Uuid]) -> StoreResult<Vec<Party>>;
    /// Parties of a house with one of these match keys, at most `limit` for each key. In no order; one that matches twice can be
    /// listed twice.
    async fn parties_matching(&self, customer: Uuid, keys: &[String], limit: usize) -> StoreResult<Vec<Party>>;
    /// Pairs of records of a house that share a match key and are not kept apart, the older record first; the pairs with the
    /// latest records first. Each record is paired with the latest of the older ones for each of its keys, so that a key of many
    /// records does not give the pairs of all of them. One that shares two keys can be listed twice. The page begins after a pair.
    async fn matching_pairs(&self, customer: Uuid, page: Page<[Uuid; 2]>) -> StoreResult<Vec<[Uuid; 2]>>;
    /// Remembers that two records are not about one person.
    async fn keep_apart(&self, distinct: DistinctParties) -> StoreResult<()>;
    /// The records that are kept apart from this one.
    async fn kept_apart_from(&self, party: Uuid) -> StoreResult<Vec<Uuid>>;
    /// Writes the match keys of at most `limit` records of a house whose keys an earlier program left out or outdated. Returns
    /// their number.
    async fn refresh_match_keys(&self, customer: Uuid, limit: usize) -> StoreResult<usize>;
}
