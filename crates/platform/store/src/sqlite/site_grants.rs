//! What bidders allowed to web sites of their house, and the tokens that came of it.

use async_trait::async_trait;
use jiff::Timestamp;
use platform_core::port::{
    BidderAccount, Digest, SiteGrant, SiteGrantStore, SiteGrantsToEnd, SiteToken, SiteTokenKind, StoreError,
    StoreResult,
};
use rusqlite::{Connection, Row, params};
use uuid::Uuid;

use super::rows::{self, SqlResult};
use super::{SqliteStore, bidder_accounts};
use crate::codec::{ms, site_token_kind, site_token_number};

const GRANT: &str = "SELECT uuid, account, origin, redirect, challenge, code, code_expires_at_ms, redeemed_at_ms, created_at_ms, \
     last_used_at_ms, expires_at_ms FROM site_grants";
const TOKEN: &str = "SELECT hash, site_grant, kind, expires_at_ms, used_at_ms FROM site_tokens WHERE hash = ?1";

#[async_trait]
impl SiteGrantStore for SqliteStore {
    async fn begin_site_grant(&self, grant: SiteGrant, version: i64, grants_max: usize) -> StoreResult<()> {
        self.write(move |db| begin(db, &grant, version, grants_max)).await
    }

    async fn site_grant_by_code(&self, code: Digest) -> StoreResult<Option<SiteGrant>> {
        self.read(move |db| rows::one(db, &format!("{GRANT} WHERE code = ?1"), [code], grant)).await
    }

    async fn redeem_site_code(&self, grant: Uuid, at: Timestamp, tokens: Vec<SiteToken>) -> StoreResult<()> {
        let redeem = "UPDATE site_grants SET redeemed_at_ms = ?2, last_used_at_ms = ?2 \
             WHERE uuid = ?1 AND redeemed_at_ms IS NULL";
        self.write(move |db| {
            one_row(rows::execute(db, redeem, (grant.as_bytes(), ms(at)))?)?;
            insert_tokens(db, &tokens)
        })
        .await
    }

    async fn site_token(&self, hash: Digest) -> StoreResult<Option<(SiteToken, SiteGrant, BidderAccount)>> {
        self.read(move |db| {
            let Some(token) = rows::one(db, TOKEN, [hash], token)? else { return Ok(None) };
            let of = rows::one(db, &format!("{GRANT} WHERE uuid = ?1"), [token.grant.as_bytes()], grant)?;
            let Some(of) = of else { return Ok(None) };
            Ok(bidder_accounts::find(db, of.account)?.map(|account| (token, of, account)))
        })
        .await
    }

    async fn rotate_site_tokens(&self, used: SiteToken, at: Timestamp, tokens: Vec<SiteToken>) -> StoreResult<()> {
        let grant_used = "UPDATE site_grants SET last_used_at_ms = max(last_used_at_ms, ?2) WHERE uuid = ?1";
        let token_used = "UPDATE site_tokens SET used_at_ms = ?2 WHERE hash = ?1 AND used_at_ms IS NULL";
        let access = "DELETE FROM site_tokens WHERE site_grant = ?1 AND kind = ?2";
        self.write(move |db| {
            let grant = used.grant.as_bytes();
            one_row(rows::execute(db, grant_used, (grant, ms(at)))?)?;
            one_row(rows::execute(db, token_used, (used.hash, ms(at)))?)?;
            rows::execute(db, access, (grant, site_token_number(SiteTokenKind::Access)))?;
            insert_tokens(db, &tokens)
        })
        .await
    }

    async fn site_grants(&self, account: Uuid) -> StoreResult<Vec<SiteGrant>> {
        let select = format!("{GRANT} WHERE account = ?1 AND redeemed_at_ms IS NOT NULL ORDER BY uuid DESC");
        self.read(move |db| rows::list(db, &select, [account.as_bytes()], grant)).await
    }

    async fn end_site_grants(&self, ending: SiteGrantsToEnd) -> StoreResult<usize> {
        self.write(move |db| {
            let of_one = "SELECT uuid FROM site_grants WHERE uuid = ?1";
            let of_site = "SELECT uuid FROM site_grants WHERE account = ?1 AND origin = ?2";
            let found = match &ending {
                SiteGrantsToEnd::One(grant) => rows::list(db, of_one, [grant.as_bytes()], |row| rows::uuid(row, 0))?,
                SiteGrantsToEnd::OfSite(account, origin) => {
                    rows::list(db, of_site, (account.as_bytes(), origin), |row| rows::uuid(row, 0))?
                }
            };
            end(db, &found)?;
            Ok(found.len())
        })
        .await
    }

