//! Turning one's own second factor on and off.

use askama::Template;
use axum::response::{IntoResponse as _, Response};
use http::StatusCode;
use kit_design::error_summary::ErrorSummary;
use kit_design::fields::SubmittedForm;
use kit_design::form_field::FormField;
use kit_design::frame::{Frame, render_page_as};
use kit_design::qr_code::QrCode;
use platform_core::PlatformError;
use platform_core::users::{Enrolled, Refusal};

use super::password::secret;
use crate::form_page::{FormPage, Refused};
use crate::page_error::PageError;
use crate::session::{Section, Session};

const QR_LABEL: &str = "QR code with the secret of the second factor";
const TITLE: &str = "Turn on a second factor";

fn password_page(session: &Session, refused: &Refused) -> FormPage {
    let frame = session.frame(TITLE, Section::Account);
    FormPage::new(frame, ("/account", "Your account"), "/account/second-factor")
        .intro(
            "You need an authenticator: an app that shows codes of six digits. The next page shows the secret that it \
             needs, once.",
        )
        .fields(vec![FormField::secret("password", "Password", "current-password").fault(refused.of("password"))])
        .button("Show the secret")
}

/// Asks for the password, so that a thief of the session can't bind it to another authenticator.
pub(crate) async fn page(session: Session) -> Result<Response, PageError> {
    password_page(&session, &Refused::default()).open()
}

#[derive(Template)]
#[template(path = "account/second_factor.html")]
struct ConfirmPage {
    frame: Frame,
    /// The secret; none after a wrong code, since it is shown once.
    shown: Option<Shown>,
    code: FormField,
    errors: ErrorSummary,
}

/// The secret in all its forms.
struct Shown {
    secret: String,
    url: String,
    qr: Option<QrCode>,
}

fn confirm_page(session: &Session, enrolled: Option<Enrolled>, fault: &str) -> ConfirmPage {
    let shown = enrolled.map(|Enrolled { secret, url }| Shown { secret, qr: QrCode::new(&url, QR_LABEL), url });
    let code = FormField::text("code", "Code", "")
        .chars_max(16)
        .required()
        .kind("text", "one-time-code")
        .hint("The six digits that the authenticator shows now.")
        .fault(fault);
    let errors = ErrorSummary::beside([&code]);
    ConfirmPage { frame: session.frame(TITLE, Section::Account), shown, code, errors }
}

/// Shows the secret.
pub(crate) async fn enroll(session: Session, SubmittedForm(form): SubmittedForm) -> Result<Response, PageError> {
    let password = secret(&form, "password");
    match session.platform().enroll_second_factor(&session.caller, &password, None).await {
        Ok(enrolled) => render_page_as(StatusCode::OK, &confirm_page(&session, Some(enrolled.fresh()?), "")),
        Err(PlatformError::Identity(Refusal::PasswordRefused)) => {
            let refused = Refused::by_page("password", &Refusal::PasswordRefused.to_string());
            password_page(&session, &refused).refuse(&refused)
        }
        Err(error) => {
            let refused = Refused::from(error, &[])?;
            password_page(&session, &refused).refuse(&refused)
        }
    }
}

#[derive(Template)]
#[template(path = "account/recovery_codes.html")]
struct RecoveryCodesPage {
    frame: Frame,
    codes: Vec<String>,
}

/// Turns the second factor on, and shows the recovery codes.
pub(crate) async fn confirm(session: Session, SubmittedForm(form): SubmittedForm) -> Result<Response, PageError> {
    match session.platform().confirm_second_factor(&session.caller, form.text("code"), None).await {
        Ok(made) => {
            let frame = session.frame("Recovery codes", Section::Account);
            render_page_as(StatusCode::OK, &RecoveryCodesPage { frame, codes: made.fresh()?.codes })
        }
        Err(PlatformError::Identity(refusal @ Refusal::OwnCodeRefused)) => {
            let page = confirm_page(&session, None, &refusal.to_string());
            render_page_as(StatusCode::UNPROCESSABLE_ENTITY, &page)
        }
        Err(error) => Err(error.into()),
    }
}

fn off(session: &Session, refused: &Refused) -> FormPage {
    let frame = session.frame("Turn off the second factor", Section::Account);
    FormPage::new(frame, ("/account", "Your account"), "/account/second-factor/off")
        .causes("From then on, signing in needs the password only.")
        .causes("Your recovery codes stop working.")
        .fields(vec![
            FormField::text("code", "Code", "")
                .chars_max(64)
                .required()
                .kind("text", "one-time-code")
                .hint("A code of your authenticator, or a recovery code.")
                .fault(refused.of("code")),
        ])
        .destroys("Turn off the second factor")
}

/// Asks for a code.
pub(crate) async fn off_page(session: Session) -> Result<Response, PageError> {
    off(&session, &Refused::default()).open()
}

/// Turns the second factor off.
pub(crate) async fn turn_off(session: Session, SubmittedForm(form): SubmittedForm) -> Result<Response, PageError> {
    match session.platform().turn_off_own_second_factor(&session.caller, form.text("code"), None).await {
        Ok(_) => Ok(session.admin.redirect("/account?done=second-factor-off").into_response()),
        Err(PlatformError::Identity(refusal @ Refusal::OwnCodeRefused)) => {
            let refused = Refused::by_page("code", &refusal.to_string());
            off(&session, &refused).refuse(&refused)
        }
        Err(error) => {
            let refused = Refused::from(error, &[])?;
            off(&session, &refused).refuse(&refused)
        }
    }
}
