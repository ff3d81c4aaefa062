//! Setting up the first administrator of an empty installation, with the one-time code that the server has shown.

use askama::Template;
use axum::Router;
use axum::extract::State;
use axum::response::{IntoResponse as _, Response};
use http::StatusCode;
use http::request::Parts;
use kit_design::error_summary::ErrorSummary;
use kit_design::fields::{FormFields, UnauthenticatedForm};
use kit_design::form_field::FormField;
use kit_design::frame::{Frame, render_page_as};
use kit_http::page_routes::form;
use platform_core::PlatformError;
use platform_core::users::{Client, FirstAdministrator, SignIn, UserRefusal};

use crate::account::password::{chosen_password, secret};
use crate::admin::Admin;
use crate::form_page::Refused;
use crate::page_error::PageError;
use crate::sign_in;

pub(crate) fn router() -> Router<Admin> {
    Router::new().route("/set-up", form(page, create))
}

#[derive(Template)]
#[template(path = "set_up.html")]
struct SetUpPage {
    frame: Frame,
    errors: ErrorSummary,
    fields: Vec<FormField>,
}

fn show(admin: &Admin, form: &FormFields, refused: &Refused) -> Result<Response, PageError> {
    let fault = |field| refused.of(field);
    let fields = vec![
        FormField::secret("code", "One-time code", "off")
            .hint("The server printed it when it started, or the path of the file that has it.")
            .fault(fault("code")),
        FormField::text("email", "E-mail address", form.text("email"))
            .chars_max(254)
            .required()
            .kind("email", "username")
            .fault(fault("email")),
        FormField::secret("password", "Password", "new-password")
            .hint("At least 12 characters. Not a common password, and not your e-mail address.")
            .fault(fault("password")),
        FormField::secret("repeated", "Repeat the password", "new-password").fault(fault("repeated")),
    ];
    let site = admin.site();
    let frame = Frame::signed_out("Set up the first administrator", site, site.name);
    let errors = ErrorSummary::of_fields(&refused.errors, &fields);
    render_page_as(refused.status, &SetUpPage { frame, errors, fields })
}

/// The form; the sign-in page when the installation has a user.
async fn page(State(admin): State<Admin>) -> Result<Response, PageError> {
    if !admin.platform().needs_first_administrator().await? {
        return Ok(admin.redirect("/sign-in").into_response());
    }
    show(&admin, &FormFields::default(), &Refused { status: StatusCode::OK, ..Refused::default() })
}

/// Creates the administrator and signs them in.
async fn create(
    State(admin): State<Admin>,
    parts: Parts,
    UnauthenticatedForm(form): UnauthenticatedForm,
) -> Result<Response, PageError> {
    let platform = admin.platform();
    let (email, from) = (form.text("email").to_owned(), sign_in::client_ip(&admin, &parts));
    let password = chosen_password(&form, "password");
    let new = FirstAdministrator { code: secret(&form, "code"), email: email.clone(), password, from };
    match platform.create_first_administrator(&new).await {
        Ok(_) => {}
        Err(error @ PlatformError::User(UserRefusal::SetupCodeRefused)) => {
            return show(&admin, &form, &Refused::by_page("code", &error.to_string()));
        }
        Err(error) => return show(&admin, &form, &Refused::from(error, &[])?),
    }
    let credentials =
        SignIn { email, password: new.password.password, code: None, client: Client { from, ..Client::default() } };
    let signed_in = platform.sign_in(&credentials, None).await?.fresh()?;
    sign_in::begin(&admin, &signed_in, "/?done=set-up")
}
