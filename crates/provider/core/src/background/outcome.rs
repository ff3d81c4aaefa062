//! The delivery results of the messages that a task sent again.

use std::collections::BTreeMap;

use crate::caller::Caller;
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
    /// Whether all attempts since the task began were counted; otherwise both numbers may be too low.
    pub is_whole: bool,
}

impl Provider {
    /// The results of an endpoint's task so far. It counts all manual attempts at the endpoint since the task began,
    /// including resends of single messages. 404.
    pub async fn replay_outcome(&self, caller: &Caller, task: &BackgroundTask) -> ProviderResult<ReplayOutcome> {
        let after = task.created_at.to_string();
        let (mut latest, mut iterator): (BTreeMap<Id, (Id, AttemptStatus)>, _) = (BTreeMap::new(), None::<String>);
        let mut outcome = ReplayOutcome::default();
        for _ in 0..PAGES_MAX {
            let query =
                HistoryQuery { limit: Some(LIMIT), iterator: iterator.as_deref(), before: None, after: Some(&after) };
            let request = HistoryRequest::parse(query, ids::ATTEMPT)?;
            let page = self.list_attempts_at_endpoint(caller, &task.application, &task.endpoint, request).await?;
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
