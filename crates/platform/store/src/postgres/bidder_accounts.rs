//! Accounts of bidders, with their sessions, links, acceptances and watched items.

use async_trait::async_trait;
use jiff::Timestamp;
use kit_engine::postgres::{Connection, Transaction};
use platform_core::port::{
    AcceptedConditions, BidderAccount, BidderAccountChange, BidderAccountStore, BidderLink, BidderProfile,
    BidderSession, Digest, Registration, SessionsToEnd, StoreError, StoreResult, WatchedItem,
};
use tokio_postgres::Row;
use uuid::Uuid;

use super::party_merges::records_of_person;
use super::registrations::registration;
use super::rows::{self, SqlResult};
use super::{PostgresStore, parties, site_grants};
use crate::codec::{corrupt, ms, to_json};

const ACCOUNT: &str = "SELECT uuid, customer, email, password_hash, party, details, version, created_at_ms, signed_in_at_ms, \
     closed_at_ms FROM bidder_accounts";
const SESSION: &str =
    "SELECT uuid, hash, account, address, created_at_ms, expires_at_ms, last_used_at_ms FROM bidder_sessions";
const WATCHED: &str = "SELECT account, item, auction, at_ms FROM watched_items WHERE account = $1";

#[async_trait]
impl BidderAccountStore for PostgresStore {
    async fn put_bidder_link(&self, link: BidderLink) -> StoreResult<()> {
        let put = "INSERT INTO bidder_links (customer, email, hash, expires_at_ms) VALUES ($1, $2, $3, $4)";
        let BidderLink { customer, email, hash, expires_at } = &link;
        let values: rows::Values<'_> = &[customer, email, &hash.as_slice(), &ms(*expires_at)];
        Ok(rows::execute(&self.client().await?, put, values).await.map(drop)?)
    }

    async fn bidder_link(&self, hash: Digest) -> StoreResult<Option<BidderLink>> {
        let select = "SELECT customer, email, hash, expires_at_ms FROM bidder_links WHERE hash = $1";
        Ok(rows::one(&self.client().await?, select, &[&hash.as_slice()], link).await?)
    }

    async fn bidder_account(&self, uuid: Uuid) -> StoreResult<Option<BidderAccount>> {
        Ok(find(&self.client().await?, uuid).await?)
    }

    async fn bidder_account_by_email(&self, customer: Uuid, email: &str) -> StoreResult<Option<BidderAccount>> {
        if email.contains('\0') {
            return Ok(None);
        }
        let select = format!("{ACCOUNT} WHERE customer = $1 AND email = $2");
        Ok(rows::one(&self.client().await?, &select, &[&customer, &email], account).await?)
    }

    async fn bidder_accounts_of(&self, parties: &[Uuid]) -> StoreResult<Vec<BidderAccount>> {
        let select = format!("{ACCOUNT} WHERE party = ANY($1) AND closed_at_ms IS NULL ORDER BY uuid");
        Ok(rows::list(&self.client().await?, &select, &[&parties], account).await?)
    }

    async fn open_bidder_account(&self, account: BidderAccount, link: Digest, now: Timestamp) -> StoreResult<()> {
        self.write(&(account, link, now), |db, (account, link, now)| {
            Box::pin(async move {
                use_link(db, *link, *now).await?;
                insert(db, account).await
            })
        })
        .await
    }

    async fn change_bidder_account(&self, change: BidderAccountChange) -> StoreResult<()> {
        self.write(&change, |db, change| Box::pin(change_account(db, change))).await
    }

    async fn delete_bidder_account(&self, uuid: Uuid, version: i64) -> StoreResult<()> {
        self.write(&(uuid, version), |db, (uuid, version)| {
            Box::pin(async move {
                let delete = "DELETE FROM bidder_accounts WHERE uuid = $1 AND version = $2";
                one_row(rows::execute(db, delete, &[uuid, version]).await?)?;
                delete_belongings(db, *uuid).await
            })
        })
        .await
    }

    async fn begin_bidder_session(&self, session: BidderSession, version: i64, sessions_max: usize) -> StoreResult<()> {
        self.write(&(session, version, sessions_max), |db, (session, version, sessions_max)| {
            Box::pin(begin(db, session, *version, *sessions_max))
        })
        .await
    }

