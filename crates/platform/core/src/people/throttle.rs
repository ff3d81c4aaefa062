//! How often somebody may try to sign in: as one person, and from one address. Attempts are taken before the password
//! is looked at, and given back when it was right.

use std::net::{IpAddr, Ipv6Addr};

use sha2::{Digest as _, Sha256};

use super::refusal::PeopleRefusal;
use crate::Platform;
use crate::error::PlatformResult;
use crate::port::{Digest, SignInAttempt, SignInAttemptsUpdate};

/// From one address so many times the attempts of one person: people share offices.
const PEOPLE_AT_AN_ADDRESS: u32 = 5;
/// Bits of an IPv6 address that one network has.
const NETWORK_BITS: u32 = 64;

/// Attempts that were taken.
pub(super) struct TakenAttempts {
    account: SignInAttempt,
    address: Option<SignInAttempt>,
}

impl Platform {
    /// Takes an attempt as this person, who need not exist, and from this address.
    pub(super) async fn take_attempt(&self, email: &str, from: Option<IpAddr>) -> PlatformResult<TakenAttempts> {
        let config = &self.config().people;
        let attempt = |subject, attempts_max: u32| SignInAttempt {
            subject,
            refill_interval: config.attempts_window / attempts_max.max(1),
            attempts_max: attempts_max.max(1),
        };
        let account = attempt(account_of(email), config.attempts_max);
        let address =
            from.map(|from| attempt(address_of(from), config.attempts_max.saturating_mul(PEOPLE_AT_AN_ADDRESS)));
        let (attempts, now) = ([account].into_iter().chain(address).collect(), self.now());
        let Some(allowed_from) = self.store().take_sign_in_attempts(attempts, now).await? else {
            return Ok(TakenAttempts { account, address });
        };
        self.metrics().sign_in_throttled();
        tracing::warn!(from = from.map(tracing::field::display), "a sign-in was told to wait");
        let wait_ms = allowed_from.as_millisecond().saturating_sub(now.as_millisecond());
        let retry_after_s = u64::try_from(wait_ms).unwrap_or_default().div_ceil(1_000).max(1);
        Err(PeopleRefusal::TooManyAttempts { retry_after_s }.into())
    }

    /// After it was right. The account's attempts are all there again, the address has one back: whoever has an account
    /// must not be able to try out others without end.
    pub(super) async fn give_back(&self, taken: TakenAttempts) -> PlatformResult<()> {
        let settled =
            SignInAttemptsUpdate { full: vec![taken.account.subject], back: taken.address.into_iter().collect() };
        Ok(self.store().settle_sign_in_attempts(settled).await?)
    }

    /// After somebody else has seen to it that this person gets in.
    pub(super) async fn forget_attempts(&self, email: &str) -> PlatformResult<()> {
        let settled = SignInAttemptsUpdate { full: vec![account_of(email)], back: Vec::new() };
        Ok(self.store().settle_sign_in_attempts(settled).await?)
    }
}

fn account_of(email: &str) -> Digest {
    Sha256::new_with_prefix(b"account\0").chain_update(email.as_bytes()).finalize().into()
}

fn address_of(address: IpAddr) -> Digest {
    let network = match address.to_canonical() {
        IpAddr::V4(address) => address.to_ipv6_mapped(),
        IpAddr::V6(address) => Ipv6Addr::from_bits(address.to_bits() >> NETWORK_BITS << NETWORK_BITS),
    };
    Sha256::new_with_prefix(b"address\0").chain_update(network.octets()).finalize().into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_of_one_network_share_their_attempts() {
        let of = |address: &str| address_of(address.parse().unwrap());
        assert_eq!(of("2001:db8:1:2::1"), of("2001:db8:1:2:ffff::9"));
        assert_ne!(of("2001:db8:1:2::1"), of("2001:db8:1:3::1"));
        assert_eq!(of("192.0.2.1"), of("::ffff:192.0.2.1"));
        assert_ne!(of("192.0.2.1"), of("192.0.2.2"));
        assert_ne!(account_of("a@example.com"), account_of("b@example.com"));
    }
}
