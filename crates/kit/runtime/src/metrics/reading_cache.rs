//! The last figures that were read from a store for a scrape.

use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Figures are read at most once in this time, however often they are scraped.
const MAX_AGE: Duration = Duration::from_secs(5);

/// Keeps figures for five seconds.
#[derive(Debug)]
pub struct ReadingCache<T>(Mutex<Option<(Instant, T)>>);

impl<T> Default for ReadingCache<T> {
    fn default() -> Self {
        Self(Mutex::new(None))
    }
}

impl<T: Clone> ReadingCache<T> {
    /// The figures, unless they are too old at `now`.
    pub fn get(&self, now: Instant) -> Option<T> {
        let kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let (read_at, figures) = kept.as_ref()?;
        (now.saturating_duration_since(*read_at) < MAX_AGE).then(|| figures.clone())
    }

    /// Keeps figures that were read at `now`.
    pub fn put(&self, figures: T, now: Instant) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some((now, figures));
    }
}
