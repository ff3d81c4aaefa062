//! Accounts of bidders, with their sessions, links, acceptances and watched items.

use async_trait::async_trait;
use jiff::Timestamp;
use platform_core::port::{
    AcceptedConditions, BidderAccount, BidderAccountChange, BidderAccountStore, BidderLink, BidderProfile,
    BidderSession, Digest, Registration, SessionsToEnd, StoreError, StoreResult, WatchedItem,
};
use rusqlite::{Connection, Row, params};
use uuid::Uuid;

use super::party_merges::records_of_person;
use super::registrations::registration;
use super::rows::{self, SqlResult};
use super::{SqliteStore, audit, parties, site_grants};
use crate::codec::{ms, to_json};

const ACCOUNT: &str = "SELECT uuid, customer, email, password_hash, party, details, version, created_at_ms, signed_in_at_ms, \
     closed_at_ms FROM bidder_accounts";
const SESSION: &str =
    "SELECT uuid, hash, account, address, created_at_ms, expires_at_ms, last_used_at_ms FROM bidder_sessions";
const WATCHED: &str = "SELECT account, item, auction, at_ms FROM watched_items WHERE account = ?1";

#[async_trait]
impl BidderAccountStore for SqliteStore {
    async fn put_bidder_link(&self, link: BidderLink) -> StoreResult<()> {
        let put = "INSERT INTO bidder_links (customer, email, hash, expires_at_ms) VALUES (?1, ?2, ?3, ?4)";
        self.write(move |db| {
            let BidderLink { customer, email, hash, expires_at } = &link;
            rows::execute(db, put, (customer.as_bytes(), email, hash, ms(*expires_at))).map(drop)
        })
        .await
    }

    async fn bidder_link(&self, hash: Digest) -> StoreResult<Option<BidderLink>> {
        let select = "SELECT customer, email, hash, expires_at_ms FROM bidder_links WHERE hash = ?1";
        self.read(move |db| rows::one(db, select, [hash], link)).await
    }

    async fn bidder_account(&self, uuid: Uuid) -> StoreResult<Option<BidderAccount>> {
        self.read(move |db| find(db, uuid)).await
    }

    async fn bidder_account_by_email(&self, customer: Uuid, email: &str) -> StoreResult<Option<BidderAccount>> {
        let (select, email) = (format!("{ACCOUNT} WHERE customer = ?1 AND email = ?2"), email.to_owned());
        self.read(move |db| rows::one(db, &select, (customer.as_bytes(), email), account)).await
    }

    async fn bidder_accounts_of(&self, parties: &[Uuid]) -> StoreResult<Vec<BidderAccount>> {
        let select = format!("{ACCOUNT} WHERE party = ?1 AND closed_at_ms IS NULL");
        let parties = parties.to_vec();
        self.read(move |db| {
            let mut found = Vec::new();
            for party in &parties {
                found.extend(rows::list(db, &select, [party.as_bytes()], account)?);
            }
            Ok(found)
        })
        .await
    }

    async fn open_bidder_account(&self, account: BidderAccount, link: Digest, now: Timestamp) -> StoreResult<()> {
        self.write(move |db| {
            use_link(db, link, now)?;
            insert(db, &account)
        })
        .await
    }

    async fn change_bidder_account(&self, change: BidderAccountChange) -> StoreResult<()> {
        self.write(move |db| change_account(db, &change)).await
    }

    async fn delete_bidder_account(&self, uuid: Uuid, version: i64) -> StoreResult<()> {
        self.write(move |db| {
            let delete = "DELETE FROM bidder_accounts WHERE uuid = ?1 AND version = ?2";
            one_row(rows::execute(db, delete, (uuid.as_bytes(), version))?)?;
            delete_belongings(db, uuid)
        })
        .await
    }

    async fn begin_bidder_session(&self, session: BidderSession, version: i64, sessions_max: usize) -> StoreResult<()> {
        self.write(move |db| begin(db, &session, version, sessions_max)).await
    }

    async fn bidder_session(&self, hash: Digest) -> StoreResult<Option<(BidderSession, BidderAccount)>> {
        self.read(move |db| {
            let found = rows::one(db, &format!("{SESSION} WHERE hash = ?1"), [hash], session)?;
            let Some(session) = found else { return Ok(None) };
            Ok(find(db, session.user)?.map(|account| (session, account)))
        })
        .await
    }

