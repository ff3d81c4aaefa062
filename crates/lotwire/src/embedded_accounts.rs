//! Opens accounts at the provider that this process runs, for customers of the platform, and revokes their keys.

use kit_runtime::vault::Secret;
use platform_core::provider_access::EmbeddedAccounts;
use provider_core::{AccountOpening, Provider, ProviderError};
use uuid::Uuid;

/// Name of the platform's API key in the account.
const KEY_NAME: &str = "Auction platform";

/// What support reads while the provider's database can't be reached.
const UNAVAILABLE: &str = "the database of the embedded provider is not available. Repeat this when it is";

/// See the module.
pub(crate) struct ProviderAccounts(pub(crate) Provider);

#[async_trait::async_trait]
impl EmbeddedAccounts for ProviderAccounts {
    fn new_key(&self) -> Secret {
        self.0.new_api_key_text()
    }

    async fn open(&self, customer: Uuid, name: &str, key: &Secret) -> Result<(), &'static str> {
        let opening = AccountOpening { uuid: customer.into_bytes(), name, key_name: KEY_NAME, key };
        match self.0.open_account(&opening).await {
            Ok(account) => {
                tracing::info!(customer_id = %customer, account = &*account.id, "a customer's account at the embedded provider is open");
                Ok(())
            }
            Err(error) => {
                tracing::error!(customer_id = %customer, %error, "a customer's account at the embedded provider could not be opened");
                Err(match error {
                    ProviderError::DiskFull => {
                        "the embedded provider has too little free disk to open the account. Make room on its disk"
                    }
                    ProviderError::Unavailable(_) => UNAVAILABLE,
                    _ => "the embedded provider could not open the account. The server's log has the cause",
                })
            }
        }
    }

    async fn revoke(&self, customer: Uuid, key: &Secret) -> Result<(), &'static str> {
        let revoked = self.0.revoke_opened_key(customer.into_bytes(), key).await;
        revoked.map_err(|error| {
            tracing::error!(customer_id = %customer, %error, "a customer's API key at the embedded provider could not be revoked");
            match error {
                ProviderError::Unavailable(_) => UNAVAILABLE,
                _ => "the embedded provider could not revoke the API key. The server's log has the cause",
            }
        })
    }
}
