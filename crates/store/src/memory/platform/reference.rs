//! Addresses, and changes of auctioneers.

use std::collections::BTreeMap;

use ::platform::port::{Address, AuctioneerChange, References, StoreResult};
use async_trait::async_trait;

use super::Memory;

#[derive(Default)]
pub(super) struct Addresses {
    kept: BTreeMap<i64, Address>,
    last_id: i64,
}

impl Addresses {
    pub(super) fn put(&mut self, address: Option<Address>) {
        if let Some(address) = address {
            self.kept.insert(address.id, address);
        }
    }
}

#[async_trait]
impl References for Memory {
    async fn next_address_id(&self) -> StoreResult<i64> {
        let addresses = &mut self.tables().addresses;
        addresses.last_id += 1;
        Ok(addresses.last_id)
    }

    async fn address(&self, id: i64) -> StoreResult<Option<Address>> {
        Ok(self.tables().addresses.kept.get(&id).cloned())
    }

    async fn change_auctioneer(&self, change: AuctioneerChange) -> StoreResult<()> {
        let mut tables = self.tables();
        tables.access.change_auctioneer(change.auctioneer)?;
        tables.addresses.put(change.address);
        Ok(())
    }
}
