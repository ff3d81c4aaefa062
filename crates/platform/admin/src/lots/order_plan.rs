//! What another running order, or other lot numbers, would be: decided by the rules that decide it when it is applied.

use std::collections::HashSet;

use kit_design::error_page::{ErrorPage, sentence};
use kit_design::fields::{FieldErrors, FormFields};
use platform_core::port::Page;
use platform_core::sales::items::arrange::Placement;
use platform_core::sales::lists::ItemQuery;
use platform_rules::{Item, ItemChange, Rejection};
use uuid::Uuid;

use super::range::LOTS_MAX;
use crate::page_error::PageError;
use crate::sale::Sale;
use crate::sale::labels;
use crate::session::Session;

/// Lots that the page shows.
const SHOWN_MAX: usize = 200;
const NUMBER_MAX: u64 = 999_999_999;
const STEP_MAX: u64 = 1_000;

/// The lots that change, with why one of them can't.
pub(super) struct Plan {
    placed: Vec<(Item, Placement, String)>,
}

/// A plan as the page shows it.
pub(super) struct Shown {
    pub(super) count: String,
    pub(super) rows: Vec<Row>,
    pub(super) more: String,
    /// Lots that refuse the change, and why.
    pub(super) refused: Vec<(String, String)>,
    pub(super) is_staggered: bool,
    /// The placements, as the form sends them.
    pub(super) values: Vec<String>,
}

/// A lot before and after.
pub(super) struct Row {
    pub(super) title: String,
    pub(super) number_before: String,
    pub(super) number_after: String,
    pub(super) place_before: i64,
    pub(super) place_after: i64,
    pub(super) end_after: String,
}

impl Plan {
    pub(super) fn of(sale: &Sale, placed: Vec<(Item, Placement)>) -> Self {
        let checked = placed.into_iter().map(|(item, placement)| {
            let fault = fault(sale, &item, &placement);
            (item, placement, fault)
        });
        Self { placed: checked.collect() }
    }

    /// The items with these numbers. A number that a lot has which is not among them is refused.
    pub(super) async fn renumber(
        session: &Session,
        sale: &Sale,
        items: &[Item],
        numbers: Vec<String>,
    ) -> Result<Self, PageError> {
        let own: HashSet<Uuid> = items.iter().map(|item| item.uuid).collect();
        let mut placed = Vec::with_capacity(items.len());
        for (item, number) in items.iter().zip(numbers) {
            if item.lot_number == number {
                continue;
            }
            let placement = Placement {
                item: item.uuid,
                version: Some(item.version),
                position: item.position,
                lot_number: number.clone(),
            };
            let mut fault = fault(sale, item, &placement);
            if fault.is_empty()
                && let Some(other) = lot(session, sale, &number).await?
                && !own.contains(&other.uuid)
            {
                fault = format!("The number {number} belongs to a lot that is not selected: “{}”.", other.title);
            }
            placed.push((item.clone(), placement, fault));
        }
        Ok(Self { placed })
    }

    pub(super) fn shown(self, sale: &Sale) -> Shown {
        let refused = self.placed.iter().filter(|(.., fault)| !fault.is_empty());
        let refused = refused.map(|(item, _, fault)| (item.lot_number.clone(), fault.clone())).take(SHOWN_MAX);
        let more = self.placed.len().saturating_sub(SHOWN_MAX) as u64;
        Shown {
            count: labels::count(self.placed.len() as u64, "lot changes", "lots change"),
            refused: refused.collect(),
            more: if more == 0 { String::new() } else { labels::count(more, "more lot", "more lots") },
            is_staggered: self.placed.iter().any(|(item, placement, _)| new_end(sale, item, placement).is_some()),
            rows: self.placed.iter().take(SHOWN_MAX).map(|(item, placement, _)| row(sale, item, placement)).collect(),
            values: self.placed.iter().map(|(_, placement, _)| value(placement)).collect(),
        }
    }
}

impl Shown {
    /// True when the plan changes lots and no lot refuses.
    pub(super) fn can_apply(&self) -> bool {
        self.refused.is_empty() && !self.values.is_empty()
    }
}

fn row(sale: &Sale, item: &Item, placement: &Placement) -> Row {
    let end = new_end(sale, item, placement);
    Row {
        title: item.title.clone(),
        number_before: item.lot_number.clone(),
        number_after: placement.lot_number.clone(),
        place_before: item.position + 1,
        place_after: placement.position + 1,
        end_after: end.map(|end| sale.zone.show(end)).unwrap_or_default(),
    }
}

