//! The registers of houses: bidders and consignors.

use async_trait::async_trait;
use jiff::Timestamp;
use kit_engine::postgres::Transaction;
use platform_core::port::{
    NAMESAKES_MAX, Page, Party, PartyErasureWrite, PartyFilter, PartyPosition, PartyStore, PartyWrite, Registration,
    StoreError, StoreResult, Versioned,
};
use platform_rules::Item;
use tokio_postgres::Row;
use uuid::Uuid;

use super::party_merges::{put_keys, records_of_person};
use super::registrations::registration;
use super::rows::{self, SqlResult, after};
use super::{
    PostgresStore, audit, bidder_accounts, bidder_messages, late_bids, limit_requests, lot_offers, mails, registrations,
};
use crate::codec::{erased_at_ms, kept_until_ms, merged_into, ms, to_json};

/// The condition of [`PartyFilter`]. Its parameters are the house, the three flags, the words and the paddle.
const MATCHES: &str = "customer = $1 AND erased_at_ms IS NULL AND merged_into IS NULL AND (NOT $2 OR is_bidder) AND (NOT $3 OR is_consignor) AND (NOT $4 OR is_blocked) \
     AND (NOT EXISTS (SELECT 1 FROM unnest($5::text[]) AS w (word) WHERE strpos(search, w.word) = 0) \
         OR uuid IN (SELECT m.merged_into FROM parties m WHERE m.customer = $1 AND m.merged_into IS NOT NULL \
             AND m.erased_at_ms IS NULL \
             AND NOT EXISTS (SELECT 1 FROM unnest($5::text[]) AS w (word) WHERE strpos(m.search, w.word) = 0)) \
         OR uuid IN (SELECT coalesce(p.merged_into, r.party) FROM registrations r JOIN auctions a ON a.uuid = r.auction \
             LEFT JOIN parties p ON p.uuid = r.party WHERE r.paddle = $6 AND r.party IS NOT NULL AND a.customer = $1))";

#[async_trait]
impl PartyStore for PostgresStore {
    async fn put_party(&self, entry: PartyWrite) -> StoreResult<()> {
        self.write(&entry, |db, entry| Box::pin(put(db, entry))).await
    }

    async fn erase_party(&self, erasure: PartyErasureWrite) -> StoreResult<()> {
        self.write(&erasure, |db, erasure| Box::pin(erase(db, erasure))).await
    }

    async fn put_parties(&self, entries: Vec<PartyWrite>) -> StoreResult<()> {
        self.write(&entries, |db, entries| {
            Box::pin(async move {
                for entry in entries {
                    put(db, entry).await?;
                }
                Ok(())
            })
        })
        .await
    }

    async fn party(&self, uuid: Uuid) -> StoreResult<Option<Party>> {
        Ok(rows::one(&self.client().await?, "SELECT state FROM parties WHERE uuid = $1", &[&uuid], party).await?)
    }

    async fn parties_of(&self, uuids: &[Uuid]) -> StoreResult<Vec<Party>> {
        let select = "SELECT state FROM parties WHERE uuid = ANY($1)";
        Ok(rows::list(&self.client().await?, select, &[&uuids], party).await?)
    }

    async fn party_by_reference(&self, customer: Uuid, reference: &str) -> StoreResult<Option<Party>> {
        if reference.contains('\0') {
            return Ok(None);
        }
        let select = "SELECT state FROM parties WHERE customer = $1 AND reference = $2";
        Ok(rows::one(&self.client().await?, select, &[&customer, &reference], party).await?)
    }

    async fn parties_kept_until(&self, now: Timestamp, limit: usize) -> StoreResult<Vec<Party>> {
        let select = "SELECT state FROM parties WHERE kept_until_ms <= $1 ORDER BY kept_until_ms, uuid LIMIT $2";
        Ok(rows::list(&self.client().await?, select, &[&ms(now), &rows::limit(limit)], party).await?)
    }

