//! The caller of a use case, and what it may access.

use std::sync::Arc;

use crate::model::{Account, AccountSettings, AppToken, Capability, EventType, Id};

/// An authenticated caller.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Caller {
    /// The account.
    pub account: Id,
    /// Id of the API key or token.
    pub key: Id,
    /// What the caller may access. The surface checks the path against it before it calls a use case.
    pub scope: Scope,
    /// Settings of the account.
    pub settings: AccountSettings,
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
        Self { account: account.id.clone(), key: "operator".into(), scope: Scope::Account, settings: account.settings }
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
