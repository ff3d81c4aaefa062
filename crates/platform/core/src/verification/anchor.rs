//! An anchor: a position in the log of all subjects, and a hash over the log up to it. An operator stores it elsewhere
//! and compares the log later.

use std::fmt;
use std::str::FromStr;

use platform_rules::LogHash;

use crate::audit::entry::hash;
use crate::port::PositionedEntry;

/// Domain of the hash before the first entry.
const BEGIN: &[u8] = b"lotwire.log.anchor.begin.1\0";
/// Domain of the hash after an entry.
const ENTRY: &[u8] = b"lotwire.log.anchor.entry.1\0";

/// A hash over all entries up to a position. Written as `position:hash`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Anchor {
    /// The position of the last entry that it covers; 0 before the first.
    pub position: i64,
    /// A running hash over the hashes and contents of all entries up to it, in the order of their positions.
    pub hash: LogHash,
}

impl Anchor {
    /// The anchor before the first entry.
    pub fn begin() -> Self {
        Self { position: 0, hash: hash(&[BEGIN]) }
    }

    /// The anchor after one more entry.
    pub(super) fn after(self, entry: &PositionedEntry) -> Self {
        let hash = hash(&[ENTRY, &self.hash.0, &entry.hash.0, entry.content.as_bytes()]);
        Self { position: entry.position, hash }
    }
}

impl fmt::Display for Anchor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.position, self.hash)
    }
}

impl FromStr for Anchor {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let parsed = text.split_once(':').and_then(|(position, hash)| {
            let position = position.parse().ok().filter(|position| *position >= 0)?;
            Some(Self { position, hash: LogHash::parse(hash)? })
        });
        parsed.ok_or_else(|| "is not an anchor: write a position, a colon and 64 hexadecimal digits".to_owned())
    }
}

#[cfg(test)]
mod tests {
    use uuid::Uuid;

    use super::*;

    #[test]
    fn an_anchor_parses_from_its_own_text_only() {
        let anchor = Anchor { position: 12, ..Anchor::begin() };
        assert_eq!(anchor.to_string().parse(), Ok(anchor));
        let short = anchor.to_string();
        for wrong in ["", "12", "12:", "-1:00", ":00", &short[..short.len() - 1]] {
            assert!(wrong.parse::<Anchor>().is_err(), "{wrong}");
        }
    }

    #[test]
    fn anchors_match_the_documentation() {
        let begin = Anchor::begin();
        let entry = PositionedEntry {
            position: 1,
            subject: Uuid::from_u128(1),
            number: 1,
            content: "{}".to_owned(),
            hash: crate::audit::chain(crate::audit::chain_begin(Uuid::from_u128(1)), "{}"),
        };
        assert_eq!(begin.to_string(), "0:f45df530985cf21789ed45d54dce553dacfadf41c1cd8074dc82b8d65e2a17c6");
        assert_eq!(
            begin.after(&entry).to_string(),
            "1:844ce1e45cdf6ec4b3047cb01ed49ef70e47cba8a18bb85a8c487d70e0ed2fbc"
        );
    }
}
