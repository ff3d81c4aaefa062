//! Registers a bidder, and edits paddle, name, limit and note.

use askama::Template;
use axum::extract::State;
use axum::response::{IntoResponse as _, Response};
use http::StatusCode;
use kit_design::error_summary::ErrorSummary;
use kit_design::fields::{FieldErrors, FormFields, SubmittedForm};
use kit_design::form_field::{Choice, FormField};
use kit_design::frame::{Frame, render_page_as};
use platform_core::bidders::{NewRegistration, RegistrationPatch};
use platform_core::port::{Registration, RegistrationStatus};

use crate::admin::Admin;
use crate::paddles;
use crate::page_error::PageError;
use crate::sale::Sale;
use crate::sale::refusal;
use crate::session::{PathIds, Section, Session};

#[derive(Template)]
#[template(path = "registrations/edit.html")]
struct EditPage {
    frame: Frame,
    sale_title: String,
    path: String,
    action: &'static str,
    action_path: String,
    version: i64,
    fields: Vec<FormField>,
    errors: ErrorSummary,
}

/// The form of a new registration.
pub(super) async fn new_page(session: Session, PathIds([auction]): PathIds<1>) -> Result<Response, PageError> {
    let sale = Sale::load(&session, auction).await?;
    show(&session, &sale, None, &FormFields::default(), &FieldErrors::default(), StatusCode::OK)
}

/// Registers the bidder, or shows the form again with what is wrong.
pub(super) async fn register(
    session: Session,
    State(admin): State<Admin>,
    PathIds([auction]): PathIds<1>,
    SubmittedForm(form): SubmittedForm,
) -> Result<Response, PageError> {
    let sale = Sale::load(&session, auction).await?;
    let mut errors = FieldErrors::default();
    let optional = |name: &str| form.non_empty(name).map(str::to_owned);
    let is_pending = form.text("status") == RegistrationStatus::Pending.as_str();
    let new = NewRegistration {
        paddle: optional("paddle"),
        party: None,
        name: optional("name"),
        email: optional("email"),
        limit: limit(&sale, &form, &mut errors),
        note: optional("note"),
        status: if is_pending { RegistrationStatus::Pending } else { RegistrationStatus::Approved },
    };
    check_paddle(&session, &sale, &form, None, &mut errors).await?;
    if errors.is_empty() {
        match session.platform().register_bidder(&session.caller, auction, &new, None).await {
            Ok(_) => return Ok(admin.redirect(&sale.path("/registrations?done=registered")).into_response()),
            Err(error) => refusal::add_to(&mut errors, error)?,
        }
    }
    show(&session, &sale, None, &form, &errors, StatusCode::UNPROCESSABLE_ENTITY)
}

/// The form of a registration.
pub(super) async fn page(session: Session, PathIds([auction, id]): PathIds<2>) -> Result<Response, PageError> {
    let sale = Sale::load(&session, auction).await?;
    let found = session.platform().registration(&session.caller, (auction, id)).await?;
    let mut query = form_urlencoded::Serializer::new(String::new());
    query.append_pair("paddle", &found.paddle).append_pair("name", found.name.as_deref().unwrap_or_default());
    query.append_pair("email", found.email.as_deref().unwrap_or_default());
    query.append_pair("limit", &found.limit.map(|limit| sale.currency.plain(limit)).unwrap_or_default());
    query.append_pair("note", found.note.as_deref().unwrap_or_default());
    let values = FormFields::of_query(&query.finish())?;
    show(&session, &sale, Some(&found), &values, &FieldErrors::default(), StatusCode::OK)
}

