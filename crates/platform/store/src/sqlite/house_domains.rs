//! Domains of houses' own.

use async_trait::async_trait;
use jiff::Timestamp;
use platform_core::port::{HouseDomain, HouseDomainStore, ServedDomain, StoreError, StoreResult, Versioned};
use rusqlite::{Connection, params};
use uuid::Uuid;

use super::SqliteStore;
use super::rows::{self, SqlResult};
use crate::codec::{ms, to_json};

#[async_trait]
impl HouseDomainStore for SqliteStore {
    async fn house_domain(&self, customer: Uuid) -> StoreResult<Option<HouseDomain>> {
        let select = "SELECT state FROM house_domains WHERE customer = ?1";
        self.read(move |db| rows::one(db, select, [customer.as_bytes()], |row| rows::json(row, 0))).await
    }

    async fn proven_domain(&self, domain: &str) -> StoreResult<Option<HouseDomain>> {
        let (select, domain) = ("SELECT state FROM house_domains WHERE proven = ?1", domain.to_owned());
        self.read(move |db| rows::one(db, select, [domain], |row| rows::json(row, 0))).await
    }

    async fn served_domains(&self, limit: usize) -> StoreResult<Vec<ServedDomain>> {
        let select = "SELECT d.proven, d.customer, h.saleroom FROM house_domains d JOIN houses h ON h.customer = d.customer \
             WHERE d.proven IS NOT NULL AND h.saleroom IS NOT NULL ORDER BY d.proven LIMIT ?1";
        self.read(move |db| {
            rows::list(db, select, [rows::limit(limit)], |row| {
                Ok(ServedDomain { domain: row.get(0)?, customer: rows::uuid(row, 1)?, address: row.get(2)? })
            })
        })
        .await
    }

    async fn domains_due(&self, now: Timestamp, limit: usize) -> StoreResult<Vec<HouseDomain>> {
        let select = "SELECT state FROM house_domains WHERE due_at_ms <= ?1 ORDER BY due_at_ms, customer LIMIT ?2";
        self.read(move |db| rows::list(db, select, (ms(now), rows::limit(limit)), |row| rows::json(row, 0))).await
    }

    async fn troubled_domains(&self, limit: usize) -> StoreResult<Vec<HouseDomain>> {
        let select = "SELECT state FROM house_domains WHERE is_troubled = 1 ORDER BY customer LIMIT ?1";
        self.read(move |db| rows::list(db, select, [rows::limit(limit)], |row| rows::json(row, 0))).await
    }

    async fn put_house_domains(&self, domains: Vec<Versioned<HouseDomain>>) -> StoreResult<()> {
        self.write(move |db| domains.iter().try_for_each(|domain| put(db, domain))).await
    }

    async fn delete_house_domain(&self, customer: Uuid, version: i64) -> StoreResult<()> {
        let delete = "DELETE FROM house_domains WHERE customer = ?1 AND version = ?2";
        self.write(move |db| one_row(rows::execute(db, delete, (customer.as_bytes(), version))?)).await
    }
}

fn put(db: &Connection, Versioned { expected_version, state }: &Versioned<HouseDomain>) -> SqlResult<()> {
    let proven = state.proven_at.map(|_| &state.domain);
    let due = state.due_at.map(ms);
    let (customer, json) = (state.customer.as_bytes(), to_json(state)?);
    let values = params![customer, state.version, json, proven, due, state.trouble().is_some(), expected_version];
    let upsert = "INSERT INTO house_domains (customer, version, state, proven, due_at_ms, is_troubled) \
         SELECT ?1, ?2, ?3, ?4, ?5, ?6 WHERE ?7 = 0 OR EXISTS (SELECT 1 FROM house_domains WHERE customer = ?1) \
         ON CONFLICT (customer) DO UPDATE SET version = excluded.version, state = excluded.state, \
             proven = excluded.proven, due_at_ms = excluded.due_at_ms, is_troubled = excluded.is_troubled \
         WHERE house_domains.version = ?7";
    one_row(rows::execute(db, upsert, values).map_err(|error| error.or_taken("domain"))?)
}

/// `Conflict` when the statement wrote no row, because another change came first.
fn one_row(written: usize) -> SqlResult<()> {
    if written == 1 { Ok(()) } else { Err(StoreError::Conflict.into()) }
}
