//! Ids: a prefix and a KSUID of the millisecond variant in base62.
//!
//! The 20 bytes are: 4 for seconds since 2014-05-13, 1 for 4-millisecond steps, 3 for a counter, 12 random. The ids of
//! one process ascend, also when the clock is set back, so rows ordered by id are ordered by time.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use jiff::{SignedDuration, Timestamp};
use kit_runtime::clock::{SharedClock, from_ms, to_ms};
use kit_runtime::random::SharedRandom;

use crate::model::Id;
use crate::uid::all_bytes;

/// Prefix of an account's id.
pub const ACCOUNT: &str = "org_";
/// Prefix of an API key's id.
pub const API_KEY: &str = "key_";
/// Prefix of an application token's id.
pub const APP_TOKEN: &str = "apptk_";
/// Prefix of an application's id.
pub const APPLICATION: &str = "app_";
/// Prefix of an endpoint's id.
pub const ENDPOINT: &str = "ep_";
/// Prefix of a message's id.
pub const MESSAGE: &str = "msg_";
/// Prefix of an attempt's id.
pub const ATTEMPT: &str = "atmpt_";
/// Prefix of a background task's id.
pub const TASK: &str = "qtask_";
/// Prefix of a user's id.
pub const USER: &str = "usr_";
/// Prefix of the id of a user's session.
pub const USER_SESSION: &str = "ses_";
/// Prefix of an invitation's id.
pub const INVITATION: &str = "inv_";
/// Prefix of the id of an entry of the activity log.
pub const ACTIVITY: &str = "act_";
/// Prefix of a node's id.
pub const NODE: &str = "node_";

/// Resolution of the time in an id. Ids of times that differ by less may have any order.
pub const RESOLUTION: SignedDuration = SignedDuration::from_millis(4);

const EPOCH_SECONDS: i64 = 1_400_000_000;
const BYTES: usize = 20;
const CHARS: usize = 27;
/// Length of the longest prefix.
const PREFIX_CHARS_MAX: usize = ATTEMPT.len();
const COUNTER_BITS: u32 = 24;
/// Number of base62 digits that one division yields: their value fits in 32 bits.
const CHUNK_CHARS: usize = 5;
const CHUNK: u64 = 62_u64.pow(CHUNK_CHARS as u32);
const BASE62: &[u8; 62] = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";

/// Makes ids. Clones share the counter.
#[derive(Clone)]
pub struct Ids {
    clock: SharedClock,
    random: SharedRandom,
    /// Time (upper 40 bits) and counter (lower 24 bits) of the latest id.
    last: Arc<AtomicU64>,
}

impl Ids {
    /// Makes ids with the time of `clock`.
    pub fn new(clock: SharedClock, random: SharedRandom) -> Self {
        Self { clock, random, last: Arc::default() }
    }

    /// A new id with this prefix.
    pub fn make(&self, prefix: &'static str) -> Id {
        let time = time_of(to_ms(self.clock.now()));
        let mut bytes = [0; BYTES];
        self.random.fill(&mut bytes[6..]);
        // The counter of each 4 ms starts at a random number in the lower quarter, so that it does not overflow.
        let start = u64::from(u16::from_be_bytes([bytes[6], bytes[7]])) << 6;
        let first = (time << COUNTER_BITS) | start;
        let next = |last: u64| first.max(last + 1);
        let previous = self.last.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |last| Some(next(last)));
        let time_and_counter = next(previous.unwrap_or_else(|last| last));
        bytes[..8].copy_from_slice(&time_and_counter.to_be_bytes());
        text(prefix, &bytes, |text| Id::from(text))
    }
}

