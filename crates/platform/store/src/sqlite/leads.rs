//! Leads, and the items that wait to be entered by them.

use async_trait::async_trait;
use jiff::Timestamp;
use platform_core::new_item::NewItem;
use platform_core::port::{Lead, LeadStep, Leads, StoreError, StoreResult};
use rusqlite::{Connection, params};
use uuid::Uuid;

use super::Sqlite;
use super::rows::{self, Outcome, is_constraint};
use crate::codec::{import_of, ms, to_json};

#[async_trait]
impl Leads for Sqlite {
    async fn lead(&self, auction: Uuid) -> StoreResult<Option<Lead>> {
        let select = "SELECT state FROM leads WHERE auction = ?1";
        self.read(move |db| rows::one(db, select, [auction.as_bytes()], |row| rows::json(row, 0))).await
    }

    async fn leads(&self, limit: usize) -> StoreResult<Vec<Lead>> {
        let select = "SELECT state FROM leads ORDER BY auction LIMIT ?1";
        self.read(move |db| rows::list(db, select, [rows::limit(limit)], |row| rows::json(row, 0))).await
    }

    async fn stage(&self, import: Uuid, number: i64, items: Vec<NewItem>, at: Timestamp) -> StoreResult<()> {
        // Not in the writer's time.
        let items = to_json(&items)?;
        let insert = "INSERT INTO staged_items (import, number, items, at_ms) VALUES (?1, ?2, ?3, ?4)";
        self.write(move |db| {
            rows::execute(db, insert, params![import.as_bytes(), number, items, ms(at)])
                .map(drop)
                .map_err(|fault| fault.or_taken("piece"))
        })
        .await
    }

    async fn staged(&self, import: Uuid, number: i64) -> StoreResult<Option<Vec<NewItem>>> {
        let select = "SELECT items FROM staged_items WHERE import = ?1 AND number = ?2";
        self.read(move |db| rows::one(db, select, (import.as_bytes(), number), |row| rows::json(row, 0))).await
    }

    async fn unstage(&self, import: Uuid, limit: usize) -> StoreResult<usize> {
        let delete = "DELETE FROM staged_items WHERE no IN (SELECT no FROM staged_items WHERE import = ?1 \
             AND NOT EXISTS (SELECT 1 FROM leads WHERE import = ?1) ORDER BY number LIMIT ?2)";
        self.write(move |db| rows::execute(db, delete, (import.as_bytes(), rows::limit(limit)))).await
    }

    async fn unstage_forgotten(&self, before: Timestamp, limit: usize) -> StoreResult<usize> {
        let select = "SELECT 1 FROM staged_items LIMIT 1";
        if self.read(move |db| rows::one(db, select, [], |_| Ok(()))).await?.is_none() {
            return Ok(0);
        }
        let delete = "DELETE FROM staged_items WHERE no IN (SELECT s.no FROM staged_items s WHERE s.at_ms < ?1 \
             AND NOT EXISTS (SELECT 1 FROM leads l WHERE l.import = s.import) LIMIT ?2)";
        self.write(move |db| rows::execute(db, delete, (ms(before), rows::limit(limit)))).await
    }
}

/// Takes a step; `Conflict` when it is not the next one any more.
pub(super) fn take_step(db: &Connection, step: &LeadStep) -> Outcome<()> {
    let LeadStep { auction, seen, lead, entered } = step;
    let auction = auction.as_bytes();
    let done = match (seen, lead) {
        (None, Some(lead)) => {
            let insert = "INSERT INTO leads (auction, step, import, state) VALUES (?1, ?2, ?3, ?4)";
            let import = import_of(lead);
            let values = params![auction, lead.step, import.as_ref().map(Uuid::as_bytes), to_json(lead)?];
            match db.prepare_cached(insert)?.execute(values) {
                Err(error) if is_constraint(&error) => return Err(StoreError::Conflict.into()),
                done => done?,
            }
        }
        (Some(seen), Some(lead)) => {
            let update = "UPDATE leads SET step = ?3, state = ?4 WHERE auction = ?1 AND step = ?2";
            rows::execute(db, update, params![auction, seen, lead.step, to_json(lead)?])?
        }
        (Some(seen), None) => {
            rows::execute(db, "DELETE FROM leads WHERE auction = ?1 AND step = ?2", params![auction, seen])?
        }
        (None, None) => 1,
    };
    if done != 1 {
        return Err(StoreError::Conflict.into());
    }
    if let Some((import, number)) = entered {
        let delete = "DELETE FROM staged_items WHERE import = ?1 AND number = ?2";
        rows::execute(db, delete, (import.as_bytes(), number))?;
    }
    Ok(())
}
