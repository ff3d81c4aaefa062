//! Which notices are mailed, and whether this browser shows them.

use std::collections::BTreeSet;

use askama::Template;
use axum::response::{IntoResponse as _, Redirect, Response};
use kit_design::fields::{QueryFields, SubmittedForm};
use kit_design::form_field::{Choice, FormField};
use kit_design::frame::{Frame, render_page};
use platform_core::notices::NoticeKind;

use super::words::about;
use crate::account::sign_in_first;
use crate::house::{House, HouseFrame};
use crate::page_error::PageError;

/// The field with the kinds that are mailed.
const FIELD: &str = "mails";

#[derive(Template)]
#[template(path = "notices/choices.html")]
struct ChoicesPage {
    frame: Frame,
    around: HouseFrame,
    mails: FormField,
    is_saved: bool,
    /// How many browsers show notices now; empty for none.
    browsers: String,
}

/// `GET /{house}/account/notices`
pub(super) async fn page(house: House<0>, QueryFields(query): QueryFields) -> Result<Response, PageError> {
    let path = house.path();
    let Some(bidder) = &house.bidder else { return Ok(sign_in_first(&path, &format!("{path}/account/notices"))) };
    let words = house.words;
    let details = &bidder.account.profile.details;
    let choice = |kind: NoticeKind| Choice::new(kind.name(), about(words, kind), details.wants_mail_about(kind));
    let mails = words.fill("notices-mails-to", "email", &bidder.account.email);
    let mails = FormField::boxes(FIELD, mails, NoticeKind::ALL.map(choice).into());
    let browsers = match house.platform().push_browsers(bidder).await? {
        0 => String::new(),
        count => words.with("push-browsers", [("n", count.into())]),
    };
    let around = house.frame(words.of("notices-choices"), "/account/notices", words.of("notices-choices").into_owned());
    render_page(&ChoicesPage {
        frame: around.frame.clone(),
        around,
        mails,
        is_saved: query.text("done") == "saved",
        browsers,
    })
}

/// `POST /{house}/account/notices`
pub(super) async fn save(house: House<0>, SubmittedForm(form): SubmittedForm) -> Result<Response, PageError> {
    let path = house.path();
    let Some(bidder) = &house.bidder else { return Ok(sign_in_first(&path, &format!("{path}/account/notices"))) };
    let is_off = |kind: &NoticeKind| form.all(FIELD).all(|wanted| wanted != kind.name());
    let no_mails_about: BTreeSet<NoticeKind> = NoticeKind::ALL.into_iter().filter(is_off).collect();
    house.platform().choose_notice_mails(bidder, no_mails_about).await?;
    Ok(Redirect::to(&format!("{path}/account/notices?done=saved")).into_response())
}