/// The id with this prefix that stands for a UUID of version 7: always the same. Its time is that of the UUID, to the second.
pub(crate) fn of_uuid(prefix: &'static str, uuid: [u8; 16]) -> Id {
    let ms = uuid.iter().take(6).fold(0_i64, |ms, byte| (ms << 8) | i64::from(*byte));
    let mut bytes = [0; BYTES];
    bytes[..4].copy_from_slice(&time_of(ms).to_be_bytes()[3..7]);
    bytes[4..].copy_from_slice(&uuid);
    text(prefix, &bytes, |text| Id::from(text))
}

/// The smallest id with this prefix and time (to 4 milliseconds). Ids of earlier times are smaller.
pub fn lowest_id_at(prefix: &str, at: Timestamp) -> String {
    let mut bytes = [0; BYTES];
    bytes[..5].copy_from_slice(&time_of(to_ms(at)).to_be_bytes()[3..]);
    text(prefix, &bytes, str::to_owned)
}

/// The time of an id with this prefix, to 4 milliseconds. None when the text is not such an id.
pub fn timestamp_of(text: &str, prefix: &str) -> Option<Timestamp> {
    if !is_id(text, prefix) {
        return None;
    }
    let mut bytes = [0_u8; BYTES];
    for char in text[prefix.len()..].bytes() {
        let mut carry = BASE62.iter().position(|digit| *digit == char)?;
        for byte in bytes.iter_mut().rev() {
            carry += usize::from(*byte) * 62;
            *byte = (carry & 0xff) as u8;
            carry >>= 8;
        }
        // The text is greater than the largest id.
        if carry > 0 {
            return None;
        }
    }
    let seconds = i64::from(u32::from_be_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]));
    // A second has 250 steps. No KSUID generator writes a higher number; such an id counts as the last step.
    Some(from_ms((seconds + EPOCH_SECONDS) * 1_000 + i64::from(bytes[4].min(249)) * 4))
}

/// The time in 40 bits: seconds, and steps of 4 milliseconds. Times out of range are clamped.
fn time_of(ms: i64) -> u64 {
    let seconds = (ms.div_euclid(1_000) - EPOCH_SECONDS).clamp(0, i64::from(u32::MAX)) as u64;
    (seconds << 8) | (ms.rem_euclid(1_000) as u64 >> 2)
}

/// Whether `text` has the form of an id with this prefix.
pub fn is_id(text: &str, prefix: &str) -> bool {
    text.strip_prefix(prefix)
        .is_some_and(|ksuid| ksuid.len() == CHARS && all_bytes(ksuid, |byte| byte.is_ascii_alphanumeric()))
}

/// Builds the text of an id on the stack, so that `keep` allocates it once.
fn text<T>(prefix: &str, bytes: &[u8; BYTES], keep: impl FnOnce(&str) -> T) -> T {
    let mut text = [0; PREFIX_CHARS_MAX + CHARS];
    let (before, rest) = text.split_at_mut(prefix.len());
    before.copy_from_slice(prefix.as_bytes());
    rest[..CHARS].copy_from_slice(&base62(bytes));
    // The text is ASCII.
    keep(std::str::from_utf8(&text[..prefix.len() + CHARS]).unwrap_or_default())
}

/// Converts bytes to base62 by long division, five digits at a time. Each delivery makes two ids, and a library for big
/// numbers takes ten times as long.
fn base62(bytes: &[u8; BYTES]) -> [u8; CHARS] {
    let mut limbs = [0_u32; BYTES / 4];
    for (limb, four) in limbs.iter_mut().zip(bytes.as_chunks::<4>().0) {
        *limb = u32::from_be_bytes(*four);
    }
    let mut digits = [b'0'; CHARS];
    let mut first = 0;
    for chunk in digits.rchunks_mut(CHUNK_CHARS) {
        let mut remainder = 0_u64;
        for limb in &mut limbs[first..] {
            let value = (remainder << 32) | u64::from(*limb);
            *limb = (value / CHUNK) as u32;
            remainder = value % CHUNK;
        }
        // Leading limbs that are zero stay zero.
        first += limbs[first..].iter().take_while(|limb| **limb == 0).count();
        let mut rest = remainder as u32;
        for digit in chunk.iter_mut().rev() {
            *digit = BASE62[(rest % 62) as usize];
            rest /= 62;
        }
    }
    digits
}

