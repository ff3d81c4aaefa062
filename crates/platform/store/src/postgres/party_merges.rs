//! Likely duplicates in the registers of houses, and records that were merged.

use async_trait::async_trait;
use kit_engine::postgres::{Connection, Transaction};
use platform_core::port::{DistinctParties, Page, Party, PartyMergeStore, PartyMergeWrite, StoreResult};
use uuid::Uuid;

use super::parties::{party, put as put_party};
use super::rows::{self, SqlResult};
use super::{PostgresStore, registrations};
use crate::codec::ms;

const WITHOUT_KEYS: &str = "SELECT state FROM parties \
     WHERE customer = $1 AND (keys_version IS NULL OR keys_version <> version) ORDER BY uuid LIMIT $2";

/// For each record and key, the latest older record that shares the key and is not kept apart.
pub(super) const PAIRS: &str = "SELECT o.party, k.party FROM party_keys k CROSS JOIN LATERAL (SELECT o.party FROM party_keys o \
         WHERE o.customer = k.customer AND o.key = k.key AND o.party < k.party \
         AND NOT EXISTS (SELECT 1 FROM distinct_parties d WHERE d.first = o.party AND d.second = k.party) \
         ORDER BY o.party DESC LIMIT 1) o \
     WHERE k.customer = $1 AND k.party <= $3 AND (k.party, o.party) < ($3, $2) \
     ORDER BY k.party DESC, o.party DESC LIMIT $4";

#[async_trait]
impl PartyMergeStore for PostgresStore {
    async fn merge_parties(&self, merge: PartyMergeWrite) -> StoreResult<()> {
        self.write(&merge, |db, merge| Box::pin(write_merge(db, merge))).await
    }

    async fn records_of_person(&self, party: Uuid) -> StoreResult<Vec<Uuid>> {
        Ok(records_of_person(&self.client().await?, party).await?)
    }

    async fn merged_records(&self, into: &[Uuid]) -> StoreResult<Vec<Party>> {
        let select = "SELECT state FROM parties WHERE merged_into = ANY($1) ORDER BY uuid";
        Ok(rows::list(&self.client().await?, select, &[&into], party).await?)
    }

    async fn parties_matching(&self, customer: Uuid, keys: &[String], limit: usize) -> StoreResult<Vec<Party>> {
        let keys: Vec<&String> = keys.iter().filter(|key| !key.contains('\0')).collect();
        let select = "SELECT p.state FROM unnest($2::text[]) AS n (key) CROSS JOIN LATERAL (SELECT party FROM party_keys \
                 WHERE customer = $1 AND key = n.key ORDER BY party DESC LIMIT $3) k JOIN parties p ON p.uuid = k.party";
        let values: rows::Values<'_> = &[&customer, &keys, &rows::limit(limit)];
        Ok(rows::list(&self.client().await?, select, values, party).await?)
    }

    async fn matching_pairs(&self, customer: Uuid, page: Page<[Uuid; 2]>) -> StoreResult<Vec<[Uuid; 2]>> {
        let [older, newer] = page.after.unwrap_or([Uuid::max(); 2]);
        let pair = |row: &tokio_postgres::Row| Ok([rows::get(row, 0)?, rows::get(row, 1)?]);
        Ok(rows::list(&self.client().await?, PAIRS, &[&customer, &older, &newer, &rows::limit(page.limit)], pair)
            .await?)
    }

    async fn keep_apart(&self, distinct: DistinctParties) -> StoreResult<()> {
        let insert = "INSERT INTO distinct_parties (first, second, customer, actor, at_ms) \
             VALUES (LEAST($1::uuid, $2::uuid), GREATEST($1::uuid, $2::uuid), $3, $4, $5) ON CONFLICT DO NOTHING";
        let DistinctParties { customer, pair: [one, two], actor, at } = &distinct;
        let values: rows::Values<'_> = &[one, two, customer, actor, &ms(*at)];
        Ok(rows::execute(&self.client().await?, insert, values).await.map(drop)?)
    }

