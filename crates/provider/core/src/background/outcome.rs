//! What came of the messages that a task sent again.

use std::collections::BTreeMap;

use crate::accounts::caller::Caller;
use crate::error::ProviderResult;
use crate::ids;
use crate::messages::history::{HistoryQuery, HistoryRequest};
use crate::model::{AttemptStatus, AttemptTrigger, BackgroundTask, Id};
use crate::provider::Provider;

/// Pages of attempts that are read, 250 attempts each.
const PAGES_MAX: usize = 2;
const LIMIT: &str = "250";

/// Messages of a task by the result of their latest attempt.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct ReplayOutcome {
    /// Messages that were delivered.
    pub delivered: u64,
    /// Messages whose latest attempt failed. Another attempt may follow.
    pub failed: u64,
    /// All attempts since the task began were looked at; otherwise there may be more of both.
    pub is_whole: bool,
}

impl Provider {
    /// What came of a task of an endpoint so far: manual attempts at its endpoint since the task began, a resend of a single
    /// message included. 404.
    pub async fn replay_outcome(&self, caller: &Caller, task: &BackgroundTask) -> ProviderResult<ReplayOutcome> {
        let after = task.created_at.to_string();
        let (mut latest, mut iterator): (BTreeMap<Id, (Id, AttemptStatus)>, _) = (BTreeMap::new(), None::<String>);
        let mut outcome = ReplayOutcome::default();
        for _ in 0..PAGES_MAX {
            let query =
                HistoryQuery { limit: Some(LIMIT), iterator: iterator.as_deref(), before: None, after: Some(&after) };
            let ask = HistoryRequest::parse(query, ids::ATTEMPT)?;
            let page = self.list_attempts_at_endpoint(caller, &task.application, &task.endpoint, ask).await?;
            for attempt in page.data.into_iter().filter(|attempt| attempt.trigger == AttemptTrigger::Manual) {
                let found = latest.entry(attempt.message).or_insert_with(|| (attempt.id.clone(), attempt.status));
                if found.0 < attempt.id {
                    *found = (attempt.id, attempt.status);
                }
            }
            outcome.is_whole = page.done;
            iterator = page.iterator;
            if page.done || iterator.is_none() {
                break;
            }
        }
        for (_, status) in latest.values() {
            match status {
                AttemptStatus::Success => outcome.delivered += 1,
                _ => outcome.failed += 1,
            }
        }
        Ok(outcome)
    }
}
