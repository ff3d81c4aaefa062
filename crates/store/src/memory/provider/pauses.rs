//! Which endpoints are left alone because their receivers asked for it.

use std::cmp::Reverse;
use std::collections::HashMap;

use ::provider::model::Id;
use ::provider::port::StoreResult;
use ::provider::port::supervision::{Pause, Pauses};
use async_trait::async_trait;
use jiff::Timestamp;

use super::{Memory, Tables};

/// Pauses by endpoint, each with when it was kept.
pub(super) type PauseTable = HashMap<Id, (Pause, Timestamp)>;

#[async_trait]
impl Pauses for Memory {
    async fn note_pause(&self, pause: Pause, now: Timestamp) -> StoreResult<()> {
        let pauses = &mut self.tables().pauses;
        pauses.retain(|_, (pause, _)| pause.until > now);
        pauses.insert(pause.endpoint.clone(), (pause, now));
        Ok(())
    }

    async fn pauses(&self, since: Timestamp, now: Timestamp, limit: usize) -> StoreResult<Vec<Pause>> {
        let tables = self.tables();
        let lately = tables.pauses.values().filter(|(_, at)| *at >= since);
        let mut pauses: Vec<_> =
            lately.map(|(pause, _)| pause.clone()).filter(|pause| tables.holds(pause, now)).collect();
        pauses.sort_by_key(|pause| Reverse(pause.until));
        pauses.truncate(limit);
        Ok(pauses)
    }

    async fn paused_until(&self, endpoint: &str, now: Timestamp) -> StoreResult<Option<Timestamp>> {
        let tables = self.tables();
        let pause = tables.pauses.get(endpoint).map(|(pause, _)| pause);
        Ok(pause.filter(|pause| tables.holds(pause, now)).map(|pause| pause.until))
    }
}

impl Tables {
    /// Whether it is not over, and its endpoint is as it was.
    fn holds(&self, pause: &Pause, now: Timestamp) -> bool {
        let endpoint = self.config.endpoint(&pause.application, &pause.endpoint);
        let application = self.config.application_by_id(&pause.application);
        pause.until > now
            && endpoint.is_some_and(|endpoint| pause.changed_at >= endpoint.updated_at)
            && application.is_some_and(|application| pause.changed_at >= application.updated_at)
    }
}
