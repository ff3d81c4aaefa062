//! A browser is signed in to the portal of one application at a time. A tab that shows another application, whose link was
//! opened before, is answered with an explanation, and its forms change nothing.

use std::sync::{Arc, OnceLock};

use axum::extract::Request;
use axum::middleware::Next;
use axum::response::{IntoResponse as _, Response};
use http::StatusCode;
use kit_design::error_page::ErrorPage;
use kit_design::fields::FormFields;
use provider_core::model::Application;

/// Name of the application that the browser is signed in to: a place in the request's extensions that the session fills.
#[derive(Debug, Clone, Default)]
pub(super) struct SignedInTo(Arc<OnceLock<String>>);

impl SignedInTo {
    /// Notes the application of the session.
    pub(super) fn application(&self, application: &Application) {
        // There is one session for each request.
        let _ = self.0.set(application.name.clone());
    }
}

/// Puts a [`SignedInTo`] into the request. A page that does not exist in the portal of its application says which one this is.
pub(super) async fn middleware(mut request: Request, next: Next) -> Response {
    let signed_in_to = SignedInTo::default();
    request.extensions_mut().insert(signed_in_to.clone());
    let response = next.run(request).await;
    match signed_in_to.0.get() {
        Some(name) if response.status() == StatusCode::NOT_FOUND => not_found(name).into_response(),
        _ => response,
    }
}

fn not_found(name: &str) -> ErrorPage {
    let detail = format!(
        "This browser is signed in to the portal of “{name}”, and to one portal at a time. If this tab belongs to another \
         application, open the link to its portal again. If not, what you look for was deleted, as old messages are, or the \
         address is incomplete."
    );
    ErrorPage::new(StatusCode::NOT_FOUND, "Page not found", detail)
}

/// 409 for a form of a page that was shown for another application.
pub(super) fn check(form: &FormFields, application: &Application) -> Result<(), ErrorPage> {
    match form.non_empty("application") {
        Some(shown) if *shown != *application.id => Err(ErrorPage::conflict(format!(
            "This form belongs to another application: since you opened it, this browser was signed in to the portal of “{}”. \
             Open the link to the other portal again, then repeat the change.",
            application.name
        ))),
        _ => Ok(()),
    }
}
