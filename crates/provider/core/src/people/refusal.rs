//! Errors of sign-ins and of changes of people. The texts reveal nothing to callers who are not signed in.

use std::time::Duration;

use crate::error::{ProviderError, Quota};

/// The error does not reveal whether the address or the password is wrong.
pub(super) fn sign_in_refused() -> ProviderError {
    bad_request("sign_in_refused", "the e-mail address or the password is wrong")
}

/// The password is correct, but the code is not.
pub(super) fn code_refused() -> ProviderError {
    let detail =
        "the code is wrong, or it was used before; wait for the next one, and check the clock of the authenticator";
    bad_request("code_refused", detail)
}

/// A signed-in person entered a wrong password.
pub(super) fn password_refused() -> ProviderError {
    bad_request("password_refused", "the password is wrong")
}

/// The link of an invitation is unknown, used, withdrawn or expired.
pub(super) fn invitation_refused() -> ProviderError {
    let detail = "this link has expired, was withdrawn or was used before; ask for a new one";
    bad_request("invitation_refused", detail)
}

/// The change would leave no Admin.
pub(super) fn last_admin() -> ProviderError {
    let detail = "this is the last Admin of the account; give another person the role Admin first".to_owned();
    ProviderError::Conflict { code: "last_admin", detail }
}

/// A confirmed second factor can't be replaced before it is turned off.
pub(super) fn second_factor_on() -> ProviderError {
    bad_request("second_factor_on", "the second factor is on already; turn it off first, with a code")
}

/// There is no second factor to confirm or to turn off.
pub(super) fn second_factor_off() -> ProviderError {
    bad_request("second_factor_off", "no second factor was set up; set one up first")
}

/// The person was changed by another call at the same time.
pub(super) fn changed_meanwhile() -> ProviderError {
    let detail = "this person was changed at the same time; look at the page again and repeat the change".to_owned();
    ProviderError::Conflict { code: "changed_meanwhile", detail }
}

/// Too many attempts, or too many sign-ins at the same time.
pub(super) fn too_many_attempts(retry_after: Duration, attempts_max: u32, window: Duration) -> ProviderError {
    let window_s = u32::try_from(window.as_secs()).unwrap_or(u32::MAX);
    let quota = Quota { name: "address", requests: attempts_max, window_s };
    ProviderError::TooManyRequests { detail: "there were too many sign-in attempts", retry_after, quota }
}

fn bad_request(code: &'static str, detail: &str) -> ProviderError {
    ProviderError::BadRequest { code, detail: detail.to_owned() }
}
