//! What bidders allowed to web sites of their house, and the tokens that came of it.

use async_trait::async_trait;
use jiff::Timestamp;
use kit_engine::postgres::{Connection, Transaction};
use platform_core::port::{
    BidderAccount, Digest, SiteGrant, SiteGrantStore, SiteGrantsToEnd, SiteToken, SiteTokenKind, StoreError,
    StoreResult,
};
use tokio_postgres::Row;
use uuid::Uuid;

use super::rows::{self, SqlResult};
use super::{PostgresStore, bidder_accounts};
use crate::codec::{corrupt, ms, site_token_kind, site_token_number};

const GRANT: &str = "SELECT uuid, account, origin, redirect, challenge, code, code_expires_at_ms, redeemed_at_ms, created_at_ms, \
     last_used_at_ms, expires_at_ms FROM site_grants";
const TOKEN: &str = "SELECT hash, site_grant, kind, expires_at_ms, used_at_ms FROM site_tokens WHERE hash = $1";

#[async_trait]
impl SiteGrantStore for PostgresStore {
    async fn begin_site_grant(&self, grant: SiteGrant, version: i64, grants_max: usize) -> StoreResult<()> {
        self.write(&(grant, version, grants_max), |db, (grant, version, grants_max)| {
            Box::pin(begin(db, grant, *version, *grants_max))
        })
        .await
    }

    async fn site_grant_by_code(&self, code: Digest) -> StoreResult<Option<SiteGrant>> {
        let select = format!("{GRANT} WHERE code = $1");
        Ok(rows::one(&self.client().await?, &select, &[&code.as_slice()], grant).await?)
    }

    async fn redeem_site_code(&self, grant: Uuid, at: Timestamp, tokens: Vec<SiteToken>) -> StoreResult<()> {
        self.write(&(grant, at, tokens), |db, (grant, at, tokens)| {
            Box::pin(async move {
                let redeem = "UPDATE site_grants SET redeemed_at_ms = $2, last_used_at_ms = $2 \
                     WHERE uuid = $1 AND redeemed_at_ms IS NULL";
                one_row(rows::execute(db, redeem, &[grant, &ms(*at)]).await?)?;
                insert_tokens(db, tokens).await
            })
        })
        .await
    }

    async fn site_token(&self, hash: Digest) -> StoreResult<Option<(SiteToken, SiteGrant, BidderAccount)>> {
        let client = self.client().await?;
        let found = rows::one(&client, TOKEN, &[&hash.as_slice()], token).await?;
        let Some(token) = found else { return Ok(None) };
        let Some(of) = find(&client, token.grant).await? else { return Ok(None) };
        Ok(bidder_accounts::find(&client, of.account).await?.map(|account| (token, of, account)))
    }

    async fn rotate_site_tokens(&self, used: SiteToken, at: Timestamp, tokens: Vec<SiteToken>) -> StoreResult<()> {
        self.write(&(used, at, tokens), |db, (used, at, tokens)| Box::pin(rotate(db, *used, *at, tokens))).await
    }

    async fn site_grants(&self, account: Uuid) -> StoreResult<Vec<SiteGrant>> {
        let select = format!("{GRANT} WHERE account = $1 AND redeemed_at_ms IS NOT NULL ORDER BY uuid DESC");
        Ok(rows::list(&self.client().await?, &select, &[&account], grant).await?)
    }

    async fn end_site_grants(&self, ending: SiteGrantsToEnd) -> StoreResult<usize> {
        self.write(&ending, |db, ending| {
            Box::pin(async move {
                let found: Vec<Uuid> = match ending {
                    SiteGrantsToEnd::One(grant) => {
                        let select = "SELECT uuid FROM site_grants WHERE uuid = $1";
                        rows::list(db, select, &[grant], |row| rows::get(row, 0)).await?
                    }
                    SiteGrantsToEnd::OfSite(account, origin) => {
                        let select = "SELECT uuid FROM site_grants WHERE account = $1 AND origin = $2";
                        rows::list(db, select, &[account, origin], |row| rows::get(row, 0)).await?
                    }
                };
                end(db, &found).await?;
                Ok(found.len())
            })
        })
        .await
    }

    async fn delete_expired_site_access(&self, now: Timestamp, limit: usize) -> StoreResult<usize> {
        self.write(&(now, limit), |db, (now, limit)| {
            Box::pin(async move {
                let over = "SELECT uuid FROM site_grants WHERE expires_at_ms < $1 \
                     UNION SELECT uuid FROM site_grants WHERE redeemed_at_ms IS NULL AND code_expires_at_ms < $1 LIMIT $2";
                let tokens = "DELETE FROM site_tokens WHERE hash IN \
                     (SELECT hash FROM site_tokens WHERE expires_at_ms < $1 LIMIT $2)";
                let values: rows::Values<'_> = &[&ms(*now), &rows::limit(*limit)];
                let found: Vec<Uuid> = rows::list(db, over, values, |row| rows::get(row, 0)).await?;
                end(db, &found).await?;
                let tokens = rows::execute(db, tokens, values).await?;
                Ok(found.len() + usize::try_from(tokens).unwrap_or(usize::MAX))
            })
        })
        .await
    }
}

