//! Houses, their conditions of sale, and the facts of their sales.

use async_trait::async_trait;
use platform_core::port::{
    Conditions, House, HouseStore, HouseWrite, Page, SaleFacts, StoreError, StoreResult, Versioned,
};
use rusqlite::{Connection, Row, params};
use uuid::Uuid;

use super::SqliteStore;
use super::rows::{self, SqlError, SqlResult};
use crate::codec::{ms, to_json};

const CONDITIONS: &str = "SELECT customer, number, text, actor, created_at_ms FROM conditions WHERE customer = ?1";

#[async_trait]
impl HouseStore for SqliteStore {
    async fn house(&self, customer: Uuid) -> StoreResult<Option<House>> {
        let select = "SELECT state FROM houses WHERE customer = ?1";
        self.read(move |db| rows::one(db, select, [customer.as_bytes()], |row| rows::json(row, 0))).await
    }

    async fn house_at(&self, address: &str) -> StoreResult<Option<House>> {
        let (select, address) = ("SELECT state FROM houses WHERE saleroom = ?1", address.to_owned());
        self.read(move |db| rows::one(db, select, [address], |row| rows::json(row, 0))).await
    }

    async fn houses_with_saleroom(&self, page: Page<String>) -> StoreResult<Vec<House>> {
        let select = "SELECT state FROM houses WHERE saleroom > ?1 ORDER BY saleroom LIMIT ?2";
        let (after, limit) = (page.after.unwrap_or_default(), rows::limit(page.limit));
        self.read(move |db| rows::list(db, select, (after, limit), |row| rows::json(row, 0))).await
    }

    async fn put_house(&self, entry: HouseWrite) -> StoreResult<()> {
        self.write(move |db| put(db, &entry)).await
    }

    async fn logo_content(&self, uuid: Uuid) -> StoreResult<Option<Vec<u8>>> {
        let select = "SELECT content FROM house_logos WHERE uuid = ?1";
        self.read(move |db| rows::one(db, select, [uuid.as_bytes()], |row| Ok(row.get(0)?))).await
    }

    async fn add_conditions(&self, conditions: Conditions) -> StoreResult<()> {
        let insert =
            "INSERT INTO conditions (customer, number, text, actor, created_at_ms) VALUES (?1, ?2, ?3, ?4, ?5)";
        self.write(move |db| {
            let Conditions { customer, number, text, actor, created_at } = &conditions;
            let values = params![customer.as_bytes(), number, text, actor, ms(*created_at)];
            match rows::execute(db, insert, values) {
                Err(SqlError::Statement(error)) if rows::is_constraint(&error) => Err(StoreError::Conflict.into()),
                outcome => outcome.map(drop),
            }
        })
        .await
    }

    async fn conditions(&self, customer: Uuid, number: u32) -> StoreResult<Option<Conditions>> {
        let select = format!("{CONDITIONS} AND number = ?2");
        self.read(move |db| rows::one(db, &select, (customer.as_bytes(), number), conditions)).await
    }

    async fn conditions_list(&self, customer: Uuid, page: Page<u32>) -> StoreResult<Vec<Conditions>> {
        let select = format!("{CONDITIONS} AND number < ?2 ORDER BY number DESC LIMIT ?3");
        let (before, limit) = (page.after.unwrap_or(u32::MAX), rows::limit(page.limit));
        self.read(move |db| rows::list(db, &select, (customer.as_bytes(), before, limit), conditions)).await
    }

    async fn sale_facts(&self, auction: Uuid) -> StoreResult<Option<SaleFacts>> {
        let select = "SELECT state FROM sale_facts WHERE auction = ?1";
        self.read(move |db| rows::one(db, select, [auction.as_bytes()], |row| rows::json(row, 0))).await
    }

    async fn put_sale_facts(&self, facts: Versioned<SaleFacts>) -> StoreResult<()> {
        self.write(move |db| {
            let Versioned { expected_version, state } = &facts;
            let values = params![state.auction.as_bytes(), state.version, to_json(state)?, expected_version];
            let upsert = "INSERT INTO sale_facts (auction, version, state) SELECT ?1, ?2, ?3 \
                 WHERE ?4 = 0 OR EXISTS (SELECT 1 FROM sale_facts WHERE auction = ?1) \
                 ON CONFLICT (auction) DO UPDATE SET version = excluded.version, state = excluded.state \
                 WHERE sale_facts.version = ?4";
            one_row(rows::execute(db, upsert, values)?)
        })
        .await
    }
}

fn put(db: &Connection, entry: &HouseWrite) -> SqlResult<()> {
    let Versioned { expected_version, state } = &entry.house;
    let address = &state.saleroom.address;
    let values = params![state.customer.as_bytes(), state.version, to_json(state)?, expected_version, address];
    let upsert = "INSERT INTO houses (customer, version, state, saleroom) SELECT ?1, ?2, ?3, ?5 \
         WHERE ?4 = 0 OR EXISTS (SELECT 1 FROM houses WHERE customer = ?1) \
         ON CONFLICT (customer) DO UPDATE SET version = excluded.version, state = excluded.state, \
             saleroom = excluded.saleroom \
         WHERE houses.version = ?4";
    match rows::execute(db, upsert, values) {
        Err(SqlError::Statement(error)) if rows::is_constraint(&error) => {
            return Err(StoreError::Taken("address").into());
        }
        written => one_row(written?)?,
    }
    let logo = state.logo.as_ref().map_or(Uuid::nil(), |logo| logo.uuid);
    if let Some(content) = &entry.logo {
        let insert = "INSERT INTO house_logos (uuid, customer, content) VALUES (?1, ?2, ?3)";
        rows::execute(db, insert, params![logo.as_bytes(), state.customer.as_bytes(), content])?;
    }
    let delete = "DELETE FROM house_logos WHERE customer = ?1 AND uuid <> ?2";
    rows::execute(db, delete, params![state.customer.as_bytes(), logo.as_bytes()]).map(drop)
}

/// `Conflict` when the statement wrote no row, because another change came first.
fn one_row(written: usize) -> SqlResult<()> {
    if written == 1 { Ok(()) } else { Err(StoreError::Conflict.into()) }
}

fn conditions(row: &Row<'_>) -> SqlResult<Conditions> {
    Ok(Conditions {
        customer: rows::uuid(row, 0)?,
        number: row.get(1)?,
        text: row.get(2)?,
        actor: row.get(3)?,
        created_at: rows::time(row, 4)?,
    })
}
