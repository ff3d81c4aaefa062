//! Houses, their conditions of sale, and the facts of their sales.

use async_trait::async_trait;
use kit_engine::postgres::Transaction;
use platform_core::port::{
    Conditions, House, HouseStore, HouseWrite, Page, SaleFacts, StoreError, StoreResult, Versioned,
};
use tokio_postgres::Row;
use uuid::Uuid;

use super::PostgresStore;
use super::rows::{self, SqlResult};
use crate::codec::{corrupt, ms, to_json};

const CONDITIONS: &str = "SELECT customer, number, text, actor, created_at_ms FROM conditions WHERE customer = $1";

#[async_trait]
impl HouseStore for PostgresStore {
    async fn house(&self, customer: Uuid) -> StoreResult<Option<House>> {
        let select = "SELECT state FROM houses WHERE customer = $1";
        Ok(rows::one(&self.client().await?, select, &[&customer], |row| rows::json(row, 0)).await?)
    }

    async fn house_at(&self, address: &str) -> StoreResult<Option<House>> {
        let select = "SELECT state FROM houses WHERE saleroom = $1";
        Ok(rows::one(&self.client().await?, select, &[&address], |row| rows::json(row, 0)).await?)
    }

    async fn houses_with_saleroom(&self, page: Page<String>) -> StoreResult<Vec<House>> {
        // In the order of bytes, as SQLite has it.
        let select =
            "SELECT state FROM houses WHERE saleroom COLLATE \"C\" > $1 ORDER BY saleroom COLLATE \"C\" LIMIT $2";
        let (after, limit) = (page.after.unwrap_or_default(), rows::limit(page.limit));
        Ok(rows::list(&self.client().await?, select, &[&after, &limit], |row| rows::json(row, 0)).await?)
    }

    async fn put_house(&self, entry: HouseWrite) -> StoreResult<()> {
        self.write(&entry, |db, entry| Box::pin(put(db, entry))).await
    }

    async fn logo_content(&self, uuid: Uuid) -> StoreResult<Option<Vec<u8>>> {
        let select = "SELECT content FROM house_logos WHERE uuid = $1";
        Ok(rows::one(&self.client().await?, select, &[&uuid], |row| rows::get(row, 0)).await?)
    }

    async fn add_conditions(&self, conditions: Conditions) -> StoreResult<()> {
        let Conditions { customer, number, text, actor, created_at } = &conditions;
        let insert = "INSERT INTO conditions (customer, number, text, actor, created_at_ms) \
             VALUES ($1, $2, $3, $4, $5) ON CONFLICT DO NOTHING";
        let values: rows::Values<'_> = &[customer, &i64::from(*number), text, actor, &ms(*created_at)];
        Ok(one_row(rows::execute(&self.client().await?, insert, values).await?)?)
    }

    async fn conditions(&self, customer: Uuid, number: u32) -> StoreResult<Option<Conditions>> {
        let select = format!("{CONDITIONS} AND number = $2");
        Ok(rows::one(&self.client().await?, &select, &[&customer, &i64::from(number)], conditions).await?)
    }

    async fn conditions_list(&self, customer: Uuid, page: Page<u32>) -> StoreResult<Vec<Conditions>> {
        let select = format!("{CONDITIONS} AND number < $2 ORDER BY number DESC LIMIT $3");
        let before = i64::from(page.after.unwrap_or(u32::MAX));
        let values: rows::Values<'_> = &[&customer, &before, &rows::limit(page.limit)];
        Ok(rows::list(&self.client().await?, &select, values, conditions).await?)
    }

    async fn sale_facts(&self, auction: Uuid) -> StoreResult<Option<SaleFacts>> {
        let select = "SELECT state FROM sale_facts WHERE auction = $1";
        Ok(rows::one(&self.client().await?, select, &[&auction], |row| rows::json(row, 0)).await?)
    }

    async fn put_sale_facts(&self, facts: Versioned<SaleFacts>) -> StoreResult<()> {
        let Versioned { expected_version, state } = &facts;
        let upsert = "INSERT INTO sale_facts (auction, version, state) SELECT $1::uuid, $2::bigint, $3::text \
             WHERE $4::bigint = 0 OR EXISTS (SELECT 1 FROM sale_facts WHERE auction = $1) \
             ON CONFLICT (auction) DO UPDATE SET version = excluded.version, state = excluded.state \
             WHERE sale_facts.version = $4";
        let values: rows::Values<'_> = &[&state.auction, &state.version, &to_json(state)?, expected_version];
        Ok(one_row(rows::execute(&self.client().await?, upsert, values).await?)?)
    }
}

async fn put(db: &Transaction<'_>, entry: &HouseWrite) -> SqlResult<()> {
    let Versioned { expected_version, state } = &entry.house;
    let upsert = "INSERT INTO houses (customer, version, state, saleroom) SELECT $1::uuid, $2::bigint, $3::text, $5::text \
         WHERE $4::bigint = 0 OR EXISTS (SELECT 1 FROM houses WHERE customer = $1) \
         ON CONFLICT (customer) DO UPDATE SET version = excluded.version, state = excluded.state, \
             saleroom = excluded.saleroom \
         WHERE houses.version = $4";
    let address = &state.saleroom.address;
    let values: rows::Values<'_> = &[&state.customer, &state.version, &to_json(state)?, expected_version, address];
    one_row(rows::execute(db, upsert, values).await.map_err(|error| error.or_taken("address"))?)?;
    let logo = state.logo.as_ref().map_or(Uuid::nil(), |logo| logo.uuid);
    if let Some(content) = &entry.logo {
        let insert = "INSERT INTO house_logos (uuid, customer, content) VALUES ($1, $2, $3)";
        rows::execute(db, insert, &[&logo, &state.customer, content]).await?;
    }
    let delete = "DELETE FROM house_logos WHERE customer = $1 AND uuid <> $2";
    rows::execute(db, delete, &[&state.customer, &logo]).await.map(drop)
}

/// `Conflict` when the statement wrote no row, because another change came first.
fn one_row(written: u64) -> Result<(), StoreError> {
    if written == 1 { Ok(()) } else { Err(StoreError::Conflict) }
}

fn conditions(row: &Row) -> SqlResult<Conditions> {
    Ok(Conditions {
        customer: rows::get(row, 0)?,
        number: u32::try_from(rows::get::<i64>(row, 1)?).map_err(corrupt)?,
        text: rows::get(row, 2)?,
        actor: rows::get(row, 3)?,
        created_at: rows::time(row, 4)?,
    })
}
