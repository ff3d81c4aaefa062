//! Signing in and out.

use std::borrow::Cow;

use askama::Template;
use axum::response::{AppendHeaders, IntoResponse as _, Redirect, Response};
use http::StatusCode;
use http::header::SET_COOKIE;
use kit_design::fields::{QueryFields, SubmittedForm, UnauthenticatedForm};
use kit_design::form_field::FormField;
use kit_design::frame::{Frame, render_page, render_page_as};
use platform_core::PlatformError;
use platform_core::users::{Refusal, SignIn};

use super::{begin, minutes, next_path, next_query, secret};
use crate::house::{House, HouseFrame};
use crate::page_error::PageError;

#[derive(Template)]
#[template(path = "account/sign_in.html")]
struct SignInPage {
    frame: Frame,
    around: HouseFrame,
    fields: [FormField; 2],
    next: String,
    next_query: String,
    fault: String,
    notice: Cow<'static, str>,
}

fn form(house: &House<0>, email: &str, next: String, fault: String) -> SignInPage {
    let words = house.words;
    let description = words.fill("sign-in-description", "house", &house.saleroom.name);
    let around = house.frame(words.of("sign-in"), "/sign-in", description);
    let mut email =
        FormField::text("email", words.of("field-email"), email).kind("email", "username").chars_max(254).required();
    let mut password = FormField::secret("password", words.of("field-password"), "current-password").required();
    if !fault.is_empty() {
        email = email.attribute("aria-describedby", "fault");
        password = password.attribute("autofocus", "");
    }
    SignInPage {
        frame: around.frame.clone(),
        around,
        fields: [email, password],
        next_query: next_query(&next),
        next,
        fault,
        notice: Cow::Borrowed(""),
    }
}

pub(super) async fn page(house: House<0>, QueryFields(query): QueryFields) -> Result<Response, PageError> {
    let next = next_path(&house, query.text("next"));
    if house.bidder.is_some() {
        return Ok(Redirect::to(&next).into_response());
    }
    let notice = match query.text("done") {
        "signed-out" => house.words.of("sign-in-signed-out"),
        "deleted" => house.words.of("sign-in-deleted"),
        _ => Cow::Borrowed(""),
    };
    render_page(&SignInPage { notice, ..form(&house, "", next, String::new()) })
}

pub(super) async fn sign_in(
    house: House<0>,
    UnauthenticatedForm(typed): UnauthenticatedForm,
) -> Result<Response, PageError> {
    let next = next_path(&house, typed.text("next"));
    let email = typed.text("email").to_owned();
    let password = secret(typed.all("password").next().unwrap_or_default());
    let sign_in = SignIn { email: email.clone(), password, code: None, client: house.client.clone() };
    let (status, fault) = match house.platform().sign_in_bidder(&house.saleroom, &sign_in).await {
        Ok(signed_in) => return begin(&house, &signed_in, &next),
        Err(PlatformError::Identity(Refusal::TooManyAttempts { retry_after, .. })) => {
            let fault = house.words.fill("sign-in-attempts", "minutes", minutes(retry_after));
            (StatusCode::TOO_MANY_REQUESTS, fault)
        }
        Err(PlatformError::Identity(_) | PlatformError::Invalid(_)) => {
            (StatusCode::UNAUTHORIZED, house.words.of("sign-in-wrong").into_owned())
        }
        Err(error) => return Err(error.into()),
    };
    render_page_as(status, &form(&house, &email, next, fault))
}

/// Ends the session. Signing out of a session that has ended succeeds.
pub(super) async fn sign_out(house: House<0>, _form: SubmittedForm) -> Result<Response, PageError> {
    if let Some(bidder) = &house.bidder {
        house.platform().sign_out_bidder(bidder).await?;
    }
    let cookie = house.session_cookie().remove();
    let headers = AppendHeaders(cookie.map(|cookie| (SET_COOKIE, cookie)));
    Ok((headers, Redirect::to(&format!("{}/sign-in?done=signed-out", house.path()))).into_response())
}
