//! Failures in the run of a worker that takes one step of each subject in turn: a failed subject delays no other.

use uuid::Uuid;

use crate::error::{PlatformError, PlatformResult};

/// What could not go on in a worker's run, and why the first of it.
#[derive(Debug, Default)]
pub(crate) struct FailedSubjects {
    which: Vec<Uuid>,
    why: Option<PlatformError>,
}

impl FailedSubjects {
    /// If it is left alone for the rest of the run.
    pub(crate) fn contains(&self, which: Uuid) -> bool {
        self.which.contains(&which)
    }

    /// The step's outcome; none, and it is left alone from now on, when it failed.
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

    /// What the run has done, when nothing is failed.
    pub(crate) fn into_result(self, done: usize) -> PlatformResult<usize> {
        self.why.map_or(Ok(done), Err)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_that_failed_is_left_alone_and_the_first_reason_is_told() {
        let (one, other) = (Uuid::from_u128(1), Uuid::from_u128(2));
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
