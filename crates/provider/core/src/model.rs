//! The entities of the provider: accounts, keys, consumer applications, event types, endpoints, messages, attempts.

mod access;
mod activity;
mod attempt_times;
pub mod cause;
pub mod counts;
pub mod hidden_account;
mod key_scope;
pub mod ordering;
mod portal_settings;
mod role;
pub mod stored_payload;
mod task;
mod unknown_event_type;
mod users;

use std::collections::{BTreeMap, BTreeSet};
use std::num::NonZeroU16;
use std::sync::Arc;

use jiff::{SignedDuration, Timestamp};
use kit_runtime::trace::TraceParent;
use kit_runtime::vault::Sealed;
use serde_json::Value;

use self::ordering::DeliveryOrder;
use self::stored_payload::StoredPayload;
use crate::model::cause::FailureDetail;
pub use access::{AccountSettings, AppToken, Capability, PayloadCheck, Preview, TokenMaker, UnknownEventTypes};
pub use activity::{ActivityEntry, ActorKind};
pub use attempt_times::AttemptTimes;
pub use key_scope::KeyScope;
pub use portal_settings::{LogoType, PortalLogo, PortalSettings};
pub use role::Role;
pub use task::{BackgroundTask, Progress, Selection, TaskKind, TaskStatus};
pub use unknown_event_type::UnknownEventType;
pub use users::{Invitation, Profile, User, UserSession};

/// Text id with a prefix and a KSUID, such as `app_2b…`. Cheap to clone: it is in every delivery.
pub type Id = Arc<str>;

/// An organisation that owns keys, applications and event types.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Account {
    /// `org_…`
    pub id: Id,
    /// Name, for people.
    pub name: String,
    /// Settings of the account.
    pub settings: AccountSettings,
    /// When it was created.
    pub created_at: Timestamp,
}

/// A named API key of an account. The text of the key is shown once and not stored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ApiKey {
    /// `key_…`
    pub id: Id,
    /// The account that it gives access to.
    pub account: Id,
    /// Name, for people.
    pub name: String,
    /// SHA-256 of the key without its region suffix (a key is random, so it needs no salt or stretching).
    pub hash: [u8; 32],
    /// When it was created.
    pub created_at: Timestamp,
    /// When it expires; never when none.
    pub expires_at: Option<Timestamp>,
    /// When it was last used, to within an hour; none when it was never used.
    pub last_used_at: Option<Timestamp>,
    /// The IP address of that use, if it is known.
    pub last_used_from: Option<String>,
    /// Scopes of the key; without scopes, it allows everything.
    pub scopes: Option<BTreeSet<KeyScope>>,
}

/// A consumer application.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Application {
    /// `app_…`
    pub id: Id,
    /// The account that it belongs to.
    pub account: Id,
    /// The customer's own id for it; unique in the account.
    pub uid: Option<String>,
    /// Name.
    pub name: String,
    /// Messages a second that all its endpoints together receive at most.
    pub throttle_rate: Option<u16>,
    /// Free text pairs.
    pub metadata: BTreeMap<String, String>,
    /// Incremented by each change of the application or its endpoints. A snapshot with an older version is stale.
    pub version: i64,
    /// Incremented when payloads of its messages are removed. Payloads that were read before are read again before an
    /// attempt.
    pub purges: i64,
    /// When it was created.
    pub created_at: Timestamp,
    /// When it was last changed.
    pub updated_at: Timestamp,
}

/// A kind of message that an account sends.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EventType {
    /// The account that it belongs to.
    pub account: Id,
    /// Name and key, such as `ITEM_STATUS_CHANGE`.
    pub name: String,
    /// Free text.
    pub description: String,
    /// Hidden from lists; messages of it are still accepted.
    pub archived: bool,
    /// Deprecated: it will be removed.
    pub deprecated: bool,
    /// JSON Schema per version key.
    pub schemas: Option<Value>,
    /// Feature flags. Without flags, every caller sees the event type; otherwise a token needs one of them.
    pub feature_flags: BTreeSet<String>,
    /// Name of the group that it is shown in.
    pub group_name: Option<String>,
    /// When it was created.
    pub created_at: Timestamp,
    /// When it was last changed.
    pub updated_at: Timestamp,
}

/// A rotated secret in its grace period.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OldSecret {
    /// The secret, sealed.
    pub secret: Sealed,
    /// When it stops signing.
    pub expires_at: Timestamp,
}

