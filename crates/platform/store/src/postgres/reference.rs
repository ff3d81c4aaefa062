//! Addresses, and changes of auctioneers.

use async_trait::async_trait;
use deadpool_postgres::{GenericClient, Transaction};
use platform_core::port::{Address, AuctioneerChange, References, StoreError, StoreResult, Versioned};
use tokio_postgres::Row;

use super::PostgresStore;
use super::rows::{self, SqlResult};
use crate::codec::to_json;

#[async_trait]
impl References for PostgresStore {
    async fn next_address_id(&self) -> StoreResult<i64> {
        let draw = "SELECT nextval('address_ids')";
        let drawn = rows::one(&self.client().await?, draw, &[], |row| rows::get(row, 0)).await?;
        drawn.ok_or_else(|| StoreError::Corrupt("there are no address ids".to_owned()))
    }

    async fn address(&self, id: i64) -> StoreResult<Option<Address>> {
        let select = "SELECT id, customer, model FROM addresses WHERE id = $1";
        Ok(rows::one(&self.client().await?, select, &[&id], address).await?)
    }

    async fn change_auctioneer(&self, change: AuctioneerChange) -> StoreResult<()> {
        self.write(&change, |db, change| Box::pin(change_auctioneer(db, change))).await
    }
}

/// An error undoes the whole of it.
async fn change_auctioneer(db: &Transaction<'_>, change: &AuctioneerChange) -> SqlResult<()> {
    let Versioned { expected_version, state } = &change.auctioneer;
    let update = "UPDATE auctioneers SET name = $2, profile = $3, version = $4 WHERE uuid = $1 AND version = $5";
    let profile = to_json(&state.profile)?;
    let values: rows::Values<'_> = &[&state.uuid, &state.name, &profile, &state.version, expected_version];
    let changed = rows::execute(db, update, values).await.map_err(|error| error.or_taken("name"))?;
    if changed == 0 {
        return Err(StoreError::Conflict.into());
    }
    put(db, change.address.as_ref()).await
}

/// Writes an address, in place of the one with its id.
pub(super) async fn put(db: &impl GenericClient, address: Option<&Address>) -> SqlResult<()> {
    let Some(Address { id, customer, model }) = address else { return Ok(()) };
    let put = "INSERT INTO addresses (id, customer, model) VALUES ($1, $2, $3) \
         ON CONFLICT (id) DO UPDATE SET model = excluded.model";
    rows::execute(db, put, &[id, customer, &to_json(model)?]).await.map(drop)
}

fn address(row: &Row) -> SqlResult<Address> {
    Ok(Address { id: rows::get(row, 0)?, customer: rows::get(row, 1)?, model: rows::json(row, 2)? })
}
