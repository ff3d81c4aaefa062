//! Copies an auction, to hold it again.

use askama::Template;
use axum::extract::State;
use axum::response::{IntoResponse as _, Response};
use http::StatusCode;
use kit_design::error_summary::ErrorSummary;
use kit_design::fields::{FieldErrors, SubmittedForm};
use kit_design::form_field::{Choice, FormField};
use kit_design::frame::{Frame, render_page_as};
use platform_core::sales::auctions::copy::{AuctionCopy, CopiedItems};
use platform_core::sales::auctions::shift::Shift;

use crate::admin::Admin;
use crate::page_error::PageError;
use crate::sale::Sale;
use crate::sale::writable;
use crate::sale::{labels, refusal};
use crate::session::{PathIds, Section, Session};

#[derive(Template)]
#[template(path = "auctions/copy.html")]
struct CopyPage {
    frame: Frame,
    title: String,
    dates: String,
    path: String,
    fields: Vec<FormField>,
    errors: ErrorSummary,
}

/// The form.
pub(super) async fn page(session: Session, PathIds([uuid]): PathIds<1>) -> Result<Response, PageError> {
    let sale = writable(&session, uuid).await?;
    let values = (sale.title(), "7".to_owned(), "all".to_owned());
    show(&session, &sale, values, &FieldErrors::default(), StatusCode::OK)
}

/// Copies the auction, or shows the form again with what is wrong.
pub(super) async fn copy(
    session: Session,
    State(admin): State<Admin>,
    PathIds([uuid]): PathIds<1>,
    SubmittedForm(form): SubmittedForm,
) -> Result<Response, PageError> {
    let mut errors = FieldErrors::default();
    let days: Option<i64> = form.text("shiftDays").parse().ok();
    if days.is_none() {
        errors.add("shiftDays", "Write a whole number of days.");
    }
    if let Some(days) = days {
        let items = if form.text("items") == "none" { CopiedItems::None } else { CopiedItems::All };
        let wanted = AuctionCopy { title: form.non_empty("title").map(str::to_owned), shift: Shift::Days(days), items };
        match session.platform().copy_auction(&session.caller, uuid, &wanted, None).await {
            Ok(outcome) => {
                let copied = outcome.fresh()?.auction.uuid;
                return Ok(admin.redirect(&format!("/auctions/{copied}?done=copied")).into_response());
            }
            Err(error) => refusal::add_to(&mut errors, error)?,
        }
    }
    let sale = writable(&session, uuid).await?;
    let values = (form.text("title").to_owned(), form.text("shiftDays").to_owned(), form.text("items").to_owned());
    show(&session, &sale, values, &errors, StatusCode::UNPROCESSABLE_ENTITY)
}

fn show(
    session: &Session,
    sale: &Sale,
    (title, days, items): (String, String, String),
    errors: &FieldErrors,
    status: StatusCode,
) -> Result<Response, PageError> {
    let all = format!("{}, without bids and results", labels::count(sale.counts.total, "lot", "lots"));
    let choices = vec![Choice::of("all", all, &items), Choice::of("none", "No lots", &items)];
    let fields = vec![
        FormField::text("title", "Title", title).required(),
        FormField::text("shiftDays", "Days later", days).hint("All dates move by this, to the same time of day."),
        FormField::select("items", "Lots", choices),
    ];
    let fields: Vec<FormField> = fields.into_iter().map(|field| field.with(errors)).collect();
    let page = CopyPage {
        frame: session.frame(format!("Copy · {}", sale.title()), Section::Auctions),
        title: sale.title(),
        dates: sale.dates(),
        path: sale.path(""),
        errors: ErrorSummary::of_fields(errors, &fields),
        fields,
    };
    render_page_as(status, &page)
}
