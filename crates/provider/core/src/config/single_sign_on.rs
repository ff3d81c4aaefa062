//! Single sign-on of the dashboard's users.

use kit_openid::SingleSignOn;

use crate::model::{Id, Role};

/// The issuer of the dashboard's users, and whom it may sign in.
#[derive(Debug, Clone)]
pub struct DashboardSignOn {
    /// The client of the issuer, the roles of groups, and whether users are created. Roles and new users need `account`.
    pub rules: SingleSignOn<Role>,
    /// The account whose users sign in with it; none for users of every account.
    pub account: Option<Id>,
}
