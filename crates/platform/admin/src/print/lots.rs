//! The lots of a paper: all of a sale in running order, or those that a person names.

use kit_design::error_page::ErrorPage;
use kit_design::fields::FormFields;
use platform_core::port::Page;
use platform_rules::Item;

use crate::lots::range;
use crate::page_error::PageError;
use crate::sale::Sale;
use crate::sale::labels;
use crate::session::Session;
use platform_words::Currency;

/// Lots of one paper at most. A larger sale is printed in parts.
pub(super) const LOTS_MAX: u64 = 5_000;
/// Lots that one read loads.
const READ_MAX: usize = 250;

/// The lots that a query chooses.
pub(super) struct ChosenLots {
    pub(super) items: Vec<Item>,
    /// What they are, such as `312 lots` or `Lots 1-20: 20 lots`.
    pub(super) words: String,
    /// Lot numbers that no lot has.
    pub(super) warning: Option<String>,
    /// They are all lots of the sale.
    pub(super) are_all: bool,
}

/// The number of parts in which the lots of the sale are printed.
pub(super) fn parts(total: u64) -> u64 {
    total.div_ceil(LOTS_MAX).max(1)
}

/// Loads the lots that the query names by number, or one part of the sale.
pub(super) async fn load(session: &Session, sale: &Sale, query: &FormFields) -> Result<ChosenLots, PageError> {
    if let Some(text) = query.non_empty("lots") {
        let numbers = range::parse(text).map_err(|why| ErrorPage::invalid([("lots", why.as_str())]))?;
        let (items, unknown) = range::find(session, sale.auction.uuid, &numbers).await?;
        let warning =
            (!unknown.is_empty()).then(|| format!("No lot of this sale has these numbers: {}.", listed(&unknown)));
        let words = format!("Lots {text}: {}", labels::count(items.len() as u64, "lot", "lots"));
        return Ok(ChosenLots { items, words, warning, are_all: false });
    }
    let parts = parts(sale.counts.total);
    let part = query.text("part").parse::<u64>().unwrap_or(1).clamp(1, parts);
    let first = (part - 1) * LOTS_MAX;
    // Places are counted from 0 without gaps.
    let mut after = i64::try_from(first).ok().and_then(|first| first.checked_sub(1)).filter(|after| *after >= 0);
    let mut items: Vec<Item> = Vec::new();
    let limit = usize::try_from(LOTS_MAX).unwrap_or(usize::MAX);
    while items.len() < limit {
        let page = Page { after, limit: READ_MAX.min(limit - items.len()) };
        let found = session.platform().items(&session.caller, sale.auction.uuid, page).await?;
        let Some(last) = found.last() else { break };
        after = Some(last.position);
        items.extend(found);
    }
    let count = labels::count(items.len() as u64, "lot", "lots");
    let words = match (parts, items.first(), items.last()) {
        (2.., Some(first), Some(last)) => {
            format!("Part {part} of {parts}: lots {} to {}, {count}", first.lot_number, last.lot_number)
        }
        _ => count,
    };
    Ok(ChosenLots { items, words, warning: None, are_all: parts == 1 })
}

/// The first numbers of a list.
fn listed(numbers: &[String]) -> String {
    const LISTED_MAX: usize = 20;
    let more = if numbers.len() > LISTED_MAX { " and others" } else { "" };
    let first: Vec<&str> = numbers.iter().take(LISTED_MAX).map(String::as_str).collect();
    format!("{}{more}", first.join(", "))
}

/// The estimate of a lot; empty without one. A line may break before the higher amount, and nowhere else.
pub(super) fn estimate(item: &Item, currency: &Currency) -> String {
    match (item.low_estimate, item.high_estimate) {
        (Some(low), Some(high)) if low == high => currency.show(low),
        (Some(low), Some(high)) => format!("{}\u{a0}– {}", currency.show(low), currency.show(high)),
        (Some(low), None) => format!("from\u{a0}{}", currency.show(low)),
        (None, Some(high)) => format!("up\u{a0}to\u{a0}{}", currency.show(high)),
        (None, None) => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sale_has_as_many_parts_as_it_needs() {
        assert_eq!([0, 1, 5_000, 5_001, 100_000].map(parts), [1, 1, 1, 2, 20]);
    }

    #[test]
    fn a_long_list_of_numbers_is_shortened() {
        let numbers: Vec<String> = (1..=30).map(|number| number.to_string()).collect();
        assert_eq!(listed(&numbers[..2]), "1, 2");
        assert!(listed(&numbers).ends_with("19, 20 and others"));
    }
}
