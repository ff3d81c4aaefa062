//! Signing in and signing out.

mod single_sign_on;

use std::net::IpAddr;

use askama::Template;
use axum::Router;
use axum::extract::{FromRequestParts as _, Request, State};
use axum::response::{AppendHeaders, IntoResponse as _, Response};
use http::StatusCode;
use http::header::SET_COOKIE;
use http::request::Parts;
use kit_design::error_page::{ErrorPage, sentence};
use kit_design::fields::{QueryFields, UnauthenticatedForm};
use kit_design::form_field::FormField;
use kit_design::frame::{Frame, render_page, render_page_as};
use kit_design::site::own_path;
use kit_http::page_routes::{form, get, post};
use kit_runtime::vault::Secret;
use platform_core::PlatformError;
use platform_core::users::{Client, Refusal, SignIn, SignedIn};

use crate::access::{Need, Page};
use crate::admin::Admin;
use crate::page_error::PageError;
use crate::session::Session;

/// Seconds for which a browser keeps the token of a device: 400 days, which is the most that browsers allow.
const DEVICE_S: i64 = 400 * 24 * 3_600;

pub(crate) const PAGES: &[Page] = &[("POST", "/sign-out", Need::SignedIn)];

pub(crate) fn router() -> Router<Admin> {
    Router::new()
        .route("/sign-in", form(page, sign_in))
        .route(single_sign_on::PATH, get(single_sign_on::start))
        .route(single_sign_on::CALLBACK_PATH, get(single_sign_on::finish))
        .route("/sign-out", post(sign_out))
}

#[derive(Template)]
#[template(path = "sign_in.html")]
struct SignInPage {
    frame: Frame,
    fields: [FormField; 3],
    /// Path of the page that follows.
    next: String,
    fault: String,
    has_signed_out: bool,
    /// The installation has no user yet.
    is_empty: bool,
    issuer: Option<IssuerLink>,
}

/// The button that leads to the issuer of single sign-on.
struct IssuerLink {
    /// What people call the issuer.
    name: String,
    /// Address below the administration.
    path: String,
}

impl SignInPage {
    fn new(admin: &Admin, email: &str, next: &str) -> Self {
        let site = admin.site();
        Self {
            frame: Frame::signed_out("Sign in", site, site.name),
            fields: fields(email, false, false),
            next: own_path(next).to_owned(),
            fault: String::new(),
            has_signed_out: false,
            is_empty: false,
            issuer: admin.platform().single_sign_on_name().map(|name| IssuerLink::new(name, own_path(next))),
        }
    }
}

impl IssuerLink {
    fn new(name: &str, next: &str) -> Self {
        let query = form_urlencoded::Serializer::new(String::new()).append_pair("next", next).finish();
        Self { name: name.to_owned(), path: format!("{}?{query}", single_sign_on::PATH) }
    }
}

/// The fields. `needs_code`: the password is right, and the code is missing or wrong.
fn fields(email: &str, was_refused: bool, needs_code: bool) -> [FormField; 3] {
    let mut address =
        FormField::text("email", "E-mail address", email).kind("email", "username").chars_max(254).required();
    let mut password = FormField::secret("password", "Password", "current-password");
    let code = FormField::text("code", if needs_code { "Code" } else { "Code (only with a second factor)" }, "")
        .kind("text", "one-time-code")
        .attribute("spellcheck", "false")
        .chars_max(64)
        .hint("The six digits of your authenticator, or a recovery code.");
    if was_refused {
        address = address.attribute("aria-describedby", "fault");
    }
    match email {
        "" => address = address.attribute("autofocus", ""),
        _ => password = password.attribute("autofocus", ""),
    }
    [address, password, if needs_code { code.required() } else { code }]
}

/// The form.
async fn page(State(admin): State<Admin>, QueryFields(query): QueryFields) -> Result<Response, PageError> {
    let has_signed_out = query.text("done") == "signed-out";
    let is_empty = admin.platform().needs_first_administrator().await?;
    render_page(&SignInPage { has_signed_out, is_empty, ..SignInPage::new(&admin, "", query.text("next")) })
}

