//! Customers, their auctioneers and addresses.

use async_trait::async_trait;
use platform_core::port::{
    Address, Auctioneer, AuctioneerChange, Customer, CustomerStore, IdempotentAnswer, NewAuctioneer, Page, StoreError,
    StoreResult, Versioned,
};
use rusqlite::{Connection, Row, params};
use uuid::Uuid;

use super::rows::{self, SqlResult};
use super::{SqliteStore, idempotency};
use crate::codec::{ms, to_json};

const AUCTIONEER: &str = "SELECT id, uuid, customer, name, created_at_ms, profile, version FROM auctioneers";

#[async_trait]
impl CustomerStore for SqliteStore {
    async fn create_customer(&self, customer: Customer, answer: Option<IdempotentAnswer>) -> StoreResult<()> {
        self.write(move |db| create(db, &customer, answer.as_ref())).await
    }

    async fn rename_customer(&self, uuid: Uuid, name: &str) -> StoreResult<bool> {
        let update = "UPDATE customers SET name = ?2 WHERE uuid = ?1";
        let name = name.to_owned();
        self.write(move |db| {
            let renamed = rows::execute(db, update, params![uuid.as_bytes(), name]);
            renamed.map(|rows| rows == 1).map_err(|error| error.or_taken("name"))
        })
        .await
    }

    async fn customer(&self, uuid: Uuid) -> StoreResult<Option<Customer>> {
        self.read(move |db| find(db, uuid)).await
    }

    async fn customers(&self, page: Page<Uuid>) -> StoreResult<Vec<Customer>> {
        self.read(move |db| list(db, page)).await
    }

    async fn next_auctioneer_id(&self) -> StoreResult<i64> {
        self.write(next_auctioneer_id).await
    }

    async fn create_auctioneer(&self, auctioneer: NewAuctioneer) -> StoreResult<Auctioneer> {
        self.write(move |db| create_auctioneer(db, auctioneer)).await
    }

    async fn auctioneer(&self, uuid: Uuid) -> StoreResult<Option<Auctioneer>> {
        self.read(move |db| find_auctioneer(db, uuid)).await
    }

    async fn auctioneer_by_id(&self, id: i64) -> StoreResult<Option<Auctioneer>> {
        self.read(move |db| auctioneer_by_id(db, id)).await
    }

    async fn auctioneers(&self, customer: Option<Uuid>, page: Page<Uuid>) -> StoreResult<Vec<Auctioneer>> {
        self.read(move |db| auctioneers(db, customer, page)).await
    }

    async fn change_auctioneer(&self, change: AuctioneerChange) -> StoreResult<()> {
        self.write(move |db| change_auctioneer(db, &change)).await
    }

    async fn next_address_id(&self) -> StoreResult<i64> {
        self.write(next_address_id).await
    }

    async fn address(&self, id: i64) -> StoreResult<Option<Address>> {
        let select = "SELECT id, customer, model FROM addresses WHERE id = ?1";
        self.read(move |db| rows::one(db, select, [id], address)).await
    }
}

/// Reserves the next id, from the counter that `AUTOINCREMENT` uses.
fn next_auctioneer_id(db: &Connection) -> SqlResult<i64> {
    let begin = "INSERT INTO sqlite_sequence (name, seq) \
         SELECT 'auctioneers', 0 WHERE NOT EXISTS (SELECT 1 FROM sqlite_sequence WHERE name = 'auctioneers')";
    rows::execute(db, begin, [])?;
    let draw = "UPDATE sqlite_sequence SET seq = seq + 1 WHERE name = 'auctioneers' RETURNING seq";
    let drawn = rows::one(db, draw, [], |row| Ok(row.get(0)?))?;
    Ok(drawn.ok_or_else(|| StoreError::Corrupt("the counter of auctioneer ids is missing".to_owned()))?)
}

fn next_address_id(db: &Connection) -> SqlResult<i64> {
    let draw = "UPDATE address_ids SET last = last + 1 RETURNING last";
    let drawn = rows::one(db, draw, [], |row| Ok(row.get(0)?))?;
    Ok(drawn.ok_or_else(|| StoreError::Corrupt("the counter of address ids is missing".to_owned()))?)
}

/// An error rolls back the job.
fn change_auctioneer(db: &Connection, change: &AuctioneerChange) -> SqlResult<()> {
    let Versioned { expected_version, state } = &change.auctioneer;
    let update = "UPDATE auctioneers SET name = ?2, profile = ?3, version = ?4 WHERE uuid = ?1 AND version = ?5";
    let profile = to_json(&state.profile)?;
    let values = params![state.uuid.as_bytes(), state.name, profile, state.version, expected_version];
    if rows::execute(db, update, values).map_err(|error| error.or_taken("name"))? == 0 {
        return Err(StoreError::Conflict.into());
    }
    put_address(db, change.address.as_ref())
}

