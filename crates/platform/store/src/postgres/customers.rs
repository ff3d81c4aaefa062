//! Customers, their auctioneers and addresses.

use async_trait::async_trait;
use kit_engine::postgres::{Connection, Transaction};
use platform_core::port::{
    Address, Auctioneer, AuctioneerChange, Customer, CustomerStore, IdempotentAnswer, NewAuctioneer, Page, StoreError,
    StoreResult, Versioned,
};
use tokio_postgres::Row;
use uuid::Uuid;

use super::rows::after;
use super::rows::{self, SqlError, SqlResult};
use super::{PostgresStore, idempotency};
use crate::codec::{ms, to_json};

const AUCTIONEER: &str = "SELECT id, uuid, customer, name, created_at_ms, profile, version FROM auctioneers";

/// Conditions for one page of the rows of a customer. The table needs an index by customer and UUID.
pub(super) const OF_CUSTOMER: &str =
    "WHERE (customer, uuid) > ($1, $2) AND customer <= $1 ORDER BY customer, uuid LIMIT $3";

#[async_trait]
impl CustomerStore for PostgresStore {
    async fn create_customer(&self, customer: Customer, answer: Option<IdempotentAnswer>) -> StoreResult<()> {
        self.write(&(customer, answer), |db, (customer, answer)| Box::pin(create(db, customer, answer.as_ref()))).await
    }

    async fn rename_customer(&self, uuid: Uuid, name: &str) -> StoreResult<bool> {
        let update = "UPDATE customers SET name = $2 WHERE uuid = $1";
        let renamed = rows::execute(&self.client().await?, update, &[&uuid, &name]).await;
        Ok(renamed.map(|rows| rows == 1).map_err(|error| error.or_taken("name"))?)
    }

    async fn customer(&self, uuid: Uuid) -> StoreResult<Option<Customer>> {
        Ok(find(&self.client().await?, uuid).await?)
    }

    async fn customers(&self, page: Page<Uuid>) -> StoreResult<Vec<Customer>> {
        Ok(list(&self.client().await?, page).await?)
    }

    async fn next_auctioneer_id(&self) -> StoreResult<i64> {
        let draw = "SELECT nextval(pg_get_serial_sequence('auctioneers', 'id'))";
        let drawn = rows::one(&self.client().await?, draw, &[], |row| rows::get(row, 0)).await?;
        drawn.ok_or_else(|| StoreError::Corrupt("the counter of auctioneer ids is missing".to_owned()))
    }

    async fn create_auctioneer(&self, auctioneer: NewAuctioneer) -> StoreResult<Auctioneer> {
        self.write(&auctioneer, |db, new| Box::pin(create_auctioneer(db, new))).await
    }

    async fn auctioneer(&self, uuid: Uuid) -> StoreResult<Option<Auctioneer>> {
        Ok(find_auctioneer(&self.client().await?, uuid).await?)
    }

    async fn auctioneer_by_id(&self, id: i64) -> StoreResult<Option<Auctioneer>> {
        Ok(auctioneer_by_id(&self.client().await?, id).await?)
    }

    async fn auctioneers(&self, customer: Option<Uuid>, page: Page<Uuid>) -> StoreResult<Vec<Auctioneer>> {
        Ok(auctioneers(&self.client().await?, customer, page).await?)
    }

    async fn change_auctioneer(&self, change: AuctioneerChange) -> StoreResult<()> {
        self.write(&change, |db, change| Box::pin(change_auctioneer(db, change))).await
    }

    async fn next_address_id(&self) -> StoreResult<i64> {
        let draw = "SELECT nextval('address_ids')";
        let drawn = rows::one(&self.client().await?, draw, &[], |row| rows::get(row, 0)).await?;
        drawn.ok_or_else(|| StoreError::Corrupt("the counter of address ids is missing".to_owned()))
    }

    async fn address(&self, id: i64) -> StoreResult<Option<Address>> {
        let select = "SELECT id, customer, model FROM addresses WHERE id = $1";
        Ok(rows::one(&self.client().await?, select, &[&id], address).await?)
    }
}

/// An error rolls back the transaction.
async fn change_auctioneer(db: &Transaction<'_>, change: &AuctioneerChange) -> SqlResult<()> {
    let Versioned { expected_version, state } = &change.auctioneer;
    let update = "UPDATE auctioneers SET name = $2, profile = $3, version = $4 WHERE uuid = $1 AND version = $5";
    let profile = to_json(&state.profile)?;
    let values: rows::Values<'_> = &[&state.uuid, &state.name, &profile, &state.version, expected_version];
    let changed = rows::execute(db, update, values).await.map_err(|error| error.or_taken("name"))?;
    if changed == 0 {
        return Err(StoreError::Conflict.into());
    }
    put_address(db, change.address.as_ref()).await
}

