//! Limits on sign-in attempts: allowances of an account, an address and a known device, which refill evenly.

use std::net::{IpAddr, Ipv6Addr};
use std::time::Duration;

use jiff::Timestamp;
use kit_runtime::gcra::{Gcra, whole_seconds};
use sha2::{Digest as _, Sha256};

use crate::Digest;
use crate::devices::Device;
use crate::refusal::Refusal;

/// Factor between the attempts of one address and those of one account, because the users of an office share an
/// address.
const USERS_AT_AN_ADDRESS: u32 = 5;
/// Bits of the network part of an IPv6 address.
const NETWORK_BITS: u32 = 64;

/// One attempt to sign in, taken from an allowance that refills evenly.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Attempt {
    /// Owner of the allowance: an account, an address or a device.
    pub subject: Digest,
    /// Time after which one attempt is refilled.
    pub refill_interval: Duration,
    /// Attempts of a full allowance.
    pub attempts_max: u32,
}

impl Attempt {
    /// The time at which the allowance is full again after this attempt, if it was to be full at `full_at`. Errors: the
    /// time of the next possible attempt.
    pub fn take(&self, full_at: Option<Timestamp>, now: Timestamp) -> Result<Timestamp, Timestamp> {
        let ahead = full_at.and_then(|at| Duration::try_from(at.duration_since(now)).ok()).unwrap_or_default();
        let taken = Gcra::with_burst(self.attempts_max, self.refill_interval).take(ahead);
        taken.map(|ahead| now + ahead).map_err(|wait| now + wait)
    }
}

/// How long to wait for the next possible attempt, in whole seconds.
pub fn retry_after(allowed_from: Timestamp, now: Timestamp) -> Duration {
    whole_seconds(Duration::try_from(allowed_from.duration_since(now)).unwrap_or_default())
}

/// The attempts of one request, which a store takes together before the password or the code is checked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TakenAttempts {
    /// Of the account, or of a device that signed in to it before.
    own: Attempt,
    address: Option<Attempt>,
}

/// Attempts to return to their allowances.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct AttemptsToReturn {
    /// Owners whose allowance is filled.
    pub full: Vec<Digest>,
    /// Attempts to return.
    pub back: Vec<Attempt>,
}

impl TakenAttempts {
    /// The attempts for the store to take.
    pub fn all(&self) -> Vec<Attempt> {
        [self.own].into_iter().chain(self.address).collect()
    }

    /// After a complete sign-in, the code included: all attempts of the account or the device, but only one of the address.
    /// Otherwise the owner of one account could try passwords of other accounts without limit.
    pub fn after_sign_in(self) -> AttemptsToReturn {
        AttemptsToReturn { full: vec![self.own.subject], back: self.address.into_iter().collect() }
    }

    /// After a right password whose code is sent later: the attempt of the address. An attacker who knows the password could
    /// otherwise try codes without limit.
    pub fn before_code(self) -> AttemptsToReturn {
        AttemptsToReturn { full: Vec::new(), back: self.address.into_iter().collect() }
    }

    /// After a right password of a signed-in user, or after a link was opened: that attempt only. Codes that were tried with
    /// the same session still count.
    pub fn one(self) -> AttemptsToReturn {
        AttemptsToReturn { full: Vec::new(), back: vec![self.own] }
    }
}

impl TakenAttempts {
    /// One attempt alone.
    pub fn of(own: Attempt) -> Self {
        Self { own, address: None }
    }
}

impl AttemptsToReturn {
    /// All attempts at an account, after its user got another password by an administrator or a link.
    pub fn all_of(email: &str) -> Self {
        Self { full: vec![account(email)], back: Vec::new() }
    }
}

/// An attempt that can be taken once within this time, on all nodes and across restarts: for what must not be used twice. `purpose`
/// keeps the names of one kind apart from those of another.
pub fn one_use(purpose: &str, name: &str, within: Duration) -> Attempt {
    let subject = Sha256::new_with_prefix(b"once\0").chain_update(purpose).chain_update([0]).chain_update(name);
    Attempt { subject: subject.finalize().into(), refill_interval: within, attempts_max: 1 }
}