    async fn consigned_items(&self, customer: Uuid, party: Uuid, page: Page<Uuid>) -> StoreResult<Vec<Item>> {
        // The search for the text is faster than to parse each state.
        let select = "SELECT i.state FROM items i JOIN auctions a ON a.uuid = i.auction \
             WHERE a.customer = $1 AND i.uuid > $3 \
             AND CASE WHEN strpos(i.state, $2) > 0 THEN i.state::json ->> 'vendor' = $2 ELSE false END \
             ORDER BY i.uuid LIMIT $4";
        let values: rows::Values<'_> = &[&customer, &party.to_string(), &after(page), &rows::limit(page.limit)];
        Ok(rows::list(&self.client().await?, select, values, |row| rows::json(row, 0)).await?)
    }

    async fn parties_called(&self, customer: Uuid, names: &[String], references: &[String]) -> StoreResult<Vec<Party>> {
        let storable =
            |texts: &[String]| -> Vec<String> { texts.iter().filter(|text| !text.contains('\0')).cloned().collect() };
        let (names, references) = (storable(names), storable(references));
        let select = "SELECT p.state FROM unnest($2::text[]) AS n (name) CROSS JOIN LATERAL (SELECT state FROM parties \
                 WHERE customer = $1 AND name = n.name AND is_consignor ORDER BY uuid LIMIT $4) p \
             UNION ALL SELECT state FROM parties WHERE customer = $1 AND reference = ANY($3)";
        let values: rows::Values<'_> = &[&customer, &names, &references, &rows::limit(NAMESAKES_MAX)];
        Ok(rows::list(&self.client().await?, select, values, party).await?)
    }

    async fn parties(
        &self,
        customer: Uuid,
        filter: &PartyFilter,
        page: Page<PartyPosition>,
    ) -> StoreResult<Vec<Party>> {
        let Some(filter) = storable(filter) else { return Ok(Vec::new()) };
        let select = format!(
            "SELECT state FROM parties WHERE {MATCHES} AND (name, uuid) > ($7, $8) ORDER BY name, uuid LIMIT $9"
        );
        let (name, uuid) = page.after.unwrap_or_default();
        let limit = rows::limit(page.limit);
        let PartyFilter { is_bidder, is_consignor, is_blocked, words, paddle } = filter;
        let values: rows::Values<'_> =
            &[&customer, is_bidder, is_consignor, is_blocked, words, paddle, &name, &uuid, &limit];
        Ok(rows::list(&self.client().await?, &select, values, party).await?)
    }

    async fn count_parties(&self, customer: Uuid, filter: &PartyFilter) -> StoreResult<u64> {
        let Some(filter) = storable(filter) else { return Ok(0) };
        let select = format!("SELECT count(*) FROM parties WHERE {MATCHES}");
        let PartyFilter { is_bidder, is_consignor, is_blocked, words, paddle } = filter;
        let values: rows::Values<'_> = &[&customer, is_bidder, is_consignor, is_blocked, words, paddle];
        let count = rows::one(&self.client().await?, &select, values, |row| rows::count(row, 0)).await?;
        Ok(count.unwrap_or_default())
    }

    async fn all_parties(&self, page: Page<Uuid>) -> StoreResult<Vec<Party>> {
        let select = "SELECT state FROM parties WHERE uuid > $1 ORDER BY uuid LIMIT $2";
        let values: rows::Values<'_> = &[&after(page), &rows::limit(page.limit)];
        Ok(rows::list(&self.client().await?, select, values, party).await?)
    }

    async fn registrations_of_party(&self, party: Uuid, page: Page<Uuid>) -> StoreResult<Vec<Registration>> {
        let select = "SELECT state, spending_version FROM registrations WHERE party = ANY($1) AND uuid < $2 \
             ORDER BY uuid DESC LIMIT $3";
        let before = page.after.unwrap_or(Uuid::max());
        let client = self.client().await?;
        let records = records_of_person(&client, party).await?;
        let values: rows::Values<'_> = &[&records, &before, &rows::limit(page.limit)];
        Ok(rows::list(&client, select, values, registration).await?)
    }