/// Inserts an address, or replaces the address with the same id.
pub(super) async fn put_address(db: &impl Connection, address: Option<&Address>) -> SqlResult<()> {
    let Some(Address { id, customer, model }) = address else { return Ok(()) };
    let put = "INSERT INTO addresses (id, customer, model) VALUES ($1, $2, $3) \
         ON CONFLICT (id) DO UPDATE SET model = excluded.model";
    rows::execute(db, put, &[id, customer, &to_json(model)?]).await.map(drop)
}

fn address(row: &Row) -> SqlResult<Address> {
    Ok(Address { id: rows::get(row, 0)?, customer: rows::get(row, 1)?, model: rows::json(row, 2)? })
}

/// An error also rolls back the answer.
pub(super) async fn create(
    db: &Transaction<'_>,
    customer: &Customer,
    answer: Option<&IdempotentAnswer>,
) -> SqlResult<()> {
    idempotency::keep_or_replay(db, answer).await?;
    let insert = "INSERT INTO customers (uuid, name, created_at_ms) VALUES ($1, $2, $3)";
    let done = rows::execute(db, insert, &[&customer.uuid, &customer.name, &ms(customer.created_at)]).await;
    done.map(drop).map_err(|error| error.or_taken("name"))
}

pub(super) async fn find(db: &impl Connection, uuid: Uuid) -> SqlResult<Option<Customer>> {
    let select = "SELECT uuid, name, created_at_ms FROM customers WHERE uuid = $1";
    rows::one(db, select, &[&uuid], customer).await
}

pub(super) async fn list(db: &impl Connection, page: Page<Uuid>) -> SqlResult<Vec<Customer>> {
    let select = "SELECT uuid, name, created_at_ms FROM customers WHERE uuid > $1 ORDER BY uuid LIMIT $2";
    rows::list(db, select, &[&after(page), &rows::limit(page.limit)], customer).await
}

fn customer(row: &Row) -> SqlResult<Customer> {
    Ok(Customer { uuid: rows::get(row, 0)?, name: rows::get(row, 1)?, created_at: rows::time(row, 2)? })
}

/// A taken name does not use up an id, unless two transactions insert it at the same time.
pub(super) async fn create_auctioneer(db: &Transaction<'_>, new: &NewAuctioneer) -> SqlResult<Auctioneer> {
    idempotency::keep_or_replay(db, new.answer.as_ref()).await?;
    let insert = "INSERT INTO auctioneers (uuid, customer, name, created_at_ms, profile, version, id) \
         SELECT $1, $2, $3, $4, $5, 1, coalesce($6, nextval(pg_get_serial_sequence('auctioneers', 'id'))) \
         WHERE NOT EXISTS (SELECT 1 FROM auctioneers WHERE customer = $2 AND name = $3) \
         RETURNING id, uuid, customer, name, created_at_ms, profile, version";
    let profile = to_json(&new.profile)?;
    let values: rows::Values<'_> = &[&new.uuid, &new.customer, &new.name, &ms(new.created_at), &profile, &new.id];
    let created = rows::one(db, insert, values, auctioneer).await.map_err(|error| error.or_taken("name"))?;
    let created = created.ok_or(SqlError::Store(StoreError::Taken("name")))?;
    put_address(db, new.address.as_ref()).await?;
    Ok(created)
}

pub(super) async fn find_auctioneer(db: &impl Connection, uuid: Uuid) -> SqlResult<Option<Auctioneer>> {
    rows::one(db, &format!("{AUCTIONEER} WHERE uuid = $1"), &[&uuid], auctioneer).await
}

pub(super) async fn auctioneer_by_id(db: &impl Connection, id: i64) -> SqlResult<Option<Auctioneer>> {
    rows::one(db, &format!("{AUCTIONEER} WHERE id = $1"), &[&id], auctioneer).await
}

pub(super) async fn auctioneers(
    db: &impl Connection,
    customer: Option<Uuid>,
    page: Page<Uuid>,
) -> SqlResult<Vec<Auctioneer>> {
    let (after, limit) = (rows::after(page), rows::limit(page.limit));
    match customer {
        None => {
            let select = format!("{AUCTIONEER} WHERE uuid > $1 ORDER BY uuid LIMIT $2");
            rows::list(db, &select, &[&after, &limit], auctioneer).await
        }
        Some(customer) => {
            let select = format!("{AUCTIONEER} {OF_CUSTOMER}");
            rows::list(db, &select, &[&customer, &after, &limit], auctioneer).await
        }
    }
}

fn auctioneer(row: &Row) -> SqlResult<Auctioneer> {
    Ok(Auctioneer {
        id: rows::get(row, 0)?,
        uuid: rows::get(row, 1)?,
        customer: rows::get(row, 2)?,
        name: rows::get(row, 3)?,
        created_at: rows::time(row, 4)?,
        profile: rows::json(row, 5)?,
        version: rows::get(row, 6)?,
    })
}