    async fn touch_bidder_session(&self, uuid: Uuid, at: Timestamp) -> StoreResult<()> {
        let touch = "UPDATE bidder_sessions SET last_used_at_ms = max(last_used_at_ms, ?2) WHERE uuid = ?1";
        self.write(move |db| rows::execute(db, touch, (uuid.as_bytes(), ms(at))).map(drop)).await
    }

    async fn end_bidder_session(&self, uuid: Uuid) -> StoreResult<()> {
        let delete = "DELETE FROM bidder_sessions WHERE uuid = ?1";
        self.write(move |db| rows::execute(db, delete, [uuid.as_bytes()]).map(drop)).await
    }

    async fn delete_expired_bidder_access(
        &self,
        now: Timestamp,
        idle_before: Timestamp,
        limit: usize,
    ) -> StoreResult<usize> {
        let over = "DELETE FROM bidder_sessions WHERE uuid IN (SELECT uuid FROM bidder_sessions \
             WHERE expires_at_ms < ?1 OR last_used_at_ms < ?2 LIMIT ?3)";
        let links = "DELETE FROM bidder_links WHERE hash IN (SELECT hash FROM bidder_links \
             WHERE expires_at_ms < ?1 LIMIT ?2)";
        self.write(move |db| {
            let ended = rows::execute(db, over, (ms(now), ms(idle_before), rows::limit(limit)))?;
            Ok(ended + rows::execute(db, links, (ms(now), rows::limit(limit)))?)
        })
        .await
    }

    async fn accept_conditions(&self, accepted: AcceptedConditions) -> StoreResult<()> {
        let put = "INSERT INTO accepted_conditions (account, auction, number, at_ms) VALUES (?1, ?2, ?3, ?4) \
             ON CONFLICT (account, auction) DO UPDATE SET number = excluded.number, at_ms = excluded.at_ms";
        self.write(move |db| {
            let AcceptedConditions { account, auction, number, at } = accepted;
            rows::execute(db, put, (account.as_bytes(), auction.as_bytes(), number, ms(at))).map(drop)
        })
        .await
    }

    async fn accepted_conditions(&self, account: Uuid, auction: Uuid) -> StoreResult<Option<AcceptedConditions>> {
        let select = "SELECT number, at_ms FROM accepted_conditions WHERE account = ?1 AND auction = ?2";
        let accepted = move |row: &Row<'_>| {
            Ok(AcceptedConditions { account, auction, number: row.get(0)?, at: rows::time(row, 1)? })
        };
        self.read(move |db| rows::one(db, select, (account.as_bytes(), auction.as_bytes()), accepted)).await
    }

    async fn registration_of_party(&self, auction: Uuid, party: Uuid) -> StoreResult<Option<Registration>> {
        let select = "SELECT state, spending_version FROM registrations WHERE auction = ?1 AND party = ?2";
        self.read(move |db| {
            let mut found: Option<Registration> = None;
            for record in records_of_person(db, party)? {
                let other = rows::one(db, select, (auction.as_bytes(), record.as_bytes()), registration)?;
                found = found.into_iter().chain(other).min_by_key(|registration| registration.uuid);
            }
            Ok(found)
        })
        .await
    }

    async fn watch_item(&self, watched: WatchedItem, items_max: usize) -> StoreResult<bool> {
        let put = "INSERT INTO watched_items (account, item, auction, at_ms) SELECT ?1, ?2, ?3, ?4 \
             WHERE (SELECT count(*) FROM watched_items WHERE account = ?1) < ?5 ON CONFLICT DO NOTHING";
        let known = "SELECT 1 FROM watched_items WHERE account = ?1 AND item = ?2";
        self.write(move |db| {
            let WatchedItem { account, auction, item, at } = watched;
            let (account, item) = (account.as_bytes(), item.as_bytes());
            let values = params![account, item, auction.as_bytes(), ms(at), rows::limit(items_max)];
            rows::execute(db, put, values)?;
            Ok(rows::one(db, known, (account, item), |_| Ok(()))?.is_some())
        })
        .await
    }

    async fn unwatch_item(&self, account: Uuid, item: Uuid) -> StoreResult<()> {
        let delete = "DELETE FROM watched_items WHERE account = ?1 AND item = ?2";
        self.write(move |db| rows::execute(db, delete, (account.as_bytes(), item.as_bytes())).map(drop)).await
    }

    async fn watched_items(&self, account: Uuid, auction: Option<Uuid>, limit: usize) -> StoreResult<Vec<WatchedItem>> {
        let select = format!("{WATCHED} AND (?2 IS NULL OR auction = ?2) ORDER BY at_ms DESC, item DESC LIMIT ?3");
        self.read(move |db| {
            let auction = auction.as_ref().map(Uuid::as_bytes);
            rows::list(db, &select, (account.as_bytes(), auction, rows::limit(limit)), watched)
        })
        .await
    }
}

