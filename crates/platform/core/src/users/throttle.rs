//! Rate limit of sign-in attempts, by account and by IP address, or by device for a device that signed in before. The
//! platform takes an attempt before it verifies the password and returns it when the password is right.

use std::net::IpAddr;

use kit_identity::throttle::{AttemptsToReturn, TakenAttempts};

use crate::Platform;
use crate::error::PlatformResult;
use crate::port::User;

impl Platform {
    /// Takes the attempts of a request. Errors: `too_many_attempts`.
    pub(crate) async fn take_attempts(&self, wanted: &TakenAttempts, from: Option<IpAddr>) -> PlatformResult<()> {
        let now = self.now();
        let Some(allowed_from) = self.store().take_sign_in_attempts(wanted.all(), now).await? else { return Ok(()) };
        self.metrics().sign_in_throttled();
        tracing::warn!(from = from.map(tracing::field::display), "a sign-in was throttled");
        Err(self.config().identity.attempts().refuse(allowed_from, now).into())
    }

    /// Takes an attempt of a signed-in user.
    pub(super) async fn take_own_attempt(&self, user: &User) -> PlatformResult<TakenAttempts> {
        let wanted = self.config().identity.attempts().at_account(&user.email, None, None);
        self.take_attempts(&wanted, None).await?;
        Ok(wanted)
    }

    /// Takes one of this address's attempts to open a link; none when the address is not known.
    pub(crate) async fn take_attempt_at_link(&self, from: Option<IpAddr>) -> PlatformResult<Option<TakenAttempts>> {
        let Some(address) = from else { return Ok(None) };
        let wanted = self.config().identity.attempts().at_link(address);
        self.take_attempts(&wanted, from).await?;
        Ok(Some(wanted))
    }

    /// Returns the attempt after a link was opened.
    pub(crate) async fn return_attempt_at_link(&self, taken: Option<TakenAttempts>) -> PlatformResult<()> {
        match taken {
            Some(taken) => self.return_attempts(taken.one()).await,
            None => Ok(()),
        }
    }

    pub(crate) async fn return_attempts(&self, returned: AttemptsToReturn) -> PlatformResult<()> {
        Ok(self.store().return_sign_in_attempts(returned).await?)
    }
}
