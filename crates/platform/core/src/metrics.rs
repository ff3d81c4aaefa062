//! The platform's metrics.

use std::time::Duration;

use jiff::Timestamp;
use kit_runtime::metrics::{self, Counter, Family, Histogram, Labels, Registry, Unit};

use crate::port::{Change, CommitReceipt, CustomerBacklog, MailBacklog, ReadingFigures, StoreResult};

/// Figures that are read from the store for a scrape.
#[derive(Debug, Clone)]
pub(crate) struct StoreFigures {
    /// What waits for each customer.
    pub(crate) customers: Vec<CustomerBacklog>,
    /// The earliest end of a live lot; none without one.
    pub(crate) next_end: Option<Timestamp>,
    /// Readings of customers' endpoints.
    pub(crate) readings: ReadingFigures,
    /// Mails to bidders that should have been sent by now.
    pub(crate) mails: MailBacklog,
}

/// Metrics of this node.
pub(crate) struct Metrics {
    pub(crate) registry: Registry,
    commit: Histogram,
    bids: Counter,
    status_changes: Counter,
    end_lateness: Histogram,
    publish: Histogram,
    quarantined: Counter,
    conflicts: Family<Labels, Counter>,
    endpoint_readings: Counter,
    endpoint_readings_failed: Counter,
    mails_sent: Counter,
    mails_failed: Counter,
    mails_held: Counter,
    sign_ins: Counter,
    sign_ins_refused: Counter,
    sign_ins_throttled: Counter,
}

impl Metrics {
    pub(crate) fn new() -> Self {
        let mut registry = Registry::with_prefix("lotwire_platform");
        let (commit, end_lateness, publish) =
            (metrics::seconds_histogram(), metrics::seconds_histogram(), metrics::seconds_histogram());
        let (bids, status_changes, quarantined) = (Counter::default(), Counter::default(), Counter::default());
        let mut timed = |name: &str, help: &str, histogram: &Histogram| {
            registry.register_with_unit(name, help, Unit::Seconds, histogram.clone());
        };
        timed("commit", "Commits of changes of auctions and items", &commit);
        timed("end_lateness", "From an item's effective end to the commit that ended it", &end_lateness);
        timed("publish", "From an event's arrival at the publisher to the provider's word that it has it", &publish);
        registry.register("bids_accepted", "Bids that are on disk, room bids and absentees' included", bids.clone());
        registry.register("status_changes", "Status changes of auctions and items", status_changes.clone());
        registry.register("events_quarantined", "Events that a provider refused for good", quarantined.clone());
        let conflicts = Family::<Labels, Counter>::default();
        for message in ExistingMessage::ALL {
            drop(conflicts.get_or_create(&message.labels()));
        }
        registry.register(
            "event_conflicts",
            "Events under whose id the provider had a message, by how that message compares",
            conflicts.clone(),
        );
        let (endpoint_readings, endpoint_readings_failed) = (Counter::default(), Counter::default());
        let help = "Readings of the endpoints of a customer at its provider that ended";
        registry.register("endpoint_readings", help, endpoint_readings.clone());
        let help = "Those of them that failed; a key without the right to read is not one";
        registry.register("endpoint_readings_failed", help, endpoint_readings_failed.clone());
        let (mails_sent, mails_failed, mails_held) = (Counter::default(), Counter::default(), Counter::default());
        registry.register("mails_sent", "Mails to bidders that the mail server has taken", mails_sent.clone());
        registry.register("mails_failed", "Mails to bidders that were given up", mails_failed.clone());
        let help =
            "Times that a mail to a bidder was held back, because its house sent or its recipient received too many";
        registry.register("mails_held", help, mails_held.clone());
        let (sign_ins, sign_ins_refused) = (Counter::default(), Counter::default());
        let sign_ins_throttled = Counter::default();
        registry.register("sign_ins", "Sessions of people that began", sign_ins.clone());
        registry.register(
            "sign_ins_refused",
            "Wrong addresses, passwords and codes of people",
            sign_ins_refused.clone(),
        );
        registry.register("sign_ins_throttled", "Sign-ins that were throttled", sign_ins_throttled.clone());
        Self {
            registry,
            commit,
            bids,
            status_changes,
            end_lateness,
            publish,
            quarantined,
            conflicts,
            endpoint_readings,
            endpoint_readings_failed,
            mails_sent,
            mails_failed,
            mails_held,
            sign_ins,
            sign_ins_refused,
            sign_ins_throttled,
        }
    }

    /// The counts of changes before their commit: see [`Counts::committed`].
    pub(crate) fn counts(changes: &[Change]) -> Counts {
        Counts(changes.iter().map(|change| (change.bids.len() as u64, change.journal.len() as u64)).collect())
    }

    /// An item ended at `now`.
    pub(crate) fn ended(&self, effective_end: Timestamp, now: Timestamp) {
        self.end_lateness.observe(now.duration_since(effective_end).as_secs_f64().max(0.0));
    }

    pub(crate) fn published(&self, took: Duration) {
        self.publish.observe(took.as_secs_f64());
    }

    pub(crate) fn quarantined(&self) {
        self.quarantined.inc();
    }

    /// The provider had a message under the id of an event.
    pub(crate) fn conflict(&self, message: ExistingMessage) {
        self.conflicts.get_or_create(&message.labels()).inc();
    }

    /// A reading of a customer's endpoints ended.
    pub(crate) fn endpoints_read(&self, is_failed: bool) {
        self.endpoint_readings.inc();
        self.endpoint_readings_failed.inc_by(u64::from(is_failed));
    }

    pub(crate) fn mail_sent(&self) {
        self.mails_sent.inc();
    }

    pub(crate) fn mail_failed(&self) {
        self.mails_failed.inc();
    }

    pub(crate) fn mails_held(&self, mails: usize) {
        self.mails_held.inc_by(mails as u64);
    }

    pub(crate) fn signed_in(&self) {
        self.sign_ins.inc();
    }

    pub(crate) fn sign_in_refused(&self) {
        self.sign_ins_refused.inc();
    }

    pub(crate) fn sign_in_throttled(&self) {
        self.sign_ins_throttled.inc();
    }
}

/// How the message that a provider has under the id of an event compares with the event.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ExistingMessage {
    /// The same event type and payload.
    Same,
    /// Another event type or payload.
    Other,
    /// The provider has deleted the payload.
    Expired,
    /// The API key may not read messages.
    NoReadRight,
    /// The provider does not show the message for another reason.
    NotShown,
}

impl ExistingMessage {
    const ALL: [Self; 5] = [Self::Same, Self::Other, Self::Expired, Self::NoReadRight, Self::NotShown];

    fn labels(self) -> Labels {
        let message = match self {
            Self::Same => "same",
            Self::Other => "other",
            Self::Expired => "expired",
            Self::NoReadRight => "no_read_right",
            Self::NotShown => "not_shown",
        };
        vec![("message", message.to_owned())]
    }
}

/// Bids and status changes of each change of a commit.
pub(crate) struct Counts(Vec<(u64, u64)>);

impl Counts {
    /// Counts the committed changes.
    pub(crate) fn committed(&self, metrics: &Metrics, took: Duration, results: &[StoreResult<CommitReceipt>]) {
        metrics.commit.observe(took.as_secs_f64());
        for ((bids, status_changes), _) in self.0.iter().zip(results).filter(|(_, result)| result.is_ok()) {
            metrics.bids.inc_by(*bids);
            metrics.status_changes.inc_by(*status_changes);
        }
    }
}
