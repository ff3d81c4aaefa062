//! Registrations of bidders, and their stakes.

use async_trait::async_trait;
use platform_core::port::{
    Page, Registration, RegistrationEntry, Registrations, SeenRegistration, Stake, StoreError, StoreResult, Turn,
    Versioned,
};
use platform_rules::Item;
use rusqlite::{Connection, Row, params};
use uuid::Uuid;

use super::customers::after;
use super::rows::{self, Outcome, is_constraint};
use super::{Sqlite, access, log};
use crate::codec::{registration_status_code, to_json};

#[async_trait]
impl Registrations for Sqlite {
    async fn put_registration(&self, entry: RegistrationEntry) -> StoreResult<()> {
        self.write(move |db| {
            access::keep_or_replay(db, entry.answer.as_ref())?;
            put(db, &entry.registration)?;
            log::append(db, &entry.log)
        })
        .await
    }

    async fn registration(&self, uuid: Uuid) -> StoreResult<Option<Registration>> {
        let select = "SELECT state, turn FROM registrations WHERE uuid = ?1";
        self.read(move |db| rows::one(db, select, [uuid.as_bytes()], registration)).await
    }

    async fn registration_of(&self, auction: Uuid, paddle: &str) -> StoreResult<Option<Registration>> {
        let paddle = paddle.to_owned();
        let select = "SELECT state, turn FROM registrations WHERE auction = ?1 AND paddle = ?2";
        self.read(move |db| rows::one(db, select, (auction.as_bytes(), paddle), registration)).await
    }

    async fn registrations(&self, auction: Uuid, page: Page<Uuid>) -> StoreResult<Vec<Registration>> {
        let select = "SELECT state, turn FROM registrations INDEXED BY registrations_of_auction \
             WHERE auction = ?1 AND uuid > ?2 ORDER BY uuid LIMIT ?3";
        self.read(move |db| {
            let values = (auction.as_bytes(), after(page), rows::limit(page.limit));
            rows::list(db, select, (values.0, values.1.as_bytes(), values.2), registration)
        })
        .await
    }

    async fn highest_paddle(&self, auction: Uuid) -> StoreResult<i64> {
        let select = "SELECT number FROM registrations WHERE auction = ?1 AND number IS NOT NULL \
             ORDER BY number DESC LIMIT 1";
        let found = self.read(move |db| rows::one(db, select, [auction.as_bytes()], |row| Ok(row.get(0)?))).await?;
        Ok(found.unwrap_or(0))
    }

    async fn note_stakes(&self, stakes: Vec<Stake>) -> StoreResult<()> {
        self.write(move |db| note(db, &stakes)).await
    }

    async fn committed(&self, auction: Uuid, paddle: &str, except: Option<Uuid>) -> StoreResult<i64> {
        let paddle = paddle.to_owned();
        self.read(move |db| committed(db, auction, &paddle, except.unwrap_or_default())).await
    }
}

/// An error undoes the whole job, the answer included.
fn put(db: &Connection, registration: &Versioned<Registration>) -> Outcome<()> {
    let Versioned { expected_version, state } = registration;
    let (uuid, auction, party) = (state.uuid.as_bytes(), state.auction.as_bytes(), state.party);
    let party = party.as_ref().map(Uuid::as_bytes);
    let insert = "INSERT INTO registrations (uuid, auction, paddle, number, party, turn, version, state, status) \
         VALUES (?1, ?2, ?3, ?4, ?5, 1, ?6, ?7, ?8)";
    let update = "UPDATE registrations SET paddle = ?3, number = ?4, party = ?5, turn = turn + 1, version = ?6, state = ?7, \
         status = ?8 \
         WHERE uuid = ?1 AND version = ?6 - 1 AND auction = ?2 AND (paddle = ?3 OR NOT EXISTS \
         (SELECT 1 FROM stakes s WHERE s.auction = registrations.auction AND s.paddle = registrations.paddle))";
    let sql = if *expected_version == 0 { insert } else { update };
    let (number, json, status) = (state.number(), to_json(state)?, registration_status_code(state.status));
    let values = params![uuid, auction, state.paddle, number, party, state.version, json, status];
    match db.prepare_cached(sql)?.execute(values) {
        Ok(1) => Ok(()),
        Ok(_) => Err(StoreError::Conflict.into()),
        Err(error) if is_constraint(&error) => {
            let holder = "SELECT 1 FROM registrations WHERE auction = ?1 AND paddle = ?2 AND uuid <> ?3";
            let taken = rows::one(db, holder, params![auction, state.paddle, uuid], |_| Ok(()))?;
            Err(StoreError::Taken(if taken.is_some() { "paddle" } else { "party" }).into())
        }
        Err(error) => Err(error.into()),
    }
}

/// Takes a turn; `Conflict` when it is not the next one any more.
pub(super) fn take_turn(db: &Connection, turn: Turn) -> Outcome<()> {
    let take = "UPDATE registrations SET turn = turn + 1 WHERE uuid = ?1 AND turn = ?2";
    match rows::execute(db, take, (turn.registration.as_bytes(), turn.seen))? {
        1 => Ok(()),
        _ => Err(StoreError::Conflict.into()),
    }
}

/// `Conflict` when the registration is another than the one that was seen.
pub(super) fn same_registration(db: &Connection, seen: &SeenRegistration) -> Outcome<()> {
    let select = "SELECT version FROM registrations WHERE auction = ?1 AND paddle = ?2";
    let found = rows::one(db, select, (seen.auction.as_bytes(), &seen.paddle), |row| Ok(row.get::<_, i64>(0)?))?;
    if found.unwrap_or(0) == seen.version { Ok(()) } else { Err(StoreError::Conflict.into()) }
}

pub(super) fn note(db: &Connection, stakes: &[Stake]) -> Outcome<()> {
    let note = "INSERT INTO stakes (auction, paddle, item) VALUES (?1, ?2, ?3) ON CONFLICT DO NOTHING";
    for Stake { auction, paddle, item } in stakes {
        rows::execute(db, note, (auction.as_bytes(), paddle, item.as_bytes()))?;
    }
    Ok(())
}

fn committed(db: &Connection, auction: Uuid, paddle: &str, except: Uuid) -> Outcome<i64> {
    let select = "SELECT i.state FROM stakes s JOIN items i ON i.uuid = s.item \
         WHERE s.auction = ?1 AND s.paddle = ?2 AND s.item <> ?3";
    let bound = rows::list(db, select, (auction.as_bytes(), paddle, except.as_bytes()), |row| {
        Ok(rows::json::<Item>(row, 0)?.bound_for(paddle))
    })?;
    Ok(bound.into_iter().fold(0, i64::saturating_add))
}

pub(super) fn registration(row: &Row<'_>) -> Outcome<Registration> {
    let state: Registration = rows::json(row, 0)?;
    Ok(Registration { turn: row.get(1)?, ..state })
}
