//! Device tokens: `lwd_<id>.<signature>`, given to a device that signed in.
//!
//! A device token allows nothing by itself. It gives the device its own limit on attempts at one account, so that wrong
//! passwords from elsewhere do not lock the device out. The signature covers the account's e-mail address and the id, so
//! no table of devices is needed.

use kit_runtime::random::Random;
use kit_runtime::vault::Vault;

const PREFIX: &str = "lwd_";
const ID_RANDOM_BYTES: usize = 16;
/// Bytes of the longest token that is looked at.
pub const TOKEN_BYTES_MAX: usize = 256;

/// A device that signed in to an account before.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Device {
    id: String,
}

impl Device {
    /// A new device.
    pub fn generate(random: &dyn Random) -> Self {
        Self { id: kit_runtime::ids::token(random, ID_RANDOM_BYTES) }
    }

    /// The device of this token, if the vault signed it for this account in this `realm`. A realm names one kind of
    /// accounts, such as those of one wing.
    pub fn verify(vault: &Vault, realm: &str, email: &str, token: &str) -> Option<Self> {
        if token.len() > TOKEN_BYTES_MAX {
            return None;
        }
        let (id, signature) = token.strip_prefix(PREFIX)?.split_once('.')?;
        vault.is_signature(&purpose(realm), &signed(id, email), signature).then(|| Self { id: id.to_owned() })
    }

    /// The token of this device for this account.
    pub fn token(&self, vault: &Vault, realm: &str, email: &str) -> String {
        format!("{PREFIX}{}.{}", self.id, vault.sign(&purpose(realm), &signed(&self.id, email)))
    }

    /// The id, which no other device has.
    pub fn id(&self) -> &str {
        &self.id
    }
}

fn purpose(realm: &str) -> String {
    format!("device/{realm}")
}

/// A base62 id has no space, so that the id and the address stay apart.
fn signed(id: &str, email: &str) -> String {
    format!("{id} {email}")
}

#[cfg(test)]
mod tests {
    use kit_runtime::random::SeededRandom;
    use kit_runtime::vault::Key;

    use super::*;

    fn vault(seeds: &[u64]) -> Vault {
        let keys = seeds.iter().map(|seed| Key::generate(&SeededRandom::new(*seed)));
        Vault::new(keys.map(|key| (key.id(), key)).collect()).unwrap()
    }

    #[test]
    fn a_device_token_counts_for_its_account_its_realm_and_its_vault() {
        let device = Device::generate(&SeededRandom::new(9));
        let token = device.token(&vault(&[1]), "staff", "ann@example.com");
        let verify = |vault: &Vault, realm, email, token: &str| Device::verify(vault, realm, email, token);
        assert_eq!(verify(&vault(&[1]), "staff", "ann@example.com", &token), Some(device.clone()));
        assert_eq!(verify(&vault(&[2, 1]), "staff", "ann@example.com", &token), Some(device), "keys were rotated");
        assert_eq!(verify(&vault(&[2]), "staff", "ann@example.com", &token), None);
        assert_eq!(verify(&vault(&[1]), "accounts", "ann@example.com", &token), None);
        assert_eq!(verify(&vault(&[1]), "staff", "bob@example.com", &token), None);
    }

    #[test]
    fn an_altered_device_token_counts_for_nothing() {
        let (vault, email) = (vault(&[1]), "ann@example.com");
        let token = Device::generate(&SeededRandom::new(9)).token(&vault, "staff", email);
        let other = token.replacen("lwd_", "lwd_x", 1);
        for altered in ["", "lwd_", "lwd_.", "lwd_a.00", &token[4..], &token[..token.len() - 2], &other] {
            assert_eq!(Device::verify(&vault, "staff", email, altered), None, "{altered}");
        }
    }
}
