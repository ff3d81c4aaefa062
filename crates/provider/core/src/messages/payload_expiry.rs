//! Expiry of payloads: a payload is stored as long as [`RetentionConfig`](crate::config::retention::RetentionConfig) says,
//! or for the shorter time that the sender asks for (`payloadRetentionPeriod`, `payloadRetentionHours`). An expired
//! payload is never shown or sent; the retention job then removes it.

use std::sync::atomic::AtomicU64;

use jiff::{SignedDuration, Timestamp};

use super::MessageInput;
use super::retention::BATCH_MAX;
use crate::error::ProviderResult;
use crate::model::Message;
use crate::provider::Provider;
use crate::validation::FieldErrors;

const RETENTION_DAYS_MAX: i64 = 90;
const RETENTION_DAYS_MIN: i64 = 5;

impl MessageInput {
    /// How long the sender wants the payload to be stored, if it says so.
    pub(super) fn payload_retention(&self) -> Option<SignedDuration> {
        let days = self.payload_retention_days.map(|days| 24 * days);
        self.payload_retention_hours.or(days).map(SignedDuration::from_hours)
    }

    /// Checks the two fields that set the payload's retention.
    pub(super) fn check_payload_retention(&self, errors: &mut FieldErrors) {
        let retention = RETENTION_DAYS_MIN..=RETENTION_DAYS_MAX;
        if self.payload_retention_days.is_some_and(|days| !retention.contains(&days)) {
            errors.fault("payloadRetentionPeriod", format!("must be {RETENTION_DAYS_MIN} to {RETENTION_DAYS_MAX}"));
        }
        let hours = 1..=24 * RETENTION_DAYS_MAX;
        if self.payload_retention_hours.is_some_and(|given| !hours.contains(&given)) {
            errors.fault("payloadRetentionHours", format!("must be 1 to {}", hours.end()));
        }
        if self.payload_retention_hours.is_some() && self.payload_retention_days.is_some() {
            errors.fault("payloadRetentionHours", "must be left out beside payloadRetentionPeriod");
        }
    }
}

impl Provider {
    /// Hides the payload of a message if it has expired, also before the background job has removed it.
    pub(crate) fn hide_expired_payload(&self, message: &mut Message) {
        if message.payload_expires_at <= self.now() {
            message.payload = None;
        }
    }

    pub(super) async fn remove_expired_payloads(&self, count: &AtomicU64, now: Timestamp) -> ProviderResult<()> {
        self.in_batches(count, || self.store().expunge_expired_payloads(now, BATCH_MAX)).await
    }
}
