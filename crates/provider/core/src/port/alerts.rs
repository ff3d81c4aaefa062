//! Alerts about failing endpoints: the latest notifications, the recipients, and the queued mails.

use async_trait::async_trait;
use jiff::Timestamp;
use serde_json::{Map, Value};

use super::{Order, StoreResult};
use crate::model::{Endpoint, Id};

/// Maximum number of queued mails of one account. Further mails are dropped.
pub const WAITING_MAILS_MAX: usize = 1_000;

/// The latest notification about a failing endpoint. The numbers are stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub enum AlertStage {
    /// The endpoint fails.
    Failing = 1,
    /// The endpoint will be disabled soon.
    DisablingSoon = 2,
    /// The endpoint was disabled because of its failures.
    Disabled = 3,
}

/// The latest notification about an endpoint, and the run of failures that it was about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SentAlert {
    /// Beginning of the run of failures.
    pub failing_since: Timestamp,
    /// The latest notification.
    pub stage: AlertStage,
}

/// Selects endpoints whose owners may need a notification.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AlertQuery {
    /// Endpoints that have failed since this time or longer are failing.
    pub failing_before: Timestamp,
    /// Endpoints that have failed since this time or longer will be disabled soon.
    pub disabling_before: Timestamp,
    /// Maximum number of endpoints of each kind.
    pub limit: usize,
}

/// An endpoint whose owners may need a notification.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AlertCandidate {
    /// The account of its application.
    pub account: Id,
    /// The endpoint.
    pub endpoint: Endpoint,
    /// When the attempt began after which the dispatcher disabled the endpoint; none if it is enabled, or a caller
    /// disabled it.
    pub given_up_at: Option<Timestamp>,
    /// The latest notification.
    pub last_alert: Option<SentAlert>,
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
    /// The notification that this one follows.
    pub before: Option<SentAlert>,
    /// This notification; none when the endpoint has recovered.
    pub after: Option<SentAlert>,
    /// The operational event; none when another event reports the same.
    pub event: Option<AlertEvent>,
    /// Whether mails report it: the operator set a mail server.
    pub is_mailed: bool,
    /// When the notification is written.
    pub at: Timestamp,
}

/// The part of a notification that mails report, which no mail has reported yet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AlertNotice {
    /// The endpoint.
    pub endpoint: Id,
    /// Beginning of the run of failures.
    pub failing_since: Timestamp,
    /// The notification; none when the endpoint has recovered.
    pub stage: Option<AlertStage>,
    /// When the notification was written.
    pub noted_at: Timestamp,
}

/// The notices about the endpoints of an application that no mail has reported yet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WaitingReport {
    /// The account of the application.
    pub account: Id,
    /// The application.
    pub application: Id,
    /// The notices, ordered by endpoint.
    pub notices: Vec<AlertNotice>,
    /// When mails reported about the application last.
    pub reported_at: Option<Timestamp>,
    /// Whether an endpoint of the application fails whose owners were notified.
    pub is_failing: bool,
}

/// A report by mail about the endpoints of an application, written in one transaction.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AlertReport {
    /// The notices that it reports.
    pub notices: Vec<AlertNotice>,
    /// Endpoints of the application that fail too, whose owners have no notification yet.
    pub failing_too: Vec<FailingEndpoint>,
    /// The application.
    pub application: Id,
    /// The mails.
    pub mails: Vec<NewMail>,
    /// When the mails are due.
    pub at: Timestamp,
}

/// An endpoint that fails, or was disabled because of its failures.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FailingEndpoint {
    /// The endpoint.
    pub endpoint: Endpoint,
    /// Beginning of the run of failures.
    pub since: Timestamp,
    /// Whether a mail reported this run of failures.
    pub is_reported: bool,
}

/// A mail that is not sent yet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WaitingMail {
    /// Unique number.
    pub no: i64,
    /// The mail.
    pub mail: NewMail,
    /// Number of attempts to send it, including the current one.
    pub tries: u32,
}

/// Mails are counted to this number for the figures of all accounts.
pub const MAILS_COUNTED_MAX: usize = 100_000;

/// Mails that are not sent yet.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct MailBacklog {
    /// Their number, counted to [`MAILS_COUNTED_MAX`].
    pub mails: u64,
    /// When the oldest of them was queued.
    pub oldest_at: Option<Timestamp>,
}

