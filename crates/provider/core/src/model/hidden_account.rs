//! The hidden account of an account, which owns the application of its operational webhooks ([`crate::operational`]).

use super::Id;

/// Uid of the hidden application.
pub(crate) const APPLICATION: &str = "operational";
/// Suffix of the id of a hidden account. Ids of other accounts contain no slash.
const HIDDEN: &str = "/operational";

/// The hidden account of an account, which owns its operational application.
pub fn hidden_account(account: &str) -> Id {
    format!("{account}{HIDDEN}").into()
}

pub(crate) fn is_hidden(account: &str) -> bool {
    account.ends_with(HIDDEN)
}

/// The account of a hidden account; another account is returned unchanged.
pub(crate) fn owner(account: &str) -> &str {
    account.strip_suffix(HIDDEN).unwrap_or(account)
}
