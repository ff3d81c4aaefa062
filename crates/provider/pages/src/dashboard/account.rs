//! Settings of the account: its name, and how its App Portal looks and where it may be embedded.

use askama::Template;
use axum::Router;
use axum::response::{IntoResponse as _, Response};
use axum::routing::{get, post};
use http::header::{CACHE_CONTROL, CONTENT_TYPE};
use kit_design::error_page::ErrorPage;
use kit_design::fields::{FieldErrors, QueryFields, SubmittedForm, UploadForm};
use kit_design::frame::{Frame, render_page, render_page_as};
use provider_core::model::Account;
use provider_core::model::Role;
use provider_core::{LOGO_BYTES_MAX, LogoInput, PortalSettingsInput};

use super::Dashboard;
use super::access::Page;
use super::form_errors::{form_errors, notice};
use super::session::{DashboardSession, Section};
use crate::page_error::PageError;

pub(super) const PAGES: &[Page] = &[
    ("GET", "/account", Role::Viewer),
    ("GET", "/account/logo", Role::Viewer),
    ("POST", "/account", Role::Admin),
    ("POST", "/account/portal", Role::Admin),
];

pub(super) fn router() -> Router<Dashboard> {
    Router::new()
        .route("/account", get(page).post(rename))
        .route("/account/logo", get(logo))
        .route("/account/portal", post(change_portal))
}

const NOTICES: &[(&str, &str)] = &[
    ("name", "The account was renamed."),
    ("portal", "The settings of the App Portal were saved. Visitors see them on their next page."),
];

#[derive(Template)]
#[template(path = "dashboard/account.html")]
struct AccountPage {
    frame: Frame,
    id: String,
    name: String,
    colour: String,
    /// The saved colour on light and on dark pages.
    shown_colours: Option<(String, String)>,
    origins: String,
    /// Version of the logo, when there is one.
    logo: Option<String>,
    logo_kib_max: usize,
    may_manage: bool,
    errors: FieldErrors,
    others: Vec<String>,
}

impl AccountPage {
    async fn new(session: &DashboardSession, errors: FieldErrors) -> Result<Self, PageError> {
        let settings = session.provider().portal_settings(&session.account.id).await?;
        Ok(Self {
            frame: session.frame("Account settings", Section::Account),
            id: session.account.id.to_string(),
            name: session.account.name.clone(),
            colour: settings.colour.map_or_else(String::new, |colour| colour.to_string()),
            shown_colours: settings.colour.map(|colour| (colour.to_string(), colour.on_dark_pages().to_string())),
            origins: settings.embed_origins.join("\n"),
            logo: settings.logo_version,
            logo_kib_max: LOGO_BYTES_MAX / 1_024,
            may_manage: session.may(Role::Admin),
            others: errors.remaining(&["name", "colour", "embedOrigins", "logo"]),
            errors,
        })
    }
}

/// The settings.
async fn page(session: DashboardSession, QueryFields(query): QueryFields) -> Result<Response, PageError> {
    let mut page = AccountPage::new(&session, FieldErrors::default()).await?;
    page.frame.notice = notice(&query, NOTICES);
    render_page(&page)
}

/// Renames the account.
async fn rename(session: DashboardSession, SubmittedForm(form): SubmittedForm) -> Result<Response, PageError> {
    let name = form.text("name").to_owned();
    let account = Account { name: name.clone(), ..session.account.clone() };
    match session.provider().change_account(&session.caller, account).await {
        Ok(()) => Ok(session.dashboard.redirect("/account?done=name").into_response()),
        Err(error) => {
            let (status, errors) = form_errors(error)?;
            render_page_as(status, &AccountPage { name, ..AccountPage::new(&session, errors).await? })
        }
    }
}

/// Changes colour, logo and embedding origins.
async fn change_portal(session: DashboardSession, form: UploadForm) -> Result<Response, PageError> {
    let (colour, origins) = (form.fields.text("colour").to_owned(), form.fields.text("origins").to_owned());
    let logo = match form.file("logo") {
        Some(file) => LogoInput::File(file.to_vec()),
        None if form.fields.text("remove-logo") == "yes" => LogoInput::Remove,
        None => LogoInput::Keep,
    };
    let embed_origins = origins.lines().map(str::to_owned).collect();
    let input = PortalSettingsInput { colour: colour.clone(), embed_origins, logo };
    match session.provider().change_portal_settings(&session.caller, input).await {
        Ok(_) => Ok(session.dashboard.redirect("/account?done=portal").into_response()),
        Err(error) => {
            let (status, errors) = form_errors(error)?;
            render_page_as(status, &AccountPage { colour, origins, ..AccountPage::new(&session, errors).await? })
        }
    }
}

/// The logo.
async fn logo(session: DashboardSession) -> Result<Response, PageError> {
    let logo = session.provider().portal_logo(&session.account.id).await?.ok_or_else(ErrorPage::not_found)?;
    let headers = [(CONTENT_TYPE, logo.media_type.media_type()), (CACHE_CONTROL, "private, max-age=3600")];
    Ok((headers, logo.bytes).into_response())
}
