//! Telephone bids on the page of the commission book: booked, changed and withdrawn. A booking of the same paddle on the
//! same lot is replaced.

use askama::Template;
use axum::response::{IntoResponse as _, Response};
use kit_design::error_page::ErrorPage;
use kit_design::error_summary::ErrorSummary;
use kit_design::fields::{FieldErrors, FormFields, SubmittedForm};
use kit_design::form_field::FormField;
use platform_core::PlatformError;
use platform_core::port::TelephoneBooking;
use platform_core::ring::NewTelephoneBooking;
use platform_rules::{Auction, Rejection};
use uuid::Uuid;

use super::{Entered, show, webcast_of};
use crate::paddles;
use crate::page_error::PageError;
use crate::room_words;
use crate::sale::refusal;
use crate::session::{PathIds, Section, Session};

/// The bookings, with the form that adds one.
#[derive(Template)]
#[template(path = "book/telephone.html")]
pub(super) struct TelephonePanel {
    path: String,
    is_open: bool,
    rows: Vec<Row>,
    fields: Vec<FormField>,
    errors: ErrorSummary,
    is_refused: bool,
}

impl askama::filters::HtmlSafe for TelephonePanel {}

struct Row {
    item: Uuid,
    lot: String,
    title: String,
    paddle: String,
    telephone: String,
    line: String,
}

/// The fields of a refused booking, with their errors.
#[derive(Default)]
pub(super) struct RefusedBooking {
    values: FormFields,
    errors: FieldErrors,
}

impl TelephonePanel {
    pub(super) async fn load(
        session: &Session,
        auction: &Auction,
        refused: &RefusedBooking,
    ) -> Result<Self, PlatformError> {
        let booked = session.platform().telephone_bookings(&session.caller, auction.uuid).await?;
        let RefusedBooking { values, errors } = refused;
        let field = |name: &'static str, label: &'static str| {
            FormField::text(name, label, values.text(name)).id(format!("telephone-{name}"))
        };
        let fields = vec![
            field("lot", "Lot").required(),
            field("paddle", "Paddle").required(),
            field("number", "Telephone number").required(),
            field("line", "Line, or who calls").hint("Such as “Line 2” or “Ann”."),
        ];
        let fields: Vec<FormField> = fields.into_iter().map(|field| field.with(errors)).collect();
        let row = |(item, booking): (platform_rules::Item, TelephoneBooking)| Row {
            item: item.uuid,
            lot: item.lot_number,
            title: item.title,
            paddle: booking.paddle,
            telephone: booking.telephone,
            line: booking.line,
        };
        Ok(Self {
            path: format!("{}/webcasts/{}/book/telephone", session.admin.site().base, auction.uuid),
            is_open: auction.require_open().is_ok(),
            rows: booked.into_iter().map(row).collect(),
            errors: ErrorSummary::of_fields(errors, &fields),
            fields,
            is_refused: !errors.is_empty(),
        })
    }

    /// True when the form shows a booking that was refused.
    pub(super) fn is_refused(&self) -> bool {
        self.is_refused
    }
}

/// The number and the line of a booking.
fn words(booking: &TelephoneBooking) -> String {
    let line = if booking.line.is_empty() { "no line" } else { &booking.line };
    format!("{}, {line}", booking.telephone)
}

/// `POST /webcasts/{webcast}/book/telephone`
pub(super) async fn book(
    session: Session,
    PathIds([webcast]): PathIds<1>,
    SubmittedForm(form): SubmittedForm,
) -> Result<Response, PageError> {
    let auction = webcast_of(&session, webcast).await?;
    let (platform, lot, mut errors) = (session.platform(), form.text("lot").trim(), FieldErrors::default());
    match platform.item_with_lot_number(&session.caller, webcast, lot).await? {
        None => errors.add("lot", format!("No lot of this sale has the number {lot}.")),
        Some(item) => {
            let text = |name: &str| form.text(name).trim().to_owned();
            if let Some(why) = paddles::advice(&session, webcast, form.text("paddle").trim()).await? {
                errors.add("paddle", why);
                return show_refused(&session, auction, form, errors).await;
            }
            let new = NewTelephoneBooking { paddle: text("paddle"), telephone: text("number"), line: text("line") };
            match platform.book_telephone_bid(&session.caller, item.uuid, &new).await {
                Ok((booked, Some(before)))
                    if (&booked.telephone, &booked.line) != (&before.telephone, &before.line) =>
                {
                    let (now, before) = (words(&booked), words(&before));
                    let said = format!(
                        "The telephone bid of paddle {} on lot {lot} was changed to {now}. It was {before}.",
                        booked.paddle
                    );
                    let entered = Entered { said: vec![said], ..Entered::default() };
                    return show(&session, auction, session.frame("Commission book", Section::Auctions), entered).await;
                }
                Ok(_) => {
                    let path = format!("/webcasts/{webcast}/book?done=telephone-booked");
                    return Ok(session.admin.redirect(&path).into_response());
                }
                Err(PlatformError::Invalid(problems)) => {
                    for problem in problems {
                        let field = problem.pointer.trim_start_matches('/').replace("telephone", "number");
                        errors.add(&field, kit_design::error_page::sentence(&problem.message));
                    }
                }
                Err(PlatformError::Rejected(Rejection::ItemNotLive { status })) => {
                    let status = room_words::word(status);
                    errors.add(
                        "lot",
                        format!("Lot {lot} is {status}. Telephone bids are booked until the lot has ended."),
                    );
                }
                Err(PlatformError::Rejected(rejection @ Rejection::BidderSuspended)) => {
                    let words = room_words::of(&rejection, "", &|minor| minor.to_string());
                    errors.add("paddle", words.unwrap_or_else(|| rejection.to_string()));
                }
                Err(error) => refusal::add_to(&mut errors, error)?,
            }
        }
    }
    show_refused(&session, auction, form, errors).await
}

/// The page with the form that was refused.
async fn show_refused(
    session: &Session,
    auction: Auction,
    form: FormFields,
    errors: FieldErrors,
) -> Result<Response, PageError> {
    let entered = Entered { telephone: RefusedBooking { values: form, errors }, ..Entered::default() };
    show(session, auction, session.frame("Commission book", Section::Auctions), entered).await
}

/// `POST /webcasts/{webcast}/book/telephone/withdraw`
pub(super) async fn withdraw(
    session: Session,
    PathIds([webcast]): PathIds<1>,
    SubmittedForm(form): SubmittedForm,
) -> Result<Response, PageError> {
    let auction = webcast_of(&session, webcast).await?;
    let item = Uuid::try_parse(form.text("item")).map_err(|_| ErrorPage::bad_request("The lot has no valid UUID."))?;
    match session.platform().withdraw_telephone_booking(&session.caller, item, form.text("paddle")).await {
        // Another person withdrew it first.
        Ok(()) | Err(PlatformError::NotFound("telephone booking")) => {
            let path = format!("/webcasts/{}/book?done=telephone-withdrawn", auction.uuid);
            Ok(session.admin.redirect(&path).into_response())
        }
        Err(error) => Err(error.into()),
    }
}
