//! Signing in: password, second factor, session.

use std::net::IpAddr;
use std::time::Duration;

use jiff::Timestamp;
use kit_identity::devices::{Device, TOKEN_BYTES_MAX};
use kit_identity::{passwords, sessions, token_hash, totp};
use kit_runtime::clock::{from_ms, to_ms};
use kit_runtime::vault::Secret;

use super::throttle::TakenAttempts;
use super::{EMAIL_BYTES_MAX, plain_email, refusal, totp_context};
use crate::activity::{Action, Actor, ChangedValues, Subject};
use crate::error::{ProviderError, ProviderResult};
use crate::ids;
use crate::model::{Person, PersonSession, Totp};
use crate::port::StoreError;
use crate::provider::Provider;

const SESSION_PREFIX: &str = "lwps_";
/// Separates the device tokens of people from those of other kinds of users.
const DEVICE_REALM: &str = "provider";
/// Purpose in the signature of the token that a correct password yields before the code.
const CODE_AWAITED: &str = "person-code";
/// Time after the password in which the code must be entered.
const CODE_AWAITED_FOR: Duration = Duration::from_secs(5 * 60);
const CODE_BYTES_MAX: usize = 64;
/// Characters of a browser's name that are stored.
const BROWSER_CHARS_MAX: usize = 200;

/// The browser that signs in.
#[derive(Debug, Clone, Default)]
pub struct Browser {
    /// Its IP address, if it is known.
    pub from: Option<IpAddr>,
    /// Its `User-Agent`.
    pub name: Option<String>,
    /// The token of a device that signed in before. A token that is not valid for the person is ignored.
    pub device_token: Option<String>,
}

/// The credentials of a sign-in.
pub struct SignIn {
    /// E-mail address; its case is ignored.
    pub email: String,
    /// Password.
    pub password: Secret,
    /// The browser.
    pub browser: Browser,
}

/// The result of a correct password.
pub enum SignInResult {
    /// The session began.
    SignedIn(Box<SignedIn>),
    /// The person has a second factor. The session begins when its code is sent with this token within five minutes.
    CodeRequired(Secret),
}

/// A new session.
#[derive(Debug, Clone)]
pub struct SignedIn {
    /// The session.
    pub session: PersonSession,
    /// Its person.
    pub person: Person,
    /// Token of the session. It is returned once and not stored.
    pub token: Secret,
    /// The token that identifies the device at its next sign-ins.
    pub device_token: Secret,
}

impl Provider {
    /// Begins a session, or asks for the code of the second factor.
    ///
    /// Errors: `sign_in_refused`, `too_many_requests`, `conflict` (the person was changed at the same time).
    pub async fn sign_in(&self, sign_in: SignIn) -> ProviderResult<SignInResult> {
        let SignIn { email, password, browser } = sign_in;
        let email = plain_email(&email);
        if email.len() > EMAIL_BYTES_MAX || password.expose().len() > passwords::BYTES_MAX {
            return Err(refusal::sign_in_refused());
        }
        let device = self.known_device(&email, &browser);
        let taken = self.take_attempt(&email, device.as_ref(), browser.from).await?;
        let found = self.store().person_by_email(&email).await?;
        let hash = found.as_ref().map(|person| person.password_hash.as_str());
        let is_correct = self.sign_in_state().passwords.verify(&password, hash).await?;
        let Some(person) = found.filter(|_| is_correct) else {
            tracing::warn!(from = browser.from.map(tracing::field::display), "a sign-in to the dashboard was refused");
            return Err(refusal::sign_in_refused());
        };
        if person.has_second_factor() {
            self.give_back_before_code(taken).await?;
            return Ok(SignInResult::CodeRequired(self.code_awaited(&person)));
        }
        self.begin_session(person, device, &browser, taken)
            .await
            .map(|signed_in| SignInResult::SignedIn(Box::new(signed_in)))
    }

    /// Begins a session after a correct password, with the code of the second factor or a recovery code.
    ///
    /// Errors: `authentication_failed` (the token is wrong or older than five minutes), `code_refused`,
    /// `too_many_requests`, `conflict`.
    pub async fn sign_in_with_code(&self, awaited: &str, code: &str, browser: &Browser) -> ProviderResult<SignedIn> {
        let person = self.person_of_awaited_code(awaited).await?;
        if code.len() > CODE_BYTES_MAX {
            return Err(refusal::code_refused());
        }
        let device = self.known_device(&person.email, browser);
        let taken = self.take_attempt(&person.email, device.as_ref(), browser.from).await?;
        if !self.uses_code(&person, code).await? {
            tracing::warn!(person = &*person.id, "a code of a second factor was refused");
            return Err(refusal::code_refused());
        }
        self.begin_session(person, device, browser, taken).await
    }

