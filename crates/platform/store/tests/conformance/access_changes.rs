//! Changes of access as in production, each with its entry in the access log.

use jiff::Timestamp;
use platform_core::port::{
    AccessChange, AccessChangeResult, ApiKey, Clerk, ClerkAssignResult, Consumer, IdempotentAnswer, Session, StartFrom,
    Store, StoreResult, User, UserChangeResult,
};
use uuid::Uuid;

async fn apply(store: &dyn Store, change: AccessChange) -> StoreResult<AccessChangeResult> {
    store.apply_access_change(change, "{}".to_owned()).await
}

/// One method for each change of access, which returns the content of the [`AccessChangeResult`].
pub(super) trait AccessChanges {
    async fn create_user(&self, user: User, answer: Option<IdempotentAnswer>) -> StoreResult<()>;
    async fn remove_user(&self, uuid: Uuid, version: i64) -> StoreResult<UserChangeResult>;
    async fn begin_session(
        &self,
        session: Session,
        version: i64,
        sessions_max: usize,
        answer: Option<IdempotentAnswer>,
    ) -> StoreResult<()>;
    async fn create_api_key(&self, key: ApiKey, answer: Option<IdempotentAnswer>) -> StoreResult<()>;
    async fn revoke_api_key(&self, uuid: Uuid, at: Timestamp) -> StoreResult<()>;
    async fn assign_clerk(&self, clerk: Clerk, clerks_max: usize) -> StoreResult<ClerkAssignResult>;
    /// Returns false when the user was not a clerk of the webcast.
    async fn unassign_clerk(&self, auction: Uuid, user: Uuid) -> StoreResult<bool>;
    async fn put_consumer(&self, consumer: Consumer, start: StartFrom) -> StoreResult<()>;
    /// Returns the number of waiting events; none without a connection.
    async fn disconnect(&self, customer: Uuid) -> StoreResult<Option<u64>>;
}

impl AccessChanges for dyn Store {
    async fn create_user(&self, user: User, answer: Option<IdempotentAnswer>) -> StoreResult<()> {
        apply(self, AccessChange::CreateUser(user, answer)).await.map(drop)
    }

    async fn remove_user(&self, uuid: Uuid, version: i64) -> StoreResult<UserChangeResult> {
        match apply(self, AccessChange::RemoveUser(uuid, version)).await? {
            AccessChangeResult::User(result) => Ok(result),
            other => panic!("removing a user returned {other:?}"),
        }
    }

    async fn begin_session(
        &self,
        session: Session,
        version: i64,
        sessions_max: usize,
        answer: Option<IdempotentAnswer>,
    ) -> StoreResult<()> {
        apply(self, AccessChange::BeginSession(session, version, sessions_max, answer)).await.map(drop)
    }

    async fn create_api_key(&self, key: ApiKey, answer: Option<IdempotentAnswer>) -> StoreResult<()> {
        apply(self, AccessChange::CreateApiKey(key, answer)).await.map(drop)
    }

    async fn revoke_api_key(&self, uuid: Uuid, at: Timestamp) -> StoreResult<()> {
        apply(self, AccessChange::RevokeApiKey(uuid, at)).await.map(drop)
    }

    async fn assign_clerk(&self, clerk: Clerk, clerks_max: usize) -> StoreResult<ClerkAssignResult> {
        match apply(self, AccessChange::AssignClerk(clerk, clerks_max)).await? {
            AccessChangeResult::Clerk(result) => Ok(result),
            other => panic!("assigning a clerk returned {other:?}"),
        }
    }

    async fn unassign_clerk(&self, auction: Uuid, user: Uuid) -> StoreResult<bool> {
        Ok(apply(self, AccessChange::UnassignClerk(auction, user)).await? == AccessChangeResult::Done)
    }

    async fn put_consumer(&self, consumer: Consumer, start: StartFrom) -> StoreResult<()> {
        apply(self, AccessChange::PutConsumer(consumer, start)).await.map(drop)
    }

    async fn disconnect(&self, customer: Uuid) -> StoreResult<Option<u64>> {
        match apply(self, AccessChange::Disconnect(customer)).await? {
            AccessChangeResult::Disconnected(waited) => Ok(Some(waited)),
            AccessChangeResult::Unchanged => Ok(None),
            other => panic!("disconnecting returned {other:?}"),
        }
    }
}
