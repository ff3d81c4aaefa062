//! Using an invitation: the invited person chooses a password and is signed in.
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
use kit_design::cookie::Cookie;
use kit_design::error_page::{ErrorPage, sentence};
use kit_design::error_summary::ErrorSummary;
use kit_design::fields::{FormFields, UnauthenticatedForm};
use kit_design::form_field::{Choice, FormField};
use kit_design::frame::{Frame, render_page, render_page_as};
use kit_http::page_routes::form;
use platform_core::port::Invitation;
use platform_core::users::{Client, Refusal, SignIn};
use platform_core::{PlatformError, Role};

use crate::account::password::chosen_password;
use crate::admin::Admin;
use crate::form_page::Refused;
use crate::labels;
use crate::page_error::PageError;
use crate::sign_in::{self, client_ip};

/// Seconds for which a browser keeps the code of a link.
const JOIN_S: i64 = 3_600;

pub(crate) fn router() -> Router<Admin> {
    Router::new().route("/join", form(link_page, open_link)).route("/join/account", form(account_page, join))
}

#[derive(Template)]
#[template(path = "join/link.html")]
struct LinkPage {
    frame: Frame,
    link: FormField,
    errors: ErrorSummary,
}

impl LinkPage {
    fn new(admin: &Admin, fault: &str) -> Self {
        let link = FormField::link("Link", fault);
        let errors = ErrorSummary::beside([&link]).heading("The invitation was not opened");
        Self { frame: frame(admin, "Open your invitation"), link, errors }
    }
}

#[derive(Template)]
#[template(path = "join/account.html")]
struct AccountPage {
    frame: Frame,
    email: String,
    role: &'static str,
    meaning: &'static str,
    errors: ErrorSummary,
    fields: Vec<FormField>,
}

fn frame(admin: &Admin, title: &str) -> Frame {
    let site = admin.site();
    Frame::signed_out(title, site, site.name)
}

/// The cookie with the code, for the form that uses it only.
fn cookie(admin: &Admin) -> Cookie {
    let session = admin.session_cookie();
    Cookie {
        name: "lotwire_admin_join".into(),
        path: format!("{}/join", admin.site().base),
        transport: session.transport,
    }
}

/// The page for a link that is not valid; an error of another kind is an error page.
fn refused(admin: &Admin, error: PlatformError) -> Result<Response, PageError> {
    match error {
        PlatformError::Identity(refusal @ Refusal::InvitationRefused) => {
            render_page_as(StatusCode::UNPROCESSABLE_ENTITY, &LinkPage::new(admin, &sentence(&refusal.to_string())))
        }
        error => Err(error.into()),
    }
}

/// The page that a link opens.
async fn link_page(State(admin): State<Admin>) -> Result<Response, PageError> {
    render_page(&LinkPage::new(&admin, ""))
}

/// Takes the code of a link.
async fn open_link(
    State(admin): State<Admin>,
    parts: Parts,
    UnauthenticatedForm(form): UnauthenticatedForm,
) -> Result<Response, PageError> {
    let code = kit_identity::one_time::code_of_link(form.text("key"));
    if let Err(error) = admin.platform().open_invitation(code, client_ip(&admin, &parts)).await {
        return refused(&admin, error);
    }
    let cookie = cookie(&admin).set(code, JOIN_S).ok_or_else(ErrorPage::internal)?;
    Ok(([(SET_COOKIE, cookie)], admin.redirect("/join/account")).into_response())
}

fn show_account(
    admin: &Admin,
    invitation: &Invitation,
    form: &FormFields,
    refused: &Refused,
) -> Result<Response, PageError> {
    let role = Role::parse(&invitation.role).unwrap_or(Role::Viewer);
    let wants = form.text("second-factor") == "yes";
    let fields = vec![
        FormField::secret("password", "Password", "new-password")
            .hint("At least 12 characters. Not a common password, and not your e-mail address.")
            .fault(refused.of("password")),
        FormField::secret("repeated", "Repeat the password", "new-password").fault(refused.of("repeated")),
        FormField::boxes(
            "second-factor",
            "Second factor",
            vec![
                Choice::new("yes", "Set up a second factor next", wants)
                    .hint("You need an authenticator: an app that shows codes of six digits."),
            ],
        ),
    ];
    let errors = ErrorSummary::of_fields(&refused.errors, &fields);
    let page = AccountPage {
        frame: frame(admin, "Choose your password"),
        email: invitation.email.clone(),
        role: labels::role(role),
        meaning: labels::role_meaning(role),
        errors,
        fields,
    };
    render_page_as(refused.status, &page)
}

/// The form.
async fn account_page(State(admin): State<Admin>, parts: Parts) -> Result<Response, PageError> {
    let cookie = cookie(&admin);
    let Some(code) = cookie.read(&parts.headers) else { return Ok(admin.redirect("/join").into_response()) };
    match admin.platform().invitation(code).await {
        Ok(invitation) => {
            let open = Refused { status: StatusCode::OK, ..Refused::default() };
            show_account(&admin, &invitation, &FormFields::default(), &open)
        }
        Err(error) => refused(&admin, error),
    }
}

/// Creates the user and signs them in.
async fn join(
    State(admin): State<Admin>,
    parts: Parts,
    UnauthenticatedForm(form): UnauthenticatedForm,
) -> Result<Response, PageError> {
    let (platform, cookie) = (admin.platform(), cookie(&admin));
    let Some(code) = cookie.read(&parts.headers) else { return Ok(admin.redirect("/join").into_response()) };
    let invitation = match platform.invitation(code).await {
        Ok(invitation) => invitation,
        Err(error) => return refused(&admin, error),
    };
    let (chosen, from) = (chosen_password(&form, "password"), client_ip(&admin, &parts));
    let user = match platform.accept_invitation(code, &chosen, from).await {
        Ok(user) => user,
        Err(error @ PlatformError::Identity(Refusal::InvitationRefused)) => return refused(&admin, error),
        Err(error) => return show_account(&admin, &invitation, &form, &Refused::from(error, &[])?),
    };
    let client = Client { from, ..Client::default() };
    let credentials = SignIn { email: user.email, password: chosen.password, code: None, client };
    let signed_in = platform.sign_in(&credentials, None).await?.fresh()?;
    let next = if form.text("second-factor") == "yes" { "/account/second-factor" } else { "/?done=joined" };
    let mut response = sign_in::begin(&admin, &signed_in, next)?;
    if let Some(removed) = cookie.remove() {
        response.headers_mut().append(SET_COOKIE, removed);
    }
    Ok(response)
}
