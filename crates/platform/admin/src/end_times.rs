//! The ends of a timed auction's lots: planned anew or shifted, for all lots or a range, with the result shown before it
//! is applied.

mod pause;
mod preview;

use askama::Template;
use axum::Router;
use axum::extract::State;
use axum::response::{IntoResponse as _, Response};
use http::StatusCode;
use kit_design::error_page::ErrorPage;
use kit_design::error_summary::ErrorSummary;
use kit_design::fields::{FieldErrors, FormFields, QueryFields, SubmittedForm};
use kit_design::form_field::FormField;
use kit_design::frame::{Frame, render_page_as};
use kit_http::page_routes::form;
use platform_core::Scope;
use platform_core::sales::auctions::move_ends::{MoveEnds, NewEnds};
use platform_rules::edit::Plan;
use platform_rules::{AuctionKind, Stagger};

use self::preview::Preview;
use crate::access::{Need, Page};
use crate::admin::Admin;
use crate::lots::range;
use crate::page_error::PageError;
use crate::sale::refusal;
use crate::sale::{Head, Sale, Tab};
use crate::session::{PathIds, Session};

/// The pages of this module with the scope that each requires.
pub(crate) const PAGES: &[Page] = &[
    ("GET", "/auctions/{auction}/ends", Need::Has(Scope::AuctionsRead)),
    ("POST", "/auctions/{auction}/ends", Need::Has(Scope::AuctionsWrite)),
    ("GET", "/auctions/{auction}/ends/pause", Need::Has(Scope::AuctionsWrite)),
    ("POST", "/auctions/{auction}/ends/pause", Need::Has(Scope::AuctionsWrite)),
];

pub(crate) fn router() -> Router<Admin> {
    Router::new()
        .route("/auctions/{auction}/ends", form(page, apply))
        .route("/auctions/{auction}/ends/pause", form(pause::page, pause::apply))
}

