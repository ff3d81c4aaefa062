//! Mails to bidders: the queue, and reminders of a sale, which become one mail for each bidder.

use std::collections::BTreeMap;
use std::time::Duration;

use async_trait::async_trait;
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use super::{Page, StoreResult};

/// Mails are counted to this number for the figures of all houses.
pub const MAILS_COUNTED_MAX: usize = 100_000;

/// What a mail to a bidder is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum MailKind {
    /// The registration was approved.
    Approved,
    /// The registration was declined.
    Declined,
    /// The registration was suspended.
    Suspended,
    /// A sale takes place soon.
    Reminder,
    /// Another bid is higher.
    Outbid,
    /// The bidder bought a lot.
    Won,
    /// The bidder did not buy a lot.
    NotWon,
    /// A sale went live.
    SaleBegan,
    /// A lot comes into the ring soon.
    LotSoon,
    /// A higher limit was granted.
    LimitGranted,
    /// A higher limit was declined.
    LimitDeclined,
    /// Staff wrote to the bidders of a sale.
    Message,
    /// The house offers a lot to the bidder.
    Offer,
}

impl MailKind {
    /// All kinds.
    pub const ALL: [Self; 13] = [
        Self::Approved,
        Self::Declined,
        Self::Suspended,
        Self::Reminder,
        Self::Outbid,
        Self::Won,
        Self::NotWon,
        Self::SaleBegan,
        Self::LotSoon,
        Self::LimitGranted,
        Self::LimitDeclined,
        Self::Message,
        Self::Offer,
    ];
    /// The kinds whose texts a house may replace.
    pub const OF_HOUSE: [Self; 4] = [Self::Approved, Self::Declined, Self::Suspended, Self::Reminder];

    /// The mail is about what the bidder bought or can buy now, and has to come in time.
    pub fn is_purchase(self) -> bool {
        matches!(self, Self::Won | Self::Offer)
    }

    /// Stable name, in tables and forms.
    pub fn name(self) -> &'static str {
        match self {
            Self::Approved => "approved",
            Self::Declined => "declined",
            Self::Suspended => "suspended",
            Self::Reminder => "reminder",
            Self::Outbid => "outbid",
            Self::Won => "won",
            Self::NotWon => "not_won",
            Self::SaleBegan => "sale_began",
            Self::LotSoon => "lot_soon",
            Self::LimitGranted => "limit_granted",
            Self::LimitDeclined => "limit_declined",
            Self::Message => "message",
            Self::Offer => "offer",
        }
    }

    /// The kind of that name.
    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.name() == name)
    }
}

/// The language of a house's mails.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Language {
    /// English.
    #[default]
    English,
    /// German.
    German,
    /// French.
    French,
    /// Spanish.
    Spanish,
    /// Italian.
    Italian,
}

impl Language {
    /// All languages.
    pub const ALL: [Self; 5] = [Self::English, Self::German, Self::French, Self::Spanish, Self::Italian];

    /// Stable name, in forms.
    pub fn name(self) -> &'static str {
        match self {
            Self::English => "english",
            Self::German => "german",
            Self::French => "french",
            Self::Spanish => "spanish",
            Self::Italian => "italian",
        }
    }

    /// The language of that name.
    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|language| language.name() == name)
    }
}

/// A subject and a text with placeholders such as `{paddle}`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct MailText {
    /// One line.
    pub subject: String,
    /// Lines of text.
    pub text: String,
}

/// How a house writes to its bidders.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct HouseMails {
    /// The language of texts that the house did not replace, and of dates.
    pub language: Language,
    /// Whether bidders receive a mail when their registration is approved, declined or suspended.
    pub sends_decisions: bool,
    /// The texts that the house replaced.
    pub texts: BTreeMap<MailKind, MailText>,
}

/// A mail to a bidder, as it is sent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewMail {
    /// UUID, version 7. The `Message-ID` contains it.
    pub uuid: Uuid,
    /// The house.
    pub customer: Uuid,
    /// The auction.
    pub auction: Uuid,
    /// The registration.
    pub registration: Uuid,
    /// The bidder's record in the register.
    pub party: Option<Uuid>,
    /// What it is about.
    pub kind: MailKind,
    /// Address of the recipient.
    pub recipient: String,
    /// Subject.
    pub subject: String,
    /// Text.
    pub text: String,
    /// When it was queued.
    pub queued_at: Timestamp,
    /// Where the recipient ends mails of this kind with one click; none for mails that can't be refused.
    pub unsubscribe: Option<String>,
}

