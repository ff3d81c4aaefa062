//! Customers, and their auctioneers.

use platform_core::port::{Auctioneer, Customer, IdempotentAnswer, NewAuctioneer, Page};
use rusqlite::{Connection, Row, params};
use uuid::Uuid;

use super::rows::{self, SqlResult};
use super::{access, reference};
use crate::codec::{ms, to_json};

/// An error undoes the answer as well: it is that of the whole job.
pub(super) fn create(db: &Connection, customer: &Customer, answer: Option<&IdempotentAnswer>) -> SqlResult<()> {
    access::keep_or_replay(db, answer)?;
    let insert = "INSERT INTO customers (uuid, name, created_at_ms) VALUES (?1, ?2, ?3)";
    let values = params![customer.uuid.as_bytes(), customer.name, ms(customer.created_at)];
    rows::execute(db, insert, values).map(drop).map_err(|error| error.or_taken("name"))
}

pub(super) fn find(db: &Connection, uuid: Uuid) -> SqlResult<Option<Customer>> {
    rows::one(db, "SELECT uuid, name, created_at_ms FROM customers WHERE uuid = ?1", [uuid.as_bytes()], customer)
}

pub(super) fn list(db: &Connection, page: Page<Uuid>) -> SqlResult<Vec<Customer>> {
    let select = "SELECT uuid, name, created_at_ms FROM customers WHERE uuid > ?1 ORDER BY uuid LIMIT ?2";
    rows::list(db, select, (after(page).as_bytes(), rows::limit(page.limit)), customer)
}

fn customer(row: &Row<'_>) -> SqlResult<Customer> {
    Ok(Customer { uuid: rows::uuid(row, 0)?, name: row.get(1)?, created_at: rows::time(row, 2)? })
}

pub(super) fn create_auctioneer(db: &Connection, new: NewAuctioneer) -> SqlResult<Auctioneer> {
    access::keep_or_replay(db, new.answer.as_ref())?;
    let insert = "INSERT INTO auctioneers (uuid, customer, name, created_at_ms, profile, version, id) \
         VALUES (?1, ?2, ?3, ?4, ?5, 1, ?6)";
    let profile = to_json(&new.profile)?;
    let values = params![new.uuid.as_bytes(), new.customer.as_bytes(), new.name, ms(new.created_at), profile, new.id];
    rows::execute(db, insert, values).map_err(|error| error.or_taken("name"))?;
    let (auctioneer, address) = new.with_id(db.last_insert_rowid());
    reference::put(db, address.as_ref())?;
    Ok(auctioneer)
}

const AUCTIONEER: &str = "SELECT id, uuid, customer, name, created_at_ms, profile, version FROM auctioneers";

pub(super) fn find_auctioneer(db: &Connection, uuid: Uuid) -> SqlResult<Option<Auctioneer>> {
    rows::one(db, &format!("{AUCTIONEER} WHERE uuid = ?1"), [uuid.as_bytes()], auctioneer)
}

pub(super) fn auctioneer_by_id(db: &Connection, id: i64) -> SqlResult<Option<Auctioneer>> {
    rows::one(db, &format!("{AUCTIONEER} WHERE id = ?1"), [id], auctioneer)
}

pub(super) fn auctioneers(db: &Connection, customer: Option<Uuid>, page: Page<Uuid>) -> SqlResult<Vec<Auctioneer>> {
    let (after, limit) = (after(page), rows::limit(page.limit));
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

/// The key that a page begins after; nothing has the nil UUID.
pub(super) fn after(page: Page<Uuid>) -> Uuid {
    page.after.unwrap_or(Uuid::nil())
}
