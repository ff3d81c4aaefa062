//! Registrations of bidders, and their stakes.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use ::platform::port::{
    Page, Registration, RegistrationEntry, Registrations, SeenRegistration, Stake, StoreError, StoreResult, Turn,
    Versioned,
};
use async_trait::async_trait;
use uuid::Uuid;

use super::{Memory, slice};

#[derive(Default)]
pub(super) struct Bidders {
    pub(super) kept: BTreeMap<Uuid, Registration>,
    /// Registrations by auction and paddle.
    paddles: HashMap<(Uuid, String), Uuid>,
    /// Items by auction and paddle.
    stakes: BTreeSet<(Uuid, String, Uuid)>,
}

impl Bidders {
    /// The turn that comes next; 0 when there is no such registration.
    pub(super) fn turn(&self, registration: Uuid) -> i64 {
        self.kept.get(&registration).map_or(0, |registration| registration.turn)
    }

    /// The version of a registration; 0 when there is none.
    pub(super) fn version(&self, seen: &SeenRegistration) -> i64 {
        let uuid = self.paddles.get(&(seen.auction, seen.paddle.clone()));
        uuid.and_then(|uuid| self.kept.get(uuid)).map_or(0, |registration| registration.version)
    }

    /// Takes a turn that was found to be the next one.
    pub(super) fn take(&mut self, turn: Turn) {
        if let Some(registration) = self.kept.get_mut(&turn.registration) {
            registration.turn += 1;
        }
    }

    pub(super) fn note(&mut self, stakes: Vec<Stake>) {
        self.stakes.extend(stakes.into_iter().map(|stake| (stake.auction, stake.paddle, stake.item)));
    }

    pub(super) fn has_stake(&self, auction: Uuid, paddle: &str) -> bool {
        let from = (auction, paddle.to_owned(), Uuid::nil());
        let to = (auction, paddle.to_owned(), Uuid::max());
        self.stakes.range(from..=to).next().is_some()
    }

    pub(super) fn has_stake_in(&self, auction: Uuid, paddle: &str, item: Uuid) -> bool {
        self.stakes.contains(&(auction, paddle.to_owned(), item))
    }

    fn check(&self, registration: &Versioned<Registration>) -> StoreResult<()> {
        let Versioned { expected_version, state } = registration;
        let found = self.kept.get(&state.uuid).map_or(0, |found| found.version);
        if found != *expected_version {
            return Err(StoreError::Conflict);
        }
        let others = || self.kept.values().filter(|other| other.auction == state.auction && other.uuid != state.uuid);
        if others().any(|other| other.paddle == state.paddle) {
            return Err(StoreError::Taken("paddle"));
        }
        if let Some(before) = self.kept.get(&state.uuid)
            && before.paddle != state.paddle
            && self.has_stake(state.auction, &before.paddle)
        {
            return Err(StoreError::Conflict);
        }
        if state.party.is_some() && others().any(|other| other.party == state.party) {
            return Err(StoreError::Taken("party"));
        }
        Ok(())
    }

    fn put(&mut self, mut state: Registration) {
        state.turn = self.turn(state.uuid) + 1;
        if let Some(before) = self.kept.get(&state.uuid) {
            self.paddles.remove(&(before.auction, before.paddle.clone()));
        }
        self.paddles.insert((state.auction, state.paddle.clone()), state.uuid);
        self.kept.insert(state.uuid, state);
    }
}

#[async_trait]
impl Registrations for Memory {
    async fn put_registration(&self, entry: RegistrationEntry) -> StoreResult<()> {
        let mut tables = self.tables();
        tables.access.check_answer(entry.answer.as_ref())?;
        tables.bidders.check(&entry.registration)?;
        tables.bidders.put(entry.registration.state);
        tables.log.append(entry.log);
        if let Some(answer) = entry.answer {
            tables.access.keep_answer(answer);
        }
        Ok(())
    }

    async fn registration(&self, uuid: Uuid) -> StoreResult<Option<Registration>> {
        Ok(self.tables().bidders.kept.get(&uuid).cloned())
    }

    async fn registration_of(&self, auction: Uuid, paddle: &str) -> StoreResult<Option<Registration>> {
        let bidders = &self.tables().bidders;
        let uuid = bidders.paddles.get(&(auction, paddle.to_owned()));
        Ok(uuid.and_then(|uuid| bidders.kept.get(uuid)).cloned())
    }

    async fn registrations(&self, auction: Uuid, page: Page<Uuid>) -> StoreResult<Vec<Registration>> {
        let bidders = &self.tables().bidders;
        let rows = bidders.kept.iter().filter(|(_, registration)| registration.auction == auction);
        Ok(slice(rows.map(|(uuid, registration)| (*uuid, registration)), page))
    }

    async fn highest_paddle(&self, auction: Uuid) -> StoreResult<i64> {
        let bidders = &self.tables().bidders;
        let numbers = bidders.kept.values().filter(|registration| registration.auction == auction);
        Ok(numbers.filter_map(Registration::number).max().unwrap_or(0))
    }

    async fn note_stakes(&self, stakes: Vec<Stake>) -> StoreResult<()> {
        self.tables().bidders.note(stakes);
        Ok(())
    }

    async fn committed(&self, auction: Uuid, paddle: &str, except: Option<Uuid>) -> StoreResult<i64> {
        let tables = self.tables();
        let from = (auction, paddle.to_owned(), Uuid::nil());
        let to = (auction, paddle.to_owned(), Uuid::max());
        let staked = tables.bidders.stakes.range(from..=to).map(|(_, _, item)| *item);
        let items = staked.filter(|item| Some(*item) != except).filter_map(|item| tables.sales.items.get(&item));
        Ok(items.map(|item| item.bound_for(paddle)).fold(0, i64::saturating_add))
    }
}
