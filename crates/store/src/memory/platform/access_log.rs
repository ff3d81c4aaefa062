//! The log of access. Its entry follows the change; nobody can see, and nothing can lose, the one without the other for longer than
//! that takes.

use ::platform::audit::{access_begin, access_chain};
use ::platform::port::{
    AccessChange, AccessChanged, AccessEntry, AccessLogs, ApiKeys as _, Clerks as _, Page, People as _,
    Quarantine as _, Store as _, StoreResult,
};
use async_trait::async_trait;
use auction::LogHead;

use super::Memory;

#[async_trait]
impl AccessLogs for Memory {
    async fn change_access(&self, change: AccessChange, content: String) -> StoreResult<AccessChanged> {
        let changed = self.apply(change).await?;
        if changed.is_noted() {
            let entries = &mut self.tables().access_log;
            let next = access_chain(head(entries), &content);
            entries.push(AccessEntry { number: next.number, content, hash: next.hash });
        }
        Ok(changed)
    }

    async fn access_log(&self, page: Page<i64>) -> StoreResult<Vec<AccessEntry>> {
        let tables = self.tables();
        let after = tables.access_log.iter().filter(|entry| page.after.is_none_or(|after| entry.number > after));
        Ok(after.take(page.limit).cloned().collect())
    }

    async fn latest_access(&self, before: Option<i64>, limit: usize) -> StoreResult<Vec<AccessEntry>> {
        let tables = self.tables();
        let earlier = tables.access_log.iter().rev().filter(|entry| before.is_none_or(|before| entry.number < before));
        Ok(earlier.take(limit).cloned().collect())
    }

    async fn access_head(&self) -> StoreResult<LogHead> {
        Ok(head(&self.tables().access_log))
    }
}

impl Memory {
    async fn apply(&self, change: AccessChange) -> StoreResult<AccessChanged> {
        let done = |()| AccessChanged::Done;
        let if_any = |any: bool| if any { AccessChanged::Done } else { AccessChanged::Before };
        match change {
            AccessChange::Happened => Ok(AccessChanged::Done),
            AccessChange::CreateUser(user, answer) => self.create_user(user, answer).await.map(done),
            AccessChange::ChangeUser(change) => self.change_user(change).await.map(AccessChanged::User),
            AccessChange::RemoveUser(user, version) => self.remove_user(user, version).await.map(AccessChanged::User),
            AccessChange::BeginSession(session, version, sessions_max, answer) => {
                self.begin_session(session, version, sessions_max, answer).await.map(done)
            }
            AccessChange::CreateApiKey(key, answer) => self.create_api_key(key, answer).await.map(done),
            AccessChange::RevokeApiKey(key, at) => {
                let known = self.api_key(key).await?;
                self.revoke_api_key(key, at).await?;
                Ok(if_any(known.is_some_and(|key| key.revoked_at.is_none())))
            }
            AccessChange::AssignClerk(clerk, clerks_max) => {
                self.assign_clerk(clerk, clerks_max).await.map(AccessChanged::Clerk)
            }
            AccessChange::TakeClerkOff(auction, user) => self.take_clerk_off(auction, user).await.map(if_any),
            AccessChange::PutConsumer(consumer, start) => self.put_consumer(consumer, start).await.map(done),
            AccessChange::Disconnect(customer) => {
                Ok(self.disconnect(customer).await?.map_or(AccessChanged::Before, AccessChanged::Waited))
            }
        }
    }
}

fn head(entries: &[AccessEntry]) -> LogHead {
    entries.last().map_or_else(access_begin, |last| LogHead { number: last.number, hash: last.hash })
}
