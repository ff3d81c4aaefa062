//! Whether this process may work on a database: only with the keys that its secrets were sealed with.

use platform_core::Platform;
use provider_core::Provider;

use crate::fault::{Fault, While as _};

const DOING: &str = "trying the key that seals secrets";

/// Refuses a platform's database whose secrets were sealed with a key that is not configured here, and leaves word of ours
/// in one that takes it.
pub(crate) async fn claim_platform(platform: &Platform) -> Result<(), Fault> {
    match platform.claim_key().await.while_(DOING)? {
        platform_core::KeyCheck::Fits => Ok(()),
        platform_core::KeyCheck::Differs(why) => Err(Fault::new(told("platform", &why))),
    }
}

/// The same for a provider's.
pub(crate) async fn claim_provider(provider: &Provider) -> Result<(), Fault> {
    match provider.claim_key().await.while_(DOING)? {
        provider_core::KeyCheck::Fits => Ok(()),
        provider_core::KeyCheck::Differs(why) => Err(Fault::new(told("provider", &why))),
    }
}

/// What is wrong, and what to do about it.
pub(crate) fn told(whose: &str, why: &str) -> String {
    format!(
        "the {whose}'s database was made with another secrets.key: {why}. Give every node that shares it the same one: \
         set secrets.key, or copy the file secret.key from the data directory of a node that works (an old key may stand \
         behind the new one, after a comma)"
    )
}
