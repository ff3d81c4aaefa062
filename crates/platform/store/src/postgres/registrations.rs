//! Registrations of bidders for an auction: paddles and spending limits.

use std::collections::{HashMap, HashSet};

use async_trait::async_trait;
use kit_engine::postgres::{Connection, Transaction};
use platform_core::port::{
    BidderItem, Change, ExpectedRegistration, Page, Registration, RegistrationStatus, RegistrationStore,
    RegistrationWrite, SpendingVersion, StoreError, StoreResult, Versioned,
};
use platform_rules::Item;
use tokio_postgres::Row;
use uuid::Uuid;

use super::rows::{self, SqlError, SqlResult, after};
use super::{PostgresStore, audit, idempotency, limit_requests, mails, notices};
use crate::codec::{registration_status_code, to_json};

pub(super) const REGISTRATIONS: &str = "SELECT r.state, r.spending_version FROM (SELECT p.uuid FROM unnest($2::smallint[]) AS s (status) \
     CROSS JOIN LATERAL (SELECT uuid FROM registrations WHERE auction = $1 \
         AND (status, uuid) > (s.status, $3) AND status <= s.status ORDER BY status, uuid LIMIT $4) AS p \
     ORDER BY p.uuid LIMIT $4) AS f \
     CROSS JOIN LATERAL (SELECT state, spending_version FROM registrations WHERE uuid = f.uuid LIMIT 1) AS r ORDER BY f.uuid";

pub(super) const OF_AUCTION: &str = "SELECT state, spending_version FROM registrations \
     WHERE (auction, uuid) > ($1, $2) AND auction <= $1 ORDER BY auction, uuid LIMIT $3";

pub(super) const OF_PADDLE: &str = "SELECT state, spending_version FROM (SELECT auction, paddle, state, spending_version FROM registrations \
         WHERE (auction, paddle) >= ($1, $2) ORDER BY auction, paddle LIMIT 1) AS f \
     WHERE auction = $1 AND paddle = $2";

pub(super) const OF_PADDLES: &str = "SELECT r.state, r.spending_version FROM unnest($2::text[]) AS p (paddle) \
     CROSS JOIN LATERAL (SELECT auction, paddle, state, spending_version FROM registrations \
         WHERE (auction, paddle) >= ($1, p.paddle) ORDER BY auction, paddle LIMIT 1) AS r \
     WHERE r.auction = $1 AND r.paddle = p.paddle";

/// `translate` changes ASCII letters only, whatever the locale of the database.
pub(super) const SIMILAR_PADDLE: &str = "SELECT state, spending_version FROM registrations WHERE auction = $1 AND paddle <> $2 \
     AND ltrim(translate(paddle, 'ABCDEFGHIJKLMNOPQRSTUVWXYZ', 'abcdefghijklmnopqrstuvwxyz'), '0') = ltrim($3, '0') \
     ORDER BY uuid LIMIT 1";

#[async_trait]
impl RegistrationStore for PostgresStore {
    async fn put_registration(&self, entry: RegistrationWrite) -> StoreResult<()> {
        self.write(&entry, |db, entry| Box::pin(put(db, entry))).await
    }

    async fn registration(&self, uuid: Uuid) -> StoreResult<Option<Registration>> {
        let select = "SELECT state, spending_version FROM registrations WHERE uuid = $1";
        Ok(rows::one(&self.client().await?, select, &[&uuid], registration).await?)
    }

    async fn registration_by_paddle(&self, auction: Uuid, paddle: &str) -> StoreResult<Option<Registration>> {
        if paddle.contains('\0') {
            return Ok(None);
        }
        Ok(rows::one(&self.client().await?, OF_PADDLE, &[&auction, &paddle], registration).await?)
    }

    async fn registrations_of_paddles(&self, auction: Uuid, paddles: &[String]) -> StoreResult<Vec<Registration>> {
        let paddles: Vec<&String> = paddles.iter().filter(|paddle| !paddle.contains('\0')).collect();
        Ok(rows::list(&self.client().await?, OF_PADDLES, &[&auction, &paddles], registration).await?)
    }

    async fn similar_registration(&self, auction: Uuid, paddle: &str) -> StoreResult<Option<Registration>> {
        if paddle.contains('\0') {
            return Ok(None);
        }
        let lower = paddle.to_ascii_lowercase();
        let values: rows::Values<'_> = &[&auction, &paddle, &lower];
        Ok(rows::one(&self.client().await?, SIMILAR_PADDLE, values, registration).await?)
    }

    async fn registrations(&self, auction: Uuid, page: Page<Uuid>) -> StoreResult<Vec<Registration>> {
        let values: rows::Values<'_> = &[&auction, &after(page), &rows::limit(page.limit)];
        Ok(rows::list(&self.client().await?, OF_AUCTION, values, registration).await?)
    }

