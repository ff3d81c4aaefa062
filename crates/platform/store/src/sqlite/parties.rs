//! The registers of houses: bidders and consignors.

use std::cmp::Reverse;
use std::collections::BTreeSet;

use async_trait::async_trait;
use jiff::Timestamp;
use platform_core::port::{
    NAMESAKES_MAX, Page, Party, PartyErasureWrite, PartyFilter, PartyPosition, PartyStore, PartyWrite, Registration,
    StoreError, StoreResult, Versioned,
};
use platform_rules::Item;
use rusqlite::{Connection, Row, params};
use uuid::Uuid;

use super::party_merges::{put_keys, records_of_person};
use super::registrations::registration;
use super::rows::{self, SqlResult, after};
use super::{
    SqliteStore, audit, bidder_accounts, bidder_messages, late_bids, limit_requests, lot_offers, mails, registrations,
};
use crate::codec::{erased_at_ms, kept_until_ms, merged_into, ms, to_json};

/// The condition of [`PartyFilter`]. Its parameters are the house, the three flags, the words as a JSON list and the paddle.
const MATCHES: &str = "customer = ?1 AND erased_at_ms IS NULL AND merged_into IS NULL AND (?2 = 0 OR is_bidder = 1) AND (?3 = 0 OR is_consignor = 1) \
     AND (?4 = 0 OR is_blocked = 1) \
     AND (NOT EXISTS (SELECT 1 FROM json_each(?5) WHERE instr(search, json_each.value) = 0) \
         OR uuid IN (SELECT m.merged_into FROM parties m WHERE m.customer = ?1 AND m.merged_into IS NOT NULL \
             AND m.erased_at_ms IS NULL AND NOT EXISTS (SELECT 1 FROM json_each(?5) WHERE instr(m.search, json_each.value) = 0)) \
         OR uuid IN (SELECT coalesce(p.merged_into, r.party) FROM registrations r JOIN auctions a ON a.uuid = r.auction \
             LEFT JOIN parties p ON p.uuid = r.party WHERE r.paddle = ?6 AND r.party IS NOT NULL AND a.customer = ?1))";

#[async_trait]
impl PartyStore for SqliteStore {
    async fn put_party(&self, entry: PartyWrite) -> StoreResult<()> {
        self.write(move |db| {
            put(db, &entry.party)?;
            audit::append(db, &entry.log)
        })
        .await
    }

    async fn erase_party(&self, erasure: PartyErasureWrite) -> StoreResult<()> {
        self.write(move |db| {
            let PartyErasureWrite { parties, registrations, remaining } = &erasure;
            for registration in registrations {
                registrations::put(db, &registration.registration)?;
                audit::append(db, &registration.log)?;
                let Registration { auction, paddle, .. } = &registration.registration.state;
                let delete = "DELETE FROM telephone_bookings WHERE auction = ?1 AND paddle = ?2";
                rows::execute(db, delete, (auction.as_bytes(), paddle))?;
                late_bids::erase(db, *auction, paddle)?;
                let Registration { uuid, party, .. } = &registration.registration.state;
                mails::erase(db, Some(*uuid), *party)?;
                limit_requests::erase(db, *uuid)?;
                lot_offers::erase(db, *uuid)?;
                bidder_messages::erase(db, *auction, *uuid)?;
            }
            for party in parties {
                mails::erase(db, None, Some(party.party.state.uuid))?;
                bidder_accounts::delete_of_party(db, party.party.state.uuid)?;
                put(db, &party.party)?;
                audit::append(db, &party.log)?;
            }
            audit::replace_concealed(db, remaining)
        })
        .await
    }

    async fn put_parties(&self, entries: Vec<PartyWrite>) -> StoreResult<()> {
        self.write(move |db| {
            entries.iter().try_for_each(|entry| {
                put(db, &entry.party)?;
                audit::append(db, &entry.log)
            })
        })
        .await
    }

    async fn party(&self, uuid: Uuid) -> StoreResult<Option<Party>> {
        self.read(move |db| find(db, uuid)).await
    }

    async fn parties_of(&self, uuids: &[Uuid]) -> StoreResult<Vec<Party>> {
        let uuids = uuids.to_vec();
        self.read(move |db| uuids.iter().filter_map(|uuid| find(db, *uuid).transpose()).collect()).await
    }

