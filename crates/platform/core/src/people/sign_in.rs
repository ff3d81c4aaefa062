//! Signing in: password, second factor, session.

use std::net::IpAddr;

use jiff::Timestamp;
use kit_identity::devices::{Device, TOKEN_BYTES_MAX};
use kit_identity::{passwords, sessions, token_hash, totp};
use kit_runtime::vault::Secret;

use super::refusal::PeopleRefusal;
use super::throttle::TakenAttempts;
use super::{EMAIL_BYTES_MAX, SESSION_PREFIX, plain_email};
use crate::access::access_log::AccessEvent;
use crate::error::{PlatformError, PlatformResult};
use crate::port::{AccessChange, Session, StoreError, User};
use crate::steps::idempotency::{IdempotentRequest, Outcome};
use crate::{Platform, Problem};

/// Separates the device tokens of users from those of other accounts.
const DEVICE_REALM: &str = "platform";
const CODE_BYTES_MAX: usize = 64;

/// The credentials of a sign-in.
pub struct SignIn {
    /// E-mail address; its case is ignored.
    pub email: String,
    /// Password.
    pub password: Secret,
    /// Code of the second factor, or a recovery code.
    pub code: Option<String>,
    /// The token of a device that signed in before. One that is not valid for this user is ignored.
    pub device_token: Option<Secret>,
    /// The client's IP address, if it is known.
    pub from: Option<IpAddr>,
}

