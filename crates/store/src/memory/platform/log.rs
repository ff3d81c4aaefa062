//! The log.

use std::collections::BTreeMap;
use std::ops::Bound;

use ::platform::audit::{LogEntry, LogKind};
use ::platform::port::{Logs, Page, PlacedEntry, StoreResult};
use async_trait::async_trait;
use uuid::Uuid;

use super::Memory;

#[derive(Default)]
pub(super) struct Log {
    entries: BTreeMap<(Uuid, i64), LogEntry>,
    /// In the order in which they came.
    order: Vec<(Uuid, i64)>,
}

impl Log {
    pub(super) fn append(&mut self, entries: Vec<LogEntry>) {
        self.order.extend(entries.iter().map(|entry| (entry.subject, entry.number)));
        self.entries.extend(entries.into_iter().map(|entry| ((entry.subject, entry.number), entry)));
    }

    pub(super) fn end(&self) -> i64 {
        i64::try_from(self.order.len()).unwrap_or(i64::MAX)
    }

    pub(super) fn placed(&self, page: Page<i64>) -> Vec<PlacedEntry> {
        let placed = (1_i64..).zip(&self.order).skip_while(|(position, _)| *position <= page.after.unwrap_or(0));
        let entries = placed.filter_map(|(position, key)| Some((position, self.entries.get(key)?)));
        let placed = entries.take(page.limit).map(|(position, entry)| PlacedEntry {
            position,
            subject: entry.subject,
            number: entry.number,
            content: entry.content.clone(),
            hash: entry.hash,
        });
        placed.collect()
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
