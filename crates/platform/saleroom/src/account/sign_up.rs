//! Opening an account: a link is mailed to an address, and its reader chooses a password. The same way leads to another password.

use askama::Template;
use axum::response::Response;
use http::StatusCode;
use kit_design::error_page::ErrorPage;
use kit_design::error_summary::ErrorSummary;
use kit_design::fields::{FieldErrors, QueryFields, UnauthenticatedForm};
use kit_design::form_field::FormField;
use kit_design::frame::{Frame, render_page, render_page_as};
use platform_core::PlatformError;
use platform_core::saleroom::{AccountInput, SaleroomRefusal};
use platform_core::users::Refusal;
use platform_words::key;

use super::person::TypedPerson;
use super::{begin, field_errors, minutes, next_path, next_query, secret};
use crate::house::{House, HouseFrame};
use crate::page_error::PageError;

#[derive(Template)]
#[template(path = "account/sign_up.html")]
struct SignUpPage {
    frame: Frame,
    around: HouseFrame,
    email: FormField,
    errors: ErrorSummary,
    next: String,
    next_query: String,
    /// Where a link was sent; empty before.
    sent_to: String,
}

fn email_form(house: &House<0>, email: &str, next: String, fault: String) -> SignUpPage {
    let words = house.words;
    let description = words.fill("sign-up-description", "house", &house.saleroom.name);
    let around = house.frame(words.of("sign-up"), "/sign-up", description);
    let email = FormField::text("email", words.of("field-email"), email)
        .kind("email", "email")
        .chars_max(254)
        .fault(fault)
        .required();
    let errors = ErrorSummary::beside([&email]).heading(words.of("sign-up-not-sent"));
    SignUpPage {
        frame: around.frame.clone(),
        around,
        email,
        errors,
        next_query: next_query(&next),
        next,
        sent_to: String::new(),
    }
}

pub(super) async fn page(house: House<0>, QueryFields(query): QueryFields) -> Result<Response, PageError> {
    let next = next_path(&house, query.text("next"));
    render_page(&email_form(&house, "", next, String::new()))
}

/// Mails the link. The answer is the same whether the address has an account.
pub(super) async fn mail_link(
    house: House<0>,
    UnauthenticatedForm(typed): UnauthenticatedForm,
) -> Result<Response, PageError> {
    let next = next_path(&house, typed.text("next"));
    let email = typed.text("email").trim().to_owned();
    let page = house.address("/sign-up/account");
    let words = house.words;
    let link = (page.as_str(), words.language());
    let sent = house.platform().mail_bidder_link(&house.saleroom, &email, house.client.from, link).await;
    let (status, fault) = match sent {
        Ok(()) => {
            let form = email_form(&house, "", next, String::new());
            return render_page(&SignUpPage { sent_to: email, ..form });
        }
        Err(PlatformError::Saleroom(SaleroomRefusal::TooManyMails { minutes })) => {
            (StatusCode::TOO_MANY_REQUESTS, words.fill("fault-mails", "minutes", minutes))
        }
        Err(PlatformError::Saleroom(SaleroomRefusal::MailUnavailable)) => {
            (StatusCode::SERVICE_UNAVAILABLE, words.of("fault-mail-failed").into_owned())
        }
        Err(PlatformError::Identity(Refusal::TooManyAttempts { retry_after, .. })) => {
            let fault = words.fill("fault-links", "minutes", minutes(retry_after));
            (StatusCode::TOO_MANY_REQUESTS, fault)
        }
        Err(error) => (StatusCode::UNPROCESSABLE_ENTITY, field_errors(words, error)?.of("email")),
    };
    render_page_as(status, &email_form(&house, &email, next, fault))
}

#[derive(Template)]
#[template(path = "account/open.html")]
struct OpenPage {
    frame: Frame,
    around: HouseFrame,
    email: String,
    key: String,
    has_account: bool,
    fields: Vec<FormField>,
    errors: ErrorSummary,
}

pub(super) async fn account_page(house: House<0>, QueryFields(query): QueryFields) -> Result<Response, PageError> {
    let code = query.text("key").to_owned();
    let (email, has_account) = link(&house, &code).await?;
    render_page(&open_form(&house, (email, has_account), code, &TypedPerson::default(), &FieldErrors::default()))
}

pub(super) async fn open_account(
    house: House<0>,
    UnauthenticatedForm(typed): UnauthenticatedForm,
) -> Result<Response, PageError> {
    let key = typed.text("key").to_owned();
    let person = TypedPerson::read(&typed);
    let mut errors = FieldErrors::default();
    let mut details = person.details(&house, None, &mut errors);
    // Pages and mails stay in the language in which the account was opened.
    details.language = Some(house.words.language());
    let password = secret(typed.all("password").next().unwrap_or_default());
    let used = if errors.is_empty() {
        let input = AccountInput { details, password };
        house.platform().use_bidder_link(&house.saleroom, &key, input, &house.client).await
    } else {
        Err(PlatformError::Invalid(Vec::new()))
    };
    match used {
        Ok(signed_in) => return begin(&house, &signed_in, &format!("{}/my-bids?done=opened", house.path())),
        Err(PlatformError::Saleroom(SaleroomRefusal::LinkVoid)) => return Err(void_link(&house).into()),
        Err(error) => errors.add_found(field_errors(house.words, error)?),
    };
    let known = link(&house, &key).await?;
    render_page_as(StatusCode::UNPROCESSABLE_ENTITY, &open_form(&house, known, key, &person, &errors))
}

async fn link(house: &House<0>, key: &str) -> Result<(String, bool), PageError> {
    match house.platform().open_bidder_link(&house.saleroom, key, house.client.from).await {
        Err(PlatformError::Saleroom(SaleroomRefusal::LinkVoid)) => Err(void_link(house).into()),
        found => Ok(found?),
    }
}

fn void_link(house: &House<0>) -> ErrorPage {
    let words = house.words;
    let detail = words.fill("open-void", "address", house.address("/sign-up"));
    ErrorPage::new(StatusCode::GONE, words.of("open-void-title"), detail)
}

fn open_form(
    house: &House<0>,
    (email, has_account): (String, bool),
    code: String,
    person: &TypedPerson,
    errors: &FieldErrors,
) -> OpenPage {
    let words = house.words;
    let title = words.of(if has_account { key("account-password") } else { key("open-title") });
    let description = words
        .with("open-description", [("title", title.clone().into()), ("house", house.saleroom.name.as_str().into())]);
    let around = house.frame(title, "/sign-up", description);
    let mut fields = if has_account { Vec::new() } else { person.fields(house, errors) };
    let password =
        FormField::secret("password", words.of("field-password"), "new-password").hint(words.of("field-password-hint"));
    fields.push(password.with(errors).required());
    let errors = ErrorSummary::beside(&fields).heading(words.of("nothing-saved"));
    OpenPage { frame: around.frame.clone(), around, email, key: code, has_account, fields, errors }
}
