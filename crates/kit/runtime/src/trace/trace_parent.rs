//! The header `traceparent` of W3C Trace Context, level 1: the ids of a trace and of one of its spans.

use std::fmt;
use std::str::FromStr;

/// Characters of a header of version 00.
pub const TRACE_PARENT_CHARS: usize = 55;
/// The version whose fields this type knows.
const VERSION: &[u8] = b"00";
/// The version that the standard excludes.
const INVALID_VERSION: &[u8] = b"ff";
/// The flag of a span that its caller records.
const SAMPLED: u8 = 1;

/// A position in a trace: the trace, a span of it, and whether the span is recorded. It is stored and sent as a header of
/// version 00. `tracestate` is not part of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct TraceParent {
    trace: [u8; 16],
    span: [u8; 8],
    flags: u8,
}

/// The text is not a `traceparent` header.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("a traceparent is 00-<32 hexadecimal digits>-<16 hexadecimal digits>-<2 hexadecimal digits>, in lower case")]
pub struct InvalidTraceParent;

impl TraceParent {
    pub(super) fn new(trace: [u8; 16], span: [u8; 8], is_sampled: bool) -> Self {
        Self { trace, span, flags: u8::from(is_sampled) }
    }

    /// The id of the trace: 16 bytes, not all zero.
    pub fn trace(&self) -> [u8; 16] {
        self.trace
    }

    /// The id of the span: 8 bytes, not all zero.
    pub fn span(&self) -> [u8; 8] {
        self.span
    }

    /// Whether the caller records the span.
    pub fn is_sampled(&self) -> bool {
        self.flags & SAMPLED != 0
    }

    /// The id of the trace as 32 hexadecimal digits, for log lines.
    pub fn trace_id(&self) -> TraceId {
        TraceId(self.trace)
    }
}

impl FromStr for TraceParent {
    type Err = InvalidTraceParent;

    /// Parses version 00 strictly. A later version is read as version 00, as the standard requires; it may have more
    /// fields after another hyphen.
    fn from_str(text: &str) -> Result<Self, InvalidTraceParent> {
        let bytes = text.as_bytes();
        let (known, more) = bytes.split_at_checked(TRACE_PARENT_CHARS).ok_or(InvalidTraceParent)?;
        let version = &known[..2];
        let is_first_version = version == VERSION;
        hex_bytes::<1>(version)?;
        let hyphens = [2, 35, 52].iter().all(|place| known[*place] == b'-');
        let has_right_length = more.is_empty() || (!is_first_version && more[0] == b'-');
        if !hyphens || !has_right_length || version == INVALID_VERSION {
            return Err(InvalidTraceParent);
        }
        let (trace, span) = (hex_bytes(&known[3..35])?, hex_bytes(&known[36..52])?);
        let [flags] = hex_bytes(&known[53..55])?;
        if trace == [0; 16] || span == [0; 8] {
            return Err(InvalidTraceParent);
        }
        Ok(Self { trace, span, flags: flags & SAMPLED })
    }
}

impl fmt::Display for TraceParent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "00-{}-", TraceId(self.trace))?;
        write_hex(f, &self.span)?;
        write!(f, "-{:02x}", self.flags)
    }
}

/// The id of a trace.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct TraceId([u8; 16]);

impl fmt::Display for TraceId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_hex(f, &self.0)
    }
}

fn write_hex(f: &mut fmt::Formatter<'_>, bytes: &[u8]) -> fmt::Result {
    bytes.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
}

/// The bytes of lower-case hexadecimal digits, twice as many as bytes.
fn hex_bytes<const N: usize>(digits: &[u8]) -> Result<[u8; N], InvalidTraceParent> {
    let digit = |byte: u8| match byte {
        b'0'..=b'9' => Ok(byte - b'0'),
        b'a'..=b'f' => Ok(byte - b'a' + 10),
        _ => Err(InvalidTraceParent),
    };
    let mut bytes = [0; N];
    for (byte, pair) in bytes.iter_mut().zip(digits.chunks_exact(2)) {
        *byte = digit(pair[0])? << 4 | digit(pair[1])?;
    }
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    const VALID: &str = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";

    #[test]
    fn a_valid_header_is_read_and_written_unchanged() {
        let parsed: TraceParent = VALID.parse().unwrap();
        assert_eq!(parsed.to_string(), VALID);
        assert_eq!(parsed.trace_id().to_string(), "0af7651916cd43dd8448eb211c80319c");
        assert_eq!((parsed.trace()[0], parsed.span()[7], parsed.is_sampled()), (0x0a, 0x31, true));
        let unsampled: TraceParent = VALID.replace("-01", "-00").parse().unwrap();
        assert!(!unsampled.is_sampled());
        assert_ne!(unsampled, parsed);
    }

    #[test]
    fn a_later_version_is_read_as_version_00() {
        for text in [VALID.replacen("00", "cc", 1), format!("{}-what-follows", VALID.replacen("00", "01", 1))] {
            assert_eq!(text.parse::<TraceParent>().unwrap().to_string(), VALID, "{text}");
        }
    }

    #[test]
    fn unknown_flags_are_not_kept() {
        for (flags, kept) in [("ff", "01"), ("fe", "00"), ("03", "01")] {
            let text = VALID.replace("-01", &format!("-{flags}"));
            assert_eq!(text.parse::<TraceParent>().unwrap().to_string(), VALID.replace("-01", &format!("-{kept}")));
        }
    }

    #[test]
    fn everything_else_is_refused() {
        for text in [
            "",
            "00",
            "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331",
            "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-0",
            "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-011",
            "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01-more",
            "cc-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01.more",
            "ff-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
            "0x-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
            "CC-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
            "00-0AF7651916CD43DD8448EB211C80319C-b7ad6b7169203331-01",
            "00-0af7651916cd43dd8448eb211c80319c-B7AD6B7169203331-01",
            "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-0A",
            "00-0af7651916cd43dd8448eb211c80319g-b7ad6b7169203331-01",
            "00-00000000000000000000000000000000-b7ad6b7169203331-01",
            "00-0af7651916cd43dd8448eb211c80319c-0000000000000000-01",
            "00_0af7651916cd43dd8448eb211c80319c_b7ad6b7169203331_01",
            "00-0af7651916cd43dd8448eb211c8031-9cb7ad6b7169203331-01",
            " 00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
            "00-0af7651916cd43dd8448eb211c80319c-b7ad6b716920333ä-01",
        ] {
            assert_eq!(text.parse::<TraceParent>(), Err(InvalidTraceParent), "{text:?}");
        }
    }
}