/// Saves the fields, or shows the form again with what is wrong.
pub(super) async fn save(
    session: Session,
    State(admin): State<Admin>,
    PathIds([auction, id]): PathIds<2>,
    SubmittedForm(form): SubmittedForm,
) -> Result<Response, PageError> {
    let sale = Sale::load(&session, auction).await?;
    let found = session.platform().registration(&session.caller, (auction, id)).await?;
    let mut errors = FieldErrors::default();
    let optional = |name: &str| Some(form.non_empty(name).map(str::to_owned));
    let patch = RegistrationPatch {
        paddle: form.non_empty("paddle").map(str::to_owned),
        party: None,
        name: form.non_empty("name").map(str::to_owned),
        email: optional("email"),
        limit: Some(limit(&sale, &form, &mut errors)),
        note: optional("note"),
    };
    check_paddle(&session, &sale, &form, Some(&found.paddle), &mut errors).await?;
    if errors.is_empty() {
        let version = form.text("version").parse().ok();
        match session.platform().change_registration(&session.caller, (auction, id), &patch, version).await {
            Ok(_) => return Ok(admin.redirect(&sale.path("/registrations?done=registration")).into_response()),
            Err(error) => refusal::add_to(&mut errors, error)?,
        }
    }
    show(&session, &sale, Some(&found), &form, &errors, StatusCode::UNPROCESSABLE_ENTITY)
}

/// Asks once about a paddle that looks like a registered one. `own` is the present paddle of the registration.
async fn check_paddle(
    session: &Session,
    sale: &Sale,
    form: &FormFields,
    own: Option<&str>,
    errors: &mut FieldErrors,
) -> Result<(), PageError> {
    let Some(paddle) = form.non_empty("paddle").filter(|paddle| *paddle != form.text("confirmed")) else {
        return Ok(());
    };
    let similar = session.platform().similar_paddle(&session.caller, sale.auction.uuid, paddle).await?;
    if let Some(similar) = similar.filter(|similar| Some(similar.paddle.as_str()) != own) {
        errors.add("paddle", paddles::did_you_mean(&similar));
        errors.add("confirmed", format!("Choose “Yes” if {paddle} is another bidder."));
    }
    Ok(())
}

fn limit(sale: &Sale, form: &FormFields, errors: &mut FieldErrors) -> Option<i64> {
    let text = form.non_empty("limit")?;
    let amount = sale.currency.parse(text);
    if let Err(wrong) = &amount {
        errors.add("limit", wrong.as_str());
    }
    amount.ok()
}

fn show(
    session: &Session,
    sale: &Sale,
    registration: Option<&Registration>,
    values: &FormFields,
    errors: &FieldErrors,
    status: StatusCode,
) -> Result<Response, PageError> {
    let paddle = FormField::text("paddle", "Paddle", values.text("paddle"));
    let hint =
        if registration.is_none() { "Empty: the next number." } else { "It can change until the paddle has bid." };
    let mut fields = vec![paddle.hint(hint)];
    let asked = values.non_empty("confirmed").filter(|confirmed| *confirmed == values.text("paddle"));
    if !errors.of("confirmed").is_empty() || asked.is_some() {
        let (paddle, chosen) = (values.text("paddle"), values.text("confirmed"));
        let yes = format!("Yes, {paddle} is another bidder");
        let choices = vec![Choice::of("", "No", chosen), Choice::of(paddle, yes, chosen)];
        fields.push(FormField::select("confirmed", "Take a paddle that looks like another", choices));
    }
    fields.extend([
        FormField::text("name", "Name", values.text("name")).hint("Empty: named later."),
        FormField::text("email", "E-mail address", values.text("email")),
        FormField::text("limit", format!("Spending limit, {}", sale.currency.code()), values.text("limit"))
            .hint("What the bidder may lead and buy in this auction. Empty: no limit."),
        FormField::text("note", "Note for staff", values.text("note")),
    ]);
    if registration.is_none() {
        let chosen = values.text("status");
        let choices =
            vec![Choice::of("approved", "Approved", chosen), Choice::of("pending", "Waiting for a decision", chosen)];
        fields.push(FormField::select("status", "Status", choices));
    }
    let path = sale.path("/registrations");
    let action = if registration.is_none() { "Register bidder" } else { "Save registration" };
    let fields: Vec<FormField> = fields.into_iter().map(|field| field.with(errors)).collect();
    let page = EditPage {
        frame: session.frame(format!("{action} · {}", sale.title()), Section::Auctions),
        sale_title: sale.title(),
        action,
        action_path: registration.map_or(format!("{path}/new"), |own| format!("{path}/{}/edit", own.uuid)),
        path,
        version: registration.map_or(0, |own| own.version),
        errors: ErrorSummary::of_fields(errors, &fields),
        fields,
    };
    render_page_as(status, &page)
}
