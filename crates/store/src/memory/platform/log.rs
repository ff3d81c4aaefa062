//! The log.

use std::collections::BTreeMap;
use std::ops::Bound;

use ::platform::audit::{LogEntry, LogKind};
use ::platform::port::{Logs, Page, StoreResult};
use async_trait::async_trait;
use uuid::Uuid;

use super::Memory;

#[derive(Default)]
pub(super) struct Log {
    entries: BTreeMap<(Uuid, i64), LogEntry>,
}

impl Log {
    pub(super) fn append(&mut self, entries: Vec<LogEntry>) {
        self.entries.extend(entries.into_iter().map(|entry| ((entry.subject, entry.number), entry)));
    }
}

#[async_trait]
impl Logs for Memory {
    async fn log(&self, subject: Uuid, page: Page<i64>) -> StoreResult<Vec<LogEntry>> {
        let tables = self.tables();
        let after = (subject, page.after.unwrap_or(i64::MIN));
        let range = (Bound::Excluded(after), Bound::Included((subject, i64::MAX)));
        Ok(tables.log.entries.range(range).take(page.limit).map(|(_, entry)| entry.clone()).collect())
    }

    async fn logged_subjects(&self, page: Page<Uuid>) -> StoreResult<Vec<Uuid>> {
        let tables = self.tables();
        let mut subjects: Vec<Uuid> = Vec::new();
        let mut next = page.after;
        while subjects.len() < page.limit {
            let from = next.map_or(Bound::Unbounded, |after| Bound::Excluded((after, i64::MAX)));
            let Some(((subject, _), _)) = tables.log.entries.range((from, Bound::Unbounded)).next() else { break };
            subjects.push(*subject);
            next = Some(*subject);
        }
        Ok(subjects)
    }

    /// There are no columns beside the states.
    async fn columns_astray(&self, _: LogKind, _: Uuid) -> StoreResult<Vec<&'static str>> {
        Ok(Vec::new())
    }
}