/// The limit on attempts at one account.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limit {
    /// Attempts within the window.
    pub attempts_max: u32,
    /// Time in which used attempts refill.
    pub window: Duration,
}

impl Limit {
    /// An attempt at this account, which need not exist, and from this address. A device that signed in to the account before
    /// has a separate allowance, which the attempts of others do not use up.
    pub fn at_account(self, email: &str, device: Option<&Device>, from: Option<IpAddr>) -> TakenAttempts {
        match device {
            Some(device) => TakenAttempts { own: self.of_device(email, device), address: None },
            None => TakenAttempts { own: self.of_account(email), address: from.map(|from| self.of_address(from)) },
        }
    }

    /// As [`Limit::at_account`], for accounts of a realm, which are counted apart from those of others: their names, and the
    /// addresses that they come from, with `from.1` as the limit of an address.
    pub fn at_account_of(
        self,
        realm: &str,
        name: &str,
        device: Option<&Device>,
        from: Option<(IpAddr, Self)>,
    ) -> TakenAttempts {
        let name = format!("{realm}\0{name}");
        match device {
            Some(device) => TakenAttempts { own: self.of_device(&name, device), address: None },
            None => TakenAttempts {
                own: self.of_account(&name),
                address: from.map(|(from, limit)| limit.at_address_of(realm, from)),
            },
        }
    }

    /// An attempt from this address at something of a realm.
    pub fn at_address_of(self, realm: &str, from: IpAddr) -> Attempt {
        let subject = Sha256::new_with_prefix(b"realm\0").chain_update(realm).chain_update([0]);
        self.attempt(subject.chain_update(address_subject(from)).finalize().into())
    }

    /// An attempt from this address to open a link, which is counted apart from sign-ins.
    pub fn at_link(self, from: IpAddr) -> TakenAttempts {
        TakenAttempts { own: self.of_link(from), address: None }
    }

    /// An attempt from this address to sign in with the answer of an issuer, which is counted apart from passwords and links.
    pub fn at_issuer_answer(self, from: IpAddr) -> TakenAttempts {
        let subject = Sha256::new_with_prefix(b"openid\0").chain_update(address_subject(from)).finalize().into();
        let limit = Self { attempts_max: self.attempts_max.saturating_mul(USERS_AT_AN_ADDRESS), ..self };
        TakenAttempts { own: limit.attempt(subject), address: None }
    }

    /// The refusal when the next attempt is allowed from this time on.
    pub fn refuse(self, allowed_from: Timestamp, now: Timestamp) -> Refusal {
        Refusal::TooManyAttempts { retry_after: retry_after(allowed_from, now), limit: self }
    }

    fn of_account(self, email: &str) -> Attempt {
        self.attempt(account(email))
    }

    /// An address has more attempts than an account.
    fn of_address(self, address: IpAddr) -> Attempt {
        Self { attempts_max: self.attempts_max.saturating_mul(USERS_AT_AN_ADDRESS), ..self }
            .attempt(address_subject(address))
    }

    fn of_link(self, address: IpAddr) -> Attempt {
        let subject = Sha256::new_with_prefix(b"link\0").chain_update(address_subject(address));
        Self { attempts_max: self.attempts_max.saturating_mul(USERS_AT_AN_ADDRESS), ..self }
            .attempt(subject.finalize().into())
    }

    fn of_device(self, email: &str, device: &Device) -> Attempt {
        let subject = Sha256::new_with_prefix(b"device\0").chain_update(device.id()).chain_update([0]);
        self.attempt(subject.chain_update(email.as_bytes()).finalize().into())
    }

    fn attempt(self, subject: Digest) -> Attempt {
        let attempts_max = self.attempts_max.max(1);
        Attempt { subject, refill_interval: self.window / attempts_max, attempts_max }
    }
}

fn account(email: &str) -> Digest {
    Sha256::new_with_prefix(b"account\0").chain_update(email.as_bytes()).finalize().into()
}

