//! Errors of changes of users that only the provider has. `kit_identity::Refusal` has those of every sign-in.

use crate::error::ProviderError;

/// The change would leave no Admin.
pub(super) fn last_admin() -> ProviderError {
    let detail = "this is the last Admin of the account; give another user the role Admin first".to_owned();
    ProviderError::Conflict { code: "last_admin", detail }
}

/// The user was changed by another call at the same time.
pub(super) fn changed_meanwhile() -> ProviderError {
    let detail = "this user was changed at the same time; look at the page again and repeat the change".to_owned();
    ProviderError::Conflict { code: "changed_meanwhile", detail }
}
