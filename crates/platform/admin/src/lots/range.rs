//! Lots by number, as people write them: `1-20, 25, 30A`.

use platform_core::port::Page;
use platform_core::sales::lists::ItemQuery;
use platform_rules::Item;
use uuid::Uuid;

use crate::page_error::PageError;
use crate::session::Session;

/// Lots that one range names at most: as many as one command changes.
pub(crate) const LOTS_MAX: usize = 1_000;

/// The lot numbers that a text names, in its order. An error is for the person who typed it.
pub(crate) fn parse(text: &str) -> Result<Vec<String>, String> {
    let mut lots = Vec::new();
    for part in text.split([',', ';']).map(str::trim).filter(|part| !part.is_empty()) {
        let ends = part.split_once(['-', '–']).map(|(from, to)| (from.trim().parse::<u32>(), to.trim().parse::<u32>()));
        match ends {
            Some((Ok(from), Ok(to))) if from <= to => {
                let count = (to - from) as usize + 1;
                if lots.len() + count > LOTS_MAX {
                    return Err(format!("Name at most {LOTS_MAX} lots."));
                }
                lots.extend((from..=to).map(|number| number.to_string()));
            }
            Some((Ok(_), Ok(_))) => return Err(format!("“{part:.40}” begins after its end. Write it such as 1-20.")),
            // A lot number may contain a hyphen itself.
            _ => lots.push(part.to_owned()),
        }
        if lots.len() > LOTS_MAX {
            return Err(format!("Name at most {LOTS_MAX} lots."));
        }
    }
    Ok(lots)
}

/// The lots of an auction with these numbers. A number inside of a range that no lot has is passed over; the numbers
/// that no lot has are returned beside the lots.
pub(crate) async fn find(
    session: &Session,
    auction: Uuid,
    numbers: &[String],
) -> Result<(Vec<Item>, Vec<String>), PageError> {
    let (mut found, mut unknown) = (Vec::new(), Vec::new());
    for number in numbers {
        let wanted = ItemQuery { statuses: Vec::new(), lot_number: Some(number.clone()) };
        let page = Page { after: None, limit: 1 };
        match session.platform().list_items(&session.caller, auction, &wanted, page).await?.pop() {
            Some(item) => found.push(item),
            None => unknown.push(number.clone()),
        }
    }
    Ok((found, unknown))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_range_names_its_lots() {
        let lots = |text| parse(text).unwrap().join(" ");
        assert_eq!(lots("1-3, 7, 30A"), "1 2 3 7 30A");
        assert_eq!(lots("12-B; 4"), "12-B 4");
        assert_eq!(lots(" , "), "");
        assert!(parse("9-3").is_err() && parse("1-1001").is_err() && parse("1-1000, 5000").is_err());
    }
}