fn address_subject(address: IpAddr) -> Digest {
    let network = match address.to_canonical() {
        IpAddr::V4(address) => address.to_ipv6_mapped(),
        IpAddr::V6(address) => Ipv6Addr::from_bits(address.to_bits() >> NETWORK_BITS << NETWORK_BITS),
    };
    Sha256::new_with_prefix(b"address\0").chain_update(network.octets()).finalize().into()
}

#[cfg(test)]
mod tests {
    use kit_runtime::random::SeededRandom;

    use super::*;

    const LIMIT: Limit = Limit { attempts_max: 10, window: Duration::from_secs(900) };

    #[test]
    fn a_known_device_has_attempts_of_its_own() {
        let (device, from) = (Device::generate(&SeededRandom::new(1)), Some(IpAddr::from([192, 0, 2, 1])));
        let unknown = LIMIT.at_account("a@example.com", None, from).all();
        let known = LIMIT.at_account("a@example.com", Some(&device), from).all();
        assert_eq!((unknown.len(), known.len()), (2, 1));
        assert!(!unknown.iter().any(|attempt| attempt.subject == known[0].subject));
        assert_eq!((unknown[0].attempts_max, unknown[1].attempts_max), (10, 50));
        assert_ne!(LIMIT.at_link(from.unwrap()).all()[0].subject, unknown[1].subject, "links are counted apart");
        let answer = LIMIT.at_issuer_answer(from.unwrap()).all()[0];
        assert_eq!(answer.attempts_max, 50);
        assert!(![unknown[1], LIMIT.at_link(from.unwrap()).all()[0]].contains(&answer), "answers are counted apart");
        let many = Limit { attempts_max: 300, ..LIMIT };
        let apart = LIMIT.at_account_of("bidder", "a@example.com", None, from.map(|from| (from, many))).all();
        assert_eq!((apart[0].attempts_max, apart[1].attempts_max), (10, 300));
        assert!(apart.iter().all(|attempt| !unknown.iter().any(|other| other.subject == attempt.subject)));
    }

    #[test]
    fn a_sign_in_fills_its_account_and_returns_one_attempt_of_its_address() {
        let taken = LIMIT.at_account("a@example.com", None, Some(IpAddr::from([192, 0, 2, 1])));
        let (own, address) = (taken.own, taken.address.unwrap());
        let update = |full: &[Digest], back: &[Attempt]| AttemptsToReturn { full: full.into(), back: back.into() };
        assert_eq!(taken.clone().after_sign_in(), update(&[own.subject], &[address]));
        assert_eq!(taken.clone().before_code(), update(&[], &[address]), "codes still count");
        assert_eq!(taken.one(), update(&[], &[own]));
        assert_eq!(AttemptsToReturn::all_of("a@example.com"), update(&[own.subject], &[]));
    }

    #[test]
    fn addresses_of_one_network_share_their_attempts() {
        let of = |address: &str| address_subject(address.parse().unwrap());
        assert_eq!(of("2001:db8:1:2::1"), of("2001:db8:1:2:ffff::9"));
        assert_ne!(of("2001:db8:1:2::1"), of("2001:db8:1:3::1"));
        assert_eq!(of("192.0.2.1"), of("::ffff:192.0.2.1"));
        assert_ne!(of("192.0.2.1"), of("192.0.2.2"));
        assert_ne!(account("a@example.com"), account("b@example.com"));
    }

    #[test]
    fn an_allowance_is_used_up_and_fills_evenly() {
        let attempt = Attempt { subject: [0; 32], refill_interval: Duration::from_secs(60), attempts_max: 3 };
        let now = Timestamp::UNIX_EPOCH + Duration::from_secs(1_000);
        let mut full_at = None;
        for _ in 0..3 {
            full_at = Some(attempt.take(full_at, now).unwrap());
        }
        assert_eq!(attempt.take(full_at, now), Err(now + Duration::from_secs(60)));
        let later = now + Duration::from_secs(60);
        full_at = Some(attempt.take(full_at, later).unwrap());
        assert!(attempt.take(full_at, later).is_err());
        let much_later = now + Duration::from_secs(3_600);
        assert_eq!(attempt.take(full_at, much_later), Ok(much_later + Duration::from_secs(60)));
    }
}