    async fn registrations_with_status(
        &self,
        auction: Uuid,
        statuses: &[RegistrationStatus],
        page: Page<Uuid>,
    ) -> StoreResult<Vec<Registration>> {
        let statuses: Vec<i16> = statuses.iter().map(|status| registration_status_code(*status)).collect();
        let values: rows::Values<'_> = &[&auction, &statuses, &after(page), &rows::limit(page.limit)];
        Ok(rows::list(&self.client().await?, REGISTRATIONS, values, registration).await?)
    }

    async fn highest_paddle(&self, auction: Uuid) -> StoreResult<i64> {
        let select = "SELECT number FROM registrations WHERE auction = $1 AND number IS NOT NULL \
             ORDER BY number DESC LIMIT 1";
        let found = rows::one(&self.client().await?, select, &[&auction], |row| rows::get(row, 0)).await?;
        Ok(found.unwrap_or(0))
    }

    async fn has_bid(&self, auction: Uuid, paddle: &str) -> StoreResult<bool> {
        if paddle.contains('\0') {
            return Ok(false);
        }
        let select = "SELECT 1 WHERE EXISTS (SELECT 1 FROM bidder_items WHERE auction = $1 AND paddle = $2) \
             OR EXISTS (SELECT 1 FROM items i JOIN bids b ON b.item = i.uuid WHERE i.auction = $1 AND b.bidder = $2)";
        Ok(rows::one(&self.client().await?, select, &[&auction, &paddle], |_| Ok(())).await?.is_some())
    }

    async fn has_bidder_item(&self, auction: Uuid, paddle: &str, item: Uuid) -> StoreResult<bool> {
        if paddle.contains('\0') {
            return Ok(false);
        }
        let select = "SELECT 1 FROM bidder_items WHERE auction = $1 AND paddle = $2 AND item = $3";
        Ok(rows::one(&self.client().await?, select, &[&auction, &paddle, &item], |_| Ok(())).await?.is_some())
    }

    async fn items_of_bidder(&self, auction: Uuid, paddle: &str, limit: usize) -> StoreResult<Vec<Item>> {
        if paddle.contains('\0') {
            return Ok(Vec::new());
        }
        let select = "SELECT i.state FROM bidder_items s JOIN items i ON i.uuid = s.item \
             WHERE s.auction = $1 AND s.paddle = $2 ORDER BY i.position LIMIT $3";
        let values: rows::Values<'_> = &[&auction, &paddle, &rows::limit(limit)];
        Ok(rows::list(&self.client().await?, select, values, |row| rows::json(row, 0)).await?)
    }

    async fn record_bidder_items(&self, bidder_items: Vec<BidderItem>) -> StoreResult<()> {
        let bidder_items: Vec<&BidderItem> = bidder_items.iter().collect();
        Ok(record_bidder_items(&self.client().await?, &bidder_items).await?)
    }

    async fn committed_amount(&self, auction: Uuid, paddle: &str, except: Option<Uuid>) -> StoreResult<i64> {
        let select = "SELECT i.state FROM bidder_items s JOIN items i ON i.uuid = s.item \
             WHERE s.auction = $1 AND s.paddle = $2 AND s.item <> $3";
        let values: rows::Values<'_> = &[&auction, &paddle, &except.unwrap_or_default()];
        let bound = rows::list(&self.client().await?, select, values, |row| {
            Ok(rows::json::<Item>(row, 0)?.committed_by(paddle))
        })
        .await?;
        Ok(bound.into_iter().fold(0, i64::saturating_add))
    }
}

/// An error also rolls back the answer.
pub(super) async fn put(db: &Transaction<'_>, entry: &RegistrationWrite) -> SqlResult<()> {
    idempotency::keep_or_replay(db, entry.answer.as_ref()).await?;
    let Versioned { expected_version, state } = &entry.registration;
    let insert = "INSERT INTO registrations (uuid, auction, paddle, number, party, spending_version, version, state, status) \
         VALUES ($1, $2, $3, $4, $5, 1, $6, $7, $8)";
    let update = "UPDATE registrations r SET paddle = $3, number = $4, party = $5, spending_version = spending_version + 1, version = $6, state = $7, \
         status = $8 \
         WHERE uuid = $1 AND version + 1 = $6 AND auction = $2 AND (paddle = $3 OR NOT EXISTS \
         (SELECT 1 FROM bidder_items s WHERE s.auction = r.auction AND s.paddle = r.paddle))";
    let sql = if *expected_version == 0 { insert } else { update };
    if *expected_version > 0 {
        // The lock waits for bids that depend on the registration, so that the next statement finds their
        // `bidder_items`.
        let lock = "SELECT 1 FROM registrations WHERE uuid = $1 FOR UPDATE";
        rows::one(db, lock, &[&state.uuid], |_| Ok(())).await?;
    }
    let number = state.number();
    let json = to_json(state)?;
    let status = registration_status_code(state.status);
    let values: rows::Values<'_> =
        &[&state.uuid, &state.auction, &state.paddle, &number, &state.party, &state.version, &json, &status];
    match rows::execute(db, sql, values).await.map_err(taken)? {
        1 => audit::append(db, &entry.log.iter().collect::<Vec<_>>()).await?,
        _ => return Err(StoreError::Conflict.into()),
    }
    notices::put_causes(db, &entry.notice_cause.iter().collect::<Vec<_>>()).await?;
    if let Some(decided) = &entry.limit_decided {
        limit_requests::decide(db, decided).await?;
    }
    match &entry.mail {
        Some(mail) => mails::put_decision(db, mail).await,
        None => Ok(()),
    }
}

