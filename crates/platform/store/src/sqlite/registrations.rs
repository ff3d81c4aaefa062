//! Registrations of bidders for an auction: paddles and spending limits.

use async_trait::async_trait;
use platform_core::port::{
    BidderItem, ExpectedRegistration, Page, Registration, RegistrationStatus, RegistrationStore, RegistrationWrite,
    SpendingVersion, StoreError, StoreResult, Versioned,
};
use platform_rules::Item;
use rusqlite::{Connection, Row, params};
use uuid::Uuid;

use super::rows::{self, SqlResult, after, is_constraint};
use super::{SqliteStore, audit, idempotency, limit_requests, mails, notices};
use crate::codec::{registration_status_code, to_json};

pub(super) const REGISTRATIONS: &str = "SELECT uuid FROM registrations INDEXED BY registrations_by_status \
     WHERE auction = ?1 AND status = ?2 AND uuid > ?3 ORDER BY uuid LIMIT ?4";

#[async_trait]
impl RegistrationStore for SqliteStore {
    async fn put_registration(&self, entry: RegistrationWrite) -> StoreResult<()> {
        self.write(move |db| {
            idempotency::keep_or_replay(db, entry.answer.as_ref())?;
            put(db, &entry.registration)?;
            audit::append(db, &entry.log)?;
            notices::put_causes(db, entry.notice_cause.as_slice())?;
            entry.limit_decided.as_ref().map_or(Ok(()), |decided| limit_requests::decide(db, decided))?;
            entry.mail.as_ref().map_or(Ok(()), |mail| mails::put_decision(db, mail))
        })
        .await
    }

    async fn registration(&self, uuid: Uuid) -> StoreResult<Option<Registration>> {
        let select = "SELECT state, spending_version FROM registrations WHERE uuid = ?1";
        self.read(move |db| rows::one(db, select, [uuid.as_bytes()], registration)).await
    }

    async fn registration_by_paddle(&self, auction: Uuid, paddle: &str) -> StoreResult<Option<Registration>> {
        let paddle = paddle.to_owned();
        let select = "SELECT state, spending_version FROM registrations WHERE auction = ?1 AND paddle = ?2";
        self.read(move |db| rows::one(db, select, (auction.as_bytes(), paddle), registration)).await
    }

    async fn registrations_of_paddles(&self, auction: Uuid, paddles: &[String]) -> StoreResult<Vec<Registration>> {
        let paddles = paddles.to_vec();
        let select = "SELECT state, spending_version FROM registrations WHERE auction = ?1 AND paddle = ?2";
        self.read(move |db| {
            let find = |paddle: &String| rows::one(db, select, (auction.as_bytes(), paddle), registration).transpose();
            paddles.iter().filter_map(find).collect()
        })
        .await
    }

    async fn similar_registration(&self, auction: Uuid, paddle: &str) -> StoreResult<Option<Registration>> {
        let paddle = paddle.to_owned();
        // SQLite's lower() changes ASCII letters only. The index has the paddle and the key, so no other state is read.
        let select = "SELECT state, spending_version FROM registrations WHERE uuid = (\
             SELECT uuid FROM registrations INDEXED BY registrations_by_paddle WHERE auction = ?1 AND paddle <> ?2 \
             AND ltrim(lower(paddle), '0') = ltrim(lower(?2), '0') ORDER BY uuid LIMIT 1)";
        self.read(move |db| rows::one(db, select, (auction.as_bytes(), paddle), registration)).await
    }

    async fn registrations(&self, auction: Uuid, page: Page<Uuid>) -> StoreResult<Vec<Registration>> {
        let select = "SELECT state, spending_version FROM registrations INDEXED BY registrations_of_auction \
             WHERE auction = ?1 AND uuid > ?2 ORDER BY uuid LIMIT ?3";
        self.read(move |db| {
            let values = (auction.as_bytes(), after(page), rows::limit(page.limit));
            rows::list(db, select, (values.0, values.1.as_bytes(), values.2), registration)
        })
        .await
    }

