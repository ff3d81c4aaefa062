//! Invitations to become a user.

use async_trait::async_trait;
use jiff::Timestamp;
use platform_core::Scope;
use platform_core::port::{Digest, Invitation, InvitationStore, Page, StoreResult, User};
use rusqlite::{Connection, Row, params};
use uuid::Uuid;

use super::rows::{self, SqlResult, after};
use super::{SqliteStore, users};
use crate::codec::ms;

const INVITATION: &str = "SELECT uuid, email, role, hash, created_at_ms, created_by, expires_at_ms FROM invitations";

#[async_trait]
impl InvitationStore for SqliteStore {
    async fn invitations(&self, page: Page<Uuid>) -> StoreResult<Vec<Invitation>> {
        let select = format!("{INVITATION} WHERE uuid > ?1 ORDER BY uuid LIMIT ?2");
        self.read(move |db| rows::list(db, &select, (after(page).as_bytes(), rows::limit(page.limit)), invitation))
            .await
    }

    async fn invitation_by_hash(&self, hash: Digest) -> StoreResult<Option<Invitation>> {
        let select = format!("{INVITATION} WHERE hash = ?1");
        self.read(move |db| rows::one(db, &select, [hash], invitation)).await
    }
}

fn invitation(row: &Row<'_>) -> SqlResult<Invitation> {
    Ok(Invitation {
        uuid: rows::uuid(row, 0)?,
        email: row.get(1)?,
        role: row.get(2)?,
        hash: row.get(3)?,
        created_at: rows::time(row, 4)?,
        created_by: row.get(5)?,
        expires_at: rows::time(row, 6)?,
    })
}

/// Withdraws the invitations that a user made.
pub(super) fn withdraw_of(db: &Connection, creator: &str) -> SqlResult<()> {
    rows::execute(db, "DELETE FROM invitations WHERE created_by = ?1", [creator]).map(drop)
}

/// False when `invitations_max` other invitations have not expired. SQLite has one writer, so no invitation is created
/// between the count and the write.
pub(super) fn create(db: &Connection, new: &Invitation, invitations_max: usize) -> SqlResult<bool> {
    users::require_maker(db, &new.created_by, Scope::UsersWrite)?;
    rows::execute(db, "DELETE FROM invitations WHERE expires_at_ms <= ?1", [ms(new.created_at)])?;
    let others = "SELECT uuid FROM invitations WHERE email <> ?1 LIMIT ?2";
    let others = rows::list(db, others, (&new.email, rows::limit(invitations_max)), |_| Ok(()))?;
    if others.len() >= invitations_max {
        return Ok(false);
    }
    rows::execute(db, "DELETE FROM invitations WHERE email = ?1", [&new.email])?;
    let insert = "INSERT INTO invitations (uuid, email, role, hash, created_at_ms, created_by, expires_at_ms) \
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)";
    let Invitation { uuid, email, role, hash, created_at, created_by, expires_at } = new;
    let values = params![uuid.as_bytes(), email, role, hash, ms(*created_at), created_by, ms(*expires_at)];
    rows::execute(db, insert, values)?;
    Ok(true)
}

/// False when the invitation does not exist.
pub(super) fn withdraw(db: &Connection, uuid: Uuid) -> SqlResult<bool> {
    Ok(rows::execute(db, "DELETE FROM invitations WHERE uuid = ?1", [uuid.as_bytes()])? == 1)
}

/// False when the invitation was used or withdrawn, or has expired.
pub(super) fn accept(db: &Connection, code: Digest, user: &User, now: Timestamp) -> SqlResult<bool> {
    let delete = "DELETE FROM invitations WHERE hash = ?1 AND expires_at_ms > ?2";
    if rows::execute(db, delete, (code, ms(now)))? == 0 {
        return Ok(false);
    }
    users::create(db, user, None)?;
    Ok(true)
}
