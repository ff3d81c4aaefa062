//! Assignments of clerks to webcasts, and the reports of their desks.

use async_trait::async_trait;
use contract::AuctionStatus;
use jiff::Timestamp;
use kit_engine::postgres::{Connection, Transaction};
use platform_core::Role;
use platform_core::port::{Clerk, ClerkAssignResult, ClerkStore, Page, StoreResult, User};
use platform_rules::Auction;
use tokio_postgres::Row;
use uuid::Uuid;

use super::rows::{self, SqlResult, after};
use super::{PostgresStore, users};
use crate::codec::ms;

#[async_trait]
impl ClerkStore for PostgresStore {
    async fn is_clerk(&self, auction: Uuid, user: Uuid) -> StoreResult<bool> {
        Ok(is_clerk(&self.client().await?, auction, user).await?)
    }

    async fn clerks(&self, auction: Uuid, page: Page<Uuid>) -> StoreResult<Vec<(Clerk, User)>> {
        let select = format!(
            "{USER}, auction, user_uuid, assigned_at_ms, assigned_by FROM clerks JOIN users ON uuid = user_uuid \
             WHERE auction = $1 AND user_uuid > $2 ORDER BY user_uuid LIMIT $3",
            USER = users::USER.trim_end_matches(" FROM users")
        );
        let (after, limit) = (after(page), rows::limit(page.limit));
        let values: rows::Values<'_> = &[&auction, &after, &limit];
        let row = |row: &Row| {
            let clerk = Clerk {
                auction: rows::get(row, users::USER_COLUMNS)?,
                user: rows::get(row, users::USER_COLUMNS + 1)?,
                assigned_at: rows::time(row, users::USER_COLUMNS + 2)?,
                assigned_by: rows::get(row, users::USER_COLUMNS + 3)?,
            };
            Ok((clerk, users::user(row)?))
        };
        Ok(rows::list(&self.client().await?, &select, values, row).await?)
    }

    async fn webcasts_of_clerk(&self, user: Uuid, page: Page<Uuid>) -> StoreResult<Vec<Auction>> {
        let select = "SELECT a.state FROM clerks c JOIN auctions a ON a.uuid = c.auction \
             WHERE c.user_uuid = $1 AND c.auction > $2 AND a.status <> $3 ORDER BY c.auction LIMIT $4";
        let (after, limit) = (after(page), rows::limit(page.limit));
        let values: rows::Values<'_> = &[&user, &after, &AuctionStatus::Archived.code(), &limit];
        Ok(rows::list(&self.client().await?, select, values, |row| rows::json(row, 0)).await?)
    }

    async fn users_with_clerk_role(&self, page: Page<Uuid>) -> StoreResult<Vec<User>> {
        let select =
            format!("{} WHERE role = $1 AND disabled_at_ms IS NULL AND uuid > $2 ORDER BY uuid LIMIT $3", users::USER);
        let (after, limit) = (after(page), rows::limit(page.limit));
        let values: rows::Values<'_> = &[&Role::Clerk.name(), &after, &limit];
        Ok(rows::list(&self.client().await?, &select, values, users::user).await?)
    }

    async fn report_desk(&self, webcast: Uuid, at: Timestamp) -> StoreResult<()> {
        let put = "INSERT INTO desks (auction, reported_at_ms) VALUES ($1, $2) ON CONFLICT (auction) DO UPDATE \
             SET reported_at_ms = greatest(desks.reported_at_ms, excluded.reported_at_ms)";
        Ok(rows::execute(&self.client().await?, put, &[&webcast, &ms(at)]).await.map(drop)?)
    }

    async fn desk_reported_at(&self, webcast: Uuid) -> StoreResult<Option<Timestamp>> {
        let select = "SELECT reported_at_ms FROM desks WHERE auction = $1";
        Ok(rows::one(&self.client().await?, select, &[&webcast], |row| rows::time(row, 0)).await?)
    }
}

pub(super) async fn assign(db: &Transaction<'_>, clerk: &Clerk, clerks_max: usize) -> SqlResult<ClerkAssignResult> {
    // The lock waits for a concurrent change of the user's role and prevents later changes until the commit.
    let is_role = "SELECT 1 FROM users WHERE uuid = $1 AND role = $2 FOR SHARE";
    if rows::one(db, is_role, &[&clerk.user, &Role::Clerk.name()], |_| Ok(())).await?.is_none() {
        return Ok(ClerkAssignResult::NotAClerk);
    }
    // Concurrent assignments to this webcast wait for this lock, so that each counts the earlier assignments.
    rows::execute(db, "SELECT 1 FROM auctions WHERE uuid = $1 FOR NO KEY UPDATE", &[&clerk.auction]).await?;
    if is_clerk(db, clerk.auction, clerk.user).await? {
        return Ok(ClerkAssignResult::AlreadyAssigned);
    }
    let others = "SELECT count(*) FROM clerks WHERE auction = $1";
    let others = rows::one(db, others, &[&clerk.auction], |row| rows::get::<i64>(row, 0)).await?.unwrap_or_default();
    if others >= rows::limit(clerks_max) {
        return Ok(ClerkAssignResult::LimitReached);
    }
    let insert = "INSERT INTO clerks (auction, user_uuid, assigned_at_ms, assigned_by) VALUES ($1, $2, $3, $4)";
    let Clerk { auction, user, assigned_at, assigned_by } = clerk;
    rows::execute(db, insert, &[auction, user, &ms(*assigned_at), assigned_by]).await?;
    Ok(ClerkAssignResult::Assigned)
}

async fn is_clerk(db: &impl Connection, auction: Uuid, user: Uuid) -> SqlResult<bool> {
    let select = "SELECT 1 FROM clerks WHERE auction = $1 AND user_uuid = $2";
    Ok(rows::one(db, select, &[&auction, &user], |_| Ok(())).await?.is_some())
}

/// False when the user was not a clerk of this webcast.
pub(super) async fn unassign(db: &impl Connection, auction: Uuid, user: Uuid) -> SqlResult<bool> {
    let delete = "DELETE FROM clerks WHERE auction = $1 AND user_uuid = $2";
    Ok(rows::execute(db, delete, &[&auction, &user]).await? == 1)
}

/// Ends all assignments of a user whose role changes.
pub(super) async fn unassign_from_all(db: &Transaction<'_>, user: Uuid) -> SqlResult<()> {
    rows::execute(db, "DELETE FROM clerks WHERE user_uuid = $1", &[&user]).await.map(drop)
}
