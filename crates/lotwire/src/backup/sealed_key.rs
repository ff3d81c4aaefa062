//! The secret key in a backup, sealed with a passphrase.
//!
//! Argon2id derives a key from the passphrase (RFC 9106, the second recommended option: 64 MiB, 3 passes), and that key seals the
//! text of `secret.key` as the vault seals secrets. A finder of the backup has to guess the passphrase, and each guess takes that
//! much memory and time.

use std::path::Path;

use argon2::{Algorithm, Argon2, Params, Version};
use kit_runtime::random::Random;
use kit_runtime::vault::{Key, Sealed, Secret, Vault};
use serde::{Deserialize, Serialize};

use super::read_text;
use crate::error::{CommandError, ErrorContext as _};

/// Name of the sealed key in a backup.
pub(crate) const SEALED_KEY_FILE: &str = "secret.key.sealed";

const CONTEXT: &str = "backup/secret.key";
const ALGORITHM: &str = "argon2id";
const MEMORY_KIB: u32 = 64 * 1024;
const PASSES: u32 = 3;
const LANES: u32 = 4;
const SALT_BYTES: usize = 16;
const KEY_BYTES: usize = 32;
/// Characters of the shortest passphrase: fewer are guessed in spite of the derivation.
const PASSPHRASE_CHARS_MIN: usize = 12;
/// Bytes of the largest file.
const BYTES_MAX: u64 = 64 << 10;
/// What a file may ask for, so that a changed one takes neither all memory nor hours.
const MEMORY_KIB_MAX: u32 = 256 * 1024;
const PASSES_MAX: u32 = 100;

/// The file, as JSON.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct SealedKey {
    derivation: Derivation,
    /// The text of the keys, as the vault seals it.
    sealed: String,
}

/// How the key is derived from the passphrase.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Derivation {
    algorithm: String,
    memory_kib: u32,
    passes: u32,
    lanes: u32,
    /// Hexadecimal digits.
    salt: String,
}

impl SealedKey {
    /// Seals the text of the keys. The passphrase has at least [`PASSPHRASE_CHARS_MIN`] characters.
    pub(crate) fn seal(key_text: &Secret, passphrase: &Secret, random: &dyn Random) -> Result<Self, CommandError> {
        if passphrase.expose_str().is_none_or(|text| text.chars().count() < PASSPHRASE_CHARS_MIN) {
            return Err(CommandError::new(format!(
                "the passphrase has fewer than {PASSPHRASE_CHARS_MIN} characters. Use several words, or `openssl rand -base64 24`"
            )));
        }
        let mut salt = [0; SALT_BYTES];
        random.fill(&mut salt);
        let derivation = Derivation {
            algorithm: ALGORITHM.to_owned(),
            memory_kib: MEMORY_KIB,
            passes: PASSES,
            lanes: LANES,
            salt: hex::encode(salt),
        };
        let sealed = derivation.vault(passphrase)?.seal(random, CONTEXT, key_text.expose()).into_string();
        Ok(Self { derivation, sealed })
    }

    /// The text of the keys.
    pub(crate) fn open(&self, passphrase: &Secret) -> Result<Secret, CommandError> {
        let sealed = Sealed::from_text(&*self.sealed);
        self.derivation.vault(passphrase)?.open(CONTEXT, &sealed).map_err(|_| {
            CommandError::new(format!(
                "{SEALED_KEY_FILE} can't be opened: the passphrase is another one. Nothing was restored"
            ))
        })
    }

    /// Reads the file in the backup at `folder`.
    pub(crate) fn read(folder: &Path) -> Result<Self, CommandError> {
        let path = folder.join(SEALED_KEY_FILE);
        let text = read_text(&path, BYTES_MAX).context(format!("reading {}", path.display()))?;
        serde_json::from_str(&text).context(format!("reading {}", path.display()))
    }

    /// The file's text.
    pub(crate) fn to_json(&self) -> Result<String, CommandError> {
        Ok(serde_json::to_string_pretty(self).context("writing the sealed key")? + "\n")
    }
}

impl Derivation {
    /// A vault of the key that belongs to the passphrase.
    fn vault(&self, passphrase: &Secret) -> Result<Vault, CommandError> {
        let unusable =
            || CommandError::new(format!("{SEALED_KEY_FILE} has parameters that this lotwire does not accept"));
        if self.algorithm != ALGORITHM || self.memory_kib > MEMORY_KIB_MAX || self.passes > PASSES_MAX {
            return Err(unusable());
        }
        let salt = hex::decode(&self.salt).map_err(|_| unusable())?;
        let params = Params::new(self.memory_kib, self.passes, self.lanes, Some(KEY_BYTES)).map_err(|_| unusable())?;
        let mut key = vec![0; KEY_BYTES];
        let argon2 = Argon2::new(Algorithm::Argon2id, Version::V0x13, params);
        argon2.hash_password_into(passphrase.expose(), &salt, &mut key).map_err(|_| unusable())?;
        let key = Key::from_bytes(key).context("deriving the key")?;
        Vault::new(vec![(key.id(), key)]).context("deriving the key")
    }
}

#[cfg(test)]
mod tests {
    use kit_runtime::random::SeededRandom;

    use super::*;

    fn secret(text: &str) -> Secret {
        Secret::new(text.as_bytes().to_vec())
    }

    #[test]
    fn only_the_passphrase_opens_the_sealed_key() {
        let folder = tempfile::tempdir().unwrap();
        let (key_text, passphrase) = (secret("the key\n"), secret("three words and more"));
        let sealed = SealedKey::seal(&key_text, &passphrase, &SeededRandom::new(1)).unwrap();
        let json = sealed.to_json().unwrap();
        assert!(!json.contains("the key"), "{json}");
        std::fs::write(folder.path().join(SEALED_KEY_FILE), json).unwrap();
        let read = SealedKey::read(folder.path()).unwrap();
        assert_eq!(read.open(&passphrase).unwrap().expose(), key_text.expose());
        let refused = read.open(&secret("three words or more")).unwrap_err().to_string();
        assert!(refused.contains("another one"), "{refused}");
    }

    #[test]
    fn short_passphrases_and_parameters_beyond_the_limits_are_refused() {
        let random = SeededRandom::new(1);
        let refused = SealedKey::seal(&secret("k"), &secret("elevenchars"), &random).unwrap_err().to_string();
        assert!(refused.contains("fewer than 12"), "{refused}");
        let passphrase = secret("twelve chars");
        let derivation = |change: fn(&mut Derivation)| {
            let mut sealed = SealedKey::seal(&secret("k"), &passphrase, &random).unwrap();
            change(&mut sealed.derivation);
            sealed.open(&passphrase).unwrap_err().to_string()
        };
        for refused in [
            derivation(|derivation| derivation.memory_kib = u32::MAX),
            derivation(|derivation| derivation.passes = u32::MAX),
            derivation(|derivation| derivation.lanes = 0),
            derivation(|derivation| derivation.salt = "ff".to_owned()),
            derivation(|derivation| derivation.algorithm = "argon2d".to_owned()),
        ] {
            assert!(refused.contains("does not accept"), "{refused}");
        }
    }
}