/// An address that receives an application's messages.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Endpoint {
    /// `ep_…`
    pub id: Id,
    /// The application that it belongs to.
    pub application: Id,
    /// The customer's own id for it; unique in the application.
    pub uid: Option<String>,
    /// Receiving address.
    pub url: String,
    /// Free text.
    pub description: String,
    /// Receives nothing while true.
    pub disabled: bool,
    /// Event type names that it receives; all when none.
    pub filter_types: Option<Vec<String>>,
    /// Channels that it subscribes to; all messages when none.
    pub channels: Option<Vec<String>>,
    /// Messages a second that it receives at most.
    pub throttle_rate: Option<u16>,
    /// The caller's own version of the endpoint. The provider does not use it.
    pub version: NonZeroU16,
    /// Free text pairs.
    pub metadata: BTreeMap<String, String>,
    /// Headers sent with every delivery: names, and values sealed for the endpoint and the name.
    pub headers: BTreeMap<String, String>,
    /// Signing secret (`whsec_…`), sealed.
    pub secret: Sealed,
    /// Rotated secrets in their grace period; at most 10.
    pub old_secrets: Vec<OldSecret>,
    /// Since when every attempt has failed; none after a success.
    pub failing_since: Option<Timestamp>,
    /// Since when it is disabled; none while it is enabled. The store sets it; a change can't.
    pub disabled_at: Option<Timestamp>,
    /// Whether messages of one key are delivered one after the other.
    pub ordering: DeliveryOrder,
    /// Whether its deliveries carry the header `traceparent`.
    pub sends_trace_parent: bool,
    /// When it was created.
    pub created_at: Timestamp,
    /// When it was last changed.
    pub updated_at: Timestamp,
}

/// A message that was accepted for an application.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Message {
    /// `msg_…`
    pub id: Id,
    /// The application that it was sent to.
    pub application: Id,
    /// Event type name.
    pub event_type: Arc<str>,
    /// The sender's id for it; unique in the application.
    pub event_id: Option<String>,
    /// The payload as the sender wrote it, byte for byte; none after its retention.
    pub payload: Option<StoredPayload>,
    /// Channels it was sent to.
    pub channels: Option<Vec<String>>,
    /// Tags, for searching.
    pub tags: Option<Vec<String>>,
    /// When it was accepted.
    pub created_at: Timestamp,
    /// When its payload is removed.
    pub payload_expires_at: Timestamp,
    /// When to deliver it; at once when none.
    pub deliver_at: Option<Timestamp>,
    /// The user who sent it by hand on the dashboard; none for a message of a program.
    pub sent_by: Option<Id>,
    /// The position in a trace of the request that sent it, if it had one. It is read with the payload only.
    pub trace_parent: Option<TraceParent>,
}

/// Status of an attempt or of a message at an endpoint. The numbers are those of the API.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub enum AttemptStatus {
    /// The endpoint responded 2xx.
    Success = 0,
    /// There was no attempt yet.
    Pending = 1,
    /// The attempt failed.
    Fail = 2,
    /// An attempt is under way, or another one will follow.
    Sending = 3,
    /// A person cancelled it, or the endpoint was deleted.
    Cancelled = 4,
}

/// The trigger of an attempt. The numbers are those of the API.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub enum AttemptTrigger {
    /// The message itself or the retry schedule.
    Scheduled = 0,
    /// A resend, a recovery or a replay.
    Manual = 1,
}

/// A finished attempt to deliver a message to an endpoint.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Attempt {
    /// `atmpt_…`
    pub id: Id,
    /// The message.
    pub message: Id,
    /// The endpoint.
    pub endpoint: Id,
    /// The application.
    pub application: Id,
    /// The URL of the request.
    pub url: String,
    /// Success or fail.
    pub status: AttemptStatus,
    /// HTTP status code of the response; 0 when there was none.
    pub response_status_code: u16,
    /// Response body, at most 20,000 bytes (binary as base64), or the text of the transport error.
    pub response: String,
    /// What explains a failure beside the status code and the response.
    pub failure_detail: Option<FailureDetail>,
    /// Headers of the response, a line `name: value` each, at most 4 KiB; without the values of cookies. Empty without a
    /// response.
    pub response_headers: String,
    /// Milliseconds from the start to the end of the response.
    pub response_duration_ms: i64,
    /// How that time was spent; none when nothing was sent.
    pub times: Option<AttemptTimes>,
    /// The trigger of the attempt.
    pub trigger: AttemptTrigger,
    /// When it began.
    pub at: Timestamp,
}

impl Attempt {
    /// When the response was complete, or the attempt failed without one.
    pub fn ended_at(&self) -> Timestamp {
        self.at.saturating_add(SignedDuration::from_millis(self.response_duration_ms)).unwrap_or(self.at)
    }
}