fn taken(error: SqlError) -> SqlError {
    let error = match error.taken() {
        None => return error,
        Some("registrations_by_paddle") => StoreError::Taken("paddle"),
        Some("registrations_by_party") => StoreError::Taken("party"),
        Some(_) => StoreError::Conflict,
    };
    error.into()
}

/// Locks the registrations whose spending changes, in the order of their UUIDs, and returns their next spending
/// versions. Callers lock auctions and items first.
pub(super) async fn lock_spending_versions(db: &Transaction<'_>, changes: &[&Change]) -> SqlResult<HashMap<Uuid, i64>> {
    let wanted: Vec<Uuid> = changes.iter().filter_map(|change| Some(change.spending_version?.registration)).collect();
    if wanted.is_empty() {
        return Ok(HashMap::new());
    }
    let lock = "SELECT uuid, spending_version FROM registrations WHERE uuid = ANY($1) ORDER BY uuid FOR UPDATE";
    let found = rows::list(db, lock, &[&wanted], |row| Ok((rows::get(row, 0)?, rows::get(row, 1)?))).await?;
    Ok(found.into_iter().collect())
}

/// Versions of the existing registrations on which changes depend. Concurrent changes of these registrations wait until
/// the end of this transaction.
pub(super) async fn lock_registrations(
    db: &Transaction<'_>,
    changes: &[&Change],
) -> SqlResult<HashMap<(Uuid, String), i64>> {
    let seen: HashSet<&ExpectedRegistration> =
        changes.iter().filter_map(|change| change.registration.as_ref()).collect();
    if seen.is_empty() {
        return Ok(HashMap::new());
    }
    let (auctions, paddles): (Vec<Uuid>, Vec<&str>) =
        seen.into_iter().map(|seen| (seen.auction, seen.paddle.as_str())).unzip();
    let lock = "SELECT r.auction, r.paddle, r.version FROM registrations r \
         JOIN unnest($1::uuid[], $2::text[]) AS n (auction, paddle) ON r.auction = n.auction AND r.paddle = n.paddle \
         ORDER BY r.uuid FOR SHARE OF r";
    let found = rows::list(db, lock, &[&auctions, &paddles], |row| {
        Ok(((rows::get(row, 0)?, rows::get(row, 1)?), rows::get(row, 2)?))
    })
    .await?;
    Ok(found.into_iter().collect())
}

/// Writes the spending versions and the rows of `bidder_items`.
pub(super) async fn write(db: &Transaction<'_>, changes: &[&Change]) -> SqlResult<()> {
    let mut spending_versions: HashMap<Uuid, i64> = HashMap::new();
    for SpendingVersion { registration, expected } in changes.iter().filter_map(|change| change.spending_version) {
        spending_versions.insert(registration, expected + 1);
    }
    if !spending_versions.is_empty() {
        let (registrations, versions): (Vec<Uuid>, Vec<i64>) = spending_versions.into_iter().unzip();
        let update = "UPDATE registrations r SET spending_version = n.spending_version FROM unnest($1::uuid[], $2::bigint[]) AS n (uuid, spending_version) \
             WHERE r.uuid = n.uuid";
        rows::execute(db, update, &[&registrations, &versions]).await?;
    }
    let bidder_items: Vec<&BidderItem> = changes.iter().flat_map(|change| &change.bidder_items).collect();
    record_bidder_items(db, &bidder_items).await
}

async fn record_bidder_items(db: &impl Connection, bidder_items: &[&BidderItem]) -> SqlResult<()> {
    if bidder_items.is_empty() {
        return Ok(());
    }
    // Sorted, so that two transactions with the same rows can't deadlock.
    let mut bidder_items = bidder_items.to_vec();
    bidder_items.sort_by(|a, b| (a.auction, &a.paddle, a.item).cmp(&(b.auction, &b.paddle, b.item)));
    let auctions: Vec<Uuid> = bidder_items.iter().map(|bidder_item| bidder_item.auction).collect();
    let paddles: Vec<&str> = bidder_items.iter().map(|bidder_item| bidder_item.paddle.as_str()).collect();
    let items: Vec<Uuid> = bidder_items.iter().map(|bidder_item| bidder_item.item).collect();
    let insert = "INSERT INTO bidder_items (auction, paddle, item) SELECT * FROM unnest($1::uuid[], $2::text[], $3::uuid[]) \
         ON CONFLICT DO NOTHING";
    rows::execute(db, insert, &[&auctions, &paddles, &items]).await.map(drop)
}

pub(super) fn registration(row: &Row) -> SqlResult<Registration> {
    let state: Registration = rows::json(row, 0)?;
    Ok(Registration { spending_version: rows::get(row, 1)?, ..state })
}
