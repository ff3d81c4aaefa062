//! Sessions: authenticates their tokens, lists them and ends them.

use std::sync::Arc;

use kit_identity::token_hash;

use crate::activity::{Action, Actor, ChangedValues, Subject};
use crate::caller::{Caller, CallingUser, Scope};
use crate::error::{ProviderError, ProviderResult};
use crate::model::Role;
use crate::model::{Account, User, UserSession};
use crate::port::SessionsToEnd;
use crate::provider::Provider;

/// Bytes of the longest session token that is looked up.
const TOKEN_BYTES_MAX: usize = 64;
/// Sessions deleted in one transaction.
const DELETE_MAX: usize = 1_000;
const SESSIONS_LISTED_MAX: usize = 100;

/// The signed-in user of a request.
#[derive(Debug, Clone)]
pub struct SignedInUser {
    /// The caller, with the user's role.
    pub caller: Caller,
    /// The user.
    pub user: User,
    /// The user's account.
    pub account: Account,
    /// The session.
    pub session: UserSession,
}

impl Provider {
    /// Authenticates a session token. Error: `authentication_failed`.
    pub async fn authenticate_session(&self, token: &str) -> ProviderResult<SignedInUser> {
        if token.len() > TOKEN_BYTES_MAX {
            return Err(ProviderError::Unauthenticated);
        }
        let found = self.store().session_by_hash(token_hash(token)).await?;
        let (mut session, user) = found.ok_or(ProviderError::Unauthenticated)?;
        let now = self.now();
        if !self.identity().goes_on(&session) {
            return Err(ProviderError::Unauthenticated);
        }
        let account = self.store().account(&user.profile.account).await?.ok_or(ProviderError::Unauthenticated)?;
        if session.needs_touch(now) {
            session.last_used_at = now;
            if let Err(error) = self.store().touch_session(&session.id, now).await {
                tracing::warn!(session = &*session.id, %error, "the last use of a session could not be recorded");
            }
        }
        let caller = Caller {
            key_scopes: None,
            account: account.id.clone(),
            key: user.id.clone(),
            name: user.profile.name.as_str().into(),
            scope: Scope::Account,
            settings: account.settings,
            user: Some(Arc::new(CallingUser { role: user.profile.role, session: session.id.clone() })),
        };
        Ok(SignedInUser { caller, user, account, session })
    }

    /// Sessions of the caller, newest first. 403 for an API key.
    pub async fn own_sessions(&self, caller: &Caller) -> ProviderResult<Vec<UserSession>> {
        caller.require_user()?;
        self.current_sessions(&caller.key).await
    }

    /// Sessions of a user of the account, newest first. 403, 404.
    pub async fn sessions_of(&self, caller: &Caller, user: &str) -> ProviderResult<Vec<UserSession>> {
        caller.require_role(Role::Admin)?;
        let user = self.user(caller, user).await?;
        self.current_sessions(&user.id).await
    }

    async fn current_sessions(&self, user: &str) -> ProviderResult<Vec<UserSession>> {
        let found = self.store().sessions(user, SESSIONS_LISTED_MAX).await?;
        Ok(found.into_iter().filter(|session| self.identity().goes_on(session)).collect())
    }

    /// Ends the caller's session. 403 for an API key.
    pub async fn sign_out(&self, caller: &Caller) -> ProviderResult<()> {
        let session = caller.require_user()?.session.clone();
        self.end_own(caller, SessionsToEnd::One(caller.key.clone(), session)).await
    }

    /// Ends one session of the caller. 403 for an API key.
    pub async fn end_own_session(&self, caller: &Caller, session: &str) -> ProviderResult<()> {
        caller.require_user()?;
        self.end_own(caller, SessionsToEnd::One(caller.key.clone(), session.into())).await
    }

    /// Ends all other sessions of the caller. 403 for an API key.
    pub async fn end_own_other_sessions(&self, caller: &Caller) -> ProviderResult<()> {
        let session = caller.require_user()?.session.clone();
        self.end_own(caller, SessionsToEnd::AllBut(caller.key.clone(), session)).await
    }

    async fn end_own(&self, caller: &Caller, ending: SessionsToEnd) -> ProviderResult<()> {
        let ended = self.store().end_sessions(ending, None).await?;
        tracing::info!(user = &*caller.key, ended, "a user ended sessions");
        Ok(())
    }

    /// Ends all sessions of a user of the account. 403, 404.
    pub async fn end_sessions_of(&self, caller: &Caller, user: &str) -> ProviderResult<()> {
        caller.require_role(Role::Admin)?;
        let user = self.user(caller, user).await?;
        let subject = Subject { id: &user.id, name: &user.profile.name };
        let actor = Actor::of_caller(caller);
        let entry = self.activity_entry(&actor, Action::SessionsEnded, subject, ChangedValues::default());
        self.store().end_sessions(SessionsToEnd::AllOf(user.id), Some(entry)).await?;
        Ok(())
    }

    /// Deletes expired sessions and invitations, and attempt counters that no longer delay a sign-in. A worker calls it
    /// every minute.
    pub(crate) async fn delete_expired_sessions(&self) -> ProviderResult<()> {
        let (now, idle_before) = (self.now(), self.identity().idle_before());
        while self.store().delete_expired_sessions(now, idle_before, DELETE_MAX).await? >= DELETE_MAX {}
        Ok(())
    }
}
