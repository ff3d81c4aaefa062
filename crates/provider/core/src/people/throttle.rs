//! Limits sign-in attempts by account and by IP address, or by device for a device that signed in before. An attempt is
//! taken before a password or a code is verified. What was used of an account's allowance comes back only when the sign-in is
//! complete: with a second factor, after the right code. Otherwise someone who knows the password could try codes without end.

use std::net::IpAddr;
use std::time::Duration;

use kit_identity::devices::Device;
use kit_identity::throttle::{Attempt, Limit, account};

use super::refusal;
use crate::error::ProviderResult;
use crate::provider::Provider;

/// Attempts that were taken.
pub(super) struct TakenAttempts {
    /// Of the account, or of a device that signed in to it before.
    own: Attempt,
    address: Option<Attempt>,
}

impl Provider {
    /// Takes an attempt of this e-mail address, which need not exist, and of this IP address; of the device instead if it
    /// signed in before. Attempts of others do not count for such a device.
    pub(super) async fn take_attempt(
        &self,
        email: &str,
        device: Option<&Device>,
        from: Option<IpAddr>,
    ) -> ProviderResult<TakenAttempts> {
        let config = &self.config().people;
        let limit = Limit { attempts_max: config.attempts_max, window: config.attempts_window };
        let wanted = match device {
            Some(device) => TakenAttempts { own: limit.of_device(email, device), address: None },
            None => TakenAttempts { own: limit.of_account(email), address: from.map(|from| limit.of_address(from)) },
        };
        let (attempts, now) = ([wanted.own].into_iter().chain(wanted.address).collect(), self.now());
        let Some(allowed_from) = self.store().take_sign_in_attempts(attempts, now).await? else {
            return Ok(wanted);
        };
        tracing::warn!(from = from.map(tracing::field::display), "a sign-in to the dashboard was throttled");
        let wait_ms = allowed_from.as_millisecond().saturating_sub(now.as_millisecond());
        let wait_s = u64::try_from(wait_ms).unwrap_or_default().div_ceil(1_000).max(1);
        Err(refusal::too_many_attempts(Duration::from_secs(wait_s), config.attempts_max, config.attempts_window))
    }

    /// Returns attempts after a complete sign-in: all of the account's or the device's, but only one of the address's.
    /// Otherwise the owner of one account could try passwords of other accounts without limit.
    pub(super) async fn give_back(&self, taken: TakenAttempts) -> ProviderResult<()> {
        Ok(self.store().settle_sign_in_attempts(vec![taken.own.subject], taken.address.into_iter().collect()).await?)
    }

    /// Returns the one attempt of a right password whose code is not known yet: the address's. The account's comes back with
    /// the right code.
    pub(super) async fn give_back_before_code(&self, taken: TakenAttempts) -> ProviderResult<()> {
        Ok(self.store().settle_sign_in_attempts(Vec::new(), taken.address.into_iter().collect()).await?)
    }

    /// Returns the attempt of a signed-in person who gave the right password, and no other one: codes that were tried with
    /// the same session still count.
    pub(super) async fn give_back_own(&self, taken: TakenAttempts) -> ProviderResult<()> {
        Ok(self.store().settle_sign_in_attempts(Vec::new(), vec![taken.own]).await?)
    }

    /// Restores all attempts at an e-mail address, after its person got a new password by a link.
    pub(super) async fn forget_attempts(&self, email: &str) -> ProviderResult<()> {
        Ok(self.store().settle_sign_in_attempts(vec![account(email)], Vec::new()).await?)
    }
}
