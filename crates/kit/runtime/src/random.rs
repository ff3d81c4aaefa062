//! Randomness as a parameter.
//!
//! [`SystemRandom`] is seeded by the operating system and fit for keys. [`SeededRandom`] gives the same numbers for the
//! same seed, so that a test or a simulated failure can be replayed.

use std::sync::{Arc, Mutex, PoisonError};

use rand::rngs::StdRng;
use rand::{Rng, SeedableRng};

/// A source of randomness, shared.
pub type SharedRandom = Arc<dyn Random>;

/// A source of random bytes.
pub trait Random: Send + Sync + 'static {
    /// Fills `bytes` with random bytes.
    fn fill(&self, bytes: &mut [u8]);

    /// 64 random bits.
    fn u64(&self) -> u64 {
        let mut bytes = [0; 8];
        self.fill(&mut bytes);
        u64::from_le_bytes(bytes)
    }

    /// A uniformly distributed number from 0 (included) to 1 (excluded).
    fn unit_f64(&self) -> f64 {
        // An f64 represents 53 bits exactly.
        (self.u64() >> 11) as f64 / (1_u64 << 53) as f64
    }
}

/// ChaCha, one generator per thread, seeded (and reseeded) by the operating system. Fit for keys and tokens.
#[derive(Debug, Clone, Copy, Default)]
pub struct SystemRandom;

impl Random for SystemRandom {
    fn fill(&self, bytes: &mut [u8]) {
        rand::rng().fill_bytes(bytes);
    }
}

/// The same numbers for the same seed. For tests and simulation only.
#[derive(Debug)]
pub struct SeededRandom(Mutex<StdRng>);

impl SeededRandom {
    /// The sequence of `seed`.
    pub fn new(seed: u64) -> Self {
        Self(Mutex::new(StdRng::seed_from_u64(seed)))
    }
}

impl Random for SeededRandom {
    fn fill(&self, bytes: &mut [u8]) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).fill_bytes(bytes);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_seed_gives_one_sequence() {
        let draw = |seed| {
            let random = SeededRandom::new(seed);
            [random.u64(), random.u64(), random.u64()]
        };
        assert_eq!(draw(7), draw(7));
        assert_ne!(draw(7), draw(8));
    }

    #[test]
    fn fractions_are_spread_evenly_from_zero_to_one() {
        let random = SeededRandom::new(1);
        let mut tenths = [0; 10];
        for _ in 0..10_000 {
            let drawn = random.unit_f64();
            assert!((0.0..1.0).contains(&drawn));
            tenths[(drawn * 10.0) as usize] += 1;
        }
        assert!(tenths.iter().all(|count| (850..1_150).contains(count)), "{tenths:?}");
    }
}
