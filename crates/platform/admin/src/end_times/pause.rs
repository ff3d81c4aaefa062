//! Pauses a timed sale or some of its lots, and resumes them, with the result shown before it is applied.

use askama::Template;
use axum::extract::State;
use axum::response::{IntoResponse as _, Response};
use http::StatusCode;
use jiff::Timestamp;
use kit_design::error_page::{ErrorPage, sentence};
use kit_design::error_summary::ErrorSummary;
use kit_design::fields::{FieldErrors, FormFields, QueryFields, SubmittedForm};
use kit_design::form_field::FormField;
use kit_design::frame::{Frame, render_page_as};
use platform_core::sales::items::pause::PausedLots;
use platform_rules::{AuctionKind, Item};
use uuid::Uuid;

use super::preview::Row;
use crate::admin::Admin;
use crate::lots::range;
use crate::page_error::PageError;
use crate::sale::labels;
use crate::sale::notified;
use crate::sale::refusal;
use crate::sale::writable;
use crate::sale::{Head, Sale, Tab};
use crate::session::{PathIds, Session};

/// Paused lots whose new ends are computed.
const COMPUTED_MAX: usize = 1_000;
const SHOWN_MAX: usize = 12;
const FIELDS: &[&str] = &["do", "range", "reason"];
/// The reason of an end of a pause without one.
const OVER: &str = "The pause is over";

