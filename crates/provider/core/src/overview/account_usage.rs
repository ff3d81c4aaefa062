//! Usage of an account: messages, attempts and ended deliveries by hour or by day.

use jiff::Timestamp;

use crate::caller::Caller;
use crate::error::ProviderResult;
use crate::model::counts::{CountSpan, DeliveryCounts, MessageCounts};
use crate::port::CountScope;
use crate::provider::Provider;

/// Usage in one step of time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct UsageStep {
    /// When the step begins.
    pub at: Timestamp,
    /// Messages that were accepted.
    pub messages: MessageCounts,
    /// Attempts and ended deliveries at all endpoints.
    pub deliveries: DeliveryCounts,
}

impl Provider {
    /// The usage of the caller's account in each step, oldest first. It includes endpoints and applications that were deleted.
    pub async fn account_usage(&self, caller: &Caller, span: CountSpan) -> ProviderResult<Vec<UsageStep>> {
        let now = self.now();
        let account = CountScope::Account(caller.account.clone());
        let messages = span.sum(now, self.store().message_counts(&account, span.hours(now)).await?);
        let deliveries = self.counts_by_step(&account, span, now).await?;
        let steps = span.bounds(now).into_iter().zip(messages.into_iter().zip(deliveries));
        Ok(steps.map(|(at, (messages, deliveries))| UsageStep { at, messages, deliveries }).collect())
    }
}
