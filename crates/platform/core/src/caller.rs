//! The caller of a use case: the identity that use cases check and that journal and audit log name.

pub mod scope;

use uuid::Uuid;

use crate::caller::scope::{Role, Scope, Scopes};
use crate::error::{PlatformError, PlatformResult};

/// The actor of the command line.
const COMMAND_LINE: &str = "command-line";

/// The caller of a use case.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Caller {
    /// What the journal names: `key:<uuid>`, `user:<uuid>`, `command-line`, `timer` or `test clock`.
    pub actor: String,
    /// The API key or user; idempotency keys belong to it. Nil for the command line.
    pub id: Uuid,
    /// The session of a person; none for keys and the command line.
    pub session: Option<Uuid>,
    /// The role of a person; none for keys and the command line.
    pub role: Option<Role>,
    /// The customer that it is confined to; none for the platform's own staff. It gets `not_found` for records of
    /// others.
    pub customer: Option<Uuid>,
    /// What it may do.
    pub scopes: Scopes,
}

impl Caller {
    /// The operator on the command line, with every scope.
    pub fn command_line() -> Self {
        Self {
            actor: COMMAND_LINE.into(),
            id: Uuid::nil(),
            session: None,
            role: None,
            customer: None,
            scopes: Scopes::all(),
        }
    }

    /// `Forbidden` unless it has the scope.
    pub fn require(&self, scope: Scope) -> PlatformResult<()> {
        self.require_one_of(&[scope])
    }

    /// `Forbidden` unless it has one of the scopes. A caller who may change a record may also read it, because the
    /// response to a change contains the record.
    pub fn require_one_of(&self, scopes: &[Scope]) -> PlatformResult<()> {
        if scopes.iter().any(|scope| self.scopes.contains(*scope)) {
            return Ok(());
        }
        let names: Vec<&str> = scopes.iter().map(|scope| scope.name()).collect();
        let who = if self.session.is_some() { "your role" } else { "the key" };
        Err(PlatformError::Forbidden(format!("{who} has no scope {}", names.join(" or "))))
    }

    /// `Forbidden` for callers that are confined to a customer.
    pub fn require_staff(&self) -> PlatformResult<()> {
        if self.customer.is_none() {
            return Ok(());
        }
        Err(PlatformError::Forbidden(
            "this call is for the platform's own staff, and the key is confined to a customer".into(),
        ))
    }

    /// `Forbidden` unless it is a user with the role administrator, or the operator on the command line.
    pub fn require_administrator(&self) -> PlatformResult<()> {
        if self.role == Some(Role::Administrator) || self.actor == COMMAND_LINE {
            return Ok(());
        }
        Err(PlatformError::Forbidden("this call is for administrators".into()))
    }

    /// True when records of this customer exist for the caller.
    pub fn can_see(&self, customer: Uuid) -> bool {
        self.customer.is_none_or(|own| own == customer)
    }
}

/// The record, when the caller sees it; otherwise `NotFound`, as if there were none.
pub(crate) fn visible<T>(
    caller: &Caller,
    found: Option<T>,
    what: &'static str,
    customer_of: impl Fn(&T) -> Uuid,
) -> PlatformResult<T> {
    found.filter(|record| caller.can_see(customer_of(record))).ok_or(PlatformError::NotFound(what))
}
