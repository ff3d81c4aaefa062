//! Whether this node has the key that the other nodes seal with. One with another key would fail every delivery that it took,
//! in the name of the receivers.

use crate::error::ProviderResult;
use crate::port::{Order, Page};
use crate::provider::Provider;
use crate::secret::EndpointSecret;

/// Accounts, and applications of each, that are looked through for an endpoint. The newest are sealed with the newest key.
const LOOKED_AT_MAX: usize = 20;

/// What was found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum KeyCheck {
    /// What is stored can be opened, or there is nothing yet.
    Fits,
    /// It can't; why, for people.
    Differs(String),
}

impl Provider {
    /// Tries to open what is stored. Called before a node begins to work.
    pub async fn check_key(&self) -> ProviderResult<KeyCheck> {
        let newest = |limit| Page { from: None, order: Order::Descending, limit };
        for account in self.store().accounts(newest(LOOKED_AT_MAX)).await? {
            for application in self.store().applications(&account.id, newest(LOOKED_AT_MAX)).await? {
                if let Some(endpoint) = self.store().endpoints(&application.id, newest(1)).await?.first() {
                    return Ok(match EndpointSecret::unseal(self.vault(), &endpoint.id, &endpoint.secret) {
                        Ok(_) => KeyCheck::Fits,
                        Err(error) => KeyCheck::Differs(error.to_string()),
                    });
                }
            }
        }
        Ok(KeyCheck::Fits)
    }
}