    async fn bidder_session(&self, hash: Digest) -> StoreResult<Option<(BidderSession, BidderAccount)>> {
        let client = self.client().await?;
        let found = rows::one(&client, &format!("{SESSION} WHERE hash = $1"), &[&hash.as_slice()], session).await?;
        let Some(session) = found else { return Ok(None) };
        Ok(find(&client, session.user).await?.map(|account| (session, account)))
    }

    async fn touch_bidder_session(&self, uuid: Uuid, at: Timestamp) -> StoreResult<()> {
        let touch = "UPDATE bidder_sessions SET last_used_at_ms = greatest(last_used_at_ms, $2) WHERE uuid = $1";
        Ok(rows::execute(&self.client().await?, touch, &[&uuid, &ms(at)]).await.map(drop)?)
    }

    async fn end_bidder_session(&self, uuid: Uuid) -> StoreResult<()> {
        let delete = "DELETE FROM bidder_sessions WHERE uuid = $1";
        Ok(rows::execute(&self.client().await?, delete, &[&uuid]).await.map(drop)?)
    }

    async fn delete_expired_bidder_access(
        &self,
        now: Timestamp,
        idle_before: Timestamp,
        limit: usize,
    ) -> StoreResult<usize> {
        let over = "DELETE FROM bidder_sessions WHERE uuid IN (SELECT uuid FROM bidder_sessions \
             WHERE expires_at_ms < $1 OR last_used_at_ms < $2 LIMIT $3)";
        let links = "DELETE FROM bidder_links WHERE hash IN (SELECT hash FROM bidder_links \
             WHERE expires_at_ms < $1 LIMIT $2)";
        let client = self.client().await?;
        let limit = rows::limit(limit);
        let ended = rows::execute(&client, over, &[&ms(now), &ms(idle_before), &limit]).await?;
        let ended = ended + rows::execute(&client, links, &[&ms(now), &limit]).await?;
        Ok(usize::try_from(ended).unwrap_or(usize::MAX))
    }

    async fn accept_conditions(&self, accepted: AcceptedConditions) -> StoreResult<()> {
        let put = "INSERT INTO accepted_conditions (account, auction, number, at_ms) VALUES ($1, $2, $3, $4) \
             ON CONFLICT (account, auction) DO UPDATE SET number = excluded.number, at_ms = excluded.at_ms";
        let AcceptedConditions { account, auction, number, at } = accepted;
        let values: rows::Values<'_> = &[&account, &auction, &i64::from(number), &ms(at)];
        Ok(rows::execute(&self.client().await?, put, values).await.map(drop)?)
    }

    async fn accepted_conditions(&self, account: Uuid, auction: Uuid) -> StoreResult<Option<AcceptedConditions>> {
        let select = "SELECT number, at_ms FROM accepted_conditions WHERE account = $1 AND auction = $2";
        let accepted = |row: &Row| {
            let number = u32::try_from(rows::get::<i64>(row, 0)?).map_err(corrupt)?;
            Ok(AcceptedConditions { account, auction, number, at: rows::time(row, 1)? })
        };
        Ok(rows::one(&self.client().await?, select, &[&account, &auction], accepted).await?)
    }

    async fn registration_of_party(&self, auction: Uuid, party: Uuid) -> StoreResult<Option<Registration>> {
        let select = "SELECT state, spending_version FROM registrations WHERE auction = $1 AND party = ANY($2) \
             ORDER BY uuid LIMIT 1";
        let client = self.client().await?;
        let records = records_of_person(&client, party).await?;
        Ok(rows::one(&client, select, &[&auction, &records], registration).await?)
    }

    async fn watch_item(&self, watched: WatchedItem, items_max: usize) -> StoreResult<bool> {
        let put = "INSERT INTO watched_items (account, item, auction, at_ms) SELECT $1::uuid, $2::uuid, $3::uuid, $4::bigint \
             WHERE (SELECT count(*) FROM watched_items WHERE account = $1) < $5 ON CONFLICT DO NOTHING";
        let known = "SELECT 1 FROM watched_items WHERE account = $1 AND item = $2";
        let WatchedItem { account, auction, item, at } = &watched;
        let client = self.client().await?;
        rows::execute(&client, put, &[account, item, auction, &ms(*at), &rows::limit(items_max)]).await?;
        Ok(rows::one(&client, known, &[account, item], |_| Ok(())).await?.is_some())
    }