/// The result of a sign-in.
#[derive(Debug, Clone)]
pub struct SignedIn {
    /// The session.
    pub session: Session,
    /// Its user.
    pub user: User,
    /// Its token: `lws_…`. The platform does not show it again.
    pub token: Secret,
    /// The token that names the device at its next sign-ins: `lwd_…`.
    pub device_token: Secret,
}

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
        check(sign_in)?;
        let email = plain_email(&sign_in.email);
        let device = self.known_device(&email, sign_in);
        let taken = match &device {
            Some(device) => self.take_attempt_of_device(&email, device, sign_in.from).await?,
            None => self.take_attempt(&email, sign_in.from).await?,
        };
        let found = self.store().user_by_email(&email).await?;
        let hash = found.as_ref().map(|user| user.password_hash.as_str());
        let fits = self.sign_in_state().passwords.verify(&sign_in.password, hash).await?;
        let Some(user) = found.filter(|_| fits) else {
            self.sign_in_state().refused.add();
            return Err(self.refused(None, sign_in.from, PeopleRefusal::SignInRefused));
        };
        if user.disabled_at.is_some() {
            self.note_refused(&user, sign_in.from, "disabled").await?;
            return Err(self.refused(None, sign_in.from, PeopleRefusal::SignInRefused));
        }
        let answering = answering.filter(|_| !user.has_second_factor());
        let answering = answering.map(|answering| IdempotentRequest { caller: user.uuid, ..answering });
        if let Some(answer) = self.replay_sealed(answering.as_ref()).await? {
            self.give_back(taken).await?;
            return Ok(Outcome::Replayed(answer));
        }
        self.check_second_factor(&user, sign_in).await?;
        let device = device.unwrap_or_else(|| Device::generate(self.random().as_ref()));
        self.begin_session(user, device, sign_in.from, taken, answering).await
    }

    /// The device that signed in to this account before, by its token.
    fn known_device(&self, email: &str, sign_in: &SignIn) -> Option<Device> {
        let token = sign_in.device_token.as_ref()?.expose_str()?;
        Device::verify(self.vault(), DEVICE_REALM, email, token)
    }

    async fn check_second_factor(&self, user: &User, sign_in: &SignIn) -> PlatformResult<()> {
        if !user.has_second_factor() {
            return Ok(());
        }
        let Some(code) = &sign_in.code else { return Err(PeopleRefusal::CodeRequired.into()) };
        if self.uses_code(user, code).await? {
            return Ok(());
        }
        self.note_refused(user, sign_in.from, "code_refused").await?;
        Err(self.refused(Some(user), sign_in.from, PeopleRefusal::CodeRefused))
    }

    /// Logs a refused sign-in of a user who gave the right password.
    async fn note_refused(&self, user: &User, from: Option<IpAddr>, reason: &str) -> PlatformResult<()> {
        let event = AccessEvent::SignInRefused { user: user.uuid, reason: reason.to_owned() };
        self.note_alone(self.note_sign_in((user.uuid, None), from, event)?).await
    }

    /// Uses a code or a recovery code. False when it is wrong or was used before.
    pub(super) async fn uses_code(&self, user: &User, code: &str) -> PlatformResult<bool> {
        let Some(totp) = &user.totp else { return Ok(false) };
        let code = code.trim();
        if !totp::is_like_a_code(code) {
            let used = self.store().use_recovery_code(user.uuid, totp::recovery_hash(code)).await?;
            if used {
                tracing::info!(user = %user.uuid, "a recovery code was used");
            }
            return Ok(used);
        }
        match self.step_of(user.uuid, totp, code)? {
            Some(step) => Ok(self.store().use_totp_step(user.uuid, step).await?),
            None => Ok(false),
        }
    }

    async fn begin_session(
        &self,
        mut user: User,
        device: Device,
        from: Option<IpAddr>,
        taken: TakenAttempts,
        answering: Option<IdempotentRequest<'_, SignedIn>>,
    ) -> PlatformResult<Outcome<SignedIn>> {
        let (now, config) = (self.now(), &self.config().people);
        let token = sessions::new_token(self.random().as_ref(), SESSION_PREFIX);
        let session = Session {
            uuid: self.ids().uuid_v7(),
            hash: token_hash(&token),
            user: user.uuid,
            address: from.map(|from| from.to_canonical().to_string()),
            created_at: now,
            expires_at: later(now, config.session_ttl)?,
            last_used_at: now,
        };
        user.signed_in_at = Some(now);
        let (version, kept) = (user.version, session.clone());
        let device_token = Secret::new(device.token(self.vault(), DEVICE_REALM, &user.email).into_bytes());
        let signed_in = SignedIn { session, user, token: Secret::new(token.into_bytes()), device_token };
        let answer = answering.as_ref().map(|answering| self.seal_answer(answering.answer(&signed_in, now)));
        let event = AccessEvent::SignedIn { user: kept.user, session: kept.uuid };
        let note = self.note_sign_in((kept.user, Some(kept.uuid)), from, event)?;
        let begin = AccessChange::BeginSession(kept, version, config.sessions_max, answer);
        match self.store().apply_access_change(begin, note).await {
            Ok(_) => {}
            Err(StoreError::Replayed) => {
                let answer = self.replay_sealed(answering.as_ref()).await?;
                return answer.map(Outcome::Replayed).ok_or(PlatformError::Busy);
            }
            Err(error) => return Err(error.into()),
        }
        self.give_back(taken).await?;
        self.metrics().signed_in();
        let (user, session) = (signed_in.user.uuid, signed_in.session.uuid);
        tracing::info!(%user, %session, from = from.map(tracing::field::display), "a user signed in");
        Ok(Outcome::Fresh(signed_in))
    }

    /// Counts and logs a refusal. The log has no input, because a user may have typed the password as the e-mail
    /// address.
    pub(super) fn refused(&self, user: Option<&User>, from: Option<IpAddr>, refusal: PeopleRefusal) -> PlatformError {
        self.metrics().sign_in_refused();
        let user = user.map(|user| tracing::field::display(user.uuid));
        tracing::warn!(user, from = from.map(tracing::field::display), code = refusal.code(), "a sign-in was refused");
        refusal.into()
    }
}

fn later(now: Timestamp, by: std::time::Duration) -> PlatformResult<Timestamp> {
    now.checked_add(by).map_err(|error| PlatformError::Internal(error.to_string()))
}

/// Rejects credentials that are too long.
fn check(sign_in: &SignIn) -> PlatformResult<()> {
    let code_bytes = sign_in.code.as_ref().map_or(0, String::len);
    let limits = [
        ("/email", sign_in.email.len(), EMAIL_BYTES_MAX),
        ("/password", sign_in.password.expose().len(), passwords::BYTES_MAX),
        ("/code", code_bytes, CODE_BYTES_MAX),
        ("/deviceToken", sign_in.device_token.as_ref().map_or(0, |token| token.expose().len()), TOKEN_BYTES_MAX),
    ];
    let too_long = limits.into_iter().filter(|(_, bytes, bytes_max)| bytes > bytes_max);
    let problems: Vec<Problem> = too_long
        .map(|(pointer, _, bytes_max)| Problem::new(pointer, format!("is longer than {bytes_max} bytes")))
        .collect();
    if problems.is_empty() { Ok(()) } else { Err(PlatformError::Invalid(problems)) }
}