/// Inserts an address, or replaces the address with the same id.
pub(super) fn put_address(db: &Connection, address: Option<&Address>) -> SqlResult<()> {
    let Some(Address { id, customer, model }) = address else { return Ok(()) };
    let put = "INSERT INTO addresses (id, customer, model) VALUES (?1, ?2, ?3) \
         ON CONFLICT (id) DO UPDATE SET model = excluded.model";
    rows::execute(db, put, params![id, customer.as_bytes(), to_json(model)?]).map(drop)
}

fn address(row: &Row<'_>) -> SqlResult<Address> {
    Ok(Address { id: row.get(0)?, customer: rows::uuid(row, 1)?, model: rows::json(row, 2)? })
}

/// An error also rolls back the answer.
pub(super) fn create(db: &Connection, customer: &Customer, answer: Option<&IdempotentAnswer>) -> SqlResult<()> {
    idempotency::keep_or_replay(db, answer)?;
    let insert = "INSERT INTO customers (uuid, name, created_at_ms) VALUES (?1, ?2, ?3)";
    let values = params![customer.uuid.as_bytes(), customer.name, ms(customer.created_at)];
    rows::execute(db, insert, values).map(drop).map_err(|error| error.or_taken("name"))
}

pub(super) fn find(db: &Connection, uuid: Uuid) -> SqlResult<Option<Customer>> {
    rows::one(db, "SELECT uuid, name, created_at_ms FROM customers WHERE uuid = ?1", [uuid.as_bytes()], customer)
}

pub(super) fn list(db: &Connection, page: Page<Uuid>) -> SqlResult<Vec<Customer>> {
    let select = "SELECT uuid, name, created_at_ms FROM customers WHERE uuid > ?1 ORDER BY uuid LIMIT ?2";
    rows::list(db, select, (rows::after(page).as_bytes(), rows::limit(page.limit)), customer)
}

fn customer(row: &Row<'_>) -> SqlResult<Customer> {
    Ok(Customer { uuid: rows::uuid(row, 0)?, name: row.get(1)?, created_at: rows::time(row, 2)? })
}

pub(super) fn create_auctioneer(db: &Connection, new: NewAuctioneer) -> SqlResult<Auctioneer> {
    idempotency::keep_or_replay(db, new.answer.as_ref())?;
    let insert = "INSERT INTO auctioneers (uuid, customer, name, created_at_ms, profile, version, id) \
         VALUES (?1, ?2, ?3, ?4, ?5, 1, ?6)";
    let profile = to_json(&new.profile)?;
    let values = params![new.uuid.as_bytes(), new.customer.as_bytes(), new.name, ms(new.created_at), profile, new.id];
    rows::execute(db, insert, values).map_err(|error| error.or_taken("name"))?;
    let (auctioneer, address) = new.with_id(db.last_insert_rowid());
    put_address(db, address.as_ref())?;
    Ok(auctioneer)
}

pub(super) fn find_auctioneer(db: &Connection, uuid: Uuid) -> SqlResult<Option<Auctioneer>> {
    rows::one(db, &format!("{AUCTIONEER} WHERE uuid = ?1"), [uuid.as_bytes()], auctioneer)
}

pub(super) fn auctioneer_by_id(db: &Connection, id: i64) -> SqlResult<Option<Auctioneer>> {
    rows::one(db, &format!("{AUCTIONEER} WHERE id = ?1"), [id], auctioneer)
}

pub(super) fn auctioneers(db: &Connection, customer: Option<Uuid>, page: Page<Uuid>) -> SqlResult<Vec<Auctioneer>> {
    let (after, limit) = (rows::after(page), rows::limit(page.limit));
    match customer {
        None => {
            let select = format!("{AUCTIONEER} WHERE uuid > ?1 ORDER BY uuid LIMIT ?2");
            rows::list(db, &select, (after.as_bytes(), limit), auctioneer)
        }
        Some(customer) => {
            let select = format!("{AUCTIONEER} WHERE customer = ?1 AND uuid > ?2 ORDER BY uuid LIMIT ?3");
            rows::list(db, &select, (customer.as_bytes(), after.as_bytes(), limit), auctioneer)
        }
    }
}

fn auctioneer(row: &Row<'_>) -> SqlResult<Auctioneer> {
    Ok(Auctioneer {
        id: row.get(0)?,
        uuid: rows::uuid(row, 1)?,
        customer: rows::uuid(row, 2)?,
        name: row.get(3)?,
        created_at: rows::time(row, 4)?,
        profile: rows::json(row, 5)?,
        version: row.get(6)?,
    })
}
