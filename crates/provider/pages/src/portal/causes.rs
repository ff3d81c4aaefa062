//! Why an attempt failed, in the words that every page, mail and list uses: see [`Cause`].

use provider_core::model::Attempt;
use provider_core::{Cause, note_on};

/// The cause of a failed attempt and the next step.
pub(crate) fn of_attempt(attempt: &Attempt) -> (String, String) {
    words(&Cause::of(attempt), &note_on(&attempt.response, attempt.failure_detail.as_ref()))
}

/// A cause and the next step with a note on the response, in words; the step is empty when none is known.
pub(crate) fn words(cause: &Cause, note: &str) -> (String, String) {
    let step: Vec<&str> = [cause.remedy(), note].into_iter().filter(|sentence| !sentence.is_empty()).collect();
    (cause.sentence(), step.join(" "))
}
