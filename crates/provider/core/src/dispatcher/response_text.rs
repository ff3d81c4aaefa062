//! The text of a response's body that an attempt stores.

use std::io::Read as _;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use flate2::read::GzDecoder;

use crate::model::cause::RESPONSE_BYTES_MAX;

/// The first bytes of gzip data (RFC 1952, section 2.3.1).
const GZIP: &[u8] = &[0x1f, 0x8b, 8];

/// The body as text, and true; or as base64 if it is not UTF-8 text, and false. gzip data is unpacked, up to
/// [`RESPONSE_BYTES_MAX`] bytes: some servers compress, although the request accepts no encoding.
pub(super) fn response_text(body: &[u8]) -> (String, bool) {
    let body = &body[..body.len().min(RESPONSE_BYTES_MAX)];
    let unpacked = body.starts_with(GZIP).then(|| unpack(body)).filter(|unpacked| !unpacked.is_empty());
    match unpacked.as_deref().and_then(text).or_else(|| text(body)) {
        Some(text) => (text.to_owned(), true),
        None => (STANDARD.encode(body), false),
    }
}

/// The beginning of the unpacked data, as far as it is not damaged.
fn unpack(body: &[u8]) -> Vec<u8> {
    let mut unpacked = Vec::new();
    // After an error, the bytes before it are kept.
    let _ = GzDecoder::new(body).take(RESPONSE_BYTES_MAX as u64).read_to_end(&mut unpacked);
    unpacked
}

/// UTF-8 text. A character that was cut at the end is dropped. A NUL is not text, because PostgreSQL can't store it.
fn text(body: &[u8]) -> Option<&str> {
    let valid = match std::str::from_utf8(body) {
        Ok(text) => Some(text),
        Err(error) if error.error_len().is_none() => std::str::from_utf8(&body[..error.valid_up_to()]).ok(),
        Err(_) => None,
    };
    valid.filter(|text| !text.contains('\0'))
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;

    use flate2::Compression;
    use flate2::write::GzEncoder;

    use super::*;

    fn gzip(text: &[u8]) -> Vec<u8> {
        let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
        encoder.write_all(text).unwrap();
        encoder.finish().unwrap()
    }

    #[test]
    fn a_response_is_kept_as_text_or_base64() {
        let long = "ä".repeat(15_000);
        for (body, kept, is_text) in [
            (&b"fine"[..], "fine".to_owned(), true),
            (b"", String::new(), true),
            (&b"\xff\xfe\x00"[..], "//4A".to_owned(), false),
            (b"a\0b", "YQBi".to_owned(), false),
            (long.as_bytes(), "ä".repeat(10_000), true),
            (&long.as_bytes()[..9], "ä".repeat(4), true),
        ] {
            assert_eq!(response_text(body), (kept, is_text));
        }
    }

    #[test]
    fn gzip_data_is_unpacked_within_the_limit() {
        let packed = gzip(b"KeyError: status");
        assert_eq!(response_text(&packed), ("KeyError: status".to_owned(), true));
        let cut = response_text(&packed[..packed.len() - 9]);
        assert!(cut.1 && "KeyError: status".starts_with(&cut.0), "{cut:?}");
        let bomb = gzip(&vec![b'a'; 50_000_000]);
        assert!(bomb.len() > RESPONSE_BYTES_MAX, "{}", bomb.len());
        assert_eq!(response_text(&bomb), ("a".repeat(RESPONSE_BYTES_MAX), true));
        for damaged in [&b"\x1f\x8b\x08"[..], b"\x1f\x8b\x08\x00damaged", &gzip(b"\xff\xfe\x00")] {
            assert!(!response_text(damaged).1, "{damaged:?}");
        }
    }
}
