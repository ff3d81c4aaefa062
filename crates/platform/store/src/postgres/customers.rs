//! Customers, and their auctioneers.

use deadpool_postgres::{GenericClient, Transaction};
use platform_core::port::{Auctioneer, Customer, IdempotentAnswer, NewAuctioneer, Page, StoreError};
use tokio_postgres::Row;
use uuid::Uuid;

use super::rows::{self, SqlError, SqlResult};
use super::{access, reference};
use crate::codec::{ms, to_json};

/// An error undoes the answer as well: it is that of the whole job.
pub(super) async fn create(
    db: &Transaction<'_>,
    customer: &Customer,
    answer: Option<&IdempotentAnswer>,
) -> SqlResult<()> {
    access::keep_or_replay(db, answer).await?;
    let insert = "INSERT INTO customers (uuid, name, created_at_ms) VALUES ($1, $2, $3)";
    let done = rows::execute(db, insert, &[&customer.uuid, &customer.name, &ms(customer.created_at)]).await;
    done.map(drop).map_err(|error| error.or_taken("name"))
}

pub(super) async fn find(db: &impl GenericClient, uuid: Uuid) -> SqlResult<Option<Customer>> {
    let select = "SELECT uuid, name, created_at_ms FROM customers WHERE uuid = $1";
    rows::one(db, select, &[&uuid], customer).await
}

pub(super) async fn list(db: &impl GenericClient, page: Page<Uuid>) -> SqlResult<Vec<Customer>> {
    let select = "SELECT uuid, name, created_at_ms FROM customers WHERE uuid > $1 ORDER BY uuid LIMIT $2";
    rows::list(db, select, &[&after(page), &rows::limit(page.limit)], customer).await
}

fn customer(row: &Row) -> SqlResult<Customer> {
    Ok(Customer { uuid: rows::get(row, 0)?, name: rows::get(row, 1)?, created_at: rows::time(row, 2)? })
}

/// A name that is taken costs no id, unless two take it at the same time.
pub(super) async fn create_auctioneer(db: &Transaction<'_>, new: &NewAuctioneer) -> SqlResult<Auctioneer> {
    access::keep_or_replay(db, new.answer.as_ref()).await?;
    let insert = "INSERT INTO auctioneers (uuid, customer, name, created_at_ms, profile, version, id) \
         SELECT $1, $2, $3, $4, $5, 1, coalesce($6, nextval(pg_get_serial_sequence('auctioneers', 'id'))) \
         WHERE NOT EXISTS (SELECT 1 FROM auctioneers WHERE customer = $2 AND name = $3) \
         RETURNING id, uuid, customer, name, created_at_ms, profile, version";
    let profile = to_json(&new.profile)?;
    let values: rows::Values<'_> = &[&new.uuid, &new.customer, &new.name, &ms(new.created_at), &profile, &new.id];
    let created = rows::one(db, insert, values, auctioneer).await.map_err(|error| error.or_taken("name"))?;
    let created = created.ok_or(SqlError::Store(StoreError::Taken("name")))?;
    reference::put(db, new.address.as_ref()).await?;
    Ok(created)
}

const AUCTIONEER: &str = "SELECT id, uuid, customer, name, created_at_ms, profile, version FROM auctioneers";

/// A page of a customer's rows, of a table whose index has them by customer and UUID.
pub(super) const OF_CUSTOMER: &str =
    "WHERE (customer, uuid) > ($1, $2) AND customer <= $1 ORDER BY customer, uuid LIMIT $3";

pub(super) async fn find_auctioneer(db: &impl GenericClient, uuid: Uuid) -> SqlResult<Option<Auctioneer>> {
    rows::one(db, &format!("{AUCTIONEER} WHERE uuid = $1"), &[&uuid], auctioneer).await
}

pub(super) async fn auctioneer_by_id(db: &impl GenericClient, id: i64) -> SqlResult<Option<Auctioneer>> {
    rows::one(db, &format!("{AUCTIONEER} WHERE id = $1"), &[&id], auctioneer).await
}

pub(super) async fn auctioneers(
    db: &impl GenericClient,
    customer: Option<Uuid>,
    page: Page<Uuid>,
) -> SqlResult<Vec<Auctioneer>> {
    let (after, limit) = (after(page), rows::limit(page.limit));
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

/// The key that a page begins after; nothing has the nil UUID.
pub(super) fn after(page: Page<Uuid>) -> Uuid {
    page.after.unwrap_or(Uuid::nil())
}