#[derive(Template)]
#[template(path = "end_times.html")]
struct EndTimesPage {
    frame: Frame,
    head: Head,
    plan: Vec<FormField>,
    shift: Vec<FormField>,
    errors: ErrorSummary,
    preview: Option<Preview>,
    /// The fields of the shown preview, which applying it sends again.
    entered: Vec<(&'static str, String)>,
    version: i64,
    is_timed: bool,
    may_write: bool,
    /// The auction is in RECONCILIATION or ARCHIVED: no end moves.
    is_over: bool,
}

/// Fields of both forms.
const FIELDS: &[&str] = &["do", "endsAt", "staggerSeconds", "staggerItems", "minutes", "range", "reason"];

/// The forms, and the result of the one that was sent.
async fn page(
    session: Session,
    PathIds([uuid]): PathIds<1>,
    QueryFields(query): QueryFields,
) -> Result<Response, PageError> {
    let sale = Sale::load(&session, uuid).await?;
    let mut errors = FieldErrors::default();
    let mut preview = None;
    if !query.text("do").is_empty()
        && let Some((wanted, unknown)) = wanted(&session, &sale, &query, &mut errors).await?
    {
        preview = Some(Preview::of(&session, &sale, &wanted, unknown).await?);
    }
    let status = if errors.is_empty() { StatusCode::OK } else { StatusCode::UNPROCESSABLE_ENTITY };
    show(&session, &sale, &query, (preview, &errors), status)
}

/// Moves the ends as the preview showed it.
async fn apply(
    session: Session,
    State(admin): State<Admin>,
    PathIds([uuid]): PathIds<1>,
    SubmittedForm(form): SubmittedForm,
) -> Result<Response, PageError> {
    let sale = Sale::load(&session, uuid).await?;
    let mut errors = FieldErrors::default();
    if let Some((wanted, _)) = wanted(&session, &sale, &form, &mut errors).await? {
        let version = form.text("version").parse().ok();
        match session.platform().move_ends(&session.caller, uuid, &wanted, version, None).await {
            Ok(_) => return Ok(admin.redirect(&sale.path("/ends?done=ends")).into_response()),
            Err(error) => refusal::add_to(&mut errors, error)?,
        }
    }
    show(&session, &sale, &form, (None, &errors), StatusCode::CONFLICT)
}

/// What the form asks for, with lot numbers that no lot has; none with an error.
async fn wanted(
    session: &Session,
    sale: &Sale,
    form: &FormFields,
    errors: &mut FieldErrors,
) -> Result<Option<(MoveEnds, Vec<String>)>, PageError> {
    let numbers = match range::parse(form.text("range")) {
        Ok(numbers) => numbers,
        Err(wrong) => {
            errors.add("range", wrong);
            return Ok(None);
        }
    };
    let (found, unknown) = range::find(session, sale.auction.uuid, &numbers).await?;
    if found.is_empty() && !numbers.is_empty() {
        errors.add("range", "No lot has these numbers.");
    }
    let items = (!numbers.is_empty()).then(|| found.iter().map(|item| item.uuid).collect());
    let ends = if form.text("do") == "shift" { shift(form, errors) } else { plan(sale, form, errors) };
    let reason = form.non_empty("reason").map(str::to_owned);
    let moved = |ends| (MoveEnds { ends, items, reason }, unknown);
    Ok(ends.filter(|_| errors.is_empty()).map(moved))
}

fn shift(form: &FormFields, errors: &mut FieldErrors) -> Option<NewEnds> {
    let minutes: Option<i64> = form.text("minutes").parse().ok().filter(|minutes| *minutes != 0);
    if minutes.is_none() {
        errors.add("minutes", "Write a whole number of minutes other than 0.");
    }
    minutes.map(|minutes| NewEnds::Shift { seconds: minutes.saturating_mul(60) })
}

fn plan(sale: &Sale, form: &FormFields, errors: &mut FieldErrors) -> Option<NewEnds> {
    let ends_at = match sale.zone.parse(form.text("endsAt"), sale.auction.ends_at) {
        Ok(Some(ends_at)) => Some(ends_at),
        Ok(None) => {
            errors.add("endsAt", "Write the end of the first lots.");
            None
        }
        Err(wrong) => {
            errors.add("endsAt", wrong);
            None
        }
    };
    let mut whole = |name: &str| match form.text(name) {
        "" => None,
        text => match text.parse::<u32>() {
            Ok(number) => Some(number),
            Err(_) => {
                errors.add(name, "Write a whole number.");
                None
            }
        },
    };
    let (seconds, items) = (whole("staggerSeconds"), whole("staggerItems"));
    let stagger = seconds.filter(|seconds| *seconds > 0);
    let stagger = stagger.map(|seconds| Stagger { seconds, items: items.unwrap_or(1).max(1) });
    ends_at.map(|ends_at| NewEnds::Plan(Plan { ends_at, stagger }))
}

fn show(
    session: &Session,
    sale: &Sale,
    form: &FormFields,
    (preview, errors): (Option<Preview>, &FieldErrors),
    status: StatusCode,
) -> Result<Response, PageError> {
    if sale.auction.kind != AuctionKind::Timed {
        return Err(ErrorPage::not_found().into());
    }
    let is_shift = form.text("do") == "shift";
    let own = |of_shift: bool, name: &str, default: String| {
        if form.text("do").is_empty() || is_shift != of_shift { default } else { form.text(name).to_owned() }
    };
    let stagger = sale.auction.stagger;
    let number = |value: Option<u32>| value.map(|value| value.to_string()).unwrap_or_default();
    let range_hint = "Empty: all lots and the closing time of the auction.";
    let reason_hint = "Needed while lots are live. Kept with your name.";
    // Each name is an id once on the page, so the fields of the second form have a prefix in their id.
    let plan = vec![
        FormField::time(
            "endsAt",
            "First lots end",
            own(false, "endsAt", sale.zone.optional_field(sale.auction.ends_at)),
        ),
        FormField::text(
            "staggerSeconds",
            "Seconds between ends",
            own(false, "staggerSeconds", number(stagger.map(|stagger| stagger.seconds))),
        )
        .optional()
        .hint("Empty: all end together."),
        FormField::text(
            "staggerItems",
            "Lots that end together",
            own(false, "staggerItems", number(stagger.map(|stagger| stagger.items))),
        ),
        FormField::text("range", "Lots", own(false, "range", String::new())).optional().hint(range_hint),
        FormField::text("reason", "Reason", own(false, "reason", String::new())).hint(reason_hint),
    ];
    let shift = vec![
        FormField::text("minutes", "Minutes later", own(true, "minutes", "10".into()))
            .hint("A negative number moves ends earlier, before the sale is live."),
        FormField::text("range", "Lots", own(true, "range", String::new()))
            .optional()
            .hint(range_hint)
            .id("shift-range"),
        FormField::text("reason", "Reason", own(true, "reason", String::new())).hint(reason_hint).id("shift-reason"),
    ];
    let none = FieldErrors::default();
    let errors_of = |of_shift: bool| if is_shift == of_shift { errors } else { &none };
    let plan: Vec<FormField> = plan.into_iter().map(|field| field.with(errors_of(false))).collect();
    let shift: Vec<FormField> = shift.into_iter().map(|field| field.with(errors_of(true))).collect();
    let page = EndTimesPage {
        frame: sale.frame(session, "End times", form),
        head: sale.head(session, Tab::Ends),
        errors: ErrorSummary::of_fields(errors, plan.iter().chain(&shift)),
        plan,
        shift,
        preview,
        entered: FIELDS.iter().map(|name| (*name, form.text(name).to_owned())).collect(),
        version: sale.auction.version,
        is_timed: sale.auction.kind == AuctionKind::Timed,
        may_write: session.may(Scope::AuctionsWrite),
        is_over: sale.auction.require_open().is_err(),
    };
    render_page_as(status, &page)
}
