//! Edits a lot's fields.

use askama::Template;
use axum::extract::State;
use axum::response::{IntoResponse as _, Response};
use http::StatusCode;
use kit_design::error_summary::ErrorSummary;
use kit_design::fields::{FieldErrors, SubmittedForm};
use kit_design::form_field::FormField;
use kit_design::frame::{Frame, render_page_as};
use platform_core::sales::items::edit::problems;
use platform_rules::item::ItemEdit;
use platform_rules::{AuctionKind, Item};

use super::columns::Column;
use super::consignors::{self, Consignors, TypedConsignor};
use super::lot;
use crate::admin::Admin;
use crate::page_error::PageError;
use crate::sale::Sale;
use crate::sale::refusal;
use crate::session::{PathIds, Section, Session};

#[derive(Template)]
#[template(path = "lots/edit.html")]
struct EditPage {
    frame: Frame,
    sale_title: String,
    sale_path: String,
    path: String,
    lot_number: String,
    version: i64,
    fields: Vec<FormField>,
    errors: ErrorSummary,
}

/// The form.
pub(super) async fn page(session: Session, PathIds([auction, item]): PathIds<2>) -> Result<Response, PageError> {
    let (sale, item) = lot::load(&session, auction, item).await?;
    let end = sale.zone.optional_field(item.end_time);
    let consignors = Consignors::of(&session, &sale, [&item]).await?;
    let value = |column: Column| column.field(&item, &sale.currency, &consignors);
    show(&session, &sale, &item, (value, end), &FieldErrors::default(), StatusCode::OK).await
}

/// Saves the fields, or shows the form again with what is wrong.
pub(super) async fn save(
    session: Session,
    State(admin): State<Admin>,
    PathIds([auction, item]): PathIds<2>,
    SubmittedForm(form): SubmittedForm,
) -> Result<Response, PageError> {
    let (sale, item) = lot::load(&session, auction, item).await?;
    let mut errors = FieldErrors::default();
    let mut edit = ItemEdit::default();
    let consignor = TypedConsignor::read(&session, &sale, &form, Some(&item)).await?;
    consignor.check(&mut errors);
    let of_form = |column: Column| if column == Column::Vendor { &consignor.value } else { form.text(column.name()) };
    for column in columns(&sale) {
        if let Err(wrong) = column.set(&mut edit, of_form(column), &sale.currency) {
            errors.add(column.name(), wrong);
            // Other fields are not compared with the present value, which the user wants to replace.
            drop(column.set(&mut edit, "", &sale.currency));
        }
    }
    if sale.auction.kind == AuctionKind::Timed {
        match sale.zone.parse(form.text("endTime"), item.end_time) {
            Ok(end) => edit.end_time = Some(end),
            Err(wrong) => errors.add("endTime", wrong),
        }
    }
    refusal::add_problems(&mut errors, problems(&sale.auction, &item, &edit));
    if errors.is_empty() {
        let version = form.text("version").parse().ok();
        match session.platform().change_item(&session.caller, item.uuid, &edit, version).await {
            Ok(_) => {
                let path = sale.path(&format!("/lots/{}?done=saved", item.uuid));
                return Ok(admin.redirect(&path).into_response());
            }
            Err(error) => refusal::add_to(&mut errors, error)?,
        }
    }
    let value = |column: Column| {
        if column == Column::Vendor { consignor.shown.clone() } else { form.text(column.name()).to_owned() }
    };
    let end = form.text("endTime").to_owned();
    show(&session, &sale, &item, (value, end), &errors, StatusCode::UNPROCESSABLE_ENTITY).await
}

/// The fields of a lot in this kind of auction.
fn columns(sale: &Sale) -> impl Iterator<Item = Column> {
    let is_timed = sale.auction.kind == AuctionKind::Timed;
    Column::ALL.into_iter().filter(move |column| is_timed || *column != Column::BuyNow)
}

async fn show(
    session: &Session,
    sale: &Sale,
    item: &Item,
    (value, end): (impl Fn(Column) -> String, String),
    errors: &FieldErrors,
    status: StatusCode,
) -> Result<Response, PageError> {
    let field = |column: Column| match column {
        Column::Title => FormField::text(column.name(), column.label(), value(column)).whole_row(),
        Column::Description => FormField::area(column.name(), column.label(), value(column)),
        amount if amount.is_amount() => {
            FormField::text(column.name(), format!("{}, {}", column.label(), sale.currency.code()), value(column))
        }
        text => FormField::text(column.name(), text.label(), value(text)),
    };
    let mut fields: Vec<FormField> = Vec::new();
    for column in columns(sale) {
        match column {
            Column::Vendor => fields.extend(consignors::fields(session, sale, &value(column), errors).await?),
            Column::LotNumber => fields.push(field(column).required()),
            other => fields.push(field(other).optional()),
        }
    }
    let mut names: Vec<&str> = columns(sale).map(Column::name).collect();
    if sale.auction.kind == AuctionKind::Timed {
        let hint =
            "Empty: the end of the auction's plan. Once the lot was on sale, move its end on the page End times.";
        fields.push(FormField::time("endTime", "End of its own", end).optional().hint(hint));
        names.push("endTime");
    }
    let fields: Vec<FormField> = fields.into_iter().map(|field| field.with(errors)).collect();
    let page = EditPage {
        frame: session.frame(format!("Edit lot {}", item.lot_number), Section::Auctions),
        sale_title: sale.title(),
        sale_path: sale.path(""),
        path: sale.path(&format!("/lots/{}", item.uuid)),
        lot_number: item.lot_number.clone(),
        version: item.version,
        errors: ErrorSummary::of_fields(errors, &fields),
        fields,
    };
    render_page_as(status, &page)
}