    async fn delete_expired_site_access(&self, now: Timestamp, limit: usize) -> StoreResult<usize> {
        let over = "SELECT uuid FROM site_grants WHERE expires_at_ms < ?1 \
             UNION SELECT uuid FROM site_grants WHERE redeemed_at_ms IS NULL AND code_expires_at_ms < ?1 LIMIT ?2";
        let tokens = "DELETE FROM site_tokens WHERE hash IN \
             (SELECT hash FROM site_tokens WHERE expires_at_ms < ?1 LIMIT ?2)";
        self.write(move |db| {
            let found = rows::list(db, over, (ms(now), rows::limit(limit)), |row| rows::uuid(row, 0))?;
            end(db, &found)?;
            Ok(found.len() + rows::execute(db, tokens, (ms(now), rows::limit(limit)))?)
        })
        .await
    }
}

/// Ends all grants of an account.
pub(super) fn end_of_account(db: &Connection, account: Uuid) -> SqlResult<()> {
    let select = "SELECT uuid FROM site_grants WHERE account = ?1";
    let found = rows::list(db, select, [account.as_bytes()], |row| rows::uuid(row, 0))?;
    end(db, &found)
}

fn end(db: &Connection, grants: &[Uuid]) -> SqlResult<()> {
    for grant in grants {
        rows::execute(db, "DELETE FROM site_tokens WHERE site_grant = ?1", [grant.as_bytes()])?;
        rows::execute(db, "DELETE FROM site_grants WHERE uuid = ?1", [grant.as_bytes()])?;
    }
    Ok(())
}

fn begin(db: &Connection, grant: &SiteGrant, version: i64, grants_max: usize) -> SqlResult<()> {
    let is_current = "SELECT 1 FROM bidder_accounts WHERE uuid = ?1 AND version = ?2";
    let account = grant.account.as_bytes();
    if rows::one(db, is_current, (account, version), |_| Ok(()))?.is_none() {
        return Err(StoreError::Conflict.into());
    }
    let insert = "INSERT INTO site_grants (uuid, account, origin, redirect, challenge, code, code_expires_at_ms, redeemed_at_ms, \
         created_at_ms, last_used_at_ms, expires_at_ms) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11)";
    let SiteGrant { uuid, account: _, origin, redirect, challenge, code, .. } = grant;
    let values = params![
        uuid.as_bytes(),
        account,
        origin,
        redirect,
        challenge,
        code,
        ms(grant.code_expires_at),
        grant.redeemed_at.map(ms),
        ms(grant.created_at),
        ms(grant.last_used_at),
        ms(grant.expires_at),
    ];
    rows::execute(db, insert, values)?;
    let too_many = "SELECT uuid FROM site_grants WHERE account = ?1 ORDER BY uuid DESC LIMIT -1 OFFSET ?2";
    let found = rows::list(db, too_many, (account, rows::limit(grants_max)), |row| rows::uuid(row, 0))?;
    end(db, &found)
}

fn insert_tokens(db: &Connection, tokens: &[SiteToken]) -> SqlResult<()> {
    let insert =
        "INSERT INTO site_tokens (hash, site_grant, kind, expires_at_ms, used_at_ms) VALUES (?1, ?2, ?3, ?4, ?5)";
    for SiteToken { hash, grant, kind, expires_at, used_at } in tokens {
        let kind = site_token_number(*kind);
        rows::execute(db, insert, params![hash, grant.as_bytes(), kind, ms(*expires_at), used_at.map(ms)])?;
    }
    Ok(())
}

fn grant(row: &Row<'_>) -> SqlResult<SiteGrant> {
    Ok(SiteGrant {
        uuid: rows::uuid(row, 0)?,
        account: rows::uuid(row, 1)?,
        origin: row.get(2)?,
        redirect: row.get(3)?,
        challenge: row.get(4)?,
        code: row.get(5)?,
        code_expires_at: rows::time(row, 6)?,
        redeemed_at: rows::optional_time(row, 7)?,
        created_at: rows::time(row, 8)?,
        last_used_at: rows::time(row, 9)?,
        expires_at: rows::time(row, 10)?,
    })
}

fn token(row: &Row<'_>) -> SqlResult<SiteToken> {
    Ok(SiteToken {
        hash: row.get(0)?,
        grant: rows::uuid(row, 1)?,
        kind: site_token_kind(row.get(2)?)?,
        expires_at: rows::time(row, 3)?,
        used_at: rows::optional_time(row, 4)?,
    })
}

/// `Conflict` when the statement wrote no row, because another change came first.
fn one_row(written: usize) -> SqlResult<()> {
    if written == 1 { Ok(()) } else { Err(StoreError::Conflict.into()) }
}
