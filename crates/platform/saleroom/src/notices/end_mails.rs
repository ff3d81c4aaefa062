//! The page of the link in a mail that ends mails of its kind. Its code is enough: no one has to sign in for it.

use askama::Template;
use axum::Router;
use axum::extract::{Path, State};
use axum::response::{IntoResponse as _, Redirect, Response};
use kit_design::error_page::ErrorPage;
use kit_design::fields::{QueryFields, SubmittedForm};
use kit_design::frame::{Frame, render_page};
use kit_http::page_routes::form;
use platform_core::mails::EndedMails;

use super::words::name;
use crate::house::{House, HouseFrame};
use crate::page_error::PageError;
use crate::site::SaleroomSite;

#[derive(Template)]
#[template(path = "notices/end_mails.html")]
struct EndMailsPage {
    frame: Frame,
    around: HouseFrame,
    code: String,
    about: String,
    /// The mails of this kind have ended.
    is_ended: bool,
    /// All mails about notices have ended.
    are_all_ended: bool,
}

fn ended(house: &House<0>, code: &str) -> Result<EndedMails, PageError> {
    house.platform().ended_mails(code).ok_or_else(|| ErrorPage::not_found().into())
}

/// `GET /{house}/mails/{code}`
pub(super) async fn page(
    house: House<0>,
    Path((_, code)): Path<(String, String)>,
    QueryFields(query): QueryFields,
) -> Result<Response, PageError> {
    let words = house.words;
    let about = name(words, ended(&house, &code)?.kind);
    let around = house.frame(words.of("end-mails"), "/mails", words.of("end-mails").into_owned());
    let done = query.text("done");
    let (is_ended, are_all_ended) = (done == "one", done == "all");
    render_page(&EndMailsPage { frame: around.frame.clone(), around, code, about, is_ended, are_all_ended })
}

/// `POST /{house}/mails/{code}`
pub(super) async fn end(
    house: House<0>,
    Path((_, code)): Path<(String, String)>,
    SubmittedForm(form): SubmittedForm,
) -> Result<Response, PageError> {
    let all = form.text("end") == "all";
    house.platform().end_notice_mails(&house.saleroom, ended(&house, &code)?, all).await?;
    let done = if all { "all" } else { "one" };
    Ok(Redirect::to(&format!("{}/mails/{code}?done={done}", house.path())).into_response())
}

/// The address that mail programs call (RFC 8058): a POST ends the mails. It comes from another site, without an origin, so it is
/// apart from the pages. A browser that opens the address is led to the page.
pub(crate) fn one_click() -> Router<SaleroomSite> {
    let led = async |house: House<0>, Path((_, code)): Path<(String, String)>| {
        Redirect::to(&format!("{}/mails/{code}", house.path()))
    };
    Router::new().route("/{house}/mails/{code}/one-click", form(led, end_at_once))
}

async fn end_at_once(
    State(_): State<SaleroomSite>,
    house: House<0>,
    Path((_, code)): Path<(String, String)>,
) -> Result<&'static str, PageError> {
    house.platform().end_notice_mails(&house.saleroom, ended(&house, &code)?, false).await?;
    Ok("You receive no more mails of this kind.\n")
}