/// Deletes the account that names a record of the register, if there is one.
pub(super) fn delete_of_party(db: &Connection, party: Uuid) -> SqlResult<()> {
    let delete = "DELETE FROM bidder_accounts WHERE party = ?1 RETURNING uuid";
    let deleted = rows::list(db, delete, [party.as_bytes()], |row| rows::uuid(row, 0))?;
    deleted.into_iter().try_for_each(|account| delete_belongings(db, account))
}

fn delete_belongings(db: &Connection, account: Uuid) -> SqlResult<()> {
    site_grants::end_of_account(db, account)?;
    for table in ["bidder_sessions", "accepted_conditions", "watched_items", "bidder_notices", "push_subscriptions"] {
        rows::execute(db, &format!("DELETE FROM {table} WHERE account = ?1"), [account.as_bytes()])?;
    }
    Ok(())
}

pub(super) fn find(db: &Connection, uuid: Uuid) -> SqlResult<Option<BidderAccount>> {
    rows::one(db, &format!("{ACCOUNT} WHERE uuid = ?1"), [uuid.as_bytes()], account)
}

fn account(row: &Row<'_>) -> SqlResult<BidderAccount> {
    let party: Option<[u8; 16]> = row.get(4)?;
    let profile = BidderProfile {
        customer: rows::uuid(row, 1)?,
        party: party.map(Uuid::from_bytes),
        details: rows::json(row, 5)?,
    };
    let account = BidderAccount::new(rows::uuid(row, 0)?, row.get(2)?, row.get(3)?, rows::time(row, 7)?, profile);
    Ok(BidderAccount {
        version: row.get(6)?,
        signed_in_at: rows::optional_time(row, 8)?,
        disabled_at: rows::optional_time(row, 9)?,
        ..account
    })
}

fn session(row: &Row<'_>) -> SqlResult<BidderSession> {
    Ok(BidderSession {
        id: rows::uuid(row, 0)?,
        hash: row.get(1)?,
        user: rows::uuid(row, 2)?,
        address: row.get(3)?,
        browser: None,
        created_at: rows::time(row, 4)?,
        expires_at: rows::time(row, 5)?,
        last_used_at: rows::time(row, 6)?,
    })
}

fn link(row: &Row<'_>) -> SqlResult<BidderLink> {
    Ok(BidderLink {
        customer: rows::uuid(row, 0)?,
        email: row.get(1)?,
        hash: row.get(2)?,
        expires_at: rows::time(row, 3)?,
    })
}

fn watched(row: &Row<'_>) -> SqlResult<WatchedItem> {
    let (account, item, auction) = (rows::uuid(row, 0)?, rows::uuid(row, 1)?, rows::uuid(row, 2)?);
    Ok(WatchedItem { account, auction, item, at: rows::time(row, 3)? })
}

/// Uses up a link, and all others to its address. `Conflict` when it was used or has expired.
fn use_link(db: &Connection, link: Digest, now: Timestamp) -> SqlResult<()> {
    let delete = "DELETE FROM bidder_links WHERE (customer, email) = \
         (SELECT customer, email FROM bidder_links WHERE hash = ?1 AND expires_at_ms > ?2)";
    match rows::execute(db, delete, (link, ms(now)))? {
        0 => Err(StoreError::Conflict.into()),
        _ => Ok(()),
    }
}

