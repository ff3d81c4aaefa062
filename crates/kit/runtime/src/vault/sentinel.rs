//! Changing keys: what a store is known by, and sealing again.
//!
//! A store keeps a *sentinel* of each key that may have sealed something in it. Whoever can't open all of them would seal what
//! others can't open, or not open what they sealed, and should not begin.

use super::{KeyId, Sealed, Vault, VaultError, split_sealed};
use crate::random::Random;

/// What a sentinel says. Nobody reads it.
const SENTINEL: &[u8] = b"sentinel";

/// What was found when a store's secrets were sealed again, or looked through.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ResealReport {
    /// Sealed texts that were looked at.
    pub examined: u64,
    /// Those that another key than the first had sealed. When they are sealed again, this many were.
    pub stale: u64,
    /// Those that can't be opened with any key that is configured.
    pub unopened: u64,
    /// One of the latter: what it is, and why.
    pub unopened_example: Option<String>,
}

impl ResealReport {
    /// Notes one text, called `what`; the text that has to take its place, if any.
    pub fn record(&mut self, what: &str, renewed: Result<Option<Sealed>, VaultError>) -> Option<Sealed> {
        self.examined += 1;
        match renewed {
            Ok(renewed) => {
                self.stale += u64::from(renewed.is_some());
                renewed
            }
            Err(error) => {
                self.unopened += 1;
                self.unopened_example.get_or_insert_with(|| format!("{what}: {error}"));
                None
            }
        }
    }

    /// Both together.
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
    /// The key that seals.
    pub fn first_key(&self) -> &KeyId {
        &self.keys[0].0
    }

    /// A sentinel of each key, that of the first key first.
    pub fn sentinels(&self, random: &dyn Random, context: &str) -> Vec<Sealed> {
        self.keys.iter().map(|key| Self::seal_by(key, random, context, SENTINEL)).collect()
    }

    /// Opens the sentinels of a store. The one that the store lacks, if the first key has left none. Error: the first that
    /// can't be opened.
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

    /// What another key than the first sealed, sealed with the first; nothing when the first did. Errors: `Malformed`,
    /// `UnknownKey`, `Refused`.
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

    const CONTEXT: &str = "store/sentinel";

    fn vault(seeds: &[u64]) -> Vault {
        let keys = seeds.iter().map(|seed| Key::generate(&SeededRandom::new(*seed)));
        Vault::new(keys.map(|key| (key.id(), key)).collect()).unwrap()
    }

    #[test]
    fn a_store_knows_the_keys_that_may_have_sealed_in_it() {
        let random = SeededRandom::new(9);
        let stored = vault(&[1]).sentinels(&random, CONTEXT);
        assert_eq!(vault(&[1]).check_sentinels(&random, CONTEXT, &stored).unwrap(), None);
        assert!(matches!(vault(&[2]).check_sentinels(&random, CONTEXT, &stored), Err(VaultError::UnknownKey(_))));
        // Who opens with both and seals with the old one leaves none of the new.
        assert_eq!(vault(&[1, 2]).check_sentinels(&random, CONTEXT, &stored).unwrap(), None);
        let added = vault(&[2, 1]).check_sentinels(&random, CONTEXT, &stored).unwrap().unwrap();
        let both = [stored, vec![added]].concat();
        assert!(vault(&[1]).check_sentinels(&random, CONTEXT, &both).is_err());
        assert!(vault(&[2]).check_sentinels(&random, CONTEXT, &both).is_err());
    }

    #[test]
    fn what_an_old_key_sealed_is_sealed_with_the_first_and_stays_what_it_was() {
        let random = SeededRandom::new(9);
        let old = vault(&[1]).seal(&random, CONTEXT, b"secret");
        let both = vault(&[2, 1]);
        let mut found = ResealReport::default();
        let new = found.record("a", both.reseal(&random, CONTEXT, &old)).unwrap();
        assert_eq!(vault(&[2]).open(CONTEXT, &new).unwrap().expose(), b"secret");
        assert_eq!(found.record("b", both.reseal(&random, CONTEXT, &new)), None);
        assert_eq!(found.record("c", vault(&[2]).reseal(&random, CONTEXT, &old)), None);
        assert_eq!((found.examined, found.stale, found.unopened), (3, 1, 1));
        assert!(found.unopened_example.unwrap().starts_with("c: the secret was sealed with the key"));
    }
}
