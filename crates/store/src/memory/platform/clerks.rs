//! Clerks of webcasts.

use std::collections::BTreeMap;

use ::platform::Role;
use ::platform::port::{Clerk, ClerkAssigned, Clerks, Page, StoreResult, User};
use async_trait::async_trait;
use auction::Auction;
use contract::AuctionStatus;
use uuid::Uuid;

use super::{Memory, slice};

#[async_trait]
impl Clerks for Memory {
    async fn assign_clerk(&self, clerk: Clerk, clerks_max: usize) -> StoreResult<ClerkAssigned> {
        let tables = &mut *self.tables();
        if tables.people.users.get(&clerk.user).is_none_or(|user| user.role != Role::Clerk.name()) {
            return Ok(ClerkAssigned::NoClerk);
        }
        let key = (clerk.auction, clerk.user);
        if tables.clerks.contains_key(&key) {
            return Ok(ClerkAssigned::Before);
        }
        if tables.clerks.keys().filter(|(auction, _)| *auction == clerk.auction).count() >= clerks_max {
            return Ok(ClerkAssigned::Full);
        }
        tables.clerks.insert(key, clerk);
        Ok(ClerkAssigned::Now)
    }

    async fn take_clerk_off(&self, auction: Uuid, user: Uuid) -> StoreResult<bool> {
        Ok(self.tables().clerks.remove(&(auction, user)).is_some())
    }

    async fn is_clerk(&self, auction: Uuid, user: Uuid) -> StoreResult<bool> {
        Ok(self.tables().clerks.contains_key(&(auction, user)))
    }

    async fn clerks(&self, auction: Uuid, page: Page<Uuid>) -> StoreResult<Vec<(Clerk, User)>> {
        let tables = self.tables();
        let of_auction = tables.clerks.values().filter(|clerk| clerk.auction == auction);
        let known = of_auction
            .filter_map(|clerk| Some((clerk.user, (clerk.clone(), tables.people.users.get(&clerk.user)?.clone()))));
        let known: BTreeMap<Uuid, (Clerk, User)> = known.collect();
        Ok(slice(known.iter().map(|(user, row)| (*user, row)), page))
    }

    async fn webcasts_of(&self, user: Uuid, page: Page<Uuid>) -> StoreResult<Vec<Auction>> {
        let tables = self.tables();
        let theirs = tables.clerks.keys().filter(|(_, of)| *of == user);
        let auctions = theirs.filter_map(|(auction, _)| Some((*auction, tables.sales.auctions.get(auction)?)));
        Ok(slice(auctions.filter(|(_, auction)| auction.status != AuctionStatus::Archived), page))
    }

    async fn users_who_clerk(&self, page: Page<Uuid>) -> StoreResult<Vec<User>> {
        let tables = self.tables();
        let clerks = |user: &User| user.role == Role::Clerk.name() && user.disabled_at.is_none();
        Ok(slice(tables.people.users.iter().filter(|(_, user)| clerks(user)).map(|(uuid, user)| (*uuid, user)), page))
    }
}
