//! Assignments of clerks to webcasts, and the reports of their desks.

use async_trait::async_trait;
use contract::AuctionStatus;
use jiff::Timestamp;
use platform_core::Role;
use platform_core::port::{Clerk, ClerkAssignResult, ClerkStore, Page, StoreError, StoreResult, User};
use platform_rules::Auction;
use rusqlite::{Connection, Row};
use uuid::Uuid;

use super::rows::{self, SqlResult, after};
use super::{SqliteStore, users};
use crate::codec::ms;

#[async_trait]
impl ClerkStore for SqliteStore {
    async fn is_clerk(&self, auction: Uuid, user: Uuid) -> StoreResult<bool> {
        self.read(move |db| is_clerk(db, auction, user)).await
    }

    async fn clerks(&self, auction: Uuid, page: Page<Uuid>) -> StoreResult<Vec<(Clerk, User)>> {
        self.read(move |db| list(db, auction, page)).await
    }

    async fn webcasts_of_clerk(&self, user: Uuid, page: Page<Uuid>) -> StoreResult<Vec<Auction>> {
        let select = "SELECT a.state FROM clerks c CROSS JOIN auctions a ON a.uuid = c.auction \
             WHERE c.user_uuid = ?1 AND c.auction > ?2 AND a.status <> ?3 ORDER BY c.auction LIMIT ?4";
        let (after, limit) = (after(page), rows::limit(page.limit));
        let archived = AuctionStatus::Archived.code();
        self.read(move |db| {
            rows::list(db, select, (user.as_bytes(), after.as_bytes(), archived, limit), |row| rows::json(row, 0))
        })
        .await
    }

    async fn users_with_clerk_role(&self, page: Page<Uuid>) -> StoreResult<Vec<User>> {
        let select =
            format!("{} WHERE role = ?1 AND disabled_at_ms IS NULL AND uuid > ?2 ORDER BY uuid LIMIT ?3", users::USER);
        let (after, limit) = (after(page), rows::limit(page.limit));
        self.read(move |db| rows::list(db, &select, (Role::Clerk.name(), after.as_bytes(), limit), users::user)).await
    }

    async fn report_desk(&self, webcast: Uuid, at: Timestamp) -> StoreResult<()> {
        let put = "INSERT INTO desks (auction, reported_at_ms) VALUES (?1, ?2) \
             ON CONFLICT (auction) DO UPDATE SET reported_at_ms = max(reported_at_ms, excluded.reported_at_ms)";
        self.write(move |db| rows::execute(db, put, (webcast.as_bytes(), ms(at))).map(drop)).await
    }

    async fn desk_reported_at(&self, webcast: Uuid) -> StoreResult<Option<Timestamp>> {
        let select = "SELECT reported_at_ms FROM desks WHERE auction = ?1";
        self.read(move |db| rows::one(db, select, [webcast.as_bytes()], |row| rows::time(row, 0))).await
    }
}

/// SQLite has one writer, so no role or assignment changes between the check and the write.
pub(super) fn assign(db: &Connection, clerk: &Clerk, clerks_max: usize) -> SqlResult<ClerkAssignResult> {
    let user = users::find(db, clerk.user)?;
    if user.is_none_or(|user| user.profile.role != Role::Clerk.name()) {
        return Ok(ClerkAssignResult::NotAClerk);
    }
    if is_clerk(db, clerk.auction, clerk.user)? {
        return Ok(ClerkAssignResult::AlreadyAssigned);
    }
    let others = "SELECT user_uuid FROM clerks WHERE auction = ?1 LIMIT ?2";
    let others = rows::list(db, others, (clerk.auction.as_bytes(), rows::limit(clerks_max)), |_| Ok(()))?;
    if others.len() >= clerks_max {
        return Ok(ClerkAssignResult::LimitReached);
    }
    let insert = "INSERT INTO clerks (auction, user_uuid, assigned_at_ms, assigned_by) VALUES (?1, ?2, ?3, ?4)";
    let Clerk { auction, user, assigned_at, assigned_by } = clerk;
    rows::execute(db, insert, (auction.as_bytes(), user.as_bytes(), ms(*assigned_at), assigned_by))?;
    Ok(ClerkAssignResult::Assigned)
}

fn is_clerk(db: &Connection, auction: Uuid, user: Uuid) -> SqlResult<bool> {
    let select = "SELECT 1 FROM clerks WHERE auction = ?1 AND user_uuid = ?2";
    Ok(rows::one(db, select, (auction.as_bytes(), user.as_bytes()), |_| Ok(()))?.is_some())
}

fn list(db: &Connection, auction: Uuid, page: Page<Uuid>) -> SqlResult<Vec<(Clerk, User)>> {
    let select = "SELECT auction, user_uuid, assigned_at_ms, assigned_by FROM clerks \
         WHERE auction = ?1 AND user_uuid > ?2 ORDER BY user_uuid LIMIT ?3";
    let found = rows::list(db, select, (auction.as_bytes(), after(page).as_bytes(), rows::limit(page.limit)), clerk)?;
    let with_user = found.into_iter().map(|clerk| {
        let user = users::find(db, clerk.user)?;
        Ok((clerk, user.ok_or_else(|| StoreError::Corrupt("a clerk is not a user".into()))?))
    });
    with_user.collect()
}

fn clerk(row: &Row<'_>) -> SqlResult<Clerk> {
    Ok(Clerk {
        auction: rows::uuid(row, 0)?,
        user: rows::uuid(row, 1)?,
        assigned_at: rows::time(row, 2)?,
        assigned_by: row.get(3)?,
    })
}

/// False when the user was not a clerk of this webcast.
pub(super) fn unassign(db: &Connection, auction: Uuid, user: Uuid) -> SqlResult<bool> {
    let delete = "DELETE FROM clerks WHERE auction = ?1 AND user_uuid = ?2";
    Ok(rows::execute(db, delete, (auction.as_bytes(), user.as_bytes()))? == 1)
}

/// Ends all assignments of a user whose role changes.
pub(super) fn unassign_from_all(db: &Connection, user: Uuid) -> SqlResult<()> {
    rows::execute(db, "DELETE FROM clerks WHERE user_uuid = ?1", [user.as_bytes()]).map(drop)
}