    async fn party_by_reference(&self, customer: Uuid, reference: &str) -> StoreResult<Option<Party>> {
        let reference = reference.to_owned();
        let select = "SELECT state FROM parties WHERE customer = ?1 AND reference = ?2";
        self.read(move |db| rows::one(db, select, (customer.as_bytes(), reference), party)).await
    }

    async fn parties_kept_until(&self, now: Timestamp, limit: usize) -> StoreResult<Vec<Party>> {
        let select = "SELECT state FROM parties WHERE kept_until_ms <= ?1 ORDER BY kept_until_ms, uuid LIMIT ?2";
        self.read(move |db| rows::list(db, select, (ms(now), rows::limit(limit)), party)).await
    }

    async fn consigned_items(&self, customer: Uuid, party: Uuid, page: Page<Uuid>) -> StoreResult<Vec<Item>> {
        // The search for the text is faster than to parse each state.
        let select = "SELECT i.state FROM items i JOIN auctions a ON a.uuid = i.auction \
             WHERE a.customer = ?1 AND i.uuid > ?3 AND instr(i.state, ?2) > 0 \
             AND json_extract(i.state, '$.vendor') = ?2 ORDER BY i.uuid LIMIT ?4";
        self.read(move |db| {
            let (after, limit) = (after(page), rows::limit(page.limit));
            let values = params![customer.as_bytes(), party.to_string(), after.as_bytes(), limit];
            rows::list(db, select, values, |row| rows::json(row, 0))
        })
        .await
    }

    async fn parties_called(&self, customer: Uuid, names: &[String], references: &[String]) -> StoreResult<Vec<Party>> {
        let (names, references) = (names.to_vec(), references.to_vec());
        let named = "SELECT state FROM parties INDEXED BY parties_by_name \
             WHERE customer = ?1 AND name = ?2 AND is_consignor = 1 ORDER BY uuid LIMIT ?3";
        let referred = "SELECT state FROM parties WHERE customer = ?1 AND reference = ?2";
        self.read(move |db| {
            let mut found = Vec::new();
            for name in &names {
                let values = (customer.as_bytes(), name, rows::limit(NAMESAKES_MAX));
                found.extend(rows::list(db, named, values, party)?);
            }
            for reference in &references {
                found.extend(rows::one(db, referred, (customer.as_bytes(), reference), party)?);
            }
            Ok(found)
        })
        .await
    }

    async fn parties(
        &self,
        customer: Uuid,
        filter: &PartyFilter,
        page: Page<PartyPosition>,
    ) -> StoreResult<Vec<Party>> {
        let filter = filter.clone();
        let select = format!(
            "SELECT state FROM parties INDEXED BY parties_by_name WHERE {MATCHES} AND (name, uuid) > (?7, ?8) \
             ORDER BY name, uuid LIMIT ?9"
        );
        self.read(move |db| {
            let words = to_json(&filter.words)?;
            let (name, uuid) = page.after.unwrap_or_default();
            let values = params![
                customer.as_bytes(),
                filter.is_bidder,
                filter.is_consignor,
                filter.is_blocked,
                words,
                filter.paddle,
                name,
                uuid.as_bytes(),
                rows::limit(page.limit)
            ];
            rows::list(db, &select, values, party)
        })
        .await
    }

    async fn count_parties(&self, customer: Uuid, filter: &PartyFilter) -> StoreResult<u64> {
        let filter = filter.clone();
        let select = format!("SELECT count(*) FROM parties INDEXED BY parties_by_name WHERE {MATCHES}");
        self.read(move |db| {
            let words = to_json(&filter.words)?;
            let PartyFilter { is_bidder, is_consignor, is_blocked, paddle, .. } = &filter;
            let values = params![customer.as_bytes(), is_bidder, is_consignor, is_blocked, words, paddle];
            let count = rows::one(db, &select, values, |row| Ok(row.get::<_, i64>(0)?))?;
            Ok(count.unwrap_or_default().unsigned_abs())
        })
        .await
    }

    async fn all_parties(&self, page: Page<Uuid>) -> StoreResult<Vec<Party>> {
        let select = "SELECT state FROM parties WHERE uuid > ?1 ORDER BY uuid LIMIT ?2";
        self.read(move |db| rows::list(db, select, (after(page).as_bytes(), rows::limit(page.limit)), party)).await
    }

