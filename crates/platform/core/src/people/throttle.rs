//! Rate limit of sign-in attempts, by account and by IP address. The platform takes an attempt before it verifies the
//! password and returns it when the password is right.

use std::net::{IpAddr, Ipv6Addr};

use sha2::{Digest as _, Sha256};

use super::refusal::PeopleRefusal;
use crate::Platform;
use crate::error::PlatformResult;
use crate::port::{Digest, SignInAttempt, SignInAttemptsUpdate};

/// Factor between the attempts of one address and those of one account, because the users of an office share an
/// address.
const PEOPLE_AT_AN_ADDRESS: u32 = 5;
/// Bits of the network part of an IPv6 address.
const NETWORK_BITS: u32 = 64;

/// Attempts that were taken.
pub(super) struct TakenAttempts {
    account: SignInAttempt,
    address: Option<SignInAttempt>,
}

impl Platform {
    /// Takes an attempt of this account, which need not exist, and of this address.
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
        tracing::warn!(from = from.map(tracing::field::display), "a sign-in was throttled");
        let wait_ms = allowed_from.as_millisecond().saturating_sub(now.as_millisecond());
        let retry_after_s = u64::try_from(wait_ms).unwrap_or_default().div_ceil(1_000).max(1);
        Err(PeopleRefusal::TooManyAttempts { retry_after_s }.into())
    }

    /// Returns attempts after a right password: all of the account's, but only one of the address's. Otherwise the
    /// owner of one account could try passwords of other accounts without limit.
    pub(super) async fn give_back(&self, taken: TakenAttempts) -> PlatformResult<()> {
        let settled =
            SignInAttemptsUpdate { full: vec![taken.account.subject], back: taken.address.into_iter().collect() };
        Ok(self.store().settle_sign_in_attempts(settled).await?)
    }

    /// Restores all attempts of an account after an administrator has reset its access.
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
