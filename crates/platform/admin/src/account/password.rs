//! Changing one's own password.

use axum::response::{IntoResponse as _, Response};
use kit_design::fields::{FormFields, SubmittedForm};
use kit_design::form_field::FormField;
use kit_runtime::vault::Secret;
use platform_core::PlatformError;
use platform_core::users::{ChosenPassword, Refusal};

use crate::form_page::{FormPage, Refused};
use crate::page_error::PageError;
use crate::session::{Section, Session};

/// The secret that a field has, with blanks at its ends, which may belong to a password.
pub(crate) fn secret(form: &FormFields, name: &str) -> Secret {
    Secret::new(form.all(name).next().unwrap_or_default().as_bytes().to_vec())
}

/// A new password in the field `name`, and as it was typed again in the field `repeated`.
pub(crate) fn chosen_password(form: &FormFields, name: &str) -> ChosenPassword {
    ChosenPassword { password: secret(form, name), repeated: Some(secret(form, "repeated")) }
}

fn form_page(session: &Session, refused: &Refused) -> FormPage {
    let frame = session.frame("Change password", Section::Account);
    let page = FormPage::new(frame, ("/account", "Your account"), "/account/password");
    let page = if session.must_change_password { page.comes_first() } else { page };
    page.intro(if session.must_change_password {
        "An administrator requires that you choose a new password before you go on. Your other sessions end."
    } else {
        "Your other sessions end."
    })
    .fields(vec![
        FormField::secret("old", "Present password", "current-password").fault(refused.of("old")),
        FormField::secret("new", "New password", "new-password")
            .hint("At least 12 characters. Not a common password, and not your e-mail address.")
            .fault(refused.of("new")),
        FormField::secret("repeated", "Repeat the new password", "new-password").fault(refused.of("repeated")),
    ])
    .button("Change password")
}

/// The form.
pub(crate) async fn page(session: Session) -> Result<Response, PageError> {
    form_page(&session, &Refused::default()).open()
}

/// Changes the password.
pub(crate) async fn change(session: Session, SubmittedForm(form): SubmittedForm) -> Result<Response, PageError> {
    let (old, new) = (secret(&form, "old"), chosen_password(&form, "new"));
    let refused = match session.platform().change_own_password(&session.caller, &old, &new, None).await {
        Ok(_) => return Ok(session.admin.redirect("/account?done=password").into_response()),
        Err(PlatformError::Identity(refusal @ Refusal::PasswordRefused)) => {
            Refused::by_page("old", &refusal.to_string())
        }
        Err(error) => Refused::from(error, &[])?,
    };
    form_page(&session, &refused).refuse(&refused)
}
