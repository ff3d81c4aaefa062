//! Whether this process may work on a database: only with the keys that its secrets were sealed with.

use platform_core::Platform;
use provider_core::Provider;

use crate::error::{CommandError, ErrorContext as _};

const DOING: &str = "trying the key that seals secrets";

/// Refuses a platform's database whose secrets were sealed with a key that is not configured here, and leaves word of ours
/// in one that takes it.
pub(crate) async fn require_platform_key(platform: &Platform) -> Result<(), CommandError> {
    match platform.record_sealing_key().await.context(DOING)? {
        platform_core::SealingKeyCheck::Fits => Ok(()),
        platform_core::SealingKeyCheck::Differs(why) => Err(CommandError::new(wrong_key_message("platform", &why))),
    }
}

/// The same for a provider's.
pub(crate) async fn require_provider_key(provider: &Provider) -> Result<(), CommandError> {
    match provider.record_sealing_key().await.context(DOING)? {
        provider_core::SealingKeyCheck::Fits => Ok(()),
        provider_core::SealingKeyCheck::Differs(why) => Err(CommandError::new(wrong_key_message("provider", &why))),
    }
}

/// What is wrong, and what to do about it.
pub(crate) fn wrong_key_message(whose: &str, why: &str) -> String {
    format!(
        "the {whose}'s database was made with another secrets.key: {why}. Give every node that shares it the same one: \
         set secrets.key, or copy the file secret.key from the data directory of a node that works (an old key may stand \
         behind the new one, after a comma)"
    )
}
