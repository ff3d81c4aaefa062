//! What a bidder entered about themselves, and the end of their account.

use askama::Template;
use axum::response::{AppendHeaders, IntoResponse as _, Redirect, Response};
use http::StatusCode;
use http::header::SET_COOKIE;
use kit_design::error_summary::ErrorSummary;
use kit_design::fields::{FieldErrors, QueryFields, SubmittedForm};
use kit_design::form_field::FormField;
use kit_design::frame::{Frame, render_page, render_page_as};
use platform_core::PlatformError;
use platform_core::users::Refusal;

use super::person::TypedPerson;
use super::{field_errors, secret, sign_in_first};
use crate::house::{House, HouseFrame};
use crate::page_error::PageError;

#[derive(Template)]
#[template(path = "account/details.html")]
struct DetailsPage {
    frame: Frame,
    around: HouseFrame,
    email: String,
    fields: Vec<FormField>,
    errors: ErrorSummary,
    is_saved: bool,
}

fn form(house: &House<0>, email: &str, person: &TypedPerson, errors: &FieldErrors) -> DetailsPage {
    let words = house.words;
    let around =
        house.frame(words.of("account"), "/account", words.fill("account-description", "house", &house.saleroom.name));
    let fields = person.all_fields(house, errors);
    let errors = ErrorSummary::beside(&fields).heading(words.of("nothing-saved"));
    DetailsPage { frame: around.frame.clone(), around, email: email.to_owned(), fields, errors, is_saved: false }
}

pub(super) async fn page(house: House<0>, QueryFields(query): QueryFields) -> Result<Response, PageError> {
    let Some(bidder) = &house.bidder else {
        return Ok(sign_in_first(&house.path(), &format!("{}/account", house.path())));
    };
    let account = &bidder.account;
    let page = form(&house, &account.email, &TypedPerson::of(&account.profile.details), &FieldErrors::default());
    render_page(&DetailsPage { is_saved: query.text("done") == "saved", ..page })
}

pub(super) async fn save(house: House<0>, SubmittedForm(typed): SubmittedForm) -> Result<Response, PageError> {
    let Some(bidder) = &house.bidder else {
        return Ok(sign_in_first(&house.path(), &format!("{}/account", house.path())));
    };
    let person = TypedPerson::read(&typed);
    let mut errors = FieldErrors::default();
    let details = person.details(&house, bidder.account.profile.details.address.as_ref(), &mut errors);
    if errors.is_empty() {
        match house.platform().change_bidder_details(&house.saleroom, bidder, details).await {
            Ok(()) => return Ok(Redirect::to(&format!("{}/account?done=saved", house.path())).into_response()),
            Err(error) => errors.add_found(field_errors(house.words, error)?),
        }
    }
    render_page_as(StatusCode::UNPROCESSABLE_ENTITY, &form(&house, &bidder.account.email, &person, &errors))
}

#[derive(Template)]
#[template(path = "account/delete.html")]
struct DeletePage {
    frame: Frame,
    around: HouseFrame,
    password: FormField,
    errors: ErrorSummary,
}

fn delete_form(house: &House<0>, fault: &str) -> DeletePage {
    let words = house.words;
    let around =
        house.frame(words.of("account-delete"), "/account/delete", words.of("account-delete-description").into_owned());
    let password =
        FormField::secret("password", words.of("field-password"), "current-password").fault(fault).required();
    let errors = ErrorSummary::beside([&password]).heading(words.of("account-not-deleted"));
    DeletePage { frame: around.frame.clone(), around, password, errors }
}

pub(super) async fn delete_page(house: House<0>) -> Result<Response, PageError> {
    if house.bidder.is_none() {
        return Ok(sign_in_first(&house.path(), &format!("{}/account", house.path())));
    }
    render_page(&delete_form(&house, ""))
}

pub(super) async fn delete(house: House<0>, SubmittedForm(typed): SubmittedForm) -> Result<Response, PageError> {
    let Some(bidder) = &house.bidder else {
        return Ok(sign_in_first(&house.path(), &format!("{}/account", house.path())));
    };
    let password = secret(typed.all("password").next().unwrap_or_default());
    match house.platform().delete_bidder_account(bidder, &password).await {
        Ok(()) => {
            let headers = AppendHeaders(house.session_cookie().remove().map(|cookie| (SET_COOKIE, cookie)));
            Ok((headers, Redirect::to(&format!("{}/sign-in?done=deleted", house.path()))).into_response())
        }
        Err(PlatformError::Identity(Refusal::PasswordRefused)) => {
            render_page_as(StatusCode::UNPROCESSABLE_ENTITY, &delete_form(&house, &house.words.of("fault-wrong")))
        }
        Err(error) => Err(error.into()),
    }
}
