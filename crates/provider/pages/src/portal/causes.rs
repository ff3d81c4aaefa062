//! Why an attempt failed, in the words that every page, mail and list uses: see [`Cause`].

use provider_core::model::{Attempt, AttemptStatus};
use provider_core::{Cause, note_on};

/// The cause of a failed attempt and the next step.
pub(crate) fn of_attempt(attempt: &Attempt) -> (String, String) {
    words(&Cause::of(attempt), &note_on(&attempt.response, attempt.failure_detail.as_ref()))
}

/// Path of the page that finds out why a receiver refused a signature, if it answered the attempt with 400.
pub(crate) fn verify_path(base: &str, attempt: &Attempt) -> Option<String> {
    let is_refused = attempt.status == AttemptStatus::Fail && matches!(Cause::of(attempt), Cause::BadRequest { .. });
    is_refused.then(|| format!("{base}/endpoints/{}/verify#check", attempt.endpoint))
}

/// A cause and the next step with a note on the response, in words; the step is empty when none is known.
pub(crate) fn words(cause: &Cause, note: &str) -> (String, String) {
    let step: Vec<&str> = [cause.remedy(), note].into_iter().filter(|sentence| !sentence.is_empty()).collect();
    (cause.sentence(), step.join(" "))
}
