//! Likely duplicates in the registers of houses, and records that were merged.

use std::collections::BTreeSet;

use async_trait::async_trait;
use platform_core::port::{DistinctParties, Page, Party, PartyMergeStore, PartyMergeWrite, StoreResult};
use rusqlite::{Connection, params};
use uuid::Uuid;

use super::parties::{party, put as put_party};
use super::rows::{self, SqlResult};
use super::{SqliteStore, audit, registrations};
use crate::codec::ms;

const WITHOUT_KEYS: &str = "SELECT state FROM parties \
     WHERE customer = ?1 AND (keys_version IS NULL OR keys_version <> version) ORDER BY uuid LIMIT ?2";

/// For each record and key, the latest older record that shares the key and is not kept apart.
pub(super) const PAIRS: &str = "SELECT older, newer FROM (SELECT k.party AS newer, (SELECT o.party FROM party_keys o \
         WHERE o.customer = k.customer AND o.key = k.key AND o.party < k.party \
         AND NOT EXISTS (SELECT 1 FROM distinct_parties d WHERE d.first = o.party AND d.second = k.party) \
         ORDER BY o.party DESC LIMIT 1) AS older FROM party_keys k WHERE k.customer = ?1 AND k.party <= ?3) \
     WHERE older IS NOT NULL AND (newer, older) < (?3, ?2) ORDER BY newer DESC, older DESC LIMIT ?4";

#[async_trait]
impl PartyMergeStore for SqliteStore {
    async fn merge_parties(&self, merge: PartyMergeWrite) -> StoreResult<()> {
        self.write(move |db| {
            let PartyMergeWrite { kept, merged, parties, registrations } = &merge;
            for registration in registrations {
                registrations::put(db, &registration.registration)?;
                audit::append(db, &registration.log)?;
            }
            for written in parties {
                // A reference that goes to another of the records is free when that one is written.
                let free = "UPDATE parties SET reference = NULL WHERE uuid = ?1";
                rows::execute(db, free, [written.party.state.uuid.as_bytes()])?;
            }
            for written in parties {
                put_party(db, &written.party)?;
                audit::append(db, &written.log)?;
            }
            let apart = "INSERT INTO distinct_parties (first, second, customer, actor, at_ms) \
                 SELECT min(other, ?1), max(other, ?1), customer, actor, at_ms FROM (SELECT \
                     CASE WHEN first = ?2 THEN second ELSE first END AS other, customer, actor, at_ms \
                     FROM distinct_parties WHERE first = ?2 OR second = ?2) \
                 WHERE other <> ?1 ON CONFLICT DO NOTHING";
            rows::execute(db, apart, (kept.as_bytes(), merged.as_bytes())).map(drop)
        })
        .await
    }

    async fn records_of_person(&self, party: Uuid) -> StoreResult<Vec<Uuid>> {
        self.read(move |db| records_of_person(db, party)).await
    }

    async fn merged_records(&self, into: &[Uuid]) -> StoreResult<Vec<Party>> {
        let into: BTreeSet<Uuid> = into.iter().copied().collect();
        let select = "SELECT state FROM parties WHERE merged_into = ?1";
        self.read(move |db| {
            let mut found: Vec<Party> = Vec::new();
            for record in &into {
                found.extend(rows::list(db, select, [record.as_bytes()], party)?);
            }
            found.sort_unstable_by_key(|record| record.uuid);
            Ok(found)
        })
        .await
    }

    async fn parties_matching(&self, customer: Uuid, keys: &[String], limit: usize) -> StoreResult<Vec<Party>> {
        let keys = keys.to_vec();
        let select = "SELECT p.state FROM party_keys k JOIN parties p ON p.uuid = k.party \
             WHERE k.customer = ?1 AND k.key = ?2 ORDER BY k.party DESC LIMIT ?3";
        self.read(move |db| {
            let mut found = Vec::new();
            for key in &keys {
                found.extend(rows::list(db, select, (customer.as_bytes(), key, rows::limit(limit)), party)?);
            }
            Ok(found)
        })
        .await
    }

    async fn matching_pairs(&self, customer: Uuid, page: Page<[Uuid; 2]>) -> StoreResult<Vec<[Uuid; 2]>> {
        let [older, newer] = page.after.unwrap_or([Uuid::max(); 2]);
        self.read(move |db| {
            let values = params![customer.as_bytes(), older.as_bytes(), newer.as_bytes(), rows::limit(page.limit)];
            rows::list(db, PAIRS, values, |row| Ok([rows::uuid(row, 0)?, rows::uuid(row, 1)?]))
        })
        .await
    }

    async fn keep_apart(&self, distinct: DistinctParties) -> StoreResult<()> {
        let insert = "INSERT INTO distinct_parties (first, second, customer, actor, at_ms) \
             VALUES (?1, ?2, ?3, ?4, ?5) ON CONFLICT DO NOTHING";
        self.write(move |db| {
            let DistinctParties { customer, pair: [one, two], actor, at } = &distinct;
            let (first, second) = (one.min(two), one.max(two));
            let values = params![first.as_bytes(), second.as_bytes(), customer.as_bytes(), actor, ms(*at)];
            rows::execute(db, insert, values).map(drop)
        })
        .await
    }

    async fn kept_apart_from(&self, party: Uuid) -> StoreResult<Vec<Uuid>> {
        let select = "SELECT second FROM distinct_parties WHERE first = ?1 \
             UNION ALL SELECT first FROM distinct_parties WHERE second = ?1";
        self.read(move |db| rows::list(db, select, [party.as_bytes()], |row| rows::uuid(row, 0))).await
    }

    async fn refresh_match_keys(&self, customer: Uuid, limit: usize) -> StoreResult<usize> {
        let stale =
            move |db: &Connection| rows::list(db, WITHOUT_KEYS, (customer.as_bytes(), rows::limit(limit)), party);
        // Pages look here often, and a write waits for the writer.
        if self.read(move |db| Ok(stale(db)?.is_empty())).await? {
            return Ok(0);
        }
        self.write(move |db| {
            let parties = stale(db)?;
            for party in &parties {
                put_keys(db, party)?;
                let update = "UPDATE parties SET keys_version = version WHERE uuid = ?1";
                rows::execute(db, update, [party.uuid.as_bytes()])?;
            }
            Ok(parties.len())
        })
        .await
    }
}

/// All records of the person of a record, the one that stayed first.
pub(super) fn records_of_person(db: &Connection, party: Uuid) -> SqlResult<Vec<Uuid>> {
    let kept = "SELECT merged_into FROM parties WHERE uuid = ?1 AND merged_into IS NOT NULL";
    let kept = rows::one(db, kept, [party.as_bytes()], |row| rows::uuid(row, 0))?.unwrap_or(party);
    let merged = "SELECT uuid FROM parties WHERE merged_into = ?1 ORDER BY uuid";
    let merged = rows::list(db, merged, [kept.as_bytes()], |row| rows::uuid(row, 0))?;
    Ok(std::iter::once(kept).chain(merged).collect())
}

/// Replaces the match keys of a party.
pub(super) fn put_keys(db: &Connection, party: &Party) -> SqlResult<()> {
    rows::execute(db, "DELETE FROM party_keys WHERE party = ?1", [party.uuid.as_bytes()])?;
    let insert = "INSERT INTO party_keys (party, key, customer) VALUES (?1, ?2, ?3)";
    for key in party.match_keys() {
        rows::execute(db, insert, (party.uuid.as_bytes(), key, party.customer.as_bytes()))?;
    }
    Ok(())
}
