//! Matches the names of image files to lots, as photographers name them: `12.jpg`, `0012A-2.jpg`, `12 (3).jpg`.

use std::collections::HashMap;

use uuid::Uuid;

/// File names matched in one call, at most.
pub const MATCHED_FILES_MAX: usize = 5_000;

/// The lot of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileNameMatch {
    /// Name of the file.
    pub file_name: String,
    /// The item; none when no lot or several lots have the number.
    pub item: Option<Uuid>,
    /// Sorts the files of one lot: without a suffix first, then by number, then by word.
    pub order: (u8, u64, String),
}

/// Items by their lot numbers.
pub(super) struct LotIndex {
    exact: HashMap<String, Uuid>,
    /// By number without leading zeros and with a capital letter; none when several lots have it.
    normal: HashMap<String, Option<Uuid>>,
}

impl LotIndex {
    pub(super) fn new(lots: impl IntoIterator<Item = (String, Uuid)>) -> Self {
        let (mut exact, mut normal) = (HashMap::new(), HashMap::new());
        for (lot, item) in lots {
            normal.entry(normalised(&lot)).and_modify(|item| *item = None).or_insert(Some(item));
            exact.insert(lot, item);
        }
        Self { exact, normal }
    }

    /// The lot of a file name. A lot number that is the whole name wins.
    pub(super) fn matched(&self, file_name: &str) -> FileNameMatch {
        let name = file_name.rsplit(['/', '\\']).next().unwrap_or(file_name);
        let stem = name.rsplit_once('.').map_or(name, |(stem, _)| stem).trim();
        let (item, suffix) = match (self.exact.get(stem), parse(stem)) {
            (Some(item), _) => (Some(*item), ""),
            (None, Some((lot, suffix))) => (self.normal.get(&normalised(lot)).copied().flatten(), suffix),
            (None, None) => (None, ""),
        };
        let order = match suffix.parse::<u64>() {
            _ if suffix.is_empty() => (0, 0, String::new()),
            Ok(number) => (1, number, String::new()),
            Err(_) => (2, 0, suffix.to_lowercase()),
        };
        FileNameMatch { file_name: file_name.to_owned(), item, order }
    }
}

/// Lot number and suffix of a stem, by `^0*(\d+[A-Za-z]?)(?:[-_. (]+(\w+)\)?)?$`.
fn parse(stem: &str) -> Option<(&str, &str)> {
    let digits = stem.bytes().take_while(u8::is_ascii_digit).count();
    if digits == 0 {
        return None;
    }
    let letter = usize::from(stem.as_bytes().get(digits).is_some_and(u8::is_ascii_alphabetic));
    let (lot, rest) = stem.split_at_checked(digits + letter)?;
    if rest.is_empty() {
        return Some((lot, ""));
    }
    let suffix = rest.trim_start_matches(['-', '_', '.', ' ', '(']);
    let suffix = if suffix.len() == rest.len() { return None } else { suffix };
    let suffix = suffix.strip_suffix(')').unwrap_or(suffix);
    let is_word = !suffix.is_empty() && suffix.chars().all(|char| char.is_alphanumeric() || char == '_');
    is_word.then_some((lot, suffix))
}

/// A lot number without leading zeros, in capitals.
fn normalised(lot: &str) -> String {
    let trimmed = lot.trim_start_matches('0');
    let number = if trimmed.starts_with(|char: char| char.is_ascii_digit()) {
        trimmed.to_owned()
    } else {
        format!("0{trimmed}")
    };
    number.to_uppercase()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn index(lots: &[&str]) -> LotIndex {
        LotIndex::new((1_u128..).zip(lots).map(|(item, lot)| ((*lot).to_owned(), Uuid::from_u128(item))))
    }

    #[test]
    fn files_find_their_lots() {
        let lots = index(&["1", "12", "12A", "0013", "7-2"]);
        for (name, item) in [
            ("12.jpg", Some(2)),
            ("0012.JPG", Some(2)),
            ("12-2.jpg", Some(2)),
            ("12_back.png", Some(2)),
            ("12.10.webp", Some(2)),
            ("12 (3).jpg", Some(2)),
            ("1 1.jpg", Some(1)),
            ("1(1).jpg", Some(1)),
            ("0012A.jpg", Some(3)),
            ("12a-1.jpg", Some(3)),
            ("13.jpg", Some(4)),
            ("7-2.jpg", Some(5)),
            ("photos/12.jpg", Some(2)),
            ("IMG_0012.jpg", None),
            ("12-.jpg", None),
            ("12AB.jpg", None),
            ("99.jpg", None),
            (".jpg", None),
        ] {
            assert_eq!(lots.matched(name).item, item.map(Uuid::from_u128), "{name}");
        }
        assert_eq!(index(&["12a", "12A"]).matched("0012A.jpg").item, None, "two lots");
        assert_eq!(index(&["12a", "12A"]).matched("12A.jpg").item, Some(Uuid::from_u128(2)), "the exact text wins");
    }

    #[test]
    fn files_of_a_lot_are_ordered() {
        let lots = index(&["12"]);
        let mut files = ["12-b.jpg", "12-10.jpg", "12-9.jpg", "12.jpg", "12-a.jpg"].map(|name| lots.matched(name));
        files.sort_by(|one, other| one.order.cmp(&other.order));
        let names: Vec<_> = files.iter().map(|file| file.file_name.as_str()).collect();
        assert_eq!(names, ["12.jpg", "12-9.jpg", "12-10.jpg", "12-a.jpg", "12-b.jpg"]);
    }
}