#[cfg(test)]
mod tests {
    use std::str::FromStr;

    use kit_runtime::clock::{SystemClock, TestClock};
    use kit_runtime::random::SeededRandom;
    use svix_ksuid::{KsuidLike, KsuidMs};

    use super::*;

    #[test]
    fn ids_match_those_of_the_official_library() {
        let at = from_ms(1_795_242_483_123);
        let ids = Ids::new(Arc::new(TestClock::new(at)), Arc::new(SeededRandom::new(1)));
        for _ in 0..1_000 {
            let id = ids.make(MESSAGE);
            assert!(is_id(&id, MESSAGE));
            let ksuid = KsuidMs::from_str(id.strip_prefix(MESSAGE).unwrap()).unwrap();
            assert_eq!(ksuid.timestamp_millis(), 1_795_242_483_120);
            assert_eq!(ksuid.to_string(), id[MESSAGE.len()..]);
        }
        assert_eq!(base62(&[0; BYTES]), [b'0'; CHARS]);
        // Numbers with leading zero bytes, and the largest number.
        for zeros in 0..BYTES {
            let mut bytes = [0xff; BYTES];
            bytes[..zeros].fill(0);
            assert_eq!(text("", &bytes, str::to_owned), KsuidMs::from_bytes(bytes).to_string());
        }
    }

    #[test]
    fn an_id_contains_its_time_and_is_at_least_the_lowest_id_of_that_time() {
        for ms in [1_795_242_483_123, 1_400_000_000_000, 1_795_242_483_999] {
            let at = from_ms(ms);
            let ids = Ids::new(Arc::new(TestClock::new(at)), Arc::new(SeededRandom::new(1)));
            let id = ids.make(MESSAGE);
            assert_eq!(timestamp_of(&id, MESSAGE), Some(from_ms(ms - ms % 4)));
            assert!(*lowest_id_at(MESSAGE, at) <= *id && *id < *lowest_id_at(MESSAGE, from_ms(ms + 4)));
        }
        assert_eq!(lowest_id_at(MESSAGE, from_ms(0)), format!("msg_{}", "0".repeat(27)));
        assert_eq!(timestamp_of("msg_zzzzzzzzzzzzzzzzzzzzzzzzzzz", MESSAGE), None, "beyond the largest");
        assert_eq!(timestamp_of("app_1srOrx2ZWZBpBUvZwXKQmoEYga2", MESSAGE), None);
    }

    #[test]
    fn the_id_of_a_uuid_is_always_the_same_and_contains_its_time() {
        // 2026-11-21T06:28:03.123Z
        let mut uuid = [0x01, 0xa1, 0xfc, 0x9d, 0x6a, 0x13, 0x70, 1, 0x80, 2, 3, 4, 5, 6, 7, 8];
        let id = of_uuid(ACCOUNT, uuid);
        assert!(is_id(&id, ACCOUNT), "{id}");
        assert_eq!(of_uuid(ACCOUNT, uuid), id);
        let ms = i64::from_be_bytes([0, 0, 0x01, 0xa1, 0xfc, 0x9d, 0x6a, 0x13]);
        assert_eq!(timestamp_of(&id, ACCOUNT).map(|at| at.as_second()), Some(ms / 1_000));
        uuid[15] = 9;
        assert_ne!(of_uuid(ACCOUNT, uuid), id);
    }

    #[test]
    fn ids_ascend() {
        let ids = Ids::new(Arc::new(SystemClock), Arc::new(SeededRandom::new(1)));
        let made: Vec<Id> = (0..10_000).map(|_| ids.make(ENDPOINT)).collect();
        assert!(made.windows(2).all(|pair| pair[0] < pair[1]));
    }
}
