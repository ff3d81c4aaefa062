//! Limits sign-in attempts by account and by IP address, or by device for a device that signed in before. An attempt is
//! taken before a password or a code is verified. An account's attempts are returned only after a complete sign-in,
//! which includes the code of a second factor. Otherwise an attacker who knows the password could try codes without
//! limit.

use std::net::IpAddr;

use kit_identity::devices::Device;
use kit_identity::throttle::{Attempt, Limit, account, retry_after};

use super::refusal;
use crate::error::ProviderResult;
use crate::provider::Provider;

pub(super) struct TakenAttempts {
    /// The attempt of the account, or of a device that signed in to it before.
    own: Attempt,
    address: Option<Attempt>,
}

impl Provider {
    /// Takes an attempt of this e-mail address, which need not exist, and of this IP address. For a device that signed
    /// in before, takes an attempt of the device instead, so that attempts of others do not count for it.
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
        let retry_after = retry_after(allowed_from, now);
        Err(refusal::too_many_attempts(retry_after, config.attempts_max, config.attempts_window))
    }

    /// Returns attempts after a complete sign-in: all attempts of the account or device, but only one of the IP
    /// address. Otherwise the owner of one account could try passwords of other accounts without limit.
    pub(super) async fn give_back(&self, taken: TakenAttempts) -> ProviderResult<()> {
        Ok(self.store().settle_sign_in_attempts(vec![taken.own.subject], taken.address.into_iter().collect()).await?)
    }

    /// Returns the attempt of the IP address after a correct password. The account's attempt is returned after the
    /// correct code.
    pub(super) async fn give_back_before_code(&self, taken: TakenAttempts) -> ProviderResult<()> {
        Ok(self.store().settle_sign_in_attempts(Vec::new(), taken.address.into_iter().collect()).await?)
    }

    /// Returns only the attempt of a signed-in person who entered the correct password. Codes that were tried with the
    /// same session still count.
    pub(super) async fn give_back_own(&self, taken: TakenAttempts) -> ProviderResult<()> {
        Ok(self.store().settle_sign_in_attempts(Vec::new(), vec![taken.own]).await?)
    }

    /// Returns all attempts of an e-mail address, after its person chose a new password with a link.
    pub(super) async fn restore_attempts(&self, email: &str) -> ProviderResult<()> {
        Ok(self.store().settle_sign_in_attempts(vec![account(email)], Vec::new()).await?)
    }
}
