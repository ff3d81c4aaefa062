//! Signing in and signing out.

mod join;
mod single_sign_on;

pub(super) use single_sign_on::link as link_profile;

use askama::Template;
use axum::Router;
use axum::extract::{FromRequestParts as _, Request, State};
use axum::response::{AppendHeaders, IntoResponse as _, Response};
use http::StatusCode;
use http::header::{SET_COOKIE, USER_AGENT};
use http::request::Parts;
use kit_design::error_page::{ErrorPage, sentence};
use kit_design::fields::{FormFields, QueryFields, UnauthenticatedForm};
use kit_design::form_field::FormField;
use kit_design::frame::{Frame, render_page, render_page_as};
use kit_design::site::own_path;
use kit_http::page_routes::{form, get, post};
use kit_runtime::vault::Secret;
use provider_core::model::Role;
use provider_core::users::{Client, SignIn, SignInResult, SignedIn};
use provider_core::{PageRequest, ProviderError};

use super::Dashboard;
use super::access::Page;
use super::session::DashboardSession;
use crate::page_error::PageError;

/// Seconds for which a browser keeps the token of a device: 400 days, which is the most that browsers allow.
const DEVICE_S: i64 = 400 * 24 * 3_600;
/// Seconds for which a browser keeps the token of a right password.
const CODE_AWAITED_S: i64 = 5 * 60;

pub(super) const PAGES: &[Page] = &[("POST", "/sign-out", Role::Viewer)];

pub(super) fn router() -> Router<Dashboard> {
    Router::new()
        .route("/sign-in", form(page, sign_in))
        .route(single_sign_on::PATH, get(single_sign_on::start))
        .route(single_sign_on::CALLBACK_PATH, get(single_sign_on::finish))
        .route("/sign-in/code", form(code_page, sign_in_with_code))
        .route("/sign-out", post(sign_out))
        .merge(join::router())
}

#[derive(Template)]
#[template(path = "dashboard/sign_in.html")]
struct SignInPage {
    frame: Frame,
    fields: [FormField; 2],
    /// Path of the page that follows.
    next: String,
    fault: String,
    has_signed_out: bool,
    /// The installation has no account, or none with a user.
    is_empty: bool,
    issuer: Option<IssuerLink>,
}

/// The button that leads to the issuer of single sign-on.
struct IssuerLink {
    /// What people call the issuer.
    name: String,
    /// Address below the dashboard.
    path: String,
}

#[derive(Template)]
#[template(path = "dashboard/sign_in_code.html")]
struct CodePage {
    frame: Frame,
    code: FormField,
    next: String,
}

impl SignInPage {
    fn new(dashboard: &Dashboard, email: &str, next: &str) -> Self {
        let email =
            FormField::text("email", "E-mail address", email).kind("email", "username").chars_max(254).required();
        Self {
            frame: signed_out(dashboard, "Sign in"),
            fields: [email, FormField::secret("password", "Password", "current-password")],
            next: own_path(next).to_owned(),
            fault: String::new(),
            has_signed_out: false,
            is_empty: false,
            issuer: dashboard.provider().single_sign_on_name().map(|name| IssuerLink::new(name, own_path(next))),
        }
    }

    /// The page with its error, which is about both fields.
    fn refused(self, fault: String) -> Self {
        let fields = self.fields.map(|field| field.attribute("aria-describedby", "fault"));
        Self { fields, fault, ..self }
    }
}

impl IssuerLink {
    fn new(name: &str, next: &str) -> Self {
        let query = form_urlencoded::Serializer::new(String::new()).append_pair("next", next).finish();
        Self { name: name.to_owned(), path: format!("{}?{query}", single_sign_on::PATH) }
    }
}

impl CodePage {
    fn new(dashboard: &Dashboard, next: String, fault: &str) -> Self {
        let code = code_field("Code", fault)
            .hint("The six digits of your authenticator, or a recovery code.")
            .attribute("autofocus", "");
        Self { frame: signed_out(dashboard, "Enter your code"), code, next }
    }
}

/// The frame of a page for visitors who are not signed in.
fn signed_out(dashboard: &Dashboard, title: &str) -> Frame {
    let site = dashboard.site();
    Frame::signed_out(title, site, site.name)
}

/// The form.
async fn page(State(dashboard): State<Dashboard>, QueryFields(query): QueryFields) -> Result<Response, PageError> {
    let has_signed_out = query.text("done") == "signed-out";
    // With one account the page can tell whether anybody can sign in; with more it does not tell which accounts exist.
    let accounts = dashboard.provider().list_accounts(&PageRequest::first(2)).await?.data;
    let is_empty = match accounts.as_slice() {
        [] => true,
        [only] => !dashboard.provider().has_users(&only.id).await?,
        _ => false,
    };
    render_page(&SignInPage { has_signed_out, is_empty, ..SignInPage::new(&dashboard, "", query.text("next")) })
}

/// Begins a session, asks for the code of the second factor, or shows the form again with what is wrong.
async fn sign_in(
    State(dashboard): State<Dashboard>,
    parts: Parts,
    UnauthenticatedForm(form): UnauthenticatedForm,
) -> Result<Response, PageError> {
    let next = own_path(form.text("next"));
    let email = form.text("email").to_owned();
    let client = client(&dashboard, &parts);
    let wanted = SignIn { email, password: password(&form, "password"), code: None, client };
    match dashboard.provider().sign_in(&wanted).await {
        Ok(SignInResult::SignedIn(signed_in)) => begin(&dashboard, &signed_in, next),
        Ok(SignInResult::CodeRequired(token)) => {
            let cookie = dashboard.cookies().code_awaited.set(token.expose_str().unwrap_or_default(), CODE_AWAITED_S);
            let cookie = cookie.ok_or_else(ErrorPage::internal)?;
            let query = form_urlencoded::Serializer::new(String::new()).append_pair("next", next).finish();
            Ok(([(SET_COOKIE, cookie)], dashboard.redirect(&format!("/sign-in/code?{query}"))).into_response())
        }
        Err(error) => {
            let (status, fault) = refused(error)?;
            render_page_as(status, &SignInPage::new(&dashboard, &wanted.email, next).refused(fault))
        }
    }
}