#[derive(Template)]
#[template(path = "end_times/pause.html")]
struct PausePage {
    frame: Frame,
    head: Head,
    pause: Vec<FormField>,
    resume: Vec<FormField>,
    errors: ErrorSummary,
    preview: Option<Preview>,
    entered: Vec<(&'static str, String)>,
    can_resume: bool,
}

/// What a pause, or its end, will do.
struct Preview {
    heading: String,
    unknown: String,
    detail: String,
    refusal: String,
    rows: Vec<Row>,
    button: &'static str,
}

/// The forms, and the result of the one that was sent.
pub(super) async fn page(
    session: Session,
    PathIds([uuid]): PathIds<1>,
    QueryFields(query): QueryFields,
) -> Result<Response, PageError> {
    let sale = timed(&session, uuid).await?;
    let mut errors = FieldErrors::default();
    let mut preview = None;
    if !query.text("do").is_empty()
        && let Some((lots, unknown)) = lots(&session, &sale, &query, &mut errors).await?
    {
        let is_resume = query.text("do") == "resume";
        if !is_resume && query.text("reason").is_empty() {
            errors.add("reason", "Give a reason.");
        } else if is_resume {
            preview = Some(resume_preview(&session, &sale, lots.as_deref(), unknown).await?);
        } else {
            preview = Some(pause_preview(&session, &sale, lots.as_deref(), unknown).await?);
        }
    }
    let status = if errors.is_empty() { StatusCode::OK } else { StatusCode::UNPROCESSABLE_ENTITY };
    show(&session, &sale, &query, (preview, &errors), status)
}

/// Pauses or resumes the lots.
pub(super) async fn apply(
    session: Session,
    State(admin): State<Admin>,
    PathIds([uuid]): PathIds<1>,
    SubmittedForm(form): SubmittedForm,
) -> Result<Response, PageError> {
    let sale = timed(&session, uuid).await?;
    let mut errors = FieldErrors::default();
    if let Some((lots, _)) = lots(&session, &sale, &form, &mut errors).await? {
        let (platform, caller) = (session.platform(), &session.caller);
        let named = lots.as_deref().map_or(PausedLots::All, PausedLots::Named);
        let (done, notice) = if form.text("do") == "resume" {
            let reason = form.non_empty("reason").unwrap_or(OVER);
            (platform.resume_items(caller, uuid, named, reason).await, "resumed")
        } else {
            (platform.pause_items(caller, uuid, named, form.text("reason")).await, "paused")
        };
        match done {
            Ok(_) => return Ok(admin.redirect(&sale.path(&format!("/ends/pause?done={notice}"))).into_response()),
            Err(error) => refusal::add_to(&mut errors, error)?,
        }
    }
    show(&session, &sale, &form, (None, &errors), StatusCode::CONFLICT)
}

async fn timed(session: &Session, uuid: Uuid) -> Result<Sale, PageError> {
    let sale = writable(session, uuid).await?;
    if sale.auction.kind == AuctionKind::Timed { Ok(sale) } else { Err(ErrorPage::not_found().into()) }
}

/// The lots that the form names, or none for all, with numbers that no lot has; none with an error.
async fn lots(
    session: &Session,
    sale: &Sale,
    form: &FormFields,
    errors: &mut FieldErrors,
) -> Result<Option<(Option<Vec<Uuid>>, Vec<String>)>, PageError> {
    let numbers = match range::parse(form.text("range")) {
        Ok(numbers) if numbers.is_empty() => return Ok(Some((None, Vec::new()))),
        Ok(numbers) => numbers,
        Err(wrong) => {
            errors.add("range", wrong);
            return Ok(None);
        }
    };
    let (found, unknown) = range::find(session, sale.auction.uuid, &numbers).await?;
    if found.is_empty() {
        errors.add("range", "No lot has these numbers.");
        return Ok(None);
    }
    Ok(Some((Some(found.iter().map(|item| item.uuid).collect()), unknown)))
}

async fn pause_preview(
    session: &Session,
    sale: &Sale,
    lots: Option<&[Uuid]>,
    unknown: Vec<String>,
) -> Result<Preview, PageError> {
    let live = match lots {
        None => sale.counts.live,
        Some(lots) => {
            let mut live = 0;
            for uuid in lots {
                let (item, _) = session.platform().item(&session.caller, *uuid).await?;
                live += u64::from(item.status == contract::ItemStatus::Live);
            }
            live
        }
    };
    let lots = labels::count(live, "live lot", "live lots");
    let what = "events about lots that were announced before";
    Ok(Preview {
        heading: format!("Pause {lots}"),
        unknown: unknown.join(", "),
        detail: notified::words(session, sale, what).await?,
        refusal: if live == 0 { "No lot is live.".to_owned() } else { String::new() },
        rows: Vec::new(),
        button: "Pause lots",
    })
}

async fn resume_preview(
    session: &Session,
    sale: &Sale,
    lots: Option<&[Uuid]>,
    unknown: Vec<String>,
) -> Result<Preview, PageError> {
    let named = lots.map_or(PausedLots::All, PausedLots::Named);
    let paused = session.platform().paused_items(&session.caller, sale.auction.uuid, named, COMPUTED_MAX).await?;
    let mut refusal = if paused.is_empty() { "No lot is paused.".to_owned() } else { String::new() };
    let mut rows = Vec::new();
    for (item, since) in &paused {
        match row(sale, item, *since) {
            Ok(row) => rows.push(row),
            Err(wrong) if refusal.is_empty() => refusal = format!("Lot {}: {wrong}", item.lot_number),
            Err(_) => {}
        }
    }
    let more = rows.len().saturating_sub(SHOWN_MAX) as u64;
    rows.truncate(SHOWN_MAX);
    let since = paused.iter().map(|(_, since)| *since).min();
    let since = since.map(|since| format!("Paused since {}. ", sale.zone.show(since))).unwrap_or_default();
    let more =
        if more == 0 { String::new() } else { format!(" And {}.", labels::count(more, "more lot", "more lots")) };
    let count = if paused.len() == COMPUTED_MAX { "at least ".to_owned() } else { String::new() };
    Ok(Preview {
        heading: format!("Resume {count}{}", labels::count(paused.len() as u64, "paused lot", "paused lots")),
        unknown: unknown.join(", "),
        detail: format!(
            "{since}The ends below are those of a resumption now; each minute until then moves them by a minute.{more}"
        ),
        refusal,
        rows,
        button: "Resume lots",
    })
}

/// The end of a lot before, and after a resumption now.
fn row(sale: &Sale, item: &Item, since: Timestamp) -> Result<Row, String> {
    let changes = platform_rules::item::resume_after_pause(&sale.auction, item, since, OVER, sale.now);
    let mut after = item.clone();
    changes.map_err(|refused| sentence(&refused.to_string()))?.iter().for_each(|change| after.apply(change));
    let shown = |at: Option<Timestamp>| at.map_or("–".to_owned(), |at| sale.zone.show(at));
    Ok(Row {
        lot_number: item.lot_number.clone(),
        title: item.title.clone(),
        before: shown(item.effective_end_time),
        after: shown(after.effective_end_time),
    })
}

fn show(
    session: &Session,
    sale: &Sale,
    form: &FormFields,
    (preview, errors): (Option<Preview>, &FieldErrors),
    status: StatusCode,
) -> Result<Response, PageError> {
    let is_resume = form.text("do") == "resume";
    let own = |of_resume: bool, name: &str| if is_resume == of_resume { form.text(name) } else { "" };
    let hint = "Empty: the whole sale.";
    let pause = vec![
        FormField::text("range", "Lots", own(false, "range")).optional().hint(hint),
        FormField::text("reason", "Reason", own(false, "reason"))
            .required()
            .hint("Kept in the journal with your name."),
    ];
    let resume = vec![
        FormField::text("range", "Lots", own(true, "range")).optional().hint(hint).id("resume-range"),
        FormField::text("reason", "Reason", own(true, "reason")).optional().id("resume-reason"),
    ];
    let none = FieldErrors::default();
    let errors_of = |of_resume: bool| if is_resume == of_resume { errors } else { &none };
    let pause: Vec<FormField> = pause.into_iter().map(|field| field.with(errors_of(false))).collect();
    let resume: Vec<FormField> = resume.into_iter().map(|field| field.with(errors_of(true))).collect();
    let page = PausePage {
        frame: sale.frame(session, "Pause", form),
        head: sale.head(session, Tab::Ends),
        errors: ErrorSummary::of_fields(errors, pause.iter().chain(&resume)),
        pause,
        resume,
        preview,
        entered: FIELDS.iter().map(|name| (*name, form.text(name).to_owned())).collect(),
        can_resume: sale.counts.suspended > 0,
    };
    render_page_as(status, &page)
}