    async fn unwatch_item(&self, account: Uuid, item: Uuid) -> StoreResult<()> {
        let delete = "DELETE FROM watched_items WHERE account = $1 AND item = $2";
        Ok(rows::execute(&self.client().await?, delete, &[&account, &item]).await.map(drop)?)
    }

    async fn watched_items(&self, account: Uuid, auction: Option<Uuid>, limit: usize) -> StoreResult<Vec<WatchedItem>> {
        let select =
            format!("{WATCHED} AND ($2::uuid IS NULL OR auction = $2) ORDER BY at_ms DESC, item DESC LIMIT $3");
        Ok(rows::list(&self.client().await?, &select, &[&account, &auction, &rows::limit(limit)], watched).await?)
    }
}

/// Deletes the account that names a record of the register, if there is one.
pub(super) async fn delete_of_party(db: &Transaction<'_>, party: Uuid) -> SqlResult<()> {
    let delete = "DELETE FROM bidder_accounts WHERE party = $1 RETURNING uuid";
    for account in rows::list(db, delete, &[&party], |row| rows::get(row, 0)).await? {
        delete_belongings(db, account).await?;
    }
    Ok(())
}

async fn delete_belongings(db: &Transaction<'_>, account: Uuid) -> SqlResult<()> {
    site_grants::end_of_account(db, account).await?;
    for table in ["bidder_sessions", "accepted_conditions", "watched_items", "bidder_notices", "push_subscriptions"] {
        rows::execute(db, &format!("DELETE FROM {table} WHERE account = $1"), &[&account]).await?;
    }
    Ok(())
}

pub(super) async fn find(db: &impl Connection, uuid: Uuid) -> SqlResult<Option<BidderAccount>> {
    rows::one(db, &format!("{ACCOUNT} WHERE uuid = $1"), &[&uuid], account).await
}

fn account(row: &Row) -> SqlResult<BidderAccount> {
    let profile =
        BidderProfile { customer: rows::get(row, 1)?, party: rows::get(row, 4)?, details: rows::json(row, 5)? };
    let (id, email, password_hash) = (rows::get(row, 0)?, rows::get(row, 2)?, rows::get(row, 3)?);
    let account = BidderAccount::new(id, email, password_hash, rows::time(row, 7)?, profile);
    Ok(BidderAccount {
        version: rows::get(row, 6)?,
        signed_in_at: rows::optional_time(row, 8)?,
        disabled_at: rows::optional_time(row, 9)?,
        ..account
    })
}

fn session(row: &Row) -> SqlResult<BidderSession> {
    Ok(BidderSession {
        id: rows::get(row, 0)?,
        hash: rows::get::<&[u8]>(row, 1)?.try_into().map_err(corrupt)?,
        user: rows::get(row, 2)?,
        address: rows::get(row, 3)?,
        browser: None,
        created_at: rows::time(row, 4)?,
        expires_at: rows::time(row, 5)?,
        last_used_at: rows::time(row, 6)?,
    })
}

fn link(row: &Row) -> SqlResult<BidderLink> {
    Ok(BidderLink {
        customer: rows::get(row, 0)?,
        email: rows::get(row, 1)?,
        hash: rows::get::<&[u8]>(row, 2)?.try_into().map_err(corrupt)?,
        expires_at: rows::time(row, 3)?,
    })
}

fn watched(row: &Row) -> SqlResult<WatchedItem> {
    let (account, item, auction) = (rows::get(row, 0)?, rows::get(row, 1)?, rows::get(row, 2)?);
    Ok(WatchedItem { account, auction, item, at: rows::time(row, 3)? })
}

/// Uses up a link, and all others to its address. `Conflict` when it was used or has expired. If two calls use it at the same
/// time, one of them deletes the row.
async fn use_link(db: &Transaction<'_>, link: Digest, now: Timestamp) -> SqlResult<()> {
    let delete = "DELETE FROM bidder_links WHERE hash = $1 AND expires_at_ms > $2 RETURNING customer, email";
    let address = |row: &Row| Ok((rows::get::<Uuid>(row, 0)?, rows::get::<String>(row, 1)?));
    let used = rows::one(db, delete, &[&link.as_slice(), &ms(now)], address).await?;
    let Some((customer, email)) = used else { return Err(StoreError::Conflict.into()) };
    let others = "DELETE FROM bidder_links WHERE customer = $1 AND email = $2";
    rows::execute(db, others, &[&customer, &email]).await.map(drop)
}

