//! Workers that take a step of each of many things in turn: one that can't go on holds no other up.

use uuid::Uuid;

use crate::error::{PlatformError, PlatformResult};

/// What could not go on in a worker's run, and why the first of it.
#[derive(Debug, Default)]
pub(crate) struct Stuck {
    which: Vec<Uuid>,
    why: Option<PlatformError>,
}

impl Stuck {
    /// If it is left alone for the rest of the run.
    pub(crate) fn holds(&self, which: Uuid) -> bool {
        self.which.contains(&which)
    }

    /// The step's outcome; none, and it is left alone from now on, when it failed.
    pub(crate) fn unless_failed<T>(&mut self, which: Uuid, step: PlatformResult<T>) -> Option<T> {
        match step {
            Ok(taken) => Some(taken),
            Err(error) => {
                self.which.push(which);
                self.why.get_or_insert(error);
                None
            }
        }
    }

    /// What the run has done, when nothing is stuck.
    pub(crate) fn or(self, done: usize) -> PlatformResult<usize> {
        self.why.map_or(Ok(done), Err)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_that_failed_is_left_alone_and_the_first_reason_is_told() {
        let (one, other) = (Uuid::from_u128(1), Uuid::from_u128(2));
        let mut stuck = Stuck::default();
        assert_eq!(stuck.unless_failed(one, Ok(7)), Some(7));
        assert!(!stuck.holds(one));
        assert_eq!(stuck.unless_failed::<()>(one, Err(PlatformError::NotFound("lot"))), None);
        assert_eq!(stuck.unless_failed::<()>(other, Err(PlatformError::NotFound("user"))), None);
        assert!(stuck.holds(one) && stuck.holds(other) && !stuck.holds(Uuid::nil()));
        assert!(matches!(stuck.or(3), Err(PlatformError::NotFound("lot"))));
        assert!(matches!(Stuck::default().or(3), Ok(3)));
    }
}
