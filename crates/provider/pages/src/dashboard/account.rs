//! Settings of the account: its name, and how its App Portal looks and where it may be embedded.

use askama::Template;
use axum::Router;
use axum::response::{IntoResponse as _, Response};
use http::header::{CACHE_CONTROL, CONTENT_TYPE};
use kit_design::error_page::ErrorPage;
use kit_design::error_summary::ErrorSummary;
use kit_design::fields::{FieldErrors, QueryFields, SubmittedForm, UploadForm};
use kit_design::form_field::FormField;
use kit_design::frame::{Frame, render_page, render_page_as};
use kit_http::page_routes::{form, get, post};
use provider_core::model::Account;
use provider_core::model::Role;
use provider_core::uid::NAME_CHARS_MAX;
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
        .route("/account", form(page, rename))
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
    name: FormField,
    colour: FormField,
    /// The saved colour on light and on dark pages.
    shown_colours: Option<(String, String)>,
    origins: FormField,
    /// Version of the logo, when there is one.
    logo: Option<String>,
    logo_field: FormField,
    may_manage: bool,
    errors: ErrorSummary,
}

/// What the user typed; the saved values stand for the others.
#[derive(Default)]
struct Typed {
    name: Option<String>,
    colour: Option<String>,
    origins: Option<String>,
}

impl AccountPage {
    async fn new(session: &DashboardSession, typed: Typed, errors: FieldErrors) -> Result<Self, PageError> {
        let errors = errors.renamed("embedOrigins", "origins");
        let settings = session.provider().portal_settings(&session.account.id).await?;
        let may_manage = session.may(Role::Admin);
        let shown = |field: FormField| {
            let field = field.with(&errors);
            if may_manage { field } else { field.attribute("readonly", "") }
        };
        let saved_colour = || settings.colour.map_or_else(String::new, |colour| colour.to_string());
        let name =
            FormField::text("name", "Name of the account", typed.name.unwrap_or_else(|| session.account.name.clone()))
                .chars_max(NAME_CHARS_MAX)
                .required();
        let colour =
            FormField::text("colour", "Colour of links and buttons", typed.colour.unwrap_or_else(saved_colour))
                .optional()
                .chars_max(7)
                .attribute("class", "short")
                .attribute("spellcheck", "false")
                .attribute("placeholder", "#0d6b57")
                .hint(
                    "# and six hexadecimal digits, such as #0d6b57. White text on it, and it on a light page, need a \
                     contrast of 4.5:1. Dark pages get a lighter shade.",
                );
        let origins = typed.origins.unwrap_or_else(|| settings.embed_origins.join("\n"));
        let origins = FormField::area("origins", "Origins that may embed the portal", origins)
            .optional()
            .lines(4)
            .attribute("spellcheck", "false")
            .hint(
                "One on each line: https://, the host, and the port if it is not 443, such as \
                 https://console.example.com. At most 20. Without an origin no page can embed it.",
            );
        let logo_field = FormField::file("logo", "Logo", "image/png,image/jpeg,image/webp").optional().hint(format!(
            "PNG, JPEG or WebP with at most {} KiB. It is shown 26 pixels high, on light and dark pages.",
            LOGO_BYTES_MAX / 1_024
        ));
        let [name, colour, logo_field, origins] = [name, colour, logo_field, origins].map(shown);
        Ok(Self {
            errors: ErrorSummary::of_fields(&errors, [&name, &colour, &logo_field, &origins]),
            name,
            colour,
            logo_field,
            origins,
            may_manage,
            frame: session.frame("Account settings", Section::Account),
            id: session.account.id.to_string(),
            shown_colours: settings.colour.map(|colour| (colour.to_string(), colour.on_dark_pages().to_string())),
            logo: settings.logo_version,
        })
    }
}

/// The settings.
async fn page(session: DashboardSession, QueryFields(query): QueryFields) -> Result<Response, PageError> {
    let mut page = AccountPage::new(&session, Typed::default(), FieldErrors::default()).await?;
    page.frame = page.frame.with_notice(notice(&query, NOTICES));
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
            let typed = Typed { name: Some(name), ..Typed::default() };
            render_page_as(status, &AccountPage::new(&session, typed, errors).await?)
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
            let typed = Typed { colour: Some(colour), origins: Some(origins), ..Typed::default() };
            render_page_as(status, &AccountPage::new(&session, typed, errors).await?)
        }
    }
}

/// The logo.
async fn logo(session: DashboardSession) -> Result<Response, PageError> {
    let logo = session.provider().portal_logo(&session.account.id).await?.ok_or_else(ErrorPage::not_found)?;
    let headers = [(CONTENT_TYPE, logo.media_type.media_type()), (CACHE_CONTROL, "private, max-age=3600")];
    Ok((headers, logo.bytes).into_response())
}
