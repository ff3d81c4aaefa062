//! Encrypts the values of an endpoint's headers at rest. Any header may contain a credential of the receiver, so all
//! values are sealed, each bound to its endpoint and name.

use std::collections::BTreeMap;

use kit_runtime::random::Random;
use kit_runtime::vault::{Sealed, Vault, VaultError};

/// Seals headers for the store.
pub(crate) fn seal(
    vault: &Vault,
    random: &dyn Random,
    endpoint: &str,
    headers: &BTreeMap<String, String>,
) -> BTreeMap<String, String> {
    let sealed = |name: &str, value: &str| vault.seal(random, &context(endpoint, name), value.as_bytes()).into_string();
    headers.iter().map(|(name, value)| (name.clone(), sealed(name, value))).collect()
}

/// Opens headers for a delivery.
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

/// The context that the value of a header is bound to.
pub(crate) fn context(endpoint: &str, name: &str) -> String {
    format!("endpoint/{endpoint}/header/{name}")
}
