//! Applies the amounts that a formula gave, and offers to undo them in one step.

use axum::response::Response;
use kit_design::error_page::{ErrorPage, sentence};
use kit_design::fields::SubmittedForm;
use kit_design::frame::render_page;
use platform_core::sales::items::edit_many::{ItemEditEntry, ItemEditOutcome};
use platform_rules::Hidden;
use platform_rules::item::ItemEdit;
use uuid::Uuid;

use super::bulk_apply::DonePage;
use super::columns::Column;
use super::formula_terms::{TARGETS, amount};
use crate::page_error::PageError;
use crate::sale::labels;
use crate::sale::writable;
use crate::session::{PathIds, Section, Session};

/// An amount of a lot, as a form sends it.
#[derive(Debug, PartialEq, Eq)]
struct NewAmount {
    item: Uuid,
    /// The version that the person saw.
    version: i64,
    column: Column,
    /// Minor units; none removes the amount.
    amount: Option<i64>,
}

/// What a form sends to set an amount: see [`NewAmount`].
pub(super) fn value(item: Uuid, version: i64, column: Column, amount: Option<i64>) -> String {
    let amount = amount.map(|amount| amount.to_string()).unwrap_or_default();
    format!("{item}.{version}.{}.{amount}", column.name())
}

fn parse(text: &str) -> Option<NewAmount> {
    let mut parts = text.splitn(4, '.');
    let item = Uuid::try_parse(parts.next()?).ok()?;
    let version = parts.next()?.parse().ok()?;
    let column = Column::parse(parts.next()?).filter(|column| TARGETS.contains(column))?;
    let amount = match parts.next()? {
        "" => None,
        amount => Some(amount.parse().ok()?),
    };
    Some(NewAmount { item, version, column, amount })
}

/// `POST /auctions/{auction}/lots/formula/apply`: sets the amounts that can be set, and lists the other lots with the reason.
pub(super) async fn apply(
    session: Session,
    PathIds([uuid]): PathIds<1>,
    SubmittedForm(form): SubmittedForm,
) -> Result<Response, PageError> {
    let sale = writable(&session, uuid).await?;
    let is_undo = form.text("action") == "undo";
    let amounts: Vec<NewAmount> = form.all("lot").filter_map(parse).collect();
    if amounts.is_empty() {
        return Err(ErrorPage::bad_request("No lot is selected.").into());
    }
    let mut before = Vec::with_capacity(amounts.len());
    for new in &amounts {
        let (item, auction) = session.platform().item(&session.caller, new.item).await?;
        if auction.uuid != uuid {
            return Err(ErrorPage::not_found().into());
        }
        before.push(item);
    }
    let entry = |new: &NewAmount| {
        let edit = edit(new.column, new.amount);
        Ok(ItemEditEntry { item: new.item, version: Some(new.version), edit, status: None })
    };
    let entries: Vec<_> = amounts.iter().map(entry).collect();
    let report = session.platform().change_items(&session.caller, uuid, &entries, None, None).await?.fresh()?;
    let (mut changed, mut refused, mut undo) = (0_u64, Vec::new(), Vec::new());
    for ((new, before), (_, outcome)) in amounts.iter().zip(&before).zip(report.items) {
        match outcome {
            Ok(ItemEditOutcome::Changed(item)) => {
                changed += 1;
                if !is_undo {
                    undo.push(value(item.uuid, item.version, new.column, amount(new.column, before)));
                }
            }
            Ok(ItemEditOutcome::Unchanged(_)) => {}
            Err(error) => refused.push((before.lot_number.clone(), sentence(&error.to_string()))),
        }
    }
    render_page(&DonePage {
        frame: session.frame(format!("Lots changed · {}", sale.title()), Section::Auctions),
        title: sale.title(),
        path: sale.path("/lots"),
        form: "formula/apply",
        action: if is_undo { "Undo" } else { "Set amounts by a formula" },
        changed: labels::count(changed, "lot was changed", "lots were changed"),
        refused,
        undo_count: labels::count(undo.len() as u64, "lot", "lots"),
        undo,
    })
}

fn edit(column: Column, amount: Option<i64>) -> ItemEdit {
    let mut edit = ItemEdit::default();
    match column {
        Column::LowEstimate => edit.low_estimate = Some(amount),
        Column::HighEstimate => edit.high_estimate = Some(amount),
        Column::OpeningBid => edit.opening_bid = Some(amount.unwrap_or(0)),
        Column::Reserve => edit.reserve = Some(amount.map(Hidden::new)),
        Column::BuyNow => edit.buy_now = Some(amount),
        // `parse` refuses the others.
        _ => {}
    }
    edit
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_amount_survives_its_form() {
        let item = Uuid::from_u128(7);
        for amount in [Some(22_500), None] {
            let text = value(item, 3, Column::Reserve, amount);
            assert_eq!(parse(&text), Some(NewAmount { item, version: 3, column: Column::Reserve, amount }));
        }
        assert_eq!(parse(&format!("{item}.3.title.12")), None, "a title is no amount");
        assert_eq!(parse(&format!("{item}.3.reserve.twelve")), None);
    }
}
