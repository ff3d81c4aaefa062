//! Values of an endpoint's headers at rest. Their names are the customer's, and any of them may be a key to the receiver: all
//! values are sealed, each for its endpoint and name.

use std::collections::BTreeMap;

use kit_runtime::random::Random;
use kit_runtime::vault::{Sealed, Vault, VaultError};

/// Headers as a store keeps them.
pub(crate) fn seal(
    vault: &Vault,
    random: &dyn Random,
    endpoint: &str,
    headers: &BTreeMap<String, String>,
) -> BTreeMap<String, String> {
    let sealed = |name: &str, value: &str| vault.seal(random, &context(endpoint, name), value.as_bytes()).into_string();
    headers.iter().map(|(name, value)| (name.clone(), sealed(name, value))).collect()
}

/// Headers as they are sent.
pub(crate) fn open(
    vault: &Vault,
    endpoint: &str,
    sealed: &BTreeMap<String, String>,
) -> Result<BTreeMap<String, String>, VaultError> {
    let opened = |(name, value): (&String, &String)| {
        let opened = vault.open(&context(endpoint, name), &Sealed::from_text(value.as_str()))?;
        Ok((name.clone(), opened.expose_str().ok_or(VaultError::Malformed)?.to_owned()))
    };
    sealed.iter().map(opened).collect()
}

/// What the value of a header is bound to.
pub(crate) fn context(endpoint: &str, name: &str) -> String {
    format!("endpoint/{endpoint}/header/{name}")
}
