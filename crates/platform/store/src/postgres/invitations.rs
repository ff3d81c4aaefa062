//! Invitations to become a user.

use async_trait::async_trait;
use jiff::Timestamp;
use kit_engine::postgres::{Connection, Transaction};
use platform_core::Scope;
use platform_core::port::{Digest, Invitation, InvitationStore, Page, StoreResult, User};
use tokio_postgres::Row;
use uuid::Uuid;

use super::rows::{self, SqlResult, after};
use super::{PostgresStore, users};
use crate::codec::{corrupt, ms};

const INVITATION: &str = "SELECT uuid, email, role, hash, created_at_ms, created_by, expires_at_ms FROM invitations";

#[async_trait]
impl InvitationStore for PostgresStore {
    async fn invitations(&self, page: Page<Uuid>) -> StoreResult<Vec<Invitation>> {
        let select = format!("{INVITATION} WHERE uuid > $1 ORDER BY uuid LIMIT $2");
        let (after, limit) = (after(page), rows::limit(page.limit));
        Ok(rows::list(&self.client().await?, &select, &[&after, &limit], invitation).await?)
    }

    async fn invitation_by_hash(&self, hash: Digest) -> StoreResult<Option<Invitation>> {
        let select = format!("{INVITATION} WHERE hash = $1");
        Ok(rows::one(&self.client().await?, &select, &[&hash.as_slice()], invitation).await?)
    }
}

fn invitation(row: &Row) -> SqlResult<Invitation> {
    Ok(Invitation {
        uuid: rows::get(row, 0)?,
        email: rows::get(row, 1)?,
        role: rows::get(row, 2)?,
        hash: rows::get::<&[u8]>(row, 3)?.try_into().map_err(corrupt)?,
        created_at: rows::time(row, 4)?,
        created_by: rows::get(row, 5)?,
        expires_at: rows::time(row, 6)?,
    })
}

/// Withdraws the invitations that a user made.
pub(super) async fn withdraw_of(db: &Transaction<'_>, creator: &str) -> SqlResult<()> {
    rows::execute(db, "DELETE FROM invitations WHERE created_by = $1", &[&creator]).await.map(drop)
}

/// False when `invitations_max` other invitations have not expired.
pub(super) async fn create(db: &Transaction<'_>, new: &Invitation, invitations_max: usize) -> SqlResult<bool> {
    users::require_maker(db, &new.created_by, Scope::UsersWrite).await?;
    // Concurrent invitations wait for this lock, so that each counts the earlier invitations.
    rows::execute(db, "LOCK TABLE invitations IN SHARE ROW EXCLUSIVE MODE", &[]).await?;
    rows::execute(db, "DELETE FROM invitations WHERE expires_at_ms <= $1", &[&ms(new.created_at)]).await?;
    let others = "SELECT count(*) FROM invitations WHERE email <> $1";
    let others = rows::one(db, others, &[&new.email], |row| rows::get::<i64>(row, 0)).await?.unwrap_or_default();
    if others >= rows::limit(invitations_max) {
        return Ok(false);
    }
    rows::execute(db, "DELETE FROM invitations WHERE email = $1", &[&new.email]).await?;
    let insert = "INSERT INTO invitations (uuid, email, role, hash, created_at_ms, created_by, expires_at_ms) \
         VALUES ($1, $2, $3, $4, $5, $6, $7)";
    let Invitation { uuid, email, role, hash, created_at, created_by, expires_at } = new;
    let values: rows::Values<'_> =
        &[uuid, email, role, &hash.as_slice(), &ms(*created_at), created_by, &ms(*expires_at)];
    rows::execute(db, insert, values).await?;
    Ok(true)
}

/// False when the invitation does not exist.
pub(super) async fn withdraw(db: &impl Connection, uuid: Uuid) -> SqlResult<bool> {
    Ok(rows::execute(db, "DELETE FROM invitations WHERE uuid = $1", &[&uuid]).await? == 1)
}

/// False when the invitation was used or withdrawn, or has expired. If two calls use it at the same time, one of them
/// deletes the row.
pub(super) async fn accept(db: &Transaction<'_>, code: Digest, user: &User, now: Timestamp) -> SqlResult<bool> {
    let delete = "DELETE FROM invitations WHERE hash = $1 AND expires_at_ms > $2";
    if rows::execute(db, delete, &[&code.as_slice(), &ms(now)]).await? == 0 {
        return Ok(false);
    }
    users::create(db, user, None).await?;
    Ok(true)
}