    async fn registrations_with_status(
        &self,
        auction: Uuid,
        statuses: &[RegistrationStatus],
        page: Page<Uuid>,
    ) -> StoreResult<Vec<Registration>> {
        let statuses = statuses.to_vec();
        self.read(move |db| with_status(db, auction, &statuses, page)).await
    }

    async fn highest_paddle(&self, auction: Uuid) -> StoreResult<i64> {
        let select = "SELECT number FROM registrations WHERE auction = ?1 AND number IS NOT NULL \
             ORDER BY number DESC LIMIT 1";
        let found = self.read(move |db| rows::one(db, select, [auction.as_bytes()], |row| Ok(row.get(0)?))).await?;
        Ok(found.unwrap_or(0))
    }

    async fn has_bid(&self, auction: Uuid, paddle: &str) -> StoreResult<bool> {
        let paddle = paddle.to_owned();
        let staked = "SELECT 1 FROM bidder_items WHERE auction = ?1 AND paddle = ?2 LIMIT 1";
        let bid =
            "SELECT 1 FROM items i CROSS JOIN bids b ON b.item = i.uuid WHERE i.auction = ?1 AND b.bidder = ?2 LIMIT 1";
        self.read(move |db| {
            let found = |select: &str| rows::one(db, select, (auction.as_bytes(), &paddle), |_| Ok(()));
            Ok(found(staked)?.is_some() || found(bid)?.is_some())
        })
        .await
    }

    async fn has_bidder_item(&self, auction: Uuid, paddle: &str, item: Uuid) -> StoreResult<bool> {
        let paddle = paddle.to_owned();
        let select = "SELECT 1 FROM bidder_items WHERE auction = ?1 AND paddle = ?2 AND item = ?3";
        self.read(move |db| {
            Ok(rows::one(db, select, (auction.as_bytes(), &paddle, item.as_bytes()), |_| Ok(()))?.is_some())
        })
        .await
    }

    async fn items_of_bidder(&self, auction: Uuid, paddle: &str, limit: usize) -> StoreResult<Vec<Item>> {
        let paddle = paddle.to_owned();
        let select = "SELECT i.state FROM bidder_items s JOIN items i ON i.uuid = s.item \
             WHERE s.auction = ?1 AND s.paddle = ?2 ORDER BY i.position LIMIT ?3";
        self.read(move |db| {
            rows::list(db, select, (auction.as_bytes(), paddle, rows::limit(limit)), |row| rows::json(row, 0))
        })
        .await
    }

    async fn record_bidder_items(&self, bidder_items: Vec<BidderItem>) -> StoreResult<()> {
        self.write(move |db| record_bidder_items(db, &bidder_items)).await
    }

    async fn committed_amount(&self, auction: Uuid, paddle: &str, except: Option<Uuid>) -> StoreResult<i64> {
        let paddle = paddle.to_owned();
        self.read(move |db| committed_amount(db, auction, &paddle, except.unwrap_or_default())).await
    }
}

pub(super) fn with_status(
    db: &Connection,
    auction: Uuid,
    statuses: &[RegistrationStatus],
    page: Page<Uuid>,
) -> SqlResult<Vec<Registration>> {
    let (after, limit) = (after(page), rows::limit(page.limit));
    let mut found = Vec::new();
    for status in statuses {
        let values = params![auction.as_bytes(), registration_status_code(*status), after.as_bytes(), limit];
        found.extend(rows::list(db, REGISTRATIONS, values, |row| rows::uuid(row, 0))?);
    }
    let select = "SELECT state, spending_version FROM registrations WHERE uuid = ?1";
    let registration = |uuid: Uuid| rows::one(db, select, [uuid.as_bytes()], registration);
    rows::first_page(found, page).into_iter().filter_map(|uuid| registration(uuid).transpose()).collect()
}

