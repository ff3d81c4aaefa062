//! The page on which a bidder lets a web site of the house act for them (RFC 6749, section 4.1.1).
//!
//! A request is checked in two steps. Until site and address are ones that the house lists, every fault is shown here and nothing is
//! sent anywhere. After that, faults go back to the site. The answer names the house as its issuer (RFC 9207).

use askama::Template;
use axum::response::{IntoResponse as _, Redirect, Response};
use http::StatusCode;
use kit_design::error_page::ErrorPage;
use kit_design::fields::{FormFields, QueryFields, SubmittedForm};
use kit_design::frame::{Frame, render_page, render_page_as};
use kit_design::site::FormsLeadTo;
use platform_core::saleroom::{AccessRequest, RegistrationRule};
use url::Url;

use platform_words::Value;

use crate::account::sign_in_first;
use crate::house::{House, HouseFrame};
use crate::page_error::PageError;

/// Characters of a `state`.
const STATE_CHARS_MAX: usize = 500;
/// The parameters of a request, each of which is there once at most.
const PARAMETERS: [&str; 6] =
    ["response_type", "client_id", "redirect_uri", "state", "code_challenge", "code_challenge_method"];

#[derive(Template)]
#[template(path = "sites/authorize.html")]
struct AuthorizePage {
    frame: Frame,
    around: HouseFrame,
    /// Host of the site, and its whole origin.
    host: String,
    origin: String,
    name: String,
    email: String,
    /// The parameters, which the form sends again.
    hidden: Vec<(&'static str, String)>,
    /// The address to which Cancel leads.
    cancel: String,
}

impl AuthorizePage {
    /// Which site asks, and whom it would act for.
    fn who(&self) -> String {
        let value = |text: &str| Value::from(text.to_owned());
        let house = value(&self.frame.owner);
        let values = [
            ("origin", value(&self.origin)),
            ("house", house),
            ("name", value(&self.name)),
            ("email", value(&self.email)),
        ];
        self.around.words.with("site-who", values)
    }
}

#[derive(Template)]
#[template(path = "sites/refused.html")]
struct RefusedPage {
    frame: Frame,
    around: HouseFrame,
}

/// A request that may be answered to its site.
struct Request {
    access: AccessRequest,
    state: String,
}

/// Why a request is not answered with a page.
enum Refusal {
    /// Site or address are not listed, so nothing is sent there.
    Untrusted,
    /// The address with the error.
    Answered(String),
}

pub(super) async fn page(house: House<0>, QueryFields(query): QueryFields) -> Result<Response, PageError> {
    let request = match read(&house, &query) {
        Ok(request) => request,
        Err(refusal) => return refuse(&house, refusal),
    };
    let Some(bidder) = &house.bidder else {
        return Ok(sign_in_first(&house.path(), &format!("{}/authorize?{}", house.path(), encoded(&query))));
    };
    let account = &bidder.account;
    let around = house.frame(house.words.of("site-title"), "/authorize", house.words.of("site-title").into_owned());
    let origin = request.access.origin().to_owned();
    let host = origin.split_once("://").map_or(origin.as_str(), |(_, host)| host).to_owned();
    let rendered: Result<Response, PageError> = render_page(&AuthorizePage {
        frame: around.frame.clone(),
        around,
        host,
        name: account.profile.details.name.clone(),
        email: account.email.clone(),
        hidden: PARAMETERS.map(|name| (name, query.text(name).to_owned())).into(),
        cancel: back(&house, &request, &[("error", "access_denied")])?,
        origin: origin.clone(),
    });
    let mut response = rendered?;
    response.extensions_mut().insert(FormsLeadTo(origin));
    Ok(response)
}

/// The bidder pressed Allow: back to the site with the code.
pub(super) async fn allow(house: House<0>, SubmittedForm(form): SubmittedForm) -> Result<Response, PageError> {
    let request = match read(&house, &form) {
        Ok(request) => request,
        Err(refusal) => return refuse(&house, refusal),
    };
    let Some(bidder) = &house.bidder else {
        return Ok(sign_in_first(&house.path(), &format!("{}/authorize?{}", house.path(), encoded(&form))));
    };
    let code = house.platform().allow_site(&house.saleroom, bidder, request.access.clone()).await?;
    let address = back(&house, &request, &[("code", code.expose_str().unwrap_or_default())])?;
    Ok(Redirect::to(&address).into_response())
}

fn read(house: &House<0>, fields: &FormFields) -> Result<Request, Refusal> {
    if PARAMETERS.iter().any(|name| fields.all(name).count() > 1) {
        return Err(Refusal::Untrusted);
    }
    let access = AccessRequest::of(&house.saleroom, fields.text("client_id"), fields.text("redirect_uri"));
    let access = access.map_err(|_| Refusal::Untrusted)?;
    let state = fields.text("state").to_owned();
    let is_long = state.chars().count() > STATE_CHARS_MAX;
    let request = Request { access, state: if is_long { String::new() } else { state } };
    let answer = |error: &str| match back(house, &request, &[("error", error)]) {
        Ok(address) => Refusal::Answered(address),
        Err(_) => Refusal::Untrusted,
    };
    if house.saleroom.house.saleroom.registration == RegistrationRule::Closed {
        return Err(answer("access_denied"));
    }
    if fields.text("response_type") != "code" {
        return Err(answer("unsupported_response_type"));
    }
    let is_s256 = fields.text("code_challenge_method") == "S256";
    let access = request.access.clone().with_challenge(fields.text("code_challenge"));
    match access.filter(|_| is_s256 && !is_long) {
        Some(access) => Ok(Request { access, ..request }),
        None => Err(answer("invalid_request")),
    }
}

fn refuse(house: &House<0>, refusal: Refusal) -> Result<Response, PageError> {
    match refusal {
        Refusal::Answered(address) => Ok(Redirect::to(&address).into_response()),
        Refusal::Untrusted => {
            let title = house.words.of("site-refused-title");
            let around = house.frame(title.clone(), "/authorize", title.into_owned());
            render_page_as(StatusCode::BAD_REQUEST, &RefusedPage { frame: around.frame.clone(), around })
        }
    }
}

/// The address of the site with the answer for it.
fn back(house: &House<0>, request: &Request, told: &[(&str, &str)]) -> Result<String, PageError> {
    // It was parsed when the house listed it.
    let mut url = Url::parse(request.access.redirect()).map_err(|_| ErrorPage::internal())?;
    let mut query = url.query_pairs_mut();
    query.extend_pairs(told);
    if !request.state.is_empty() {
        query.append_pair("state", &request.state);
    }
    query.append_pair("iss", &house.address(""));
    drop(query);
    Ok(url.into())
}

fn encoded(fields: &FormFields) -> String {
    let mut query = form_urlencoded::Serializer::new(String::new());
    for name in PARAMETERS {
        if !fields.text(name).is_empty() {
            query.append_pair(name, fields.text(name));
        }
    }
    query.finish()
}
