//! What the figures of the whole installation are made of.

use std::collections::{BTreeMap, HashMap};

use ::provider::model::Id;
use ::provider::port::supervision::{Due, EndpointStates, Overview, TaskCount};
use ::provider::port::{RESEND_DUE, StoreResult};
use async_trait::async_trait;
use jiff::Timestamp;

use super::Memory;
use super::deliveries::Work;
use crate::task_codec::{kind_number, task_status_number};

#[async_trait]
impl Overview for Memory {
    async fn longest_due(&self, now: Timestamp, limit: usize) -> StoreResult<Vec<Due>> {
        let tables = self.tables();
        let there = |endpoint: &str| tables.config.endpoints.values().any(|known| &*known.id == endpoint);
        let mut due: Vec<Due> = tables.work.due_since(now).into_iter().filter(|due| there(&due.endpoint)).collect();
        due.sort_by(|one, other| (one.since, &one.endpoint).cmp(&(other.since, &other.endpoint)));
        due.truncate(limit);
        Ok(due)
    }

    async fn endpoint_states(&self) -> StoreResult<EndpointStates> {
        let tables = self.tables();
        let (mut failing, mut disabled) = (0, 0);
        for endpoint in tables.config.endpoints.values() {
            disabled += u64::from(endpoint.disabled);
            failing += u64::from(!endpoint.disabled && endpoint.failing_since.is_some());
        }
        Ok(EndpointStates { failing, disabled })
    }

    async fn task_counts(&self) -> StoreResult<Vec<TaskCount>> {
        let mut counts: BTreeMap<_, TaskCount> = BTreeMap::new();
        for task in self.tables().background.all() {
            let (kind, status) = (task.kind, task.status);
            let count = counts.entry((kind_number(kind), task_status_number(status)));
            count.or_insert(TaskCount { kind, status, count: 0 }).count += 1;
        }
        Ok(counts.into_values().collect())
    }
}

impl Work {
    /// The first row of each endpoint that is due, past what was asked for by hand.
    fn due_since(&self, now: Timestamp) -> Vec<Due> {
        let mut since: HashMap<&Id, Timestamp> = HashMap::new();
        for (endpoint, at, _) in self.waiting.iter().filter(|(_, at, _)| *at > RESEND_DUE && *at <= now) {
            since.entry(endpoint).or_insert(*at);
        }
        since.into_iter().map(|(endpoint, since)| Due { endpoint: endpoint.clone(), since }).collect()
    }
}