/// An error also rolls back the answer.
pub(super) fn put(db: &Connection, registration: &Versioned<Registration>) -> SqlResult<()> {
    let Versioned { expected_version, state } = registration;
    let (uuid, auction, party) = (state.uuid.as_bytes(), state.auction.as_bytes(), state.party);
    let party = party.as_ref().map(Uuid::as_bytes);
    let insert = "INSERT INTO registrations (uuid, auction, paddle, number, party, spending_version, version, state, status) \
         VALUES (?1, ?2, ?3, ?4, ?5, 1, ?6, ?7, ?8)";
    let update = "UPDATE registrations SET paddle = ?3, number = ?4, party = ?5, spending_version = spending_version + 1, version = ?6, state = ?7, \
         status = ?8 \
         WHERE uuid = ?1 AND version = ?6 - 1 AND auction = ?2 AND (paddle = ?3 OR NOT EXISTS \
         (SELECT 1 FROM bidder_items s WHERE s.auction = registrations.auction AND s.paddle = registrations.paddle))";
    let sql = if *expected_version == 0 { insert } else { update };
    let number = state.number();
    let json = to_json(state)?;
    let status = registration_status_code(state.status);
    let values = params![uuid, auction, state.paddle, number, party, state.version, json, status];
    match db.prepare_cached(sql)?.execute(values) {
        Ok(1) => Ok(()),
        Ok(_) => Err(StoreError::Conflict.into()),
        Err(error) if is_constraint(&error) => {
            let holder = "SELECT 1 FROM registrations WHERE auction = ?1 AND paddle = ?2 AND uuid <> ?3";
            let holder = rows::one(db, holder, params![auction, state.paddle, uuid], |_| Ok(()))?;
            Err(StoreError::Taken(if holder.is_some() { "paddle" } else { "party" }).into())
        }
        Err(error) => Err(error.into()),
    }
}

/// Raises the spending version of a registration. `Conflict` if it is not the expected one.
pub(super) fn advance_spending_version(db: &Connection, version: SpendingVersion) -> SqlResult<()> {
    let take =
        "UPDATE registrations SET spending_version = spending_version + 1 WHERE uuid = ?1 AND spending_version = ?2";
    match rows::execute(db, take, (version.registration.as_bytes(), version.expected))? {
        1 => Ok(()),
        _ => Err(StoreError::Conflict.into()),
    }
}

/// `Conflict` when the registration has another version than the expected one.
pub(super) fn check_registration(db: &Connection, seen: &ExpectedRegistration) -> SqlResult<()> {
    let select = "SELECT version FROM registrations WHERE auction = ?1 AND paddle = ?2";
    let found = rows::one(db, select, (seen.auction.as_bytes(), &seen.paddle), |row| Ok(row.get::<_, i64>(0)?))?;
    if found.unwrap_or(0) == seen.version { Ok(()) } else { Err(StoreError::Conflict.into()) }
}

pub(super) fn record_bidder_items(db: &Connection, bidder_items: &[BidderItem]) -> SqlResult<()> {
    let note = "INSERT INTO bidder_items (auction, paddle, item) VALUES (?1, ?2, ?3) ON CONFLICT DO NOTHING";
    for BidderItem { auction, paddle, item } in bidder_items {
        rows::execute(db, note, (auction.as_bytes(), paddle, item.as_bytes()))?;
    }
    Ok(())
}

fn committed_amount(db: &Connection, auction: Uuid, paddle: &str, except: Uuid) -> SqlResult<i64> {
    let select = "SELECT i.state FROM bidder_items s JOIN items i ON i.uuid = s.item \
         WHERE s.auction = ?1 AND s.paddle = ?2 AND s.item <> ?3";
    let bound = rows::list(db, select, (auction.as_bytes(), paddle, except.as_bytes()), |row| {
        Ok(rows::json::<Item>(row, 0)?.committed_by(paddle))
    })?;
    Ok(bound.into_iter().fold(0, i64::saturating_add))
}

pub(super) fn registration(row: &Row<'_>) -> SqlResult<Registration> {
    let state: Registration = rows::json(row, 0)?;
    Ok(Registration { spending_version: row.get(1)?, ..state })
}
