//! Failures in the run of a worker that takes one step of each subject in turn: a failed subject delays no other.

use uuid::Uuid;

use crate::error::{PlatformError, PlatformResult};

/// The subjects that failed in a worker's run, and the first error.
#[derive(Debug, Default)]
pub(crate) struct FailedSubjects {
    which: Vec<Uuid>,
    why: Option<PlatformError>,
}

impl FailedSubjects {
    /// True when the subject failed in this run.
    pub(crate) fn contains(&self, which: Uuid) -> bool {
        self.which.contains(&which)
    }

    /// The step's outcome; none when it failed, and the subject is recorded as failed.
    pub(crate) fn record<T>(&mut self, which: Uuid, step: PlatformResult<T>) -> Option<T> {
        match step {
            Ok(taken) => Some(taken),
            Err(error) => {
                self.which.push(which);
                self.why.get_or_insert(error);
                None
            }
        }
    }

    /// The number of steps done, or the first error.
    pub(crate) fn into_result(self, done: usize) -> PlatformResult<usize> {
        self.why.map_or(Ok(done), Err)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn failed_subjects_are_recorded_and_the_first_error_is_returned() {
        let one = Uuid::from_u128(1);
        let other = Uuid::from_u128(2);
        let mut failed = FailedSubjects::default();
        assert_eq!(failed.record(one, Ok(7)), Some(7));
        assert!(!failed.contains(one));
        assert_eq!(failed.record::<()>(one, Err(PlatformError::NotFound("lot"))), None);
        assert_eq!(failed.record::<()>(other, Err(PlatformError::NotFound("user"))), None);
        assert!(failed.contains(one) && failed.contains(other) && !failed.contains(Uuid::nil()));
        assert!(matches!(failed.into_result(3), Err(PlatformError::NotFound("lot"))));
        assert!(matches!(FailedSubjects::default().into_result(3), Ok(3)));
    }
}
