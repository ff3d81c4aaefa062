//! Resealing after a key rotation: secrets that an older key sealed are sealed again with the first key.
//!
//! The platform and the provider each run it over their tables (`lotwire secrets reseal`) and report the result.

use super::{Sealed, Vault, VaultError, split_sealed};
use crate::random::Random;

/// Result of resealing or checking the secrets of a store.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ResealReport {
    /// Sealed texts that were examined.
    pub examined: u64,
    /// Texts that another key than the first one had sealed. A resealing run has sealed all of them again.
    pub stale: u64,
    /// Texts that no configured key opens.
    pub unopened: u64,
    /// One of those, with the reason.
    pub unopened_example: Option<String>,
}

impl ResealReport {
    /// Counts one text. `name` identifies it in [`ResealReport::unopened_example`]. Returns the text to store in its
    /// place, if there is one.
    pub fn record(&mut self, name: &str, resealed: Result<Option<Sealed>, VaultError>) -> Option<Sealed> {
        self.examined += 1;
        match resealed {
            Ok(resealed) => {
                self.stale += u64::from(resealed.is_some());
                resealed
            }
            Err(error) => {
                self.unopened += 1;
                self.unopened_example.get_or_insert_with(|| format!("{name}: {error}"));
                None
            }
        }
    }

    /// The sum of two reports.
    #[must_use]
    pub fn merge(self, other: Self) -> Self {
        Self {
            examined: self.examined + other.examined,
            stale: self.stale + other.stale,
            unopened: self.unopened + other.unopened,
            unopened_example: self.unopened_example.or(other.unopened_example),
        }
    }
}

impl Vault {
    /// The secret, sealed with the first key; none when the first key has sealed it already. Errors: `Malformed`,
    /// `UnknownKey`, `DecryptionFailed`.
    pub fn reseal(&self, random: &dyn Random, context: &str, sealed: &Sealed) -> Result<Option<Sealed>, VaultError> {
        let (id, _) = split_sealed(sealed)?;
        if id == *self.first_key() {
            return Ok(None);
        }
        let opened = self.open(context, sealed)?;
        Ok(Some(self.seal(random, context, opened.expose())))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::SeededRandom;
    use crate::vault::Key;

    const CONTEXT: &str = "endpoint/ep_1/secret";

    fn vault(seeds: &[u64]) -> Vault {
        let keys = seeds.iter().map(|seed| Key::generate(&SeededRandom::new(*seed)));
        Vault::new(keys.map(|key| (key.id(), key)).collect()).unwrap()
    }

    #[test]
    fn resealing_replaces_the_key_and_keeps_the_secret() {
        let random = SeededRandom::new(9);
        let old = vault(&[1]).seal(&random, CONTEXT, b"secret");
        let both = vault(&[2, 1]);
        let mut report = ResealReport::default();
        let new = report.record("a", both.reseal(&random, CONTEXT, &old)).unwrap();
        assert_eq!(vault(&[2]).open(CONTEXT, &new).unwrap().expose(), b"secret");
        assert_eq!(report.record("b", both.reseal(&random, CONTEXT, &new)), None);
        assert_eq!(report.record("c", vault(&[2]).reseal(&random, CONTEXT, &old)), None);
        assert_eq!((report.examined, report.stale, report.unopened), (3, 1, 1));
        assert!(report.unopened_example.unwrap().starts_with("c: the secret was sealed with the key"));
    }
}
