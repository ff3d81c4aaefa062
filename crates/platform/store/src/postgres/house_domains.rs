//! Domains of houses' own.

use async_trait::async_trait;
use jiff::Timestamp;
use kit_engine::postgres::Transaction;
use platform_core::port::{HouseDomain, HouseDomainStore, ServedDomain, StoreError, StoreResult, Versioned};
use uuid::Uuid;

use super::PostgresStore;
use super::rows::{self, SqlResult};
use crate::codec::{ms, to_json};

#[async_trait]
impl HouseDomainStore for PostgresStore {
    async fn house_domain(&self, customer: Uuid) -> StoreResult<Option<HouseDomain>> {
        let select = "SELECT state FROM house_domains WHERE customer = $1";
        Ok(rows::one(&self.client().await?, select, &[&customer], |row| rows::json(row, 0)).await?)
    }

    async fn proven_domain(&self, domain: &str) -> StoreResult<Option<HouseDomain>> {
        let select = "SELECT state FROM house_domains WHERE proven = $1";
        Ok(rows::one(&self.client().await?, select, &[&domain], |row| rows::json(row, 0)).await?)
    }

    async fn served_domains(&self, limit: usize) -> StoreResult<Vec<ServedDomain>> {
        // In the order of bytes, as SQLite has it.
        let select = "SELECT d.proven, d.customer, h.saleroom FROM house_domains d JOIN houses h ON h.customer = d.customer \
             WHERE d.proven IS NOT NULL AND h.saleroom IS NOT NULL ORDER BY d.proven COLLATE \"C\" LIMIT $1";
        let served = |row: &tokio_postgres::Row| {
            Ok(ServedDomain { domain: rows::get(row, 0)?, customer: rows::get(row, 1)?, address: rows::get(row, 2)? })
        };
        Ok(rows::list(&self.client().await?, select, &[&rows::limit(limit)], served).await?)
    }

    async fn domains_due(&self, now: Timestamp, limit: usize) -> StoreResult<Vec<HouseDomain>> {
        let select = "SELECT state FROM house_domains WHERE due_at_ms <= $1 ORDER BY due_at_ms, customer LIMIT $2";
        let values: rows::Values<'_> = &[&ms(now), &rows::limit(limit)];
        Ok(rows::list(&self.client().await?, select, values, |row| rows::json(row, 0)).await?)
    }

    async fn troubled_domains(&self, limit: usize) -> StoreResult<Vec<HouseDomain>> {
        let select = "SELECT state FROM house_domains WHERE is_troubled ORDER BY customer LIMIT $1";
        Ok(rows::list(&self.client().await?, select, &[&rows::limit(limit)], |row| rows::json(row, 0)).await?)
    }

    async fn put_house_domains(&self, domains: Vec<Versioned<HouseDomain>>) -> StoreResult<()> {
        self.write(&domains, |db, domains| {
            Box::pin(async move {
                for domain in domains {
                    put(db, domain).await?;
                }
                Ok(())
            })
        })
        .await
    }

    async fn delete_house_domain(&self, customer: Uuid, version: i64) -> StoreResult<()> {
        let delete = "DELETE FROM house_domains WHERE customer = $1 AND version = $2";
        Ok(one_row(rows::execute(&self.client().await?, delete, &[&customer, &version]).await?)?)
    }
}

async fn put(db: &Transaction<'_>, Versioned { expected_version, state }: &Versioned<HouseDomain>) -> SqlResult<()> {
    let proven = state.proven_at.map(|_| &state.domain);
    let (json, due) = (to_json(state)?, state.due_at.map(ms));
    let values: rows::Values<'_> =
        &[&state.customer, &state.version, &json, &proven, &due, &state.trouble().is_some(), expected_version];
    let upsert = "INSERT INTO house_domains (customer, version, state, proven, due_at_ms, is_troubled) \
         SELECT $1::uuid, $2::bigint, $3::text, $4::text, $5::bigint, $6::boolean \
         WHERE $7::bigint = 0 OR EXISTS (SELECT 1 FROM house_domains WHERE customer = $1) \
         ON CONFLICT (customer) DO UPDATE SET version = excluded.version, state = excluded.state, \
             proven = excluded.proven, due_at_ms = excluded.due_at_ms, is_troubled = excluded.is_troubled \
         WHERE house_domains.version = $7";
    Ok(one_row(rows::execute(db, upsert, values).await.map_err(|error| error.or_taken("domain"))?)?)
}

/// `Conflict` when the statement wrote no row, because another change came first.
fn one_row(written: u64) -> Result<(), StoreError> {
    if written == 1 { Ok(()) } else { Err(StoreError::Conflict) }
}