fn insert(db: &Connection, account: &BidderAccount) -> SqlResult<()> {
    let insert = "INSERT INTO bidder_accounts (uuid, customer, email, password_hash, party, details, version, created_at_ms) \
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)";
    let BidderAccount { id, email, password_hash, created_at, version, profile, .. } = account;
    let BidderProfile { customer, party, details } = profile;
    let party = party.as_ref().map(Uuid::as_bytes);
    let (id, customer, details) = (id.as_bytes(), customer.as_bytes(), to_json(details)?);
    let values = params![id, customer, email, password_hash, party, details, version, ms(*created_at)];
    rows::execute(db, insert, values).map_err(|error| error.or_taken("email")).map(drop)
}

fn change_account(db: &Connection, entry: &BidderAccountChange) -> SqlResult<()> {
    let BidderAccountChange { change, link, party } = entry;
    if let Some((link, now)) = link {
        use_link(db, *link, *now)?;
    }
    if let Some(party) = party {
        parties::put(db, &party.party)?;
        audit::append(db, &party.log)?;
    }
    let update = "UPDATE bidder_accounts SET password_hash = ?2, party = ?3, details = ?4, version = ?5, closed_at_ms = ?7 \
         WHERE uuid = ?1 AND version = ?6";
    let BidderAccount { id, password_hash, version, disabled_at, profile, .. } = &change.user;
    let party = profile.party.as_ref().map(Uuid::as_bytes);
    let details = to_json(&profile.details)?;
    let closed_at = disabled_at.map(ms);
    let values = params![id.as_bytes(), password_hash, party, details, version, change.expected_version, closed_at];
    one_row(rows::execute(db, update, values)?)?;
    if closed_at.is_some() {
        for table in ["watched_items", "bidder_notices", "push_subscriptions"] {
            rows::execute(db, &format!("DELETE FROM {table} WHERE account = ?1"), [id.as_bytes()])?;
        }
    }
    if matches!(change.ending, SessionsToEnd::AllOf(_) | SessionsToEnd::AllBut(..)) {
        site_grants::end_of_account(db, *id)?;
    }
    let delete = "DELETE FROM bidder_sessions WHERE account = ?1";
    match change.ending {
        SessionsToEnd::Nothing => Ok(0),
        SessionsToEnd::AllOf(account) => rows::execute(db, delete, [account.as_bytes()]),
        SessionsToEnd::One(account, session) => {
            rows::execute(db, &format!("{delete} AND uuid = ?2"), (account.as_bytes(), session.as_bytes()))
        }
        SessionsToEnd::AllBut(account, session) => {
            rows::execute(db, &format!("{delete} AND uuid <> ?2"), (account.as_bytes(), session.as_bytes()))
        }
    }
    .map(drop)
}

fn begin(db: &Connection, session: &BidderSession, version: i64, sessions_max: usize) -> SqlResult<()> {
    let BidderSession { id, hash, user, address, browser: _, created_at, expires_at, last_used_at } = session;
    let (created_at, expires_at, last_used_at) = (ms(*created_at), ms(*expires_at), ms(*last_used_at));
    let (id, user) = (id.as_bytes(), user.as_bytes());
    let signed_in = "UPDATE bidder_accounts SET signed_in_at_ms = ?3 WHERE uuid = ?1 AND version = ?2";
    one_row(rows::execute(db, signed_in, (user, version, created_at))?)?;
    let insert = "INSERT INTO bidder_sessions (uuid, hash, account, address, created_at_ms, expires_at_ms, last_used_at_ms) \
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)";
    rows::execute(db, insert, params![id, hash, user, address, created_at, expires_at, last_used_at])?;
    let too_many = "DELETE FROM bidder_sessions WHERE account = ?1 AND uuid NOT IN \
         (SELECT uuid FROM bidder_sessions WHERE account = ?1 ORDER BY uuid DESC LIMIT ?2)";
    rows::execute(db, too_many, (user, rows::limit(sessions_max))).map(drop)
}

/// `Conflict` when the statement wrote no row, because another change came first.
fn one_row(written: usize) -> SqlResult<()> {
    if written == 1 { Ok(()) } else { Err(StoreError::Conflict.into()) }
}