/// Where a mail stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MailState {
    /// It is sent when it is due.
    Waiting,
    /// The mail server has taken it.
    Sent,
    /// It was given up.
    Failed,
}

impl MailState {
    /// All states.
    pub const ALL: [Self; 3] = [Self::Waiting, Self::Failed, Self::Sent];

    /// Stable name, in forms.
    pub fn name(self) -> &'static str {
        match self {
            Self::Waiting => "waiting",
            Self::Sent => "sent",
            Self::Failed => "failed",
        }
    }
}

/// A mail with what became of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredMail {
    /// The mail.
    pub mail: NewMail,
    /// Where it stands.
    pub state: MailState,
    /// Tries to send it so far.
    pub tries: u32,
    /// When it is due, while it waits.
    pub next_at: Timestamp,
    /// Why the last try failed, or why the mail is held back; the mail server's words.
    pub fault: Option<String>,
    /// When a try first failed.
    pub failing_since: Option<Timestamp>,
    /// When it was sent or given up.
    pub ended_at: Option<Timestamp>,
    /// Since when it waits for a limit; none when it waits for none.
    pub held_since: Option<Timestamp>,
}

/// A node's right to send a mail. A result is recorded only for the latest claim.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ClaimedMail {
    /// The mail.
    pub mail: NewMail,
    /// Tries to send it, this one included.
    pub tries: u32,
}

/// What became of a try to send a mail.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum MailResult {
    /// The mail server has taken it.
    Sent,
    /// The try failed. The next one is due at this time.
    Postponed(String, Timestamp),
    /// Nothing was tried, because the recipient received or the house sent too many mails. The next try is due at this time.
    Held(String, Timestamp),
    /// It was given up.
    Failed(String),
}

/// Mails of a house that wait for its limit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HeldMails {
    /// The house.
    pub customer: Uuid,
    /// Why they wait.
    pub reason: String,
    /// The first of them is due one interval after this time.
    pub after: Timestamp,
    /// Time between two of them.
    pub interval: Duration,
}

/// Mails of a house that wait for a limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HeldCount {
    /// Their number.
    pub mails: u64,
    /// Since when the first of them waits for it.
    pub since: Timestamp,
}

/// Mails of a house, each counted to [`MAILS_COUNTED_MAX`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct MailCounts {
    /// Those that wait.
    pub waiting: u64,
    /// Those that were given up.
    pub failed: u64,
    /// Those that were sent.
    pub sent: u64,
}

/// Mails of all houses that should have been sent by now: due, or tried in vain.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct MailBacklog {
    /// Their number, counted to [`MAILS_COUNTED_MAX`].
    pub mails: u64,
    /// When the oldest of them was queued.
    pub oldest_at: Option<Timestamp>,
}

/// A reminder of a sale to its approved bidders. A worker makes one mail for each of them, in steps.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reminder {
    /// UUID. The form carries it, so that a form that is sent twice reminds once.
    pub uuid: Uuid,
    /// The house.
    pub customer: Uuid,
    /// The auction.
    pub auction: Uuid,
    /// Who sent it, as the journal names callers.
    pub actor: String,
    /// The language of dates.
    pub language: Language,
    /// Subject and text, with placeholders, as they were previewed.
    pub text: MailText,
    /// The registration up to which mails were made.
    pub after: Option<Uuid>,
    /// Mails made so far.
    pub recipients: u64,
    /// Approved bidders without an e-mail address so far.
    pub without_email: u64,
    /// When it was sent.
    pub created_at: Timestamp,
    /// When the last mail was made.
    pub ended_at: Option<Timestamp>,
}

/// The next part of a reminder.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReminderStep {
    /// The reminder as it was read.
    pub reminder: Reminder,
    /// The registration up to which mails are made now; none when nothing is left.
    pub through: Option<Uuid>,
    /// The mails, with the version of the registration that each was written from.
    pub mails: Vec<(NewMail, i64)>,
    /// Approved bidders of this part who have no address.
    pub without_email: u64,
    /// When the reminder ended, in its last part.
    pub ended_at: Option<Timestamp>,
}

