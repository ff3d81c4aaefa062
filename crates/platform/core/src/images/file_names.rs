//! Matches the names of image files to lots, as photographers name them: `12.jpg`, `0012A-2.jpg`, `Lot 12 (3).jpg`.

use std::collections::HashMap;

use uuid::Uuid;

/// File names matched in one call, at most.
pub const MATCHED_FILES_MAX: usize = 2_000;

/// A lot that a file name means.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MatchedLot {
    /// The item.
    pub item: Uuid,
    /// Its lot number, as printed.
    pub lot_number: String,
}

/// Why a file name means no lot.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum FileNameProblem {
    /// It does not begin with a lot number.
    #[error("the name does not begin with a lot number")]
    NoLotNumber,
    /// It begins with a number that no lot has.
    #[error("no lot has the number {0}")]
    NoSuchLot(String),
    /// Its number is that of several lots, such as 12a and 12A.
    #[error("several lots have the number {0}: name the file exactly like one of them")]
    SeveralLots(String),
}

/// Sorts the files of one lot: without a suffix first, then by number, then by word.
type SuffixOrder = (u8, u64, String);

/// The lots of an auction by their numbers, to match file names.
#[derive(Debug)]
pub struct LotIndex {
    exact: HashMap<String, MatchedLot>,
    /// By number without leading zeros and with a capital letter; none when several lots have it.
    normal: HashMap<String, Option<MatchedLot>>,
}

impl LotIndex {
    pub(super) fn new(lots: impl IntoIterator<Item = (String, Uuid)>) -> Self {
        let (mut exact, mut normal) = (HashMap::new(), HashMap::new());
        for (lot_number, item) in lots {
            let lot = MatchedLot { item, lot_number: lot_number.clone() };
            let known = normal.entry(normalised(&lot_number));
            known.and_modify(|known| *known = None).or_insert_with(|| Some(lot.clone()));
            exact.insert(lot_number, lot);
        }
        Self { exact, normal }
    }

    /// The lot of a file name. A lot number that is the whole name wins.
    pub fn matched(&self, file_name: &str) -> Result<MatchedLot, FileNameProblem> {
        let stem = stem(file_name);
        let exact = self.exact.get(stem).or_else(|| self.exact.get(without_lot(stem)));
        match (exact, parse(without_lot(stem))) {
            (Some(lot), _) => Ok(lot.clone()),
            (None, Some((lot, _))) => match self.normal.get(&normalised(lot)) {
                Some(Some(lot)) => Ok(lot.clone()),
                Some(None) => Err(FileNameProblem::SeveralLots(lot.to_owned())),
                None => Err(FileNameProblem::NoSuchLot(lot.to_owned())),
            },
            (None, None) => Err(FileNameProblem::NoLotNumber),
        }
    }
}

/// Where an image of this file name belongs among the images of its lot, which have these names: after the last one that
/// sorts before it, else before the first one that sorts after it, else at the end. So the images are in the order of
/// their names, whichever order they arrive in, and a person may order them otherwise.
pub(super) fn place<'a>(file_name: &str, lot_number: &str, others: impl Iterator<Item = &'a str>) -> usize {
    let others: Vec<Option<SuffixOrder>> = others.map(|other| order(other, lot_number)).collect();
    let Some(own) = order(file_name, lot_number) else { return others.len() };
    let before = others.iter().rposition(|other| other.as_ref().is_some_and(|other| *other < own));
    let after = others.iter().position(|other| other.as_ref().is_some_and(|other| *other > own));
    before.map(|place| place + 1).or(after).unwrap_or(others.len())
}

/// The order of a file name among those of its lot; none for a name that does not begin with a lot number.
fn order(file_name: &str, lot_number: &str) -> Option<SuffixOrder> {
    let stem = without_lot(stem(file_name));
    let suffix = if stem == lot_number { "" } else { parse(stem)?.1 };
    Some(match suffix.parse::<u64>() {
        _ if suffix.is_empty() => (0, 0, String::new()),
        Ok(number) => (1, number, String::new()),
        Err(_) => (2, 0, suffix.to_lowercase()),
    })
}

/// The name without folders and without its ending.
fn stem(file_name: &str) -> &str {
    let name = file_name.rsplit(['/', '\\']).next().unwrap_or(file_name);
    name.rsplit_once('.').map_or(name, |(stem, _)| stem).trim()
}

/// `12` of `Lot 12`, `lot_12` and `Lot no. 12`; a name that does not begin with these words as it is.
fn without_lot(stem: &str) -> &str {
    let separators: &[char] = &['-', '_', '.', ' ', '#'];
    let mut rest = stem;
    for word in ["lot", "no"] {
        match rest.split_at_checked(word.len()) {
            Some((head, tail)) if head.eq_ignore_ascii_case(word) => rest = tail.trim_start_matches(separators),
            _ if word == "lot" => return stem,
            _ => {}
        }
    }
    if rest.starts_with(|char: char| char.is_ascii_digit()) { rest } else { stem }
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
            ("012_1.jpg", Some(2)),
            ("Lot 12 (2).png", Some(2)),
            ("LOT_0012A-2.jpg", Some(3)),
            ("lot no. 12.jpg", Some(2)),
            ("Lot 7-2.jpg", Some(5)),
            ("12-a.webp", Some(2)),
            ("IMG_0012.jpg", None),
            ("12-.jpg", None),
            ("12AB.jpg", None),
            ("99.jpg", None),
            ("Lots 12.jpg", None),
            ("Lotte.jpg", None),
            ("lé.jpg", None),
            (".jpg", None),
        ] {
            let found = lots.matched(name).ok();
            assert_eq!(found.map(|lot| lot.item), item.map(Uuid::from_u128), "{name}");
        }
        let two = index(&["12a", "12A"]);
        assert_eq!(two.matched("0012A.jpg"), Err(FileNameProblem::SeveralLots("0012A".into())));
        assert_eq!(two.matched("12A.jpg").unwrap().item, Uuid::from_u128(2), "the exact text wins");
        assert_eq!(lots.matched("99-2.jpg"), Err(FileNameProblem::NoSuchLot("99".into())));
        assert_eq!(lots.matched("IMG_0012.jpg"), Err(FileNameProblem::NoLotNumber));
    }

    #[test]
    fn files_of_a_lot_are_ordered_by_name_in_whichever_order_they_arrive() {
        let arrange = |mut images: Vec<&'static str>, arriving: &[&'static str]| {
            for name in arriving {
                images.insert(place(name, "12", images.iter().copied()), name);
            }
            images
        };
        let ordered = ["12.jpg", "12-9.jpg", "12-10.jpg", "12-a.jpg", "12-b.jpg"];
        assert_eq!(arrange(Vec::new(), &["12-b.jpg", "12-10.jpg", "12-9.jpg", "12.jpg", "12-a.jpg"]), ordered);
        assert_eq!(arrange(Vec::new(), &["12-a.jpg", "12.jpg", "12-b.jpg", "12-10.jpg", "12-9.jpg"]), ordered);
        // What a person has ordered otherwise, or added under another name, keeps its place.
        assert_eq!(arrange(vec!["12-3.jpg", "12.jpg"], &["12-2.jpg"]), ["12-3.jpg", "12.jpg", "12-2.jpg"]);
        assert_eq!(arrange(vec!["IMG_2.jpg", "12-3.jpg"], &["12-1.jpg"]), ["IMG_2.jpg", "12-1.jpg", "12-3.jpg"]);
        assert_eq!(arrange(vec!["12.jpg"], &["IMG_2.jpg"]), ["12.jpg", "IMG_2.jpg"]);
    }
}
