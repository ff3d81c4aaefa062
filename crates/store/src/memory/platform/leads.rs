//! Leads, and the items that wait to be entered by them.

use std::collections::BTreeMap;

use ::platform::new_item::NewItem;
use ::platform::port::{Lead, LeadStep, Leads as LeadsPort, StoreError, StoreResult};
use async_trait::async_trait;
use jiff::Timestamp;
use uuid::Uuid;

use super::Memory;
use crate::platform_codec::import_of;

#[derive(Default)]
pub(super) struct Leads {
    /// By auction.
    leads: BTreeMap<Uuid, Lead>,
    /// Pieces by import and number, with the time at which they were staged.
    staged: BTreeMap<(Uuid, i64), (Timestamp, Vec<NewItem>)>,
}

impl Leads {
    pub(super) fn check(&self, step: Option<&LeadStep>) -> StoreResult<()> {
        let Some(step) = step else { return Ok(()) };
        let found = self.leads.get(&step.auction).map(|lead| lead.step);
        if found == step.seen { Ok(()) } else { Err(StoreError::Conflict) }
    }

    pub(super) fn take(&mut self, step: Option<LeadStep>) {
        let Some(LeadStep { auction, lead, entered, .. }) = step else { return };
        match lead {
            Some(lead) => drop(self.leads.insert(auction, lead)),
            None => drop(self.leads.remove(&auction)),
        }
        if let Some(piece) = entered {
            self.staged.remove(&piece);
        }
    }

    /// Pieces that belong to no lead.
    fn idle(&self) -> impl Iterator<Item = (&(Uuid, i64), &(Timestamp, Vec<NewItem>))> {
        let is_led = |import: Uuid| self.leads.values().any(|lead| import_of(lead) == Some(import));
        self.staged.iter().filter(move |((import, _), _)| !is_led(*import))
    }

    fn remove(&mut self, pieces: &[(Uuid, i64)]) -> usize {
        pieces.iter().filter(|piece| self.staged.remove(piece).is_some()).count()
    }
}

#[async_trait]
impl LeadsPort for Memory {
    async fn lead(&self, auction: Uuid) -> StoreResult<Option<Lead>> {
        Ok(self.tables().leads.leads.get(&auction).cloned())
    }

    async fn leads(&self, limit: usize) -> StoreResult<Vec<Lead>> {
        Ok(self.tables().leads.leads.values().take(limit).cloned().collect())
    }

    async fn stage(&self, import: Uuid, number: i64, items: Vec<NewItem>, at: Timestamp) -> StoreResult<()> {
        let mut tables = self.tables();
        if tables.leads.staged.contains_key(&(import, number)) {
            return Err(StoreError::Taken("piece"));
        }
        tables.leads.staged.insert((import, number), (at, items));
        Ok(())
    }

    async fn staged(&self, import: Uuid, number: i64) -> StoreResult<Option<Vec<NewItem>>> {
        Ok(self.tables().leads.staged.get(&(import, number)).map(|(_, items)| items.clone()))
    }

    async fn unstage(&self, import: Uuid, limit: usize) -> StoreResult<usize> {
        let mut tables = self.tables();
        let theirs = tables.leads.idle().map(|(piece, _)| *piece).filter(|(of, _)| *of == import);
        let pieces: Vec<_> = theirs.take(limit).collect();
        Ok(tables.leads.remove(&pieces))
    }

    async fn unstage_forgotten(&self, before: Timestamp, limit: usize) -> StoreResult<usize> {
        let mut tables = self.tables();
        let old = tables.leads.idle().filter(|(_, (at, _))| *at < before).map(|(piece, _)| *piece);
        let pieces: Vec<_> = old.take(limit).collect();
        Ok(tables.leads.remove(&pieces))
    }
}
