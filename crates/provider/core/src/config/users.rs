//! Settings of users and their links.

use std::time::Duration;

/// Limits of users and their links.
#[derive(Debug, Clone)]
pub struct UserConfig {
    /// How long an invitation is valid. 7 days.
    pub invitation_ttl: Duration,
    /// How long a sign-in code of the operator and a link for a new password are valid. 24 h.
    pub sign_in_code_ttl: Duration,
    /// Users of one account, including open invitations. 1,000.
    pub users_max: usize,
}

impl Default for UserConfig {
    fn default() -> Self {
        Self {
            invitation_ttl: Duration::from_secs(7 * 24 * 3_600),
            sign_in_code_ttl: Duration::from_secs(24 * 3_600),
            users_max: 1_000,
        }
    }
}
