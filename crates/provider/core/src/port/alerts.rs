//! Alerts about failing endpoints: what the owners were told, who they are, and the mails that wait.

use async_trait::async_trait;
use jiff::Timestamp;
use serde_json::{Map, Value};

use super::StoreResult;
use crate::model::{Endpoint, Id};

/// Mails of one account that wait at most. Further ones are dropped.
pub const WAITING_MAILS_MAX: usize = 1_000;

/// What the owners of a failing endpoint were told last. The numbers are stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub enum AlertStage {
    /// It fails.
    Failing = 1,
    /// It will be disabled soon.
    DisablingSoon = 2,
    /// Failures disabled it.
    Disabled = 3,
}

/// What was told about an endpoint, and about which run of failures.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Told {
    /// Since when it had failed.
    pub failing_since: Timestamp,
    /// What was told last.
    pub stage: AlertStage,
}

/// Which endpoints may have changed since their owners were told of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AlertQuery {
    /// Endpoints that have failed since this time or longer are failing.
    pub failing_before: Timestamp,
    /// Endpoints that have failed since this time or longer will be disabled soon.
    pub disabling_before: Timestamp,
    /// Endpoints of each kind at most.
    pub limit: usize,
}

/// An endpoint whose owners may have to be told something.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AlertCandidate {
    /// The account of its application.
    pub account: Id,
    /// The endpoint.
    pub endpoint: Endpoint,
    /// When the attempt began with which failures disabled it; none if it is enabled, or a caller disabled it.
    pub given_up_at: Option<Timestamp>,
    /// What was told.
    pub told: Option<Told>,
}

/// An operational event about an alert.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AlertEvent {
    /// Event type name.
    pub event_type: &'static str,
    /// Fields of its `data`, in addition to those of every event about an endpoint.
    pub details: Map<String, Value>,
}

/// A mail to send.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewMail {
    /// The account that it is about.
    pub account: Id,
    /// Address of the recipient.
    pub recipient: String,
    /// Subject.
    pub subject: String,
    /// Text.
    pub body: String,
}

/// A notification about an endpoint, written in one transaction.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Alert {
    /// The application.
    pub application: Id,
    /// The endpoint.
    pub endpoint: Id,
    /// Uid of the endpoint.
    pub endpoint_uid: Option<String>,
    /// What was told before: the decision rests on it.
    pub before: Option<Told>,
    /// What the owners know from now on; none when the endpoint has recovered.
    pub after: Option<Told>,
    /// The operational event; none when another one reports the same.
    pub event: Option<AlertEvent>,
    /// The mails.
    pub mails: Vec<NewMail>,
    /// When the mails are due.
    pub at: Timestamp,
}

/// A mail that is not sent yet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WaitingMail {
    /// Unique number.
    pub no: i64,
    /// The mail.
    pub mail: NewMail,
    /// Tries to send it, including the one that is made now.
    pub tries: u32,
}

/// The endpoints whose alerts a recipient receives.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct AlertScope {
    /// The account.
    pub account: Id,
    /// One application of the account; all of them when none.
    pub application: Option<Id>,
}

/// An address that receives alerts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AlertRecipient {
    /// The endpoints whose alerts it receives.
    pub scope: AlertScope,
    /// The address.
    pub address: String,
    /// SHA-256 of the code that confirms it.
    pub code_hash: [u8; 32],
    /// When it was added, or a new code was sent.
    pub created_at: Timestamp,
    /// When it was confirmed. It receives nothing but its code before.
    pub confirmed_at: Option<Timestamp>,
}

/// What owners were told, who they are, and their mails.
#[async_trait]
pub trait AlertStore: Send + Sync {
    /// Endpoints that
    /// - have failed since `failing_before` and whose owners were not told of this run of failures,
    /// - have failed since `disabling_before` and whose owners were told only that they fail,
    /// - were disabled by failures, which their owners were not told,
    /// - or received a message after their owners were told of failures.
    async fn alert_candidates(&self, query: AlertQuery) -> StoreResult<Vec<AlertCandidate>>;
    /// Writes what the owners know from now on, the event and the mails. Errors: `Conflict` when something else was told than `before`,
    /// so that of many nodes one tells.
    async fn record_alert(&self, alert: Alert) -> StoreResult<()>;
    /// Deletes what was told of endpoints that were deleted since, and the recipients of deleted applications.
    async fn forget_deleted_alerts(&self) -> StoreResult<()>;
    /// The recipients of exactly this scope by address.
    async fn alert_recipients(&self, scope: &AlertScope) -> StoreResult<Vec<AlertRecipient>>;
    /// Adds a recipient with the mail that has its code, or replaces one that is not confirmed. Errors: `Taken` when the
    /// address is confirmed already in this scope, `LimitReached`.
    async fn put_alert_recipient(
        &self,
        recipient: AlertRecipient,
        recipients_max: usize,
        mail: NewMail,
    ) -> StoreResult<()>;
    /// Confirms the recipient whose code has this hash and was sent after `sent_after`, and returns it; also one that
    /// is confirmed already. None when there is none.
    async fn confirm_alert_recipient(
        &self,
        code_hash: [u8; 32],
        sent_after: Timestamp,
        at: Timestamp,
    ) -> StoreResult<Option<AlertRecipient>>;
    /// Removes a recipient. False when there is none.
    async fn delete_alert_recipient(&self, scope: &AlertScope, address: &str) -> StoreResult<bool>;
    /// Takes at most `limit` mails that are due at `now`; no other call gets them before `leased_until`.
    async fn claim_mails(&self, now: Timestamp, leased_until: Timestamp, limit: usize)
    -> StoreResult<Vec<WaitingMail>>;
    /// Deletes a mail that was sent, or that can't be.
    async fn delete_mail(&self, no: i64) -> StoreResult<()>;
    /// Makes a mail due again at `at`.
    async fn postpone_mail(&self, no: i64, at: Timestamp) -> StoreResult<()>;
}
