//! Signing in: password, second factor, session. `kit_identity::sign_in` decides.

use std::net::IpAddr;

use kit_identity::devices::Device;
use kit_identity::sign_in::{Attempted, PasswordCheck};
use uuid::Uuid;

use super::Refusal;
use crate::access::access_log::AccessEvent;
use crate::error::{PlatformError, PlatformResult};
use crate::port::{AccessChange, Profile, StoreError, User};
use crate::steps::idempotency::{IdempotentRequest, Outcome};
use crate::{Platform, Problem};

pub use kit_identity::sign_in::{Client, SignIn};

/// What a user signed in with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum SignInMethod {
    /// The password, and the code of a second factor.
    Password,
    /// An answer of the issuer.
    SingleSignOn,
}

/// The result of a sign-in. The platform does not show its tokens again.
pub type SignedIn = kit_identity::sign_in::SignedIn<Uuid, Profile>;

impl Platform {
    /// Begins a session. The stored answer of an idempotency key belongs to the user, whatever its `caller` says. It is
    /// stored sealed, and replayed only to a caller with the right password. For a user with a second factor no answer
    /// is stored, because a guessed idempotency key would replace the code.
    ///
    /// Errors: `sign_in_refused`, `code_required`, `code_refused`, `too_many_attempts`, `invalid`, `busy` (the user was
    /// changed at the same time).
    pub async fn sign_in(
        &self,
        sign_in: &SignIn,
        answering: Option<IdempotentRequest<'_, SignedIn>>,
    ) -> PlatformResult<Outcome<SignedIn>> {
        check_lengths(sign_in)?;
        let (identity, from) = (self.identity(), sign_in.client.from);
        let attempted = identity.attempt(&sign_in.email, &sign_in.client);
        self.take_attempts(&attempted.attempts, from).await?;
        let found = self.store().user_by_email(&attempted.email).await?;
        let user = match identity.check_password(found, &sign_in.password).await? {
            PasswordCheck::Right(user) => user,
            PasswordCheck::Wrong => {
                self.sign_in_state().refused.add();
                return Err(self.refused(None, from, Refusal::SignInRefused));
            }
            PasswordCheck::Disabled(user) => {
                self.note_refused(user.id, from, "disabled").await?;
                return Err(self.refused(None, from, Refusal::SignInRefused));
            }
        };
        let answering = answering.filter(|_| !user.has_second_factor());
        let answering = answering.map(|answering| IdempotentRequest { caller: user.id, ..answering });
        if let Some(answer) = self.replay_sealed(answering.as_ref()).await? {
            self.return_attempts(attempted.attempts.after_sign_in()).await?;
            return Ok(Outcome::Replayed(answer));
        }
        self.check_second_factor(&user, sign_in).await?;
        let Attempted { device, attempts, .. } = attempted;
        let begun = self.begin_session(user, device, &sign_in.client, SignInMethod::Password, answering).await?;
        if let Outcome::Fresh(_) = &begun {
            self.return_attempts(attempts.after_sign_in()).await?;
        }
        Ok(begun)
    }

    async fn check_second_factor(&self, user: &User, sign_in: &SignIn) -> PlatformResult<()> {
        if !user.has_second_factor() {
            return Ok(());
        }
        let Some(code) = &sign_in.code else { return Err(Refusal::CodeRequired.into()) };
        if self.uses_code(user, code).await? {
            return Ok(());
        }
        self.note_refused(user.id, sign_in.client.from, "code_refused").await?;
        Err(self.refused(Some(user.id), sign_in.client.from, Refusal::CodeRefused))
    }

    /// Logs a refused sign-in of a user who gave the right password, or whom the issuer signed in.
    pub(super) async fn note_refused(&self, user: Uuid, from: Option<IpAddr>, reason: &str) -> PlatformResult<()> {
        let event = AccessEvent::SignInRefused { user, reason: reason.to_owned() };
        self.note_alone(self.note_sign_in((user, None), from, event)?).await
    }

    /// Begins the session of a user who is signed in by now.
    pub(super) async fn begin_session(
        &self,
        user: User,
        device: Option<Device>,
        client: &Client,
        method: SignInMethod,
        answering: Option<IdempotentRequest<'_, SignedIn>>,
    ) -> PlatformResult<Outcome<SignedIn>> {
        let signed_in = self.identity().begin_session(self.ids().uuid_v7(), user, device, client)?;
        let (user, session, from) = (signed_in.user.id, signed_in.session.id, client.from);
        let answer = answering.as_ref().map(|answering| self.seal_answer(answering.answer(&signed_in, self.now())));
        let event = AccessEvent::SignedIn { user, session, single_sign_on: method == SignInMethod::SingleSignOn };
        let note = self.note_sign_in((user, Some(session)), from, event)?;
        let (version, sessions_max) = (signed_in.user.version, self.config().identity.sessions_max);
        let begin = AccessChange::BeginSession(signed_in.session.clone(), version, sessions_max, answer);
        match self.store().apply_access_change(begin, note).await {
            Ok(_) => {}
            Err(StoreError::Replayed) => {
                let answer = self.replay_sealed(answering.as_ref()).await?;
                return answer.map(Outcome::Replayed).ok_or(PlatformError::Busy);
            }
            Err(error) => return Err(error.into()),
        }
        self.metrics().signed_in();
        tracing::info!(%user, %session, ?method, from = from.map(tracing::field::display), "a user signed in");
        Ok(Outcome::Fresh(signed_in))
    }

    /// Counts and logs a refusal. The log has no input, because a user may have typed the password as the e-mail
    /// address.
    pub(super) fn refused(
        &self,
        user: Option<Uuid>,
        from: Option<IpAddr>,
        error: impl Into<PlatformError>,
    ) -> PlatformError {
        let error = error.into();
        if matches!(error, PlatformError::Internal(_) | PlatformError::Identity(Refusal::TooManyAttempts { .. })) {
            return error;
        }
        self.metrics().sign_in_refused();
        let (user, from) = (user.map(tracing::field::display), from.map(tracing::field::display));
        tracing::warn!(user, from, code = error.code(), "a sign-in was refused");
        error
    }
}

/// Rejects credentials that are too long.
fn check_lengths(sign_in: &SignIn) -> PlatformResult<()> {
    let too_long = |(field, bytes_max)| Problem::new(format!("/{field}"), format!("is longer than {bytes_max} bytes"));
    let problems: Vec<Problem> = sign_in.too_long().into_iter().map(too_long).collect();
    if problems.is_empty() { Ok(()) } else { Err(PlatformError::Invalid(problems)) }
}
