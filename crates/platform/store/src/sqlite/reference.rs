//! Addresses, and changes of auctioneers.

use async_trait::async_trait;
use platform_core::port::{Address, AuctioneerChange, References, StoreError, StoreResult, Versioned};
use rusqlite::{Connection, Row, params};

use super::SqliteStore;
use super::rows::{self, SqlResult};
use crate::codec::to_json;

#[async_trait]
impl References for SqliteStore {
    async fn next_address_id(&self) -> StoreResult<i64> {
        self.write(next_id).await
    }

    async fn address(&self, id: i64) -> StoreResult<Option<Address>> {
        let select = "SELECT id, customer, model FROM addresses WHERE id = ?1";
        self.read(move |db| rows::one(db, select, [id], address)).await
    }

    async fn change_auctioneer(&self, change: AuctioneerChange) -> StoreResult<()> {
        self.write(move |db| change_auctioneer(db, &change)).await
    }
}

fn next_id(db: &Connection) -> SqlResult<i64> {
    let draw = "UPDATE address_ids SET last = last + 1 RETURNING last";
    let drawn = rows::one(db, draw, [], |row| Ok(row.get(0)?))?;
    Ok(drawn.ok_or_else(|| StoreError::Corrupt("the table of address ids is empty".to_owned()))?)
}

/// An error undoes the whole job.
fn change_auctioneer(db: &Connection, change: &AuctioneerChange) -> SqlResult<()> {
    let Versioned { expected_version, state } = &change.auctioneer;
    let update = "UPDATE auctioneers SET name = ?2, profile = ?3, version = ?4 WHERE uuid = ?1 AND version = ?5";
    let profile = to_json(&state.profile)?;
    let values = params![state.uuid.as_bytes(), state.name, profile, state.version, expected_version];
    if rows::execute(db, update, values).map_err(|error| error.or_taken("name"))? == 0 {
        return Err(StoreError::Conflict.into());
    }
    put(db, change.address.as_ref())
}

/// Writes an address, in place of the one with its id.
pub(super) fn put(db: &Connection, address: Option<&Address>) -> SqlResult<()> {
    let Some(Address { id, customer, model }) = address else { return Ok(()) };
    let put = "INSERT INTO addresses (id, customer, model) VALUES (?1, ?2, ?3) \
         ON CONFLICT (id) DO UPDATE SET model = excluded.model";
    rows::execute(db, put, params![id, customer.as_bytes(), to_json(model)?]).map(drop)
}

fn address(row: &Row<'_>) -> SqlResult<Address> {
    Ok(Address { id: row.get(0)?, customer: rows::uuid(row, 1)?, model: rows::json(row, 2)? })
}
