//! Sets an amount of many lots by a formula, with the result of each shown before it is applied, and undo.

use askama::Template;
use axum::response::Response;
use http::StatusCode;
use kit_design::error_page::ErrorPage;
use kit_design::error_summary::ErrorSummary;
use kit_design::fields::{FieldErrors, FormFields, SubmittedForm};
use kit_design::form_field::{Choice, FormField};
use kit_design::frame::{Frame, render_page_as};
use platform_rules::Item;
use uuid::Uuid;

use super::bulk;
use super::columns::Column;
use super::formula_apply::value;
use super::formula_terms::{Formula, Rounding, SOURCES, STEPS, TARGETS, amount};
use crate::page_error::PageError;
use crate::sale::Sale;
use crate::sale::labels;
use crate::sale::writable;
use crate::session::{PathIds, Section, Session};

/// The name of the action in the grid's form.
pub(super) const ACTION: &str = "FORMULA";

#[derive(Template)]
#[template(path = "lots/formula.html")]
struct FormulaPage {
    frame: Frame,
    title: String,
    path: String,
    heading: String,
    /// Selected lots, as the form sends them again.
    lots: Vec<Uuid>,
    unknown: String,
    fields: Vec<FormField>,
    errors: ErrorSummary,
    plan: Option<Plan>,
}

/// What a formula does to the selected lots.
struct Plan {
    words: String,
    source: &'static str,
    target: &'static str,
    count: String,
    rows: Vec<Row>,
    /// Lots that have the result already.
    same: String,
    /// Numbers of the lots without a result.
    without: String,
}

struct Row {
    /// What the form sends to change the lot.
    value: String,
    lot_number: String,
    title: String,
    source: String,
    before: String,
    after: String,
}

/// The action as a choice of the grid's form.
pub(super) fn action() -> Choice {
    Choice::of(ACTION, "Set amounts by a formula", "")
}

/// `POST /auctions/{auction}/lots/formula`: the form, with the result once it was asked for.
pub(super) async fn page(
    session: Session,
    PathIds([uuid]): PathIds<1>,
    SubmittedForm(form): SubmittedForm,
) -> Result<Response, PageError> {
    let sale = writable(&session, uuid).await?;
    show(&session, &sale, &form).await
}

/// Renders the form for the lots that it names.
pub(super) async fn show(session: &Session, sale: &Sale, form: &FormFields) -> Result<Response, PageError> {
    let (mut items, unknown) = bulk::chosen(session, sale, form).await?;
    if items.is_empty() {
        return Err(ErrorPage::bad_request("No lot is selected. Go back, select lots or write their numbers.").into());
    }
    items.sort_unstable_by_key(|item| item.position);
    let mut errors = FieldErrors::default();
    let formula = if form.text("do") == "show" { Formula::read(form, &mut errors) } else { None };
    let fields: Vec<FormField> = fields(form, sale).into_iter().map(|field| field.with(&errors)).collect();
    let status = if errors.is_empty() { StatusCode::OK } else { StatusCode::UNPROCESSABLE_ENTITY };
    let page = FormulaPage {
        frame: session.frame(format!("Set amounts by a formula · {}", sale.title()), Section::Auctions),
        title: sale.title(),
        path: sale.path("/lots"),
        heading: format!("Set an amount of {} by a formula", labels::count(items.len() as u64, "lot", "lots")),
        lots: items.iter().map(|item| item.uuid).collect(),
        unknown: unknown.join(", "),
        errors: ErrorSummary::of_fields(&errors, &fields),
        fields,
        plan: formula.map(|formula| plan(sale, &formula, &items)),
    };
    render_page_as(status, &page)
}

fn fields(form: &FormFields, sale: &Sale) -> Vec<FormField> {
    let chosen = |name: &str, usual: &str| form.non_empty(name).unwrap_or(usual).to_owned();
    let columns = |all: &[Column], chosen: &str| {
        all.iter().map(|column| Choice::of(column.name(), column.label(), chosen)).collect::<Vec<_>>()
    };
    let step = |step: &i64| {
        let words = sale.currency.show(step * sale.currency.minor_units());
        Choice::of(step.to_string(), words, &chosen("step", "10"))
    };
    let rounding = |one: Rounding| Choice::of(one.name(), one.words(), &chosen("rounding", "nearest"));
    vec![
        FormField::select("target", "Set", columns(&TARGETS, &chosen("target", "reserve"))),
        FormField::text("percent", "To percent", chosen("percent", "90")).short(),
        FormField::select("source", "Of", columns(&SOURCES, &chosen("source", "lowEstimate"))),
        FormField::select("step", "Rounded to multiples of", STEPS.iter().map(step).collect()),
        FormField::select("rounding", "Rounding", Rounding::ALL.into_iter().map(rounding).collect()),
    ]
}

fn plan(sale: &Sale, formula: &Formula, items: &[Item]) -> Plan {
    let show = |minor: Option<i64>| minor.map(|minor| sale.currency.show(minor)).unwrap_or_default();
    let (mut rows, mut same, mut without) = (Vec::new(), 0, Vec::new());
    for item in items {
        let before = amount(formula.target, item);
        match formula.of(item, &sale.currency) {
            None => without.push(item.lot_number.clone()),
            after if after == before => same += 1,
            after => rows.push(Row {
                value: value(item.uuid, item.version, formula.target, after),
                lot_number: item.lot_number.clone(),
                title: item.title.clone(),
                source: show(amount(formula.source, item)),
                before: show(before),
                after: show(after),
            }),
        }
    }
    Plan {
        words: formula.words(&sale.currency),
        source: formula.source.label(),
        target: formula.target.label(),
        count: labels::count(rows.len() as u64, "lot changes", "lots change"),
        rows,
        same: if same == 0 { String::new() } else { labels::count(same, "lot has", "lots have") },
        without: without.join(", "),
    }
}
