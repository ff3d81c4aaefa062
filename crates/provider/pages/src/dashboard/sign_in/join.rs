//! Using a link that works once: a new user joins the account, or a user chooses a new password.
//!
//! The code is in the link's fragment, which a browser never sends to a server. The page's script copies it into a form and
//! sends the form; without script, the visitor pastes the link. From then on a cookie carries the code, until it is used.

use askama::Template;
use axum::Router;
use axum::extract::State;
use axum::response::{IntoResponse as _, Response};
use http::StatusCode;
use http::header::SET_COOKIE;
use http::request::Parts;
use kit_design::error_page::{ErrorPage, sentence};
use kit_design::error_summary::ErrorSummary;
use kit_design::fields::{FieldErrors, UnauthenticatedForm};
use kit_design::form_field::FormField;
use kit_design::frame::{Frame, render_page, render_page_as};
use kit_http::page_routes::form;
use provider_core::ProviderError;
use provider_core::model::{Account, Invitation, User};
use provider_core::users::Joining;

use super::{begin, client, new_password, password, refused, signed_out};
use crate::dashboard::Dashboard;
use crate::page_error::PageError;

/// The part of a link before the code.
const FRAGMENT: &str = "#key=";
/// Seconds for which a browser keeps the code of a link.
const JOIN_S: i64 = 3_600;

pub(super) fn router() -> Router<Dashboard> {
    Router::new().route("/join", form(link_page, open_link)).route("/join/account", form(account_page, join))
}

#[derive(Template)]
#[template(path = "dashboard/sign_in/link.html")]
struct LinkPage {
    frame: Frame,
    link: FormField,
    errors: ErrorSummary,
}

impl LinkPage {
    fn new(dashboard: &Dashboard, fault: impl Into<String>) -> Self {
        let link = FormField::link("Link", fault);
        let errors = ErrorSummary::beside([&link]).heading("The link was not opened");
        Self { frame: signed_out(dashboard, "Open your link"), link, errors }
    }
}

#[derive(Template)]
#[template(path = "dashboard/sign_in/join.html")]
struct JoinPage {
    frame: Frame,
    account: String,
    /// Tells accounts of one name apart.
    account_id: String,
    role: &'static str,
    role_description: &'static str,
    /// E-mail address of the user who chooses a new password; none for a new user.
    existing: Option<String>,
    fields: Vec<FormField>,
    errors: ErrorSummary,
}

impl JoinPage {
    fn new(dashboard: &Dashboard, invitation: &Invitation, account: &Account, user: Option<&User>) -> Self {
        let title = if user.is_some() { "Choose a new password" } else { "Join the account" };
        Self {
            frame: signed_out(dashboard, title),
            account: account.name.clone(),
            account_id: account.id.to_string(),
            role: invitation.role.title(),
            role_description: invitation.role.description(),
            existing: user.map(|user| user.email.clone()),
            fields: Vec::new(),
            errors: ErrorSummary::default(),
        }
        .filled("", "", &FieldErrors::default())
    }

    /// The page with the typed values and their errors. A user who chooses a new password has a name already.
    fn filled(self, name: &str, email: &str, errors: &FieldErrors) -> Self {
        let name = FormField::text("name", "Your name", name).kind("text", "name").chars_max(100).required();
        let email = FormField::text("email", "E-mail address", email)
            .kind("email", "username")
            .chars_max(254)
            .required()
            .hint("You sign in with it.");
        let own = if self.existing.is_some() { Vec::new() } else { vec![name, email] };
        let fields = own.into_iter().chain([new_password("Password")]);
        let fields: Vec<FormField> = fields.map(|field| field.with(errors)).collect();
        Self { errors: ErrorSummary::of_fields(errors, &fields), fields, ..self }
    }
}

/// The page that a link opens.
async fn link_page(State(dashboard): State<Dashboard>) -> Result<Response, PageError> {
    render_page(&LinkPage::new(&dashboard, ""))
}

/// Takes the code of a link.
async fn open_link(
    State(dashboard): State<Dashboard>,
    UnauthenticatedForm(form): UnauthenticatedForm,
) -> Result<Response, PageError> {
    let text = form.text("key");
    let code = text.split_once(FRAGMENT).map_or(text, |(_, code)| code);
    if let Err(error) = dashboard.provider().invitation(code).await {
        let (status, fault) = refused(error)?;
        return render_page_as(status, &LinkPage::new(&dashboard, fault));
    }
    let cookie = dashboard.cookies().join.set(code, JOIN_S).ok_or_else(ErrorPage::internal)?;
    Ok(([(SET_COOKIE, cookie)], dashboard.redirect("/join/account")).into_response())
}

/// The form of a new user, or of a new password.
async fn account_page(State(dashboard): State<Dashboard>, parts: Parts) -> Result<Response, PageError> {
    let Some(code) = dashboard.cookies().join.read(&parts.headers) else {
        return Ok(dashboard.redirect("/join").into_response());
    };
    match dashboard.provider().invitation(code).await {
        Ok((invitation, account, user)) => {
            render_page(&JoinPage::new(&dashboard, &invitation, &account, user.as_ref()))
        }
        Err(error) => {
            let (status, fault) = refused(error)?;
            render_page_as(status, &LinkPage::new(&dashboard, fault))
        }
    }
}

/// Uses the code: the user is signed in.
async fn join(
    State(dashboard): State<Dashboard>,
    parts: Parts,
    UnauthenticatedForm(form): UnauthenticatedForm,
) -> Result<Response, PageError> {
    let Some(code) = dashboard.cookies().join.read(&parts.headers) else {
        return Ok(dashboard.redirect("/join").into_response());
    };
    let (name, email) = (form.text("name").to_owned(), form.text("email").to_owned());
    let joining = Joining {
        name: name.clone(),
        email: email.clone(),
        password: password(&form, "password"),
        client: client(&dashboard, &parts),
    };
    let error = match dashboard.provider().join(code, joining).await {
        Ok(signed_in) => return begin(&dashboard, &signed_in, "/"),
        Err(error) => error,
    };
    // The code may have been used or withdrawn meanwhile.
    let (invitation, account, user) = match dashboard.provider().invitation(code).await {
        Ok(found) => found,
        Err(error) => {
            let (status, fault) = refused(error)?;
            return render_page_as(status, &LinkPage::new(&dashboard, fault));
        }
    };
    let page = JoinPage::new(&dashboard, &invitation, &account, user.as_ref());
    let mut errors = FieldErrors::default();
    let status = match error {
        ProviderError::Validation(faults) => {
            for fault in faults {
                errors.add(fault.loc.last().map_or("", |field| field).to_owned(), fault.msg);
            }
            StatusCode::UNPROCESSABLE_ENTITY
        }
        ProviderError::Conflict { code: "email_taken", detail } => {
            errors.add("email", sentence(&detail));
            StatusCode::UNPROCESSABLE_ENTITY
        }
        error => {
            let (status, fault) = refused(error)?;
            errors.add("", fault);
            status
        }
    };
    render_page_as(status, &page.filled(&name, &email, &errors))
}
