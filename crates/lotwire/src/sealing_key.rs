//! Checks that this process has the sealing keys of a database before it works on it.

use platform_core::Platform;
use provider_core::Provider;

use crate::error::{CommandError, ErrorContext as _};

const DOING: &str = "checking the sealing key";

/// Refuses a platform's database if this process lacks a key that sealed its secrets. Otherwise records the current key
/// in the database.
pub(crate) async fn require_platform_key(platform: &Platform) -> Result<(), CommandError> {
    match platform.record_sealing_key().await.context(DOING)? {
        platform_core::SealingKeyCheck::Fits => Ok(()),
        platform_core::SealingKeyCheck::Differs(why) => Err(CommandError::new(wrong_key_message("platform", &why))),
    }
}

/// Does the same for a provider's database.
pub(crate) async fn require_provider_key(provider: &Provider) -> Result<(), CommandError> {
    match provider.record_sealing_key().await.context(DOING)? {
        provider_core::SealingKeyCheck::Fits => Ok(()),
        provider_core::SealingKeyCheck::Differs(why) => Err(CommandError::new(wrong_key_message("provider", &why))),
    }
}

/// The error message for a missing or different sealing key.
pub(crate) fn wrong_key_message(whose: &str, why: &str) -> String {
    format!(
        "the {whose}'s database was made with another secrets.key: {why}. Every node on one database needs the same \
         key: set secrets.key, or copy the file secret.key from the data directory of a working node. To keep an old \
         key, append it to the new one after a comma"
    )
}