    /// The token `<person>.<version>.<expiry in ms>.<signature>`. A changed password invalidates it, because the
    /// version changes.
    fn code_awaited(&self, person: &Person) -> Secret {
        let expires_at = to_ms(self.now() + CODE_AWAITED_FOR);
        let text = format!("{}.{}.{expires_at}", person.id, person.version);
        let token = format!("{text}.{}", self.vault().sign(CODE_AWAITED, &text));
        Secret::new(token.into_bytes())
    }

    async fn person_of_awaited_code(&self, token: &str) -> ProviderResult<Person> {
        let (text, signature) = token.rsplit_once('.').ok_or(ProviderError::Unauthenticated)?;
        if token.len() > TOKEN_BYTES_MAX || !self.vault().is_signature(CODE_AWAITED, text, signature) {
            return Err(ProviderError::Unauthenticated);
        }
        let mut parts = text.split('.');
        let (Some(id), Some(version), Some(expires_at)) = (parts.next(), parts.next(), parts.next()) else {
            return Err(ProviderError::Unauthenticated);
        };
        let is_current = expires_at.parse().is_ok_and(|at| from_ms(at) > self.now());
        let person = self.store().person(id).await?.filter(|_| is_current);
        person.filter(|person| person.version.to_string() == version).ok_or(ProviderError::Unauthenticated)
    }

    /// The device with this token, if it signed in to this account before.
    pub(super) fn known_device(&self, email: &str, browser: &Browser) -> Option<Device> {
        Device::verify(self.vault(), DEVICE_REALM, email, browser.device_token.as_ref()?)
    }

    /// Uses up a code or a recovery code. False when it is wrong or was used before.
    pub(super) async fn uses_code(&self, person: &Person, code: &str) -> ProviderResult<bool> {
        let Some(totp) = &person.totp else { return Ok(false) };
        let code = code.trim();
        if !totp::is_like_a_code(code) {
            return Ok(self.store().use_recovery_code(&person.id, totp::recovery_hash(code)).await?);
        }
        match self.step_of(person, totp, code)? {
            Some(step) => Ok(self.store().use_totp_step(&person.id, step).await?),
            None => Ok(false),
        }
    }

    /// The time step of the code; none when the code is wrong or not current.
    pub(super) fn step_of(&self, person: &Person, totp: &Totp, code: &str) -> ProviderResult<Option<i64>> {
        let secret = self.vault().open(&totp_context(&person.id), &totp.secret).map_err(|error| {
            ProviderError::Internal(format!("the secret of a second factor can't be opened: {error}"))
        })?;
        Ok(totp::step_of(secret.expose(), code, self.now()))
    }

    async fn begin_session(
        &self,
        mut person: Person,
        device: Option<Device>,
        browser: &Browser,
        taken: TakenAttempts,
    ) -> ProviderResult<SignedIn> {
        let (session, token) = self.new_session(&person, browser)?;
        let (subject, actor) = (Subject { id: &session.id, name: "" }, Actor::person(&person));
        let from = ChangedValues::default().value("from", None, session.address.as_deref());
        let entry = self.activity_entry(&actor, Action::SignedIn, subject, from);
        let sessions_max = self.config().people.sessions_max;
        match self.store().begin_session(session.clone(), person.version, sessions_max, entry).await {
            Err(StoreError::Conflict) => return Err(refusal::changed_meanwhile()),
            begun => begun?,
        }
        self.give_back(taken).await?;
        tracing::info!(person = &*person.id, session = &*session.id, "a person signed in to the dashboard");
        person.signed_in_at = Some(session.created_at);
        let device_token = self.device_token(&person, device);
        Ok(SignedIn { session, person, token, device_token })
    }

    pub(super) fn device_token(&self, person: &Person, device: Option<Device>) -> Secret {
        let device = device.unwrap_or_else(|| Device::generate(self.random()));
        Secret::new(device.token(self.vault(), DEVICE_REALM, &person.email).into_bytes())
    }

    /// A session that is not stored yet, and its token.
    pub(super) fn new_session(&self, person: &Person, browser: &Browser) -> ProviderResult<(PersonSession, Secret)> {
        let now = self.now();
        let token = sessions::new_token(self.random(), SESSION_PREFIX);
        let session = PersonSession {
            id: self.ids().make(ids::PERSON_SESSION),
            hash: token_hash(&token),
            person: person.id.clone(),
            address: browser.from.map(|from| from.to_canonical().to_string()),
            browser: browser.name.as_ref().map(|name| name.chars().take(BROWSER_CHARS_MAX).collect()),
            created_at: now,
            expires_at: later(now, self.config().people.session_ttl)?,
            last_used_at: now,
        };
        Ok((session, Secret::new(token.into_bytes())))
    }
}

pub(super) fn later(now: Timestamp, by: Duration) -> ProviderResult<Timestamp> {
    now.checked_add(by).map_err(|error| ProviderError::Internal(error.to_string()))
}
