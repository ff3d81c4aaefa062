//! Single sign-on: the way to the issuer, and the way back.
//!
//! The button is a link and not a form, because the content security policy lets forms lead to this site only. A cookie ties the
//! answer to the browser that began. It is removed with every answer.

use axum::extract::{RawQuery, State};
use axum::response::{AppendHeaders, IntoResponse as _, Redirect, Response};
use http::StatusCode;
use http::header::SET_COOKIE;
use http::request::Parts;
use kit_design::cookie::{Cookie, Transport};
use kit_design::error_page::{ErrorPage, sentence};
use kit_design::fields::QueryFields;
use kit_design::frame::render_page_as;
use kit_design::site::own_path;
use provider_core::ProviderError;
use provider_core::users::{NewSingleSignOn, OpenIdError};

use super::{SignInPage, begin, client, refused};
use crate::dashboard::Dashboard;
use crate::dashboard::session::DashboardSession;
use crate::page_error::PageError;

/// Path of the page that leads to the issuer.
pub(super) const PATH: &str = "/sign-in/openid";
/// Path to which the issuer sends the browser back.
pub(super) const CALLBACK_PATH: &str = "/sign-in/openid/callback";
/// Seconds for which a browser keeps the sign-in under way.
const COOKIE_S: i64 = 10 * 60;

/// The cookie of a sign-in under way. The prefix `__Host-` lets no other host of the domain set it.
fn cookie(dashboard: &Dashboard) -> Cookie {
    let transport = dashboard.cookies().session.transport;
    match transport {
        Transport::Secure => Cookie { name: "__Host-lotwire_dashboard_openid".into(), path: "/".to_owned(), transport },
        _ => Cookie {
            name: "lotwire_dashboard_openid".into(),
            path: format!("{}{PATH}", dashboard.site().base),
            transport,
        },
    }
}

/// Leads to the issuer.
pub(super) async fn start(
    State(dashboard): State<Dashboard>,
    QueryFields(query): QueryFields,
) -> Result<Response, PageError> {
    let next = own_path(query.text("next"));
    let begun = dashboard.provider().begin_single_sign_on(next).await?;
    lead_to_issuer(&dashboard, next, begun)
}

/// Leads the signed-in user to the issuer, to link their profile.
pub(in crate::dashboard) async fn link(session: DashboardSession) -> Result<Response, PageError> {
    let next = "/profile?done=linked";
    let begun = session.provider().begin_linking(&session.caller, next).await?;
    lead_to_issuer(&session.dashboard, next, begun)
}

fn lead_to_issuer(
    dashboard: &Dashboard,
    next: &str,
    begun: Result<NewSingleSignOn, OpenIdError>,
) -> Result<Response, PageError> {
    match begun {
        Ok(begun) => {
            let cookie = cookie(dashboard).set(&begun.cookie, COOKIE_S).ok_or_else(ErrorPage::internal)?;
            Ok(([(SET_COOKIE, cookie)], Redirect::to(&begun.url)).into_response())
        }
        Err(refused) => refuse(dashboard, next, &refused),
    }
}

/// Takes the answer of the issuer: begins a session, or shows the sign-in page with what is wrong.
pub(super) async fn finish(
    State(dashboard): State<Dashboard>,
    RawQuery(query): RawQuery,
    parts: Parts,
) -> Result<Response, PageError> {
    let own = cookie(&dashboard);
    let sealed = own.read(&parts.headers);
    let query = query.unwrap_or_default();
    let client = client(&dashboard, &parts);
    let response: Result<Response, PageError> =
        match dashboard.provider().finish_single_sign_on(sealed, &query, &client).await {
            Ok(Ok(done)) => begin(&dashboard, &done.signed_in, own_path(&done.next)),
            Ok(Err(refused)) => refuse(&dashboard, "/", &refused),
            Err(
                error @ (ProviderError::TooManyRequests { .. }
                | ProviderError::Conflict { .. }
                | ProviderError::BadRequest { .. }),
            ) => {
                let (status, fault) = refused(error)?;
                render_page_as(status, &SignInPage::new(&dashboard, "", "/").refused(fault))
            }
            Err(error) => Err(error.into()),
        };
    let removed = own.remove().ok_or_else(ErrorPage::internal)?;
    Ok((AppendHeaders([(SET_COOKIE, removed)]), response?).into_response())
}

fn refuse(dashboard: &Dashboard, next: &str, refused: &OpenIdError) -> Result<Response, PageError> {
    let status = match refused {
        OpenIdError::IssuerUnavailable { .. } => StatusCode::BAD_GATEWAY,
        _ => StatusCode::UNPROCESSABLE_ENTITY,
    };
    let page = SignInPage { fault: sentence(&refused.to_string()), ..SignInPage::new(dashboard, "", next) };
    render_page_as(status, &page)
}