/// The form for the code of the second factor.
async fn code_page(State(dashboard): State<Dashboard>, QueryFields(query): QueryFields) -> Result<Response, PageError> {
    let next = own_path(query.text("next")).to_owned();
    render_page(&CodePage::new(&dashboard, next, ""))
}

/// Begins the session of a right password, or shows the form again with what is wrong.
async fn sign_in_with_code(
    State(dashboard): State<Dashboard>,
    parts: Parts,
    UnauthenticatedForm(form): UnauthenticatedForm,
) -> Result<Response, PageError> {
    let next = own_path(form.text("next"));
    let awaited = dashboard.cookies().code_awaited.read(&parts.headers).unwrap_or_default();
    let client = client(&dashboard, &parts);
    match dashboard.provider().sign_in_with_code(awaited, form.text("code"), &client).await {
        Ok(signed_in) => begin(&dashboard, &signed_in, next),
        Err(ProviderError::Unauthenticated) => {
            let fault = "The code came later than five minutes after the password. Sign in again.".to_owned();
            render_page_as(StatusCode::UNAUTHORIZED, &SignInPage::new(&dashboard, "", next).refused(fault))
        }
        Err(error) => {
            let (status, fault) = refused(error)?;
            render_page_as(status, &CodePage::new(&dashboard, next.to_owned(), &fault))
        }
    }
}

/// The client of a request, with the token of its device.
fn client(dashboard: &Dashboard, parts: &Parts) -> Client {
    let name = parts.headers.get(USER_AGENT).and_then(|name| name.to_str().ok());
    Client {
        from: kit_http::client_ip::resolve(parts, &dashboard.provider().config().trusted_proxies),
        browser: name.map(str::to_owned),
        device_token: dashboard.cookies().device.read(&parts.headers).map(|token| Secret::new(token.into())),
    }
}

/// The field for a code of a second factor.
pub(super) fn code_field(label: &'static str, fault: &str) -> FormField {
    let field = FormField::text("code", label, "").kind("text", "one-time-code").attribute("class", "short");
    field.attribute("spellcheck", "false").chars_max(64).required().fault(fault)
}

/// The field for a password that a user chooses.
pub(super) fn new_password(label: &'static str) -> FormField {
    FormField::secret("password", label, "new-password")
        .attribute("minlength", "12")
        .hint("At least 12 characters. Not a common password, and not your e-mail address.")
}

/// A password as it was typed, spaces included.
pub(super) fn password(form: &FormFields, name: &str) -> Secret {
    Secret::new(form.all(name).next().unwrap_or_default().as_bytes().to_vec())
}

/// Status and text of a refusal that the form shows; other errors are error pages.
fn refused(error: ProviderError) -> Result<(StatusCode, String), PageError> {
    match error {
        ProviderError::BadRequest { .. } | ProviderError::Conflict { .. } | ProviderError::Validation(_) => {
            Ok((StatusCode::UNPROCESSABLE_ENTITY, sentence(&error.to_string())))
        }
        ProviderError::TooManyRequests { retry_after, .. } => {
            let minutes = retry_after.as_secs().div_ceil(60);
            let unit = if minutes == 1 { "minute" } else { "minutes" };
            let text = format!("There were too many attempts. Try again in {minutes} {unit}.");
            Ok((StatusCode::TOO_MANY_REQUESTS, text))
        }
        error => Err(error.into()),
    }
}

/// The response to a sign-in: the cookies, and the page that follows.
fn begin(dashboard: &Dashboard, signed_in: &SignedIn, next: &str) -> Result<Response, PageError> {
    let seconds = signed_in.session.expires_at.duration_since(dashboard.now()).as_secs();
    let text = |secret: &Secret| secret.expose_str().unwrap_or_default().to_owned();
    let cookies = dashboard.cookies();
    let session = cookies.session.set(&text(&signed_in.token), seconds).ok_or_else(ErrorPage::internal)?;
    let device = cookies.device.set(&text(&signed_in.device_token), DEVICE_S).ok_or_else(ErrorPage::internal)?;
    let awaited = cookies.code_awaited.remove().ok_or_else(ErrorPage::internal)?;
    let join = cookies.join.remove().ok_or_else(ErrorPage::internal)?;
    let set = AppendHeaders([session, device, awaited, join].map(|cookie| (SET_COOKIE, cookie)));
    Ok((set, dashboard.redirect(next)).into_response())
}

/// Ends the session. The device stays known.
async fn sign_out(State(dashboard): State<Dashboard>, request: Request) -> Result<Response, PageError> {
    let (mut parts, _) = request.into_parts();
    // Signing out of a session that has ended already succeeds.
    if let Ok(session) = DashboardSession::from_request_parts(&mut parts, &dashboard).await {
        session.provider().sign_out(&session.caller).await?;
    }
    let cookie = dashboard.cookies().session.remove().ok_or_else(ErrorPage::internal)?;
    Ok(([(SET_COOKIE, cookie)], dashboard.redirect("/sign-in?done=signed-out")).into_response())
}