/// Begins a session, or shows the form again with what is wrong.
async fn sign_in(
    State(admin): State<Admin>,
    parts: Parts,
    UnauthenticatedForm(form): UnauthenticatedForm,
) -> Result<Response, PageError> {
    let platform = admin.platform();
    let secret = |text: &str| Secret::new(text.as_bytes().to_vec());
    let wanted = SignIn {
        email: form.text("email").to_owned(),
        password: secret(form.all("password").next().unwrap_or_default()),
        code: form.non_empty("code").map(str::to_owned),
        client: client(&admin, &parts),
    };
    let refusal = match platform.sign_in(&wanted, None).await {
        Ok(signed_in) => return begin(&admin, &signed_in.fresh()?, own_path(form.text("next"))),
        Err(PlatformError::Identity(refusal)) => refusal,
        Err(PlatformError::Invalid(_)) => Refusal::SignInRefused,
        Err(error) => return Err(error.into()),
    };
    let status = match refusal {
        Refusal::TooManyAttempts { .. } => StatusCode::TOO_MANY_REQUESTS,
        _ => StatusCode::UNPROCESSABLE_ENTITY,
    };
    let page = SignInPage {
        fields: fields(&wanted.email, true, matches!(refusal, Refusal::CodeRequired | Refusal::CodeRefused)),
        fault: words(&refusal),
        ..SignInPage::new(&admin, &wanted.email, form.text("next"))
    };
    render_page_as(status, &page)
}

/// The client of a request, with the token of its device.
fn client(admin: &Admin, parts: &Parts) -> Client {
    let device_token = admin.device_cookie().read(&parts.headers).map(|token| Secret::new(token.into()));
    Client { from: client_ip(admin, parts), browser: None, device_token }
}

/// The IP address of the client, if it is known.
pub(crate) fn client_ip(admin: &Admin, parts: &Parts) -> Option<IpAddr> {
    kit_http::client_ip::resolve(parts, &admin.platform().config().trusted_proxies)
}

/// The response to a sign-in: both cookies, and the page that follows.
pub(crate) fn begin(admin: &Admin, signed_in: &SignedIn, next: &str) -> Result<Response, PageError> {
    let seconds = signed_in.session.expires_at.duration_since(admin.now()).as_secs();
    let text = |secret: &Secret| secret.expose_str().unwrap_or_default().to_owned();
    let session = admin.session_cookie().set(&text(&signed_in.token), seconds).ok_or_else(ErrorPage::internal)?;
    let device = admin.device_cookie().set(&text(&signed_in.device_token), DEVICE_S).ok_or_else(ErrorPage::internal)?;
    Ok((AppendHeaders([(SET_COOKIE, session), (SET_COOKIE, device)]), admin.redirect(next)).into_response())
}

/// Ends the session. The device stays known.
async fn sign_out(State(admin): State<Admin>, request: Request) -> Result<Response, PageError> {
    let (mut parts, _) = request.into_parts();
    // Signing out of a session that has ended already succeeds.
    if let Ok(session) = Session::from_request_parts(&mut parts, &admin).await
        && let Some(own) = session.caller.session
    {
        session.platform().end_session(&session.caller, own).await?;
    }
    let cookie = admin.session_cookie().remove().ok_or_else(ErrorPage::internal)?;
    Ok(([(SET_COOKIE, cookie)], admin.redirect("/sign-in?done=signed-out")).into_response())
}

/// The text for a refusal.
fn words(refusal: &Refusal) -> String {
    match refusal {
        Refusal::SignInRefused => {
            "The e-mail address or the password is wrong, or the user is disabled. An administrator can reset the \
             password."
                .to_owned()
        }
        Refusal::CodeRequired => {
            "Enter the password again, and the code that your authenticator shows or a recovery code.".to_owned()
        }
        Refusal::TooManyAttempts { retry_after, .. } => {
            let minutes = retry_after.as_secs().div_ceil(60);
            let unit = if minutes == 1 { "minute" } else { "minutes" };
            format!("There were too many attempts. Try again in {minutes} {unit}.")
        }
        refusal => sentence(&refusal.to_string()),
    }
}