    async fn registrations_of_party(&self, party: Uuid, page: Page<Uuid>) -> StoreResult<Vec<Registration>> {
        let select = "SELECT state, spending_version FROM registrations WHERE party = ?1 AND uuid < ?2 \
             ORDER BY uuid DESC LIMIT ?3";
        let before = page.after.unwrap_or(Uuid::max());
        self.read(move |db| {
            let mut found: Vec<Registration> = Vec::new();
            for record in records_of_person(db, party)? {
                let values = (record.as_bytes(), before.as_bytes(), rows::limit(page.limit));
                found.extend(rows::list(db, select, values, registration)?);
            }
            found.sort_unstable_by_key(|registration| Reverse(registration.uuid));
            found.truncate(page.limit);
            Ok(found)
        })
        .await
    }

    async fn auctions_of_vendor(&self, vendor: Uuid, page: Page<Uuid>) -> StoreResult<Vec<Uuid>> {
        let select = "SELECT DISTINCT auction FROM items WHERE vendor = ?1 AND auction < ?2 \
             ORDER BY auction DESC LIMIT ?3";
        let before = page.after.unwrap_or(Uuid::max());
        self.read(move |db| {
            let mut found: BTreeSet<Reverse<Uuid>> = BTreeSet::new();
            for record in records_of_person(db, vendor)? {
                let values = (record.as_bytes(), before.as_bytes(), rows::limit(page.limit));
                found.extend(rows::list(db, select, values, |row| rows::uuid(row, 0))?.into_iter().map(Reverse));
            }
            Ok(found.into_iter().take(page.limit).map(|Reverse(auction)| auction).collect())
        })
        .await
    }

    async fn items_of_vendor(&self, vendor: Uuid, auction: Uuid, limit: usize) -> StoreResult<Vec<Item>> {
        let select = "SELECT state FROM items WHERE vendor = ?1 AND auction = ?2 ORDER BY position LIMIT ?3";
        self.read(move |db| {
            let mut found: Vec<Item> = Vec::new();
            for record in records_of_person(db, vendor)? {
                let values = (record.as_bytes(), auction.as_bytes(), rows::limit(limit));
                found.extend(rows::list(db, select, values, |row| rows::json::<Item>(row, 0))?);
            }
            found.sort_unstable_by_key(|item| item.position);
            found.truncate(limit);
            Ok(found)
        })
        .await
    }
}

pub(super) fn put(db: &Connection, party: &Versioned<Party>) -> SqlResult<()> {
    let Versioned { expected_version, state } = party;
    let insert = "INSERT INTO parties \
         (uuid, customer, name, search, reference, is_bidder, is_consignor, is_blocked, version, state, erased_at_ms, \
         kept_until_ms, merged_into, keys_version) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?9)";
    let update = "UPDATE parties SET name = ?3, search = ?4, reference = ?5, is_bidder = ?6, is_consignor = ?7, \
         is_blocked = ?8, version = ?9, state = ?10, erased_at_ms = ?11, kept_until_ms = ?12, merged_into = ?13, \
         keys_version = ?9 WHERE uuid = ?1 AND customer = ?2 AND version = ?9 - 1";
    let sql = if *expected_version == 0 { insert } else { update };
    let (keys, details, into) = (state.keys(), &state.details, merged_into(state));
    let values = params![
        state.uuid.as_bytes(),
        state.customer.as_bytes(),
        keys.name,
        keys.search,
        details.reference,
        details.is_bidder,
        details.is_consignor,
        state.block.is_some(),
        state.version,
        to_json(state)?,
        erased_at_ms(state),
        kept_until_ms(state),
        into.as_ref().map(Uuid::as_bytes)
    ];
    match rows::execute(db, sql, values).map_err(|error| error.or_taken("reference"))? {
        1 => put_keys(db, state),
        _ => Err(StoreError::Conflict.into()),
    }
}

fn find(db: &Connection, uuid: Uuid) -> SqlResult<Option<Party>> {
    rows::one(db, "SELECT state FROM parties WHERE uuid = ?1", [uuid.as_bytes()], party)
}

pub(super) fn party(row: &Row<'_>) -> SqlResult<Party> {
    rows::json(row, 0)
}