    async fn auctions_of_vendor(&self, vendor: Uuid, page: Page<Uuid>) -> StoreResult<Vec<Uuid>> {
        let select = "SELECT DISTINCT auction FROM items WHERE vendor = ANY($1) AND auction < $2 \
             ORDER BY auction DESC LIMIT $3";
        let before = page.after.unwrap_or(Uuid::max());
        let client = self.client().await?;
        let records = records_of_person(&client, vendor).await?;
        let values: rows::Values<'_> = &[&records, &before, &rows::limit(page.limit)];
        Ok(rows::list(&client, select, values, |row| rows::get(row, 0)).await?)
    }

    async fn items_of_vendor(&self, vendor: Uuid, auction: Uuid, limit: usize) -> StoreResult<Vec<Item>> {
        let select = "SELECT state FROM items WHERE vendor = ANY($1) AND auction = $2 ORDER BY position LIMIT $3";
        let client = self.client().await?;
        let records = records_of_person(&client, vendor).await?;
        let values: rows::Values<'_> = &[&records, &auction, &rows::limit(limit)];
        Ok(rows::list(&client, select, values, |row| rows::json(row, 0)).await?)
    }
}

/// None for a filter with NUL, which no stored text contains.
fn storable(filter: &PartyFilter) -> Option<&PartyFilter> {
    let has_nul = filter.words.iter().chain(&filter.paddle).any(|text| text.contains('\0'));
    (!has_nul).then_some(filter)
}

pub(super) async fn put(db: &Transaction<'_>, entry: &PartyWrite) -> SqlResult<()> {
    let Versioned { expected_version, state } = &entry.party;
    let insert = "INSERT INTO parties \
         (uuid, customer, name, search, reference, is_bidder, is_consignor, is_blocked, version, state, erased_at_ms, \
         kept_until_ms, merged_into, keys_version) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $9)";
    let update = "UPDATE parties SET name = $3, search = $4, reference = $5, is_bidder = $6, is_consignor = $7, \
         is_blocked = $8, version = $9, state = $10, erased_at_ms = $11, kept_until_ms = $12, merged_into = $13, \
         keys_version = $9 WHERE uuid = $1 AND customer = $2 AND version + 1 = $9";
    let sql = if *expected_version == 0 { insert } else { update };
    let (keys, details, json) = (state.keys(), &state.details, to_json(state)?);
    let values: rows::Values<'_> = &[
        &state.uuid,
        &state.customer,
        &keys.name,
        &keys.search,
        &details.reference,
        &details.is_bidder,
        &details.is_consignor,
        &state.block.is_some(),
        &state.version,
        &json,
        &erased_at_ms(state),
        &kept_until_ms(state),
        &merged_into(state),
    ];
    match rows::execute(db, sql, values).await.map_err(|error| error.or_taken("reference"))? {
        1 => {
            put_keys(db, state).await?;
            audit::append(db, &entry.log.iter().collect::<Vec<_>>()).await
        }
        _ => Err(StoreError::Conflict.into()),
    }
}

async fn erase(db: &Transaction<'_>, erasure: &PartyErasureWrite) -> SqlResult<()> {
    let PartyErasureWrite { parties, registrations, remaining } = erasure;
    for registration in registrations {
        registrations::put(db, registration).await?;
        let Registration { auction, paddle, .. } = &registration.registration.state;
        let delete = "DELETE FROM telephone_bookings WHERE auction = $1 AND paddle = $2";
        rows::execute(db, delete, &[auction, paddle]).await?;
        late_bids::erase(db, *auction, paddle).await?;
        let Registration { uuid, party, .. } = &registration.registration.state;
        mails::erase(db, Some(*uuid), *party).await?;
        limit_requests::erase(db, *uuid).await?;
        lot_offers::erase(db, *uuid).await?;
        bidder_messages::erase(db, *auction, *uuid).await?;
    }
    for party in parties {
        mails::erase(db, None, Some(party.party.state.uuid)).await?;
        bidder_accounts::delete_of_party(db, party.party.state.uuid).await?;
        put(db, party).await?;
    }
    audit::replace_concealed(db, remaining).await
}

pub(super) fn party(row: &Row) -> SqlResult<Party> {
    rows::json(row, 0)
}