fn changes(sale: &Sale, item: &Item, placement: &Placement) -> Result<Vec<ItemChange>, Rejection> {
    platform_rules::item::arrange(&sale.auction, item, placement.position, placement.lot_number.clone())
}

/// Why the lot can't change; empty when it can.
fn fault(sale: &Sale, item: &Item, placement: &Placement) -> String {
    match changes(sale, item, placement) {
        Ok(_) => String::new(),
        Err(Rejection::FieldsLocked { why, .. }) => sentence(why),
        Err(refused) => sentence(&refused.to_string()),
    }
}

/// The planned end, if it changes.
fn new_end(sale: &Sale, item: &Item, placement: &Placement) -> Option<jiff::Timestamp> {
    let mut after = item.clone();
    changes(sale, item, placement).unwrap_or_default().iter().for_each(|change| after.apply(change));
    after.end_time.filter(|_| after.end_time != item.end_time)
}

/// All lots of a sale that one step can renumber.
pub(super) async fn whole_sale(session: &Session, sale: &Sale) -> Result<Vec<Item>, PageError> {
    let items_max = LOTS_MAX as u64;
    if sale.counts.total > items_max {
        let text =
            format!("Name at most {LOTS_MAX} lots, such as 1-{LOTS_MAX}: the auction has {}.", sale.counts.total);
        return Err(ErrorPage::bad_request(text).into());
    }
    let page = Page { after: None, limit: LOTS_MAX };
    Ok(session.platform().items(&session.caller, sale.auction.uuid, page).await?)
}

/// The lot with this number.
pub(super) async fn lot(session: &Session, sale: &Sale, number: &str) -> Result<Option<Item>, PageError> {
    let wanted = ItemQuery { statuses: Vec::new(), lot_number: Some(number.to_owned()) };
    let page = Page { after: None, limit: 1 };
    Ok(session.platform().list_items(&session.caller, sale.auction.uuid, &wanted, page).await?.pop())
}

/// The numbers that a form asks for; none with an error. A start with leading zeros keeps its width.
pub(super) fn numbers(form: &FormFields, count: usize, errors: &mut FieldErrors) -> Option<Vec<String>> {
    let start = form.text("start").parse::<u64>().ok().filter(|start| *start <= NUMBER_MAX);
    if start.is_none() {
        errors.add("start", "Write a whole number.");
    }
    let step = form.text("step").parse::<u64>().ok().filter(|step| (1..=STEP_MAX).contains(step));
    if step.is_none() {
        errors.add("step", format!("Write a whole number from 1 to {STEP_MAX}."));
    }
    let width = if form.text("start").starts_with('0') { form.text("start").len().min(9) } else { 1 };
    let (start, step) = (start?, step?);
    Some((0..count as u64).map(|place| format!("{:0width$}", start + place * step)).collect())
}

/// A placement, as a form sends it.
pub(super) fn value(Placement { item, version, position, lot_number }: &Placement) -> String {
    format!("{item}.{}.{position}.{lot_number}", version.unwrap_or_default())
}

pub(super) fn parse(text: &str) -> Option<Placement> {
    let mut parts = text.splitn(4, '.');
    let item = Uuid::try_parse(parts.next()?).ok()?;
    let version = parts.next()?.parse().ok()?;
    let position = parts.next()?.parse().ok()?;
    Some(Placement { item, version: Some(version), position, lot_number: parts.next()?.to_owned() })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn numbers_of(start: &str, step: &str) -> Result<String, bool> {
        let form = FormFields::of_query(&format!("start={start}&step={step}")).unwrap();
        let mut errors = FieldErrors::default();
        numbers(&form, 3, &mut errors).map(|numbers| numbers.join(" ")).ok_or(errors.is_empty())
    }

    #[test]
    fn numbers_begin_at_the_start_and_keep_its_zeros() {
        assert_eq!(numbers_of("1", "1"), Ok("1 2 3".to_owned()));
        assert_eq!(numbers_of("0098", "10"), Ok("0098 0108 0118".to_owned()));
        assert_eq!(numbers_of("A", "1"), Err(false));
        assert_eq!(numbers_of("1", "0"), Err(false));
    }

    #[test]
    fn a_placement_survives_its_form_with_any_lot_number() {
        let placement =
            Placement { item: Uuid::from_u128(7), version: Some(3), position: 12, lot_number: "12.B".to_owned() };
        assert_eq!(parse(&value(&placement)), Some(placement));
        assert_eq!(parse("12"), None);
    }
}
