//! Adds a lot at the end of the running order.

use askama::Template;
use axum::extract::State;
use axum::response::{IntoResponse as _, Response};
use http::StatusCode;
use kit_design::error_summary::ErrorSummary;
use kit_design::fields::{FieldErrors, FormFields, SubmittedForm};
use kit_design::form_field::FormField;
use kit_design::frame::{Frame, render_page_as};
use platform_core::Problem;
use platform_core::port::Page;
use platform_core::sales::new_item::NewItem;
use platform_rules::Hidden;
use platform_rules::item::ItemEdit;

use super::columns::Column;
use super::consignors::{self, TypedConsignor};
use crate::admin::Admin;
use crate::page_error::PageError;
use crate::sale::Sale;
use crate::sale::refusal;
use crate::sale::writable;
use crate::session::{PathIds, Section, Session};

const COLUMNS: [Column; 10] = [
    Column::LotNumber,
    Column::Title,
    Column::Description,
    Column::LowEstimate,
    Column::HighEstimate,
    Column::OpeningBid,
    Column::Reserve,
    Column::Category,
    Column::Vendor,
    Column::ImageUrl,
];

#[derive(Template)]
#[template(path = "lots/add.html")]
struct AddPage {
    frame: Frame,
    title: String,
    path: String,
    fields: Vec<FormField>,
    errors: ErrorSummary,
}

/// The form, with the next lot number.
pub(super) async fn page(session: Session, PathIds([uuid]): PathIds<1>) -> Result<Response, PageError> {
    let sale = writable(&session, uuid).await?;
    let after = i64::try_from(sale.counts.total).unwrap_or(0) - 2;
    let last = session.platform().items(&session.caller, uuid, Page { after: Some(after), limit: 1 }).await?.pop();
    let next = last.map_or(Some(1), |item| item.lot_number.parse::<u64>().ok().map(|number| number + 1));
    let next = next.map(|number| number.to_string()).unwrap_or_default();
    let value = |column| if column == Column::LotNumber { next.clone() } else { String::new() };
    show(&session, &sale, value, &FieldErrors::default(), StatusCode::OK).await
}

/// Adds the lot, or shows the form again with what is wrong.
pub(super) async fn add(
    session: Session,
    State(admin): State<Admin>,
    PathIds([uuid]): PathIds<1>,
    SubmittedForm(form): SubmittedForm,
) -> Result<Response, PageError> {
    let sale = writable(&session, uuid).await?;
    let mut errors = FieldErrors::default();
    let consignor = TypedConsignor::read(&session, &sale, &form, None).await?;
    consignor.check(&mut errors);
    let new = [new_item(&sale, &form, &consignor, &mut errors)];
    let problems = session.platform().problems_of_new_items(&sale.auction, &new);
    refusal::add_problems(&mut errors, problems.into_iter().map(in_the_form).collect());
    if errors.is_empty() {
        match session.platform().add_items(&session.caller, uuid, &new, None, None).await {
            Ok(outcome) => {
                let item = outcome.fresh()?.pop().map(|item| format!("/{}", item.uuid)).unwrap_or_default();
                return Ok(admin.redirect(&sale.path(&format!("/lots{item}?done=lot-added"))).into_response());
            }
            Err(error) => refusal::add_to(&mut errors, error)?,
        }
    }
    let value = |column: Column| {
        if column == Column::Vendor { consignor.shown.clone() } else { form.text(column.name()).to_owned() }
    };
    show(&session, &sale, value, &errors, StatusCode::UNPROCESSABLE_ENTITY).await
}

fn new_item(sale: &Sale, form: &FormFields, consignor: &TypedConsignor, errors: &mut FieldErrors) -> NewItem {
    let mut edit = ItemEdit::default();
    for column in COLUMNS {
        let text = if column == Column::Vendor { &consignor.value } else { form.text(column.name()) };
        if let Err(wrong) = column.set(&mut edit, text, &sale.currency) {
            errors.add(column.name(), wrong);
        }
    }
    NewItem {
        description: edit.description.unwrap_or_default(),
        category: edit.category.flatten(),
        image_url: edit.image_url.flatten(),
        low_estimate: edit.low_estimate.flatten(),
        high_estimate: edit.high_estimate.flatten(),
        opening_bid: edit.opening_bid.unwrap_or(0),
        reserve: edit.reserve.flatten().map(Hidden::reveal),
        vendor: edit.vendor.flatten(),
        ..NewItem::new(form.text("lotNumber"), form.text("title"))
    }
}

/// The problem at the field of the one item.
fn in_the_form(problem: Problem) -> Problem {
    Problem { pointer: problem.pointer.trim_start_matches("/items/0").to_owned(), ..problem }
}

async fn show(
    session: &Session,
    sale: &Sale,
    value: impl Fn(Column) -> String,
    errors: &FieldErrors,
    status: StatusCode,
) -> Result<Response, PageError> {
    let field = |column: Column| {
        let label = column.label();
        let field = match column {
            Column::Title => FormField::text(column.name(), label, value(column)).whole_row(),
            Column::Description => FormField::area(column.name(), label, value(column)),
            amount if amount.is_amount() => {
                FormField::text(column.name(), format!("{label}, {}", sale.currency.code()), value(column))
            }
            text => FormField::text(column.name(), label, value(text)),
        };
        field.with(errors)
    };
    let mut fields: Vec<FormField> = Vec::new();
    for column in COLUMNS {
        match column {
            Column::Vendor => {
                let own = consignors::fields(session, sale, &value(column), errors).await?;
                fields.extend(own.into_iter().map(|field| field.with(errors)));
            }
            Column::LotNumber => fields.push(field(column).required()),
            other => fields.push(field(other).optional()),
        }
    }
    let page = AddPage {
        frame: session.frame(format!("Add lot · {}", sale.title()), Section::Auctions),
        title: sale.title(),
        path: sale.path("/lots"),
        errors: ErrorSummary::of_fields(errors, &fields),
        fields,
    };
    render_page_as(status, &page)
}
