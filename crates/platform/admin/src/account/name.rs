//! The user's own name.

use axum::response::{IntoResponse as _, Response};
use kit_design::fields::SubmittedForm;

use crate::form_page::{FormPage, Refused};
use crate::page_error::PageError;
use crate::session::{Section, Session};
use crate::users::name_field;

fn form_page(session: &Session, name: &str, refused: &Refused) -> FormPage {
    FormPage::new(session.frame("Your name", Section::Account), ("/account", "Your account"), "/account/name")
        .fields(vec![name_field(name, refused)])
        .button("Save name")
}

pub(super) async fn page(session: Session) -> Result<Response, PageError> {
    form_page(&session, session.name.as_deref().unwrap_or_default(), &Refused::default()).open()
}

pub(super) async fn change(session: Session, SubmittedForm(form): SubmittedForm) -> Result<Response, PageError> {
    match session.platform().name_self(&session.caller, Some(form.text("name"))).await {
        Ok(_) => Ok(session.admin.redirect("/account?done=name-saved").into_response()),
        Err(error) => {
            let refused = Refused::from(error, &[])?;
            form_page(&session, form.text("name"), &refused).refuse(&refused)
        }
    }
}
