//! Why an attempt failed, in the words that every page, mail and list uses: see [`Cause`].

use provider_core::model::Attempt;
use provider_core::{Cause, note_on};

/// The cause of a failed attempt and the next step.
pub(crate) fn of_attempt(attempt: &Attempt) -> (String, String) {
    words(&Cause::of(attempt), &attempt.response)
}

/// A cause and the next step, in words; the step is empty when none is known.
pub(crate) fn words(cause: &Cause, response: &str) -> (String, String) {
    let step: Vec<&str> = [cause.remedy(), note_on(response).unwrap_or_default()]
        .into_iter()
        .filter(|sentence| !sentence.is_empty())
        .collect();
    (cause.sentence(), step.join(" "))
}
