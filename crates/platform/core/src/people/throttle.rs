//! Rate limit of sign-in attempts, by account and by IP address, or by device for a device that signed in before. The
//! platform takes an attempt before it verifies the password and returns it when the password is right.

use std::net::IpAddr;

use kit_identity::devices::Device;
use kit_identity::throttle::{Limit, account, retry_after};

use super::refusal::PeopleRefusal;
use crate::Platform;
use crate::error::PlatformResult;
use crate::port::{SignInAttempt, SignInAttemptsUpdate};

/// Attempts that were taken.
pub(super) struct TakenAttempts {
    /// Of the account, or of a device that signed in to it before.
    own: SignInAttempt,
    address: Option<SignInAttempt>,
}

impl Platform {
    /// Takes an attempt of this account, which need not exist, and of this address.
    pub(super) async fn take_attempt(&self, email: &str, from: Option<IpAddr>) -> PlatformResult<TakenAttempts> {
        let limit = self.attempts_limit();
        let address = from.map(|from| limit.of_address(from));
        self.take(TakenAttempts { own: limit.of_account(email), address }, from).await
    }

    /// Takes an attempt of a device that signed in to this account before. Attempts of others at the account or from
    /// the same address do not count.
    pub(super) async fn take_attempt_of_device(
        &self,
        email: &str,
        device: &Device,
        from: Option<IpAddr>,
    ) -> PlatformResult<TakenAttempts> {
        let own = self.attempts_limit().of_device(email, device);
        self.take(TakenAttempts { own, address: None }, from).await
    }

    async fn take(&self, wanted: TakenAttempts, from: Option<IpAddr>) -> PlatformResult<TakenAttempts> {
        let (attempts, now) = ([wanted.own].into_iter().chain(wanted.address).collect(), self.now());
        let Some(allowed_from) = self.store().take_sign_in_attempts(attempts, now).await? else {
            return Ok(wanted);
        };
        self.metrics().sign_in_throttled();
        tracing::warn!(from = from.map(tracing::field::display), "a sign-in was throttled");
        let retry_after_s = retry_after(allowed_from, now).as_secs();
        Err(PeopleRefusal::TooManyAttempts { retry_after_s }.into())
    }

    /// Takes one of this address's attempts to open a link; none when the address is not known.
    pub(crate) async fn take_attempt_at_link(&self, from: Option<IpAddr>) -> PlatformResult<Option<SignInAttempt>> {
        let Some(address) = from else { return Ok(None) };
        let own = self.attempts_limit().of_link(address);
        self.take(TakenAttempts { own, address: None }, from).await?;
        Ok(Some(own))
    }

    /// Returns the attempt after a link was opened.
    pub(crate) async fn give_back_at_link(&self, taken: Option<SignInAttempt>) -> PlatformResult<()> {
        let settled = SignInAttemptsUpdate { full: Vec::new(), back: taken.into_iter().collect() };
        Ok(self.store().settle_sign_in_attempts(settled).await?)
    }

    /// Returns attempts after a right password, and a right code if the user has a second factor: all of the account's or the device's, but only one of the address's.
    /// Otherwise the owner of one account could try passwords of other accounts without limit.
    pub(super) async fn give_back(&self, taken: TakenAttempts) -> PlatformResult<()> {
        let settled = SignInAttemptsUpdate { full: vec![taken.own.subject], back: taken.address.into_iter().collect() };
        Ok(self.store().settle_sign_in_attempts(settled).await?)
    }

    /// Returns the attempt of a signed-in user who gave the right password, and no other one: codes that were tried with the
    /// same session still count.
    pub(super) async fn give_back_own(&self, taken: TakenAttempts) -> PlatformResult<()> {
        let settled = SignInAttemptsUpdate { full: Vec::new(), back: vec![taken.own] };
        Ok(self.store().settle_sign_in_attempts(settled).await?)
    }

    /// Restores all attempts of an account after an administrator has reset its access.
    pub(super) async fn forget_attempts(&self, email: &str) -> PlatformResult<()> {
        let settled = SignInAttemptsUpdate { full: vec![account(email)], back: Vec::new() };
        Ok(self.store().settle_sign_in_attempts(settled).await?)
    }

    fn attempts_limit(&self) -> Limit {
        let config = &self.config().people;
        Limit { attempts_max: config.attempts_max, window: config.attempts_window }
    }
}