async fn insert(db: &Transaction<'_>, account: &BidderAccount) -> SqlResult<()> {
    let insert = "INSERT INTO bidder_accounts (uuid, customer, email, password_hash, party, details, version, created_at_ms) \
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8)";
    let BidderAccount { id, email, password_hash, created_at, version, profile, .. } = account;
    let BidderProfile { customer, party, details } = profile;
    let values: rows::Values<'_> =
        &[id, customer, email, password_hash, party, &to_json(details)?, version, &ms(*created_at)];
    rows::execute(db, insert, values).await.map_err(|error| error.or_taken("email")).map(drop)
}

async fn change_account(db: &Transaction<'_>, entry: &BidderAccountChange) -> SqlResult<()> {
    let BidderAccountChange { change, link, party } = entry;
    if let Some((link, now)) = link {
        use_link(db, *link, *now).await?;
    }
    if let Some(party) = party {
        parties::put(db, party).await?;
    }
    let update = "UPDATE bidder_accounts SET password_hash = $2, party = $3, details = $4, version = $5, closed_at_ms = $7 \
         WHERE uuid = $1 AND version = $6";
    let BidderAccount { id, password_hash, version, disabled_at, profile, .. } = &change.user;
    let BidderProfile { party, details, .. } = profile;
    let closed_at = disabled_at.map(ms);
    let values: rows::Values<'_> =
        &[id, password_hash, party, &to_json(details)?, version, &change.expected_version, &closed_at];
    one_row(rows::execute(db, update, values).await?)?;
    if closed_at.is_some() {
        for table in ["watched_items", "bidder_notices", "push_subscriptions"] {
            rows::execute(db, &format!("DELETE FROM {table} WHERE account = $1"), &[id]).await?;
        }
    }
    if matches!(change.ending, SessionsToEnd::AllOf(_) | SessionsToEnd::AllBut(..)) {
        site_grants::end_of_account(db, *id).await?;
    }
    let delete = "DELETE FROM bidder_sessions WHERE account = $1";
    match change.ending {
        SessionsToEnd::Nothing => Ok(0),
        SessionsToEnd::AllOf(account) => rows::execute(db, delete, &[&account]).await,
        SessionsToEnd::One(account, session) => {
            rows::execute(db, &format!("{delete} AND uuid = $2"), &[&account, &session]).await
        }
        SessionsToEnd::AllBut(account, session) => {
            rows::execute(db, &format!("{delete} AND uuid <> $2"), &[&account, &session]).await
        }
    }
    .map(drop)
}

/// Updates the row of the account first. So this transaction either finds the result of a concurrent change of the account, or that
/// change also ends this session.
async fn begin(db: &Transaction<'_>, session: &BidderSession, version: i64, sessions_max: usize) -> SqlResult<()> {
    let BidderSession { id, hash, user, address, browser: _, created_at, expires_at, last_used_at } = session;
    let (created_at, expires_at, last_used_at) = (ms(*created_at), ms(*expires_at), ms(*last_used_at));
    let signed_in = "UPDATE bidder_accounts SET signed_in_at_ms = $3 WHERE uuid = $1 AND version = $2";
    one_row(rows::execute(db, signed_in, &[user, &version, &created_at]).await?)?;
    let insert = "INSERT INTO bidder_sessions (uuid, hash, account, address, created_at_ms, expires_at_ms, last_used_at_ms) \
         VALUES ($1, $2, $3, $4, $5, $6, $7)";
    let values: rows::Values<'_> = &[id, &hash.as_slice(), user, address, &created_at, &expires_at, &last_used_at];
    rows::execute(db, insert, values).await?;
    let too_many = "DELETE FROM bidder_sessions WHERE account = $1 AND uuid NOT IN \
         (SELECT uuid FROM bidder_sessions WHERE account = $1 ORDER BY uuid DESC LIMIT $2)";
    rows::execute(db, too_many, &[user, &rows::limit(sessions_max)]).await.map(drop)
}

/// `Conflict` when the statement wrote no row, because another change came first.
fn one_row(written: u64) -> SqlResult<()> {
    if written == 1 { Ok(()) } else { Err(StoreError::Conflict.into()) }
}