/// The queue of mails. [`RegistrationWrite::mail`](super::RegistrationWrite::mail) puts a mail into it with the decision that
/// causes it, and an erasure deletes the mails of a person.
#[async_trait]
pub trait MailStore: Send + Sync {
    /// Claims at most `limit` mails that are due at `now`, the longest due first, counts a try of each, and clears its fault. No
    /// other call returns them before `until`.
    async fn claim_mails(&self, now: Timestamp, until: Timestamp, limit: usize) -> StoreResult<Vec<ClaimedMail>>;
    /// Records what became of a try. False when the claim is not the latest any more, or the mail was deleted.
    async fn record_mail_result(&self, mail: Uuid, tries: u32, result: MailResult, at: Timestamp) -> StoreResult<bool>;
    /// Holds back at most `limit` mails of a house that are due at `now`: each, the longest due first, becomes due one interval
    /// after the one before. Returns their number. Claimed mails are not due.
    async fn hold_mails(&self, now: Timestamp, held: HeldMails, limit: usize) -> StoreResult<usize>;
    /// A mail.
    async fn mail(&self, uuid: Uuid) -> StoreResult<Option<StoredMail>>;
    /// Mails of a house in this state, the latest first: those queued before the UUID of the page.
    async fn mails(&self, customer: Uuid, state: MailState, page: Page<Uuid>) -> StoreResult<Vec<StoredMail>>;
    /// Mails about a registration, the latest first.
    async fn mails_of_registration(&self, registration: Uuid, limit: usize) -> StoreResult<Vec<StoredMail>>;
    /// Mails of a house by state.
    async fn mail_counts(&self, customer: Uuid) -> StoreResult<MailCounts>;
    /// Makes mails due that a process claimed which has ended. Only for the sole process of a store. Returns their number.
    async fn release_mails(&self, now: Timestamp) -> StoreResult<usize>;
    /// Makes a mail due at `at`, to this address, that waits for its next try after this number of tries. False when it is in
    /// another state, claimed, or due.
    async fn send_mail_now(&self, uuid: Uuid, tries: u32, recipient: &str, at: Timestamp) -> StoreResult<bool>;
    /// Makes a mail that was given up due again, to this address. False when it is in another state.
    async fn send_mail_again(&self, uuid: Uuid, recipient: &str, at: Timestamp) -> StoreResult<bool>;
    /// Houses with mails that were given up since this time, and the number of these; of one house or of all, by UUID.
    async fn failed_mails(&self, customer: Option<Uuid>, since: Timestamp) -> StoreResult<Vec<(Uuid, u64)>>;
    /// Houses with mails that wait for a limit; of one house or of all, by UUID.
    async fn held_mails(&self, customer: Option<Uuid>) -> StoreResult<Vec<(Uuid, HeldCount)>>;
    /// Makes at most `limit` mails of all houses due at `now` that wait for a limit, because a limit may be higher now. Claimed
    /// mails stay claimed. Returns their number.
    async fn release_held_mails(&self, now: Timestamp, limit: usize) -> StoreResult<usize>;
    /// The mails of all houses that should have been sent by now.
    async fn waiting_mails(&self, now: Timestamp) -> StoreResult<MailBacklog>;
    /// Deletes mails that were sent or given up before this time; returns their number.
    async fn delete_old_mails(&self, before: Timestamp, limit: usize) -> StoreResult<usize>;
    /// Begins a reminder. `Conflict` when the latest reminder of the auction is not `seen`; `Taken("reminder")` when this one
    /// began before.
    async fn begin_reminder(&self, reminder: Reminder, seen: Option<Uuid>) -> StoreResult<()>;
    /// The latest reminder of an auction.
    async fn latest_reminder(&self, auction: Uuid) -> StoreResult<Option<Reminder>>;
    /// Reminders whose mails are not all made, the oldest first.
    async fn open_reminders(&self, limit: usize) -> StoreResult<Vec<Reminder>>;
    /// Commits a part of a reminder. `Conflict` when another call committed a part of it since it was read, or a registration
    /// has another version.
    async fn remind(&self, step: ReminderStep) -> StoreResult<()>;
}
