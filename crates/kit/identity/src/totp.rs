//! Codes of a second factor: RFC 6238 with SHA-1, six digits and 30 seconds, which every authenticator supports.

use data_encoding::BASE32_NOPAD;
use jiff::Timestamp;
use sha2::{Digest as _, Sha256};
use subtle::ConstantTimeEq as _;

use crate::Digest;

/// Bytes of a secret: the length of a SHA-1 hash (RFC 4226, section 4).
pub const SECRET_BYTES: usize = 20;
const STEP_S: i64 = 30;
const DIGITS: usize = 6;
/// Steps that an authenticator's clock may be ahead or behind.
const STEPS_OFF_MAX: i64 = 1;
const ISSUER: &str = "Lotwire";
/// Random bytes of a recovery code: enough that its hash can't be inverted by guessing.
pub const RECOVERY_BYTES: usize = 10;
/// Recovery codes that are made at once.
pub const RECOVERY_CODES: usize = 10;
const GROUP_CHARS: usize = 4;

/// The time step of this code, if it is one of the steps near `now`.
pub fn step_of(secret: &[u8], code: &str, now: Timestamp) -> Option<i64> {
    let current = now.as_second().div_euclid(STEP_S);
    let near = current - STEPS_OFF_MAX..=current + STEPS_OFF_MAX;
    near.into_iter().find(|step| bool::from(code_at(secret, *step).as_bytes().ct_eq(code.as_bytes())))
}

/// True for text in the form of a code; other text may be a recovery code.
pub fn is_like_a_code(text: &str) -> bool {
    text.len() == DIGITS && text.bytes().all(|byte| byte.is_ascii_digit())
}

pub(crate) fn code_at(secret: &[u8], step: i64) -> String {
    let key = ::ring::hmac::Key::new(::ring::hmac::HMAC_SHA1_FOR_LEGACY_USE_ONLY, secret);
    let tag = ::ring::hmac::sign(&key, &step.to_be_bytes());
    let tag = tag.as_ref();
    // RFC 4226, section 5.3: the last four bits say where the number is taken from.
    let offset = usize::from(tag.last().copied().unwrap_or_default() & 0x0f);
    let taken = tag.iter().skip(offset).take(4).fold(0_u32, |number, byte| number << 8 | u32::from(*byte));
    format!("{:0width$}", (taken & 0x7fff_ffff) % 1_000_000, width = DIGITS)
}

/// The secret in base32, which users type into an authenticator.
pub fn in_base32(secret: &[u8]) -> String {
    BASE32_NOPAD.encode(secret)
}

/// The URL in the QR code of an authenticator.
pub fn otpauth_url(email: &str, secret: &[u8]) -> String {
    let email: String = url::form_urlencoded::byte_serialize(email.as_bytes()).collect();
    let secret = in_base32(secret);
    format!("otpauth://totp/{ISSUER}:{email}?secret={secret}&issuer={ISSUER}&algorithm=SHA1&digits=6&period=30")
}

/// A recovery code, in groups that are easy to type.
pub fn recovery_code(random: &[u8; RECOVERY_BYTES]) -> String {
    let letters = BASE32_NOPAD.encode(random).to_lowercase();
    let groups: Vec<&str> =
        letters.as_bytes().chunks(GROUP_CHARS).filter_map(|group| str::from_utf8(group).ok()).collect();
    groups.join("-")
}

/// The stored hash of a recovery code. Case, spaces and dashes don't matter.
pub fn recovery_hash(code: &str) -> Digest {
    let plain: String = code.chars().filter(char::is_ascii_alphanumeric).collect();
    Sha256::new_with_prefix(b"recovery\0").chain_update(plain.to_ascii_lowercase()).finalize().into()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// RFC 6238, appendix B, of whose eight digits these are the last six.
    #[test]
    fn codes_are_those_of_the_rfc() {
        let secret = b"12345678901234567890";
        for (second, code) in [
            (59, "287082"),
            (1_111_111_109, "081804"),
            (1_111_111_111, "050471"),
            (1_234_567_890, "005924"),
            (2_000_000_000, "279037"),
            (20_000_000_000, "353130"),
        ] {
            let now = Timestamp::from_second(second).unwrap();
            assert_eq!(step_of(secret, code, now), Some(second / 30), "{second}");
            assert_eq!(step_of(b"another secret", code, now), None, "{second}");
        }
    }

    #[test]
    fn a_clock_may_be_half_a_minute_off_and_no_more() {
        let (secret, at) = (b"12345678901234567890", |second| Timestamp::from_second(second).unwrap());
        let code = code_at(secret, 40);
        for (second, found) in [(1_169, None), (1_170, Some(40)), (1_200, Some(40)), (1_259, Some(40)), (1_260, None)] {
            assert_eq!(step_of(secret, &code, at(second)), found, "{second}");
        }
        assert!(is_like_a_code("081804") && !is_like_a_code("81804") && !is_like_a_code("abcd-efgh"));
    }

    #[test]
    fn secrets_and_recovery_codes_have_readable_forms() {
        let url = otpauth_url("ann+sale@example.com", b"12345678901234567890");
        assert!(url.starts_with("otpauth://totp/Lotwire:ann%2Bsale%40example.com?secret=GEZDGNBV"), "{url}");
        let code = recovery_code(&[7; RECOVERY_BYTES]);
        assert_eq!(code, "a4dq-obyh-a4dq-obyh");
        assert_eq!(recovery_hash(&code), recovery_hash(" A4DQ OBYH A4DQOBYH"));
        assert_ne!(recovery_hash(&code), recovery_hash("a4dq-obyh-a4dq-obyi"));
    }
}
