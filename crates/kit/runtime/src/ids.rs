//! Ids (UUIDv7) and tokens (base62), made from a clock and a source of randomness.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use uuid::Uuid;

use crate::clock::{SharedClock, to_ms};
use crate::random::{Random, SharedRandom};

const BASE62: &[u8; 62] = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
/// Bits after the milliseconds that count the ids made within one millisecond.
const COUNTER_BITS: u32 = 12;

/// Makes ids. Clones share the counter, so the ids of all clones are ordered.
#[derive(Clone)]
pub struct Ids {
    clock: SharedClock,
    random: SharedRandom,
    /// Milliseconds and counter of the last id.
    last: Arc<AtomicU64>,
}

impl Ids {
    /// Makes ids from this clock and this source of randomness.
    pub fn new(clock: SharedClock, random: SharedRandom) -> Self {
        Self { clock, random, last: Arc::new(AtomicU64::new(0)) }
    }

    /// A UUID of version 7. It is greater than every earlier one of this `Ids` and its clones, even if the clock was
    /// set back. After about 3,000 ids within one millisecond, further ids carry the next millisecond.
    pub fn uuid_v7(&self) -> Uuid {
        let drawn = self.random.u64().to_be_bytes();
        let ms = u64::try_from(to_ms(self.clock.now())).unwrap_or(0);
        // The counter of a new millisecond starts at a random 10-bit number: hard to guess, and with room to count.
        let start = u64::from(u16::from_be_bytes([drawn[0] ^ drawn[2], drawn[1] ^ drawn[3]]) & 0x3ff);
        let fresh = (ms << COUNTER_BITS) | start;
        let next = |last: u64| fresh.max(last + 1);
        let previous = self.last.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |last| Some(next(last)));
        let made = next(previous.unwrap_or_else(|last| last));

        let counter = (made & ((1 << COUNTER_BITS) - 1)) as u16;
        let mut tail = [0; 10];
        tail[..2].copy_from_slice(&counter.to_be_bytes());
        tail[2..].copy_from_slice(&drawn);
        uuid::Builder::from_unix_timestamp_millis(made >> COUNTER_BITS, &tail).into_uuid()
    }

    /// A base62 token with the entropy of `bytes` random bytes (16 bytes give 22 characters, 32 give 43).
    pub fn token(&self, bytes: usize) -> String {
        token(self.random.as_ref(), bytes)
    }
}

/// A base62 token with the entropy of `bytes` random bytes.
pub fn token(random: &dyn Random, bytes: usize) -> String {
    let length = ((bytes * 8) as f64 / 62_f64.log2()).ceil() as usize;
    let mut word = String::with_capacity(length);
    let mut drawn = [0; 32];
    while word.len() < length {
        random.fill(&mut drawn);
        // 248 is the largest multiple of 62 in a byte: larger bytes would make some characters more frequent.
        let even = drawn.iter().filter(|byte| **byte < 248);
        let missing = length - word.len();
        word.extend(even.take(missing).map(|byte| char::from(BASE62[usize::from(byte % 62)])));
    }
    word
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;
    use std::time::Duration;

    use super::*;
    use crate::clock::{Clock, TestClock, from_ms};
    use crate::random::SeededRandom;

    fn ids(clock: &TestClock) -> Ids {
        Ids::new(Arc::new(clock.clone()), Arc::new(SeededRandom::new(1)))
    }

    #[test]
    fn an_id_is_a_version_7_uuid_of_the_clocks_time() {
        let clock = TestClock::default();
        let id = ids(&clock).uuid_v7();
        assert_eq!((id.get_version_num(), id.get_variant()), (7, uuid::Variant::RFC4122));
        let (seconds, nanoseconds) = id.get_timestamp().unwrap().to_unix();
        assert_eq!((seconds * 1_000 + u64::from(nanoseconds) / 1_000_000) as i64, to_ms(clock.now()));
    }

    #[test]
    fn ids_increase_within_a_millisecond_and_when_the_clock_is_set_back() {
        let clock = TestClock::default();
        let ids = ids(&clock);
        let mut made: Vec<Uuid> = (0..10_000).map(|_| ids.uuid_v7()).collect();
        clock.set(from_ms(to_ms(clock.now()) - 60_000));
        made.push(ids.uuid_v7());
        clock.advance(Duration::from_secs(120));
        made.push(ids.clone().uuid_v7());
        assert!(made.is_sorted_by(|one, other| one < other));
    }

    #[test]
    fn a_token_is_base62_with_the_requested_entropy() {
        let ids = ids(&TestClock::default());
        for (bytes, length) in [(1, 2), (16, 22), (24, 33), (32, 43)] {
            assert_eq!(ids.token(bytes).len(), length);
        }
        let tokens: HashSet<String> = (0..1_000).map(|_| ids.token(16)).collect();
        assert_eq!(tokens.len(), 1_000);
        let used: HashSet<u8> = tokens.iter().flat_map(|token| token.bytes()).collect();
        assert_eq!(used, BASE62.iter().copied().collect());
    }
}
