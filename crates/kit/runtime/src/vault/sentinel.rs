//! Sentinels: a known text that a store keeps, sealed once with each key that may have sealed a secret in the store.
//!
//! A process checks them when it opens a store. A process that can't open all of them lacks a key: it would fail to
//! open secrets of other processes, or seal secrets that they can't open. It must not start.

use super::{KeyId, Sealed, Vault, VaultError};
use crate::random::Random;

/// The plaintext of every sentinel.
const SENTINEL: &[u8] = b"sentinel";

impl Vault {
    /// The id of the key that seals.
    pub fn first_key(&self) -> &KeyId {
        &self.keys[0].0
    }

    /// A sentinel of each key, that of the first key first.
    pub fn sentinels(&self, random: &dyn Random, context: &str) -> Vec<Sealed> {
        self.keys.iter().map(|key| Self::seal_by(key, random, context, SENTINEL)).collect()
    }

    /// Opens the sentinels of a store. Returns the sentinel to add to the store when it has none of the first key.
    /// Error: why the first unreadable sentinel can't be opened.
    pub fn check_sentinels(
        &self,
        random: &dyn Random,
        context: &str,
        stored: &[Sealed],
    ) -> Result<Option<Sealed>, VaultError> {
        for sentinel in stored {
            self.open(context, sentinel)?;
        }
        let has_first = stored.iter().any(|sentinel| !self.is_stale(sentinel));
        Ok((!has_first).then(|| self.seal(random, context, SENTINEL)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::SeededRandom;
    use crate::vault::Key;

    const CONTEXT: &str = "store/sentinel";

    fn vault(seeds: &[u64]) -> Vault {
        let keys = seeds.iter().map(|seed| Key::generate(&SeededRandom::new(*seed)));
        Vault::new(keys.map(|key| (key.id(), key)).collect()).unwrap()
    }

    #[test]
    fn a_vault_that_lacks_a_key_of_the_store_is_rejected() {
        let random = SeededRandom::new(9);
        let stored = vault(&[1]).sentinels(&random, CONTEXT);
        assert_eq!(vault(&[1]).check_sentinels(&random, CONTEXT, &stored).unwrap(), None);
        assert!(matches!(vault(&[2]).check_sentinels(&random, CONTEXT, &stored), Err(VaultError::UnknownKey(_))));
        // A vault that seals with the old key adds no sentinel of the new one.
        assert_eq!(vault(&[1, 2]).check_sentinels(&random, CONTEXT, &stored).unwrap(), None);
        let added = vault(&[2, 1]).check_sentinels(&random, CONTEXT, &stored).unwrap().unwrap();
        let both = [stored, vec![added]].concat();
        assert!(vault(&[1]).check_sentinels(&random, CONTEXT, &both).is_err());
        assert!(vault(&[2]).check_sentinels(&random, CONTEXT, &both).is_err());
    }
}