    async fn kept_apart_from(&self, party: Uuid) -> StoreResult<Vec<Uuid>> {
        let select = "SELECT second FROM distinct_parties WHERE first = $1 \
             UNION ALL SELECT first FROM distinct_parties WHERE second = $1";
        Ok(rows::list(&self.client().await?, select, &[&party], |row| rows::get(row, 0)).await?)
    }

    async fn refresh_match_keys(&self, customer: Uuid, limit: usize) -> StoreResult<usize> {
        let values: rows::Values<'_> = &[&customer, &1_i64];
        if rows::list(&self.client().await?, WITHOUT_KEYS, values, |_| Ok(())).await?.is_empty() {
            return Ok(0);
        }
        self.write(&(customer, rows::limit(limit)), |db, (customer, limit)| {
            Box::pin(async move {
                // Another node that does the same, or changes a record, does not wait.
                let select = format!("{WITHOUT_KEYS} FOR UPDATE SKIP LOCKED");
                let parties = rows::list(db, &select, &[customer, limit], party).await?;
                for party in &parties {
                    put_keys(db, party).await?;
                    let update = "UPDATE parties SET keys_version = version WHERE uuid = $1";
                    rows::execute(db, update, &[&party.uuid]).await?;
                }
                Ok(parties.len())
            })
        })
        .await
    }
}

async fn write_merge(db: &Transaction<'_>, merge: &PartyMergeWrite) -> SqlResult<()> {
    let PartyMergeWrite { kept, merged, parties, registrations } = merge;
    for registration in registrations {
        registrations::put(db, registration).await?;
    }
    let uuids: Vec<Uuid> = parties.iter().map(|written| written.party.state.uuid).collect();
    let lock = "SELECT 1 FROM parties WHERE uuid = ANY($1) ORDER BY uuid FOR UPDATE";
    rows::list(db, lock, &[&uuids], |_| Ok(())).await?;
    // A reference that goes to another of the records is free when that one is written.
    rows::execute(db, "UPDATE parties SET reference = NULL WHERE uuid = ANY($1)", &[&uuids]).await?;
    for written in parties {
        put_party(db, written).await?;
    }
    let apart = "INSERT INTO distinct_parties (first, second, customer, actor, at_ms) \
         SELECT LEAST(other, $1), GREATEST(other, $1), customer, actor, at_ms FROM (SELECT \
             CASE WHEN first = $2 THEN second ELSE first END AS other, customer, actor, at_ms \
             FROM distinct_parties WHERE first = $2 OR second = $2) AS apart \
         WHERE other <> $1 ON CONFLICT DO NOTHING";
    rows::execute(db, apart, &[kept, merged]).await.map(drop)
}

/// All records of the person of a record, the one that stayed first.
pub(super) async fn records_of_person(db: &impl Connection, party: Uuid) -> SqlResult<Vec<Uuid>> {
    let kept = "SELECT merged_into FROM parties WHERE uuid = $1 AND merged_into IS NOT NULL";
    let kept = rows::one(db, kept, &[&party], |row| rows::get(row, 0)).await?.unwrap_or(party);
    let merged = "SELECT uuid FROM parties WHERE merged_into = $1 ORDER BY uuid";
    let merged: Vec<Uuid> = rows::list(db, merged, &[&kept], |row| rows::get(row, 0)).await?;
    Ok(std::iter::once(kept).chain(merged).collect())
}

/// Replaces the match keys of a party.
pub(super) async fn put_keys(db: &Transaction<'_>, party: &Party) -> SqlResult<()> {
    rows::execute(db, "DELETE FROM party_keys WHERE party = $1", &[&party.uuid]).await?;
    let keys: Vec<String> = party.match_keys().into_iter().collect();
    if keys.is_empty() {
        return Ok(());
    }
    let insert = "INSERT INTO party_keys (party, key, customer) SELECT $1::uuid, key, $3::uuid FROM unnest($2::text[]) AS n (key)";
    rows::execute(db, insert, &[&party.uuid, &keys, &party.customer]).await.map(drop)
}