/// The endpoints that a recipient receives alerts about.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct AlertScope {
    /// The account.
    pub account: Id,
    /// One application of the account; all applications when none.
    pub application: Option<Id>,
}

/// An address that receives alerts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AlertRecipient {
    /// The endpoints that it receives alerts about.
    pub scope: AlertScope,
    /// The address.
    pub address: String,
    /// SHA-256 of the code that confirms it.
    pub code_hash: [u8; 32],
    /// When it was added, or a new code was sent.
    pub created_at: Timestamp,
    /// When it was confirmed. Before that, it receives only the code.
    pub confirmed_at: Option<Timestamp>,
}

/// Notifications, recipients and mails.
#[async_trait]
pub trait AlertStore: Send + Sync {
    /// Endpoints that
    /// - have failed since `failing_before`, without a notification about this run of failures,
    /// - have failed since `disabling_before`, with only the notification that they fail,
    /// - were disabled because of failures, without a notification about that,
    /// - or received a message after a notification about failures.
    async fn alert_candidates(&self, query: AlertQuery) -> StoreResult<Vec<AlertCandidate>>;
    /// Writes the notification, the event and the notice for the next report. Error: `Conflict` when the latest
    /// notification is not `before`, so that only one node notifies the owners.
    async fn record_alert(&self, alert: Alert) -> StoreResult<()>;
    /// The reports of at most `limit` applications that wait, those with the oldest notice first.
    async fn waiting_reports(&self, limit: usize) -> StoreResult<Vec<WaitingReport>>;
    /// Writes that the notices and the endpoints that fail too are reported, and the mails. A notification that an
    /// endpoint of `failing_too` fails is then no further notice. Error: `Conflict` when a notice was reported or
    /// replaced meanwhile, so that only one node reports it.
    async fn record_report(&self, report: AlertReport) -> StoreResult<()>;
    /// Endpoints of the scope that fail, or were disabled because of their failures, ordered by the beginning of the run of
    /// failures.
    async fn failing_in(&self, scope: &AlertScope, order: Order, limit: usize) -> StoreResult<Vec<FailingEndpoint>>;
    /// Deletes the notifications about deleted endpoints, and the recipients of deleted applications.
    async fn forget_deleted_alerts(&self) -> StoreResult<()>;
    /// The recipients of exactly this scope, ordered by address.
    async fn alert_recipients(&self, scope: &AlertScope) -> StoreResult<Vec<AlertRecipient>>;
    /// Adds a recipient and the mail with its code, or replaces an unconfirmed recipient. Errors: `Taken` when the
    /// address is confirmed already in this scope, `LimitReached`.
    async fn put_alert_recipient(
        &self,
        recipient: AlertRecipient,
        recipients_max: usize,
        mail: NewMail,
    ) -> StoreResult<()>;
    /// Confirms the recipient of the code with this hash that was sent after `sent_after`, and returns it, even if it
    /// is confirmed already. None without such a recipient.
    async fn confirm_alert_recipient(
        &self,
        code_hash: [u8; 32],
        sent_after: Timestamp,
        at: Timestamp,
    ) -> StoreResult<Option<AlertRecipient>>;
    /// Removes a recipient. False when it does not exist.
    async fn delete_alert_recipient(&self, scope: &AlertScope, address: &str) -> StoreResult<bool>;
    /// Adds a mail to the queue. False when the account has [`WAITING_MAILS_MAX`] queued mails.
    async fn queue_mail(&self, mail: NewMail, at: Timestamp) -> StoreResult<bool>;
    /// Claims at most `limit` mails that are due at `now`. No other call returns them before `leased_until`.
    async fn claim_mails(&self, now: Timestamp, leased_until: Timestamp, limit: usize)
    -> StoreResult<Vec<WaitingMail>>;
    /// The mails of all accounts that are not sent yet.
    async fn waiting_mails(&self) -> StoreResult<MailBacklog>;
    /// Deletes a mail that was sent or can't be sent.
    async fn delete_mail(&self, no: i64) -> StoreResult<()>;
    /// Makes a mail due again at `at`.
    async fn postpone_mail(&self, no: i64, at: Timestamp) -> StoreResult<()>;
}
