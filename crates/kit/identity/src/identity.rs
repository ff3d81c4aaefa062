//! What the use cases of this crate are decided with.

use std::fmt::Display;
use std::time::Duration;

use jiff::Timestamp;
use kit_runtime::random::Random;
use kit_runtime::vault::{Secret, Vault};

use crate::Digest;
use crate::config::IdentityConfig;
use crate::passwords::Passwords;
use crate::refusal::IdentityError;

/// The names that keep the users of one wing apart from those of another.
#[derive(Debug)]
pub struct Audience {
    /// First characters of its session tokens.
    pub session_prefix: &'static str,
    /// Realm of its device tokens.
    pub device_realm: &'static str,
    /// Context that secrets of second factors are sealed for, before the user's id.
    pub totp_context: &'static str,
    /// Purpose of the tokens between a password and its code.
    pub code_purpose: &'static str,
}

impl Audience {
    /// The context that the secret of this user's second factor is sealed for.
    pub fn totp_context(&self, user: &impl Display) -> String {
        format!("{}/{user}", self.totp_context)
    }
}

/// The settings, keys, randomness and time that a use case is decided with. A wing makes one for each call.
#[derive(Clone, Copy)]
pub struct Identity<'a> {
    /// Whose users they are.
    pub audience: &'static Audience,
    /// Limits.
    pub config: &'a IdentityConfig,
    /// Hashes passwords.
    pub passwords: &'a Passwords,
    /// Seals secrets and signs tokens.
    pub vault: &'a Vault,
    /// Source of tokens and codes.
    pub random: &'a dyn Random,
    /// The time of the call.
    pub now: Timestamp,
}

impl Identity<'_> {
    /// The time at which something ends that is valid from now on for this time.
    pub fn after(&self, valid: Duration) -> Result<Timestamp, IdentityError> {
        self.now.checked_add(valid).map_err(|error| IdentityError::failed("a time can't be reached", error))
    }

    /// A code that works once, with its hash. The code begins with the prefix.
    pub fn one_time_code(&self, prefix: &str) -> (Secret, Digest) {
        crate::one_time::new_code(self.random, prefix)
    }
}

#[cfg(test)]
pub(crate) mod testing {
    use kit_runtime::random::SeededRandom;
    use kit_runtime::vault::Key;

    use super::*;
    use crate::user::User;

    const AUDIENCE: Audience =
        Audience { session_prefix: "lwt_", device_realm: "test", totp_context: "test-totp", code_purpose: "test-code" };

    /// What a use case is decided with, at a time that the test sets.
    pub(crate) struct Fixture {
        config: IdentityConfig,
        passwords: Passwords,
        vault: Vault,
        random: SeededRandom,
        pub(crate) now: Timestamp,
    }

    impl Fixture {
        pub(crate) fn new() -> Self {
            let (random, key) = (SeededRandom::new(1), Key::generate(&SeededRandom::new(2)));
            let vault = Vault::new(vec![(key.id(), key)]).unwrap();
            let now = Timestamp::from_second(1_800_000_000).unwrap();
            Self { config: IdentityConfig::default(), passwords: Passwords::new(4, 64), vault, random, now }
        }

        pub(crate) fn identity(&self) -> Identity<'_> {
            let Self { config, passwords, vault, random, now } = self;
            Identity { audience: &AUDIENCE, config, passwords, vault, random, now: *now }
        }
    }

    pub(crate) fn secret(text: &str) -> Secret {
        Secret::new(text.as_bytes().to_vec())
    }

    /// A user without a usable password.
    pub(crate) fn user(id: u32) -> User<u32, &'static str> {
        User::new(id, format!("user{id}@example.com"), "none".to_owned(), Timestamp::UNIX_EPOCH, "viewer")
    }
}