/// Ends all grants of an account.
pub(super) async fn end_of_account(db: &Transaction<'_>, account: Uuid) -> SqlResult<()> {
    let select = "SELECT uuid FROM site_grants WHERE account = $1";
    let found: Vec<Uuid> = rows::list(db, select, &[&account], |row| rows::get(row, 0)).await?;
    end(db, &found).await
}

/// A token that another transaction stores meanwhile has no grant then, and works no longer.
async fn end(db: &Transaction<'_>, grants: &[Uuid]) -> SqlResult<()> {
    rows::execute(db, "DELETE FROM site_grants WHERE uuid = ANY($1)", &[&grants]).await?;
    rows::execute(db, "DELETE FROM site_tokens WHERE site_grant = ANY($1)", &[&grants]).await.map(drop)
}

async fn find(db: &impl Connection, uuid: Uuid) -> SqlResult<Option<SiteGrant>> {
    rows::one(db, &format!("{GRANT} WHERE uuid = $1"), &[&uuid], grant).await
}

/// Locks the row of the account first: a concurrent change of it either comes before, or also ends this grant.
async fn begin(db: &Transaction<'_>, grant: &SiteGrant, version: i64, grants_max: usize) -> SqlResult<()> {
    let is_current = "SELECT 1 FROM bidder_accounts WHERE uuid = $1 AND version = $2 FOR UPDATE";
    if rows::one(db, is_current, &[&grant.account, &version], |_| Ok(())).await?.is_none() {
        return Err(StoreError::Conflict.into());
    }
    let insert = "INSERT INTO site_grants (uuid, account, origin, redirect, challenge, code, code_expires_at_ms, redeemed_at_ms, \
         created_at_ms, last_used_at_ms, expires_at_ms) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)";
    let SiteGrant { uuid, account, origin, redirect, challenge, code, .. } = grant;
    let values: rows::Values<'_> = &[
        uuid,
        account,
        origin,
        redirect,
        challenge,
        &code.as_slice(),
        &ms(grant.code_expires_at),
        &grant.redeemed_at.map(ms),
        &ms(grant.created_at),
        &ms(grant.last_used_at),
        &ms(grant.expires_at),
    ];
    rows::execute(db, insert, values).await?;
    let too_many = "SELECT uuid FROM site_grants WHERE account = $1 ORDER BY uuid DESC OFFSET $2";
    let found: Vec<Uuid> =
        rows::list(db, too_many, &[account, &rows::limit(grants_max)], |row| rows::get(row, 0)).await?;
    end(db, &found).await
}

async fn rotate(db: &Transaction<'_>, used: SiteToken, at: Timestamp, tokens: &[SiteToken]) -> SqlResult<()> {
    let grant_used = "UPDATE site_grants SET last_used_at_ms = greatest(last_used_at_ms, $2) WHERE uuid = $1";
    one_row(rows::execute(db, grant_used, &[&used.grant, &ms(at)]).await?)?;
    let token_used = "UPDATE site_tokens SET used_at_ms = $2 WHERE hash = $1 AND used_at_ms IS NULL";
    one_row(rows::execute(db, token_used, &[&used.hash.as_slice(), &ms(at)]).await?)?;
    let access = "DELETE FROM site_tokens WHERE site_grant = $1 AND kind = $2";
    rows::execute(db, access, &[&used.grant, &site_token_number(SiteTokenKind::Access)]).await?;
    insert_tokens(db, tokens).await
}

async fn insert_tokens(db: &Transaction<'_>, tokens: &[SiteToken]) -> SqlResult<()> {
    let insert =
        "INSERT INTO site_tokens (hash, site_grant, kind, expires_at_ms, used_at_ms) VALUES ($1, $2, $3, $4, $5)";
    for SiteToken { hash, grant, kind, expires_at, used_at } in tokens {
        let values: rows::Values<'_> =
            &[&hash.as_slice(), grant, &site_token_number(*kind), &ms(*expires_at), &used_at.map(ms)];
        rows::execute(db, insert, values).await?;
    }
    Ok(())
}

fn grant(row: &Row) -> SqlResult<SiteGrant> {
    Ok(SiteGrant {
        uuid: rows::get(row, 0)?,
        account: rows::get(row, 1)?,
        origin: rows::get(row, 2)?,
        redirect: rows::get(row, 3)?,
        challenge: rows::get(row, 4)?,
        code: rows::get::<&[u8]>(row, 5)?.try_into().map_err(corrupt)?,
        code_expires_at: rows::time(row, 6)?,
        redeemed_at: rows::optional_time(row, 7)?,
        created_at: rows::time(row, 8)?,
        last_used_at: rows::time(row, 9)?,
        expires_at: rows::time(row, 10)?,
    })
}

fn token(row: &Row) -> SqlResult<SiteToken> {
    Ok(SiteToken {
        hash: rows::get::<&[u8]>(row, 0)?.try_into().map_err(corrupt)?,
        grant: rows::get(row, 1)?,
        kind: site_token_kind(rows::get(row, 2)?)?,
        expires_at: rows::time(row, 3)?,
        used_at: rows::optional_time(row, 4)?,
    })
}

/// `Conflict` when the statement wrote no row, because another change came first.
fn one_row(written: u64) -> SqlResult<()> {
    if written == 1 { Ok(()) } else { Err(StoreError::Conflict.into()) }
}
