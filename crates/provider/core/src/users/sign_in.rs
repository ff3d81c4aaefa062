//! Signing in: password, second factor, session. `kit_identity::sign_in` decides.
//!
//! The store takes an attempt before a password or a code is verified. An account's attempts are returned only after a
//! complete sign-in, which includes the code of a second factor. Otherwise an attacker who knows the password could try
//! codes without limit.

use std::net::IpAddr;

use kit_identity::Refusal;
use kit_identity::devices::Device;
use kit_identity::sign_in::{CODE_BYTES_MAX, PasswordCheck};
use kit_identity::throttle::{AttemptsToReturn, TakenAttempts};
use kit_runtime::vault::Secret;

use super::refusal;
use crate::activity::{Action, Actor, ChangedValues, Subject};
use crate::error::{ProviderError, ProviderResult};
use crate::ids;
use crate::model::{Id, Profile, User};
use crate::port::StoreError;
use crate::provider::Provider;

pub use kit_identity::sign_in::{Client, SignIn};

/// What a user signed in with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum SignInMethod {
    /// The password, and the code of a second factor.
    Password,
    /// An answer of the issuer.
    SingleSignOn,
}

/// A new session. Its tokens are returned once and not stored.
pub type SignedIn = kit_identity::sign_in::SignedIn<Id, Profile>;

/// The result of a correct password.
pub enum SignInResult {
    /// The session began.
    SignedIn(Box<SignedIn>),
    /// The user has a second factor. The session begins when its code is sent with this token within five minutes.
    CodeRequired(Secret),
}

impl Provider {
    /// Begins a session, or asks for the code of the second factor.
    ///
    /// Errors: `sign_in_refused`, `too_many_requests`, `conflict` (the user was changed at the same time).
    pub async fn sign_in(&self, sign_in: &SignIn) -> ProviderResult<SignInResult> {
        if sign_in.too_long().iter().any(|(field, _)| *field != "deviceToken") {
            return Err(Refusal::SignInRefused.into());
        }
        let (identity, client) = (self.identity(), &sign_in.client);
        let attempted = identity.attempt(&sign_in.email, client);
        self.take_attempts(&attempted.attempts, client.from).await?;
        let found = self.store().user_by_email(&attempted.email).await?;
        let PasswordCheck::Right(user) = identity.check_password(found, &sign_in.password).await? else {
            tracing::warn!(from = client.from.map(tracing::field::display), "a sign-in to the dashboard was refused");
            return Err(Refusal::SignInRefused.into());
        };
        if user.has_second_factor() {
            self.return_attempts(attempted.attempts.before_code()).await?;
            return Ok(SignInResult::CodeRequired(identity.await_code(&user)));
        }
        let signed_in = self.begin_session(user, attempted.device, client, SignInMethod::Password).await?;
        self.return_attempts(attempted.attempts.after_sign_in()).await?;
        Ok(SignInResult::SignedIn(Box::new(signed_in)))
    }

    /// Begins a session after a correct password, with the code of the second factor or a recovery code.
    ///
    /// Errors: `authentication_failed` (the token is wrong or older than five minutes), `code_refused`,
    /// `too_many_requests`, `conflict`.
    pub async fn sign_in_with_code(&self, awaited: &str, code: &str, client: &Client) -> ProviderResult<SignedIn> {
        let (id, version) = self.identity().awaited_code(awaited).ok_or(ProviderError::Unauthenticated)?;
        let user = self.store().user(id).await?.filter(|user| user.version == version);
        let user = user.ok_or(ProviderError::Unauthenticated)?;
        if code.len() > CODE_BYTES_MAX {
            return Err(Refusal::CodeRefused.into());
        }
        let attempted = self.identity().attempt(&user.email, client);
        self.take_attempts(&attempted.attempts, client.from).await?;
        if !self.uses_code(&user, code).await? {
            tracing::warn!(user = &*user.id, "a code of a second factor was refused");
            return Err(Refusal::CodeRefused.into());
        }
        let signed_in = self.begin_session(user, attempted.device, client, SignInMethod::Password).await?;
        self.return_attempts(attempted.attempts.after_sign_in()).await?;
        Ok(signed_in)
    }

    /// Begins the session of a user who is signed in by now.
    pub(super) async fn begin_session(
        &self,
        user: User,
        device: Option<Device>,
        client: &Client,
        method: SignInMethod,
    ) -> ProviderResult<SignedIn> {
        let signed_in = self.new_session(user, device, client)?;
        let (session, user) = (&signed_in.session, &signed_in.user);
        let (subject, actor) = (Subject { id: &session.id, name: "" }, Actor::user(user));
        let from = ChangedValues::default().value("from", None, session.address.as_deref());
        let values = match method {
            SignInMethod::Password => from,
            SignInMethod::SingleSignOn => from.value("by", None, Some("single sign-on")),
        };
        let entry = self.activity_entry(&actor, Action::SignedIn, subject, values);
        let sessions_max = self.config().identity.sessions_max;
        match self.store().begin_session(session.clone(), user.version, sessions_max, entry).await {
            Err(StoreError::Conflict) => return Err(refusal::changed_meanwhile()),
            begun => begun?,
        }
        tracing::info!(user = &*user.id, session = &*session.id, ?method, "a user signed in to the dashboard");
        Ok(signed_in)
    }

    /// A session that is not stored yet.
    pub(super) fn new_session(&self, user: User, device: Option<Device>, client: &Client) -> ProviderResult<SignedIn> {
        Ok(self.identity().begin_session(self.ids().make(ids::USER_SESSION), user, device, client)?)
    }

    pub(super) async fn take_attempts(&self, wanted: &TakenAttempts, from: Option<IpAddr>) -> ProviderResult<()> {
        let now = self.now();
        let Some(allowed_from) = self.store().take_sign_in_attempts(wanted.all(), now).await? else { return Ok(()) };
        tracing::warn!(from = from.map(tracing::field::display), "a sign-in to the dashboard was throttled");
        Err(self.config().identity.attempts().refuse(allowed_from, now).into())
    }

    /// Takes an attempt of a signed-in user.
    pub(super) async fn take_own_attempt(&self, user: &User) -> ProviderResult<TakenAttempts> {
        let wanted = self.config().identity.attempts().at_account(&user.email, None, None);
        self.take_attempts(&wanted, None).await?;
        Ok(wanted)
    }

    pub(super) async fn return_attempts(&self, returned: AttemptsToReturn) -> ProviderResult<()> {
        Ok(self.store().return_sign_in_attempts(returned).await?)
    }
}
