//! The caller of a use case, and what it may access.

use std::collections::BTreeSet;
use std::sync::Arc;

use crate::error::{ProviderError, ProviderResult};
use crate::model::Role;
use crate::model::{Account, AccountSettings, AppToken, Capability, EventType, Id, KeyScope};

/// [`Caller::key`] of the installation's operator.
const OPERATOR: &str = "operator";

/// An authenticated caller.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Caller {
    /// The account.
    pub account: Id,
    /// Id of the API key, token or user.
    pub key: Id,
    /// Name of the API key or user, for the activity log.
    pub name: Arc<str>,
    /// The part of the account that the caller may access. The surface checks the path against it before it calls a use
    /// case.
    pub scope: Scope,
    /// Settings of the account.
    pub settings: AccountSettings,
    /// Scopes of the API key; it allows everything when none. The surface checks the route against them.
    pub key_scopes: Option<Arc<BTreeSet<KeyScope>>>,
    /// The signed-in user who calls; none for a key, a token and the operator.
    pub user: Option<Arc<CallingUser>>,
}

/// The signed-in user who calls. [`Caller::key`] is the user's id.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CallingUser {
    /// The user's role.
    pub role: Role,
    /// The session.
    pub session: Id,
}

/// The part of an account that a caller may access.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Scope {
    /// The whole account.
    Account,
    /// One application, within the token's capabilities.
    Application(Arc<AppToken>),
}

impl Caller {
    /// The installation's operator, acting for an account.
    pub fn operator(account: &Account) -> Self {
        Self {
            account: account.id.clone(),
            key: OPERATOR.into(),
            name: "Operator".into(),
            scope: Scope::Account,
            settings: account.settings,
            key_scopes: None,
            user: None,
        }
    }

    /// Whether this is the installation's operator.
    pub(crate) fn is_operator(&self) -> bool {
        *self.key == *OPERATOR
    }

    /// The caller's role. API keys and the operator may do everything in the account.
    pub fn role(&self) -> Role {
        self.user.as_ref().map_or(Role::Admin, |user| user.role)
    }

    /// 403 unless the caller has access to the whole account and at least this role. The refusal names the role.
    pub fn require_role(&self, role: Role) -> ProviderResult<()> {
        match self.scope {
            Scope::Account if self.role() >= role => Ok(()),
            Scope::Account => Err(role.needed()),
            Scope::Application(_) => Err(ProviderError::Forbidden("the token of an application can't do this")),
        }
    }

    /// The signed-in user. 403 for a key, a token and the operator.
    pub(crate) fn require_user(&self) -> ProviderResult<&CallingUser> {
        self.user.as_deref().ok_or(ProviderError::Forbidden("only a user who signed in can do this"))
    }

    /// Whether the caller has this scope. Callers without a list of scopes have every scope.
    pub fn has_key_scope(&self, scope: KeyScope) -> bool {
        self.key_scopes.as_ref().is_none_or(|scopes| scopes.contains(&scope))
    }

    /// Whether the caller has `capability` in the applications that it may access.
    pub fn has(&self, capability: Capability) -> bool {
        match &self.scope {
            Scope::Account => true,
            Scope::Application(token) => token.has(capability),
        }
    }

    /// Whether the caller may see an event type. If the event type has feature flags, a token needs one of them.
    pub(crate) fn can_see(&self, event_type: &EventType) -> bool {
        match &self.scope {
            Scope::Application(token) if !event_type.feature_flags.is_empty() => {
                token.feature_flags.iter().any(|flag| event_type.feature_flags.contains(flag))
            }
            _ => true,
        }
    }
}

impl Role {
    /// The error for a caller without this role.
    pub fn needed(self) -> ProviderError {
        ProviderError::Forbidden(match self {
            Self::Viewer => "this needs the role Viewer; ask an Admin of the account",
            Self::Support => "this needs the role Support; ask an Admin of the account for it",
            Self::Member => "this needs the role Member; ask an Admin of the account for it",
            Self::Admin => "this needs the role Admin; ask an Admin of the account to do it, or for the role",
        })
    }
}
