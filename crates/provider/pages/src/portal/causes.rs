//! Why an attempt failed, in the words that every page, mail and list uses: see [`Cause`].

use provider_core::model::Attempt;
use provider_core::{Cause, note_on};

/// The cause of a failed attempt and the next step.
pub(crate) fn of_attempt(attempt: &Attempt) -> (String, String) {
    let header = attempt.response_header.as_deref();
    cause(attempt.response_status_code, &attempt.response, header, &attempt.url)
}

/// The cause of a failed attempt and the next step; the step is empty when none is known.
pub(crate) fn cause(code: u16, response: &str, header: Option<&str>, url: &str) -> (String, String) {
    let cause = Cause::from_parts(code, response, header, url);
    let step: Vec<&str> = [cause.remedy(), note_on(response).unwrap_or_default()]
        .into_iter()
        .filter(|sentence| !sentence.is_empty())
        .collect();
    (cause.say(), step.join(" "))
}
