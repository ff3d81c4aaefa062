//! Likely duplicates in the register of a house: records that share an e-mail address, a telephone number, a VAT number, or a
//! name with a postcode. They are proposed to staff, who merge them or keep them apart.

use std::collections::{BTreeMap, BTreeSet};

use platform_rules::Rejection;
use uuid::Uuid;

use super::merging::RecordPair;
use crate::access::access_log::AccessEvent;
use crate::error::PlatformResult;
use crate::port::{DistinctParties, MatchReason, Page, Party, PartyDetails};
use crate::{Caller, Platform, Scope};

/// Pairs of one list.
const PAIRS_MAX: usize = 50;
/// Records of one match key that are compared with a record.
const MATCHES_OF_KEY_MAX: usize = 20;
/// Likely duplicates of one record that are listed.
const DUPLICATES_MAX: usize = 20;
/// Records whose match keys one call writes again.
const REFRESHED_AT_ONCE: usize = 500;
/// Keys or records that one read of the store looks up.
const LOOKED_UP_AT_ONCE: usize = 250;

/// Two records that are likely about one person.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LikelyPair {
    /// The older record.
    pub older: Party,
    /// The newer record.
    pub newer: Party,
    /// What they have in common.
    pub reasons: Vec<MatchReason>,
}

/// A record that is likely about the same person as another one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LikelyDuplicate {
    /// The record.
    pub party: Party,
    /// What they have in common.
    pub reasons: Vec<MatchReason>,
}

/// Likely duplicates of the register of a house.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LikelyPairs {
    /// At most 50 pairs, those with the latest records first.
    pub pairs: Vec<LikelyPair>,
    /// The last of them, if there are more: the next page begins after it.
    pub next: Option<[Uuid; 2]>,
}

impl Platform {
    /// Likely duplicates of a house, from the pair after this one, the older record first. The access log gets an entry.
    ///
    /// Errors: `not_found` (customer).
    pub async fn likely_pairs(
        &self,
        caller: &Caller,
        customer: Uuid,
        after: Option<[Uuid; 2]>,
    ) -> PlatformResult<LikelyPairs> {
        caller.require(Scope::PartiesRead)?;
        self.visible_customer(caller, customer).await?;
        self.refresh_match_keys(customer).await?;
        let rows_max = PAIRS_MAX * MatchReason::ALL.len() + 1;
        let found = self.store().matching_pairs(customer, Page { after, limit: rows_max }).await?;
        let has_more_rows = found.len() == rows_max;
        let mut pairs: Vec<[Uuid; 2]> = Vec::new();
        let mut known = BTreeSet::new();
        pairs.extend(found.into_iter().filter(|pair| known.insert(*pair)));
        let has_more = has_more_rows || pairs.len() > PAIRS_MAX;
        pairs.truncate(PAIRS_MAX);
        let next = pairs.last().copied().filter(|_| has_more);
        let uuids: Vec<Uuid> = pairs.iter().flatten().copied().collect::<BTreeSet<_>>().into_iter().collect();
        let parties = self.store().parties_of(&uuids).await?;
        let records = u64::try_from(parties.len()).unwrap_or(u64::MAX);
        self.note_alone(self.note(caller, AccessEvent::RegisterListed { customer, records })?).await?;
        let parties: BTreeMap<Uuid, Party> = parties.into_iter().map(|party| (party.uuid, party)).collect();
        let pair = |[older, newer]: [Uuid; 2]| {
            let (older, newer) = (parties.get(&older)?.clone(), parties.get(&newer)?.clone());
            let reasons = older.details.match_reasons(&newer.details);
            Some(LikelyPair { older, newer, reasons }).filter(|pair| !pair.reasons.is_empty())
        };
        Ok(LikelyPairs { pairs: pairs.into_iter().filter_map(pair).collect(), next })
    }

    /// The records that are likely about the same person as this one, and are not kept apart: at most 20, by name.
    ///
    /// Errors: `not_found`.
    pub async fn likely_duplicates(&self, caller: &Caller, uuid: Uuid) -> PlatformResult<Vec<LikelyDuplicate>> {
        caller.require(Scope::PartiesRead)?;
        let party = self.visible_party(caller, uuid).await?;
        if party.match_keys().is_empty() {
            return Ok(Vec::new());
        }
        self.refresh_match_keys(party.customer).await?;
        let mut apart: BTreeSet<Uuid> = self.store().kept_apart_from(uuid).await?.into_iter().collect();
        apart.insert(uuid);
        let mut found = self.matching(party.customer, &[&party.details]).await?;
        found.retain(|other| !apart.contains(&other.uuid));
        Ok(likely(&party.details, &found))
    }

    /// The records that are likely about the person of these details, for a warning before a record is added.
    ///
    /// Errors: `not_found` (customer).
    pub async fn likely_duplicates_of(
        &self,
        caller: &Caller,
        customer: Uuid,
        details: &PartyDetails,
    ) -> PlatformResult<Vec<LikelyDuplicate>> {
        caller.require(Scope::PartiesRead)?;
        self.visible_customer(caller, customer).await?;
        self.refresh_match_keys(customer).await?;
        Ok(likely(details, &self.matching(customer, &[details]).await?))
    }

    /// Remembers that two records are not about one person. They are not proposed again.
    ///
    /// Errors: `not_found`, `other_house`, `same_record`.
    pub async fn keep_parties_apart(&self, caller: &Caller, pair: RecordPair) -> PlatformResult<()> {
        caller.require(Scope::PartiesWrite)?;
        let kept = self.visible_party(caller, pair.kept).await?;
        let other = self.visible_party(caller, pair.merged).await?;
        if kept.customer != other.customer {
            return Err(Rejection::OtherHouse.into());
        }
        if kept.uuid == other.uuid {
            return Err(Rejection::SameRecord.into());
        }
        let (actor, at) = (caller.actor.clone(), self.now());
        let distinct = DistinctParties { customer: kept.customer, pair: [kept.uuid, other.uuid], actor, at };
        Ok(self.store().keep_apart(distinct).await?)
    }

    /// Records of a house that share a match key with one of these details.
    pub(crate) async fn matching(&self, customer: Uuid, details: &[&PartyDetails]) -> PlatformResult<Vec<Party>> {
        let keys: BTreeSet<String> = details.iter().flat_map(|details| details.match_keys()).collect();
        let keys: Vec<String> = keys.into_iter().collect();
        let mut found = BTreeMap::new();
        for keys in keys.chunks(LOOKED_UP_AT_ONCE) {
            let parties = self.store().parties_matching(customer, keys, MATCHES_OF_KEY_MAX + 1).await?;
            found.extend(parties.into_iter().map(|party| (party.uuid, party)));
        }
        Ok(found.into_values().collect())
    }

    /// Writes the match keys that are missing: those of records that an earlier program wrote.
    pub(crate) async fn refresh_match_keys(&self, customer: Uuid) -> PlatformResult<()> {
        while self.store().refresh_match_keys(customer, REFRESHED_AT_ONCE).await? == REFRESHED_AT_ONCE {}
        Ok(())
    }
}

/// Those of the records that have something in common with the details, by name.
fn likely(details: &PartyDetails, found: &[Party]) -> Vec<LikelyDuplicate> {
    let likely = found
        .iter()
        .map(|party| LikelyDuplicate { party: party.clone(), reasons: details.match_reasons(&party.details) });
    let mut likely: Vec<LikelyDuplicate> = likely.filter(|found| !found.reasons.is_empty()).collect();
    likely.sort_by_key(|found| (found.party.keys().name, found.party.uuid));
    likely.truncate(DUPLICATES_MAX);
    likely
}
