//! How to verify the signature of a request: sample code with this endpoint's values, and a check of a pasted request.

mod outcome;
mod pasted;
mod samples;

use askama::Template;
use axum::response::Response;
use http::StatusCode;
use provider_core::endpoints::signature_check::SignedExample;
use provider_core::model::Endpoint;

use self::outcome::Outcome;
use self::pasted::Pasted;
use self::samples::{KEY_PAIR_SAMPLES, SAMPLES, Sample};
use super::head::{Head, Tab};
use crate::page_error::PageError;
use crate::portal::session::{PathParams, Permissions, Section, Session};
use kit_design::fields::{LongForm, SubmittedForm};
use kit_design::frame::{Frame, render_page_as};

#[derive(Template)]
#[template(path = "portal/endpoints/verify.html")]
struct VerifyPage {
    frame: Frame,
    head: Head,
    may: Permissions,
    samples: &'static [Sample],
    /// The endpoint signs with an ed25519 key pair.
    has_key_pair: bool,
    /// Values to try a sample with, after the visitor pressed the button.
    example: Option<SignedExample>,
    pasted: Pasted,
    outcome: Option<Outcome>,
}

impl VerifyPage {
    async fn new(session: &Session, endpoint: &Endpoint) -> Result<Self, PageError> {
        let provider = session.provider();
        let has_key_pair = provider.signs_with_key_pair(&session.caller, session.app(), &endpoint.id).await?;
        Ok(Self {
            frame: session.frame("Verify signatures", Section::Endpoints),
            head: Head::new(session, endpoint, Tab::Verify),
            may: session.permissions(),
            samples: if has_key_pair { KEY_PAIR_SAMPLES } else { SAMPLES },
            has_key_pair,
            example: None,
            pasted: Pasted::default(),
            outcome: None,
        })
    }
}

/// The samples, with the secret hidden, and the empty form.
pub(in crate::portal) async fn page(
    session: Session,
    PathParams([endpoint]): PathParams<1>,
) -> Result<Response, PageError> {
    let endpoint = session.endpoint(&endpoint).await?;
    render_page_as(StatusCode::OK, &VerifyPage::new(&session, &endpoint).await?)
}

/// The samples with the secret and a signed request. The request is a POST, so the secret gets into no history.
pub(in crate::portal) async fn reveal(
    session: Session,
    PathParams([endpoint]): PathParams<1>,
) -> Result<Response, PageError> {
    let endpoint = session.endpoint(&endpoint).await?;
    let example = session.provider().signed_example(&session.caller, session.app(), &endpoint.id).await?;
    let page = VerifyPage { example: Some(example), ..VerifyPage::new(&session, &endpoint).await? };
    render_page_as(StatusCode::OK, &page)
}

/// Checks the pasted request and says which check failed.
pub(in crate::portal) async fn check(
    session: Session,
    PathParams([endpoint]): PathParams<1>,
    SubmittedForm(form): LongForm,
) -> Result<Response, PageError> {
    let endpoint = session.endpoint(&endpoint).await?;
    let pasted = Pasted::read(&form);
    let mut page = VerifyPage::new(&session, &endpoint).await?;
    if let Ok(received) = pasted.received() {
        let check = session.provider().check_signature(&session.caller, session.app(), &endpoint.id, &received);
        page.outcome = Some(Outcome::new(&check.await?, session.portal.now()));
    }
    let status = if page.outcome.is_some() { StatusCode::OK } else { StatusCode::UNPROCESSABLE_ENTITY };
    render_page_as(status, &VerifyPage { pasted, ..page })
}
