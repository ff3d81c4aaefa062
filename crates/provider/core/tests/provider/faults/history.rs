//! What the faulty store passes on: searching, resending, forgetting.

use async_trait::async_trait;
use jiff::Timestamp;
use provider_core::model::{Attempt, AttemptStatus, Id, Message};
use provider_core::port::{
    AttemptFilter, AttemptScope, Attempted, Destination, HistoryStore, IdempotentAnswer, MessageFilter, PayloadRead,
    Resend, ResendStore, RetentionStore, Scan, ScanResult, StoreResult,
};

use super::Faulty;

#[async_trait]
impl HistoryStore for Faulty {
    async fn find_messages(
        &self,
        application: &str,
        filter: &MessageFilter,
        scan: &Scan,
        content: PayloadRead,
    ) -> StoreResult<ScanResult<Message>> {
        self.store.find_messages(application, filter, scan, content).await
    }

    async fn messages_by_ids(&self, application: &str, ids: &[Id]) -> StoreResult<Vec<Message>> {
        self.store.messages_by_ids(application, ids).await
    }

    async fn find_attempts(
        &self,
        application: &str,
        of: &AttemptScope,
        filter: &AttemptFilter,
        scan: &Scan,
    ) -> StoreResult<ScanResult<Attempt>> {
        self.store.find_attempts(application, of, filter, scan).await
    }

    async fn find_attempted_messages(
        &self,
        application: &str,
        endpoint: &str,
        filter: &MessageFilter,
        status: Option<AttemptStatus>,
        scan: &Scan,
        content: PayloadRead,
    ) -> StoreResult<ScanResult<Attempted>> {
        self.store.find_attempted_messages(application, endpoint, filter, status, scan, content).await
    }

    async fn destinations(&self, application: &str, message: &str) -> StoreResult<Vec<Destination>> {
        self.store.destinations(application, message).await
    }
}

#[async_trait]
impl ResendStore for Faulty {
    async fn resend(&self, resend: Resend, answer: Option<IdempotentAnswer>) -> StoreResult<()> {
        self.call("resend", self.store.resend(resend, answer)).await
    }
}

#[async_trait]
impl RetentionStore for Faulty {
    async fn expunge_payload(&self, application: &str, message: &str, now: Timestamp) -> StoreResult<bool> {
        self.store.expunge_payload(application, message, now).await
    }

    async fn expunge_payloads(
        &self,
        application: &str,
        after: &str,
        before: &str,
        limit: usize,
        now: Timestamp,
    ) -> StoreResult<(usize, Option<Id>)> {
        self.store.expunge_payloads(application, after, before, limit, now).await
    }

    async fn expunge_response(&self, application: &str, message: &str, attempt: &str) -> StoreResult<bool> {
        self.store.expunge_response(application, message, attempt).await
    }

    async fn expunge_expired_payloads(&self, now: Timestamp, limit: usize) -> StoreResult<usize> {
        self.store.expunge_expired_payloads(now, limit).await
    }

    async fn delete_old_attempts(&self, before_message: &str, limit: usize) -> StoreResult<usize> {
        self.store.delete_old_attempts(before_message, limit).await
    }

    async fn delete_old_messages(&self, before_message: &str, limit: usize) -> StoreResult<usize> {
        self.store.delete_old_messages(before_message, limit).await
    }
}
