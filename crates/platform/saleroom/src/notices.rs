//! Notices of a bidder: the list, what is new, which of them are mailed, and the browsers that show them.

mod choices;
mod end_mails;
mod push;
mod words;

use askama::Template;
use axum::Router;
use axum::response::{IntoResponse as _, Redirect, Response};
use http::StatusCode;
use kit_design::fields::{QueryFields, SubmittedForm};
use kit_design::frame::{Frame, render_page};
use kit_http::page_routes::{form, get, post};
use uuid::Uuid;

pub(crate) use self::end_mails::one_click;
pub(crate) use self::words::NoticeWords;
use crate::account::sign_in_first;
use crate::house::{House, HouseFrame};
use crate::page_error::PageError;
use crate::site::SaleroomSite;

/// Notices that the page shows at once, of those that are new.
const NEW_SHOWN_MAX: usize = 3;

pub(crate) fn router() -> Router<SaleroomSite> {
    Router::new()
        .route("/{house}/notices", get(page))
        .route("/{house}/notices/new", get(new))
        .route("/{house}/notices/seen", post(seen))
        .route("/{house}/account/notices", form(choices::page, choices::save))
        .route("/{house}/push", post(push::add))
        .route("/{house}/push/remove", post(push::remove))
        .route("/{house}/push/worker.js", get(push::worker))
        .route("/{house}/mails/{code}", form(end_mails::page, end_mails::end))
}

/// What pages say about notices: how many are new, and where the script goes on.
#[derive(Debug, Clone, Default)]
pub(crate) struct NewNotices {
    /// Number of notices that the bidder has not seen, such as `3` or `50+`; empty for none.
    pub(crate) count: String,
    /// The latest notice.
    pub(crate) latest: Uuid,
}

impl NewNotices {
    pub(crate) fn of((unseen, latest): (usize, Option<Uuid>)) -> Self {
        let more = if unseen == platform_core::saleroom::NOTICES_LISTED_MAX { "+" } else { "" };
        let count = if unseen == 0 { String::new() } else { format!("{unseen}{more}") };
        Self { count, latest: latest.unwrap_or_default() }
    }
}

#[derive(Template)]
#[template(path = "notices/list.html")]
struct NoticesPage {
    frame: Frame,
    around: HouseFrame,
    notices: Vec<NoticeWords>,
}

#[derive(Template)]
#[template(path = "notices/new.html")]
struct NewPart {
    notices: Vec<NoticeWords>,
    new: NewNotices,
    close: String,
}

/// `GET /{house}/notices`: the latest notices. They are seen then.
async fn page(house: House<0>) -> Result<Response, PageError> {
    let path = house.path();
    let Some(bidder) = &house.bidder else { return Ok(sign_in_first(&path, &format!("{path}/notices"))) };
    let listed = house.platform().own_notices(bidder, None).await?;
    if let Some(latest) = listed.first().filter(|_| listed.iter().any(|notice| notice.seen_at.is_none())) {
        house.platform().see_notices(bidder, latest.uuid).await?;
    }
    let words = house.words;
    let mut around = house.frame(words.of("notices"), "/notices", words.of("notices").into_owned());
    around.notices.count = String::new();
    let notices = listed.iter().map(|notice| NoticeWords::of(&house, notice)).collect();
    render_page(&NoticesPage { frame: around.frame.clone(), around, notices })
}

/// `GET /{house}/notices/new?after=`: what came after a notice, as a part of a page. 204 when nothing did.
async fn new(house: House<0>, QueryFields(query): QueryFields) -> Result<Response, PageError> {
    let Some(bidder) = &house.bidder else { return Ok(StatusCode::NO_CONTENT.into_response()) };
    let after = Uuid::try_parse(query.text("after")).unwrap_or_default();
    if house.notices.latest <= after {
        return Ok(StatusCode::NO_CONTENT.into_response());
    }
    let listed = house.platform().own_notices(bidder, Some(after)).await?;
    let new = listed.iter().filter(|notice| notice.seen_at.is_none()).take(NEW_SHOWN_MAX);
    render_page(&NewPart {
        notices: new.map(|notice| NoticeWords::of(&house, notice)).collect(),
        new: house.notices.clone(),
        close: house.words.of("notice-close").into_owned(),
    })
}

/// `POST /{house}/notices/seen`: the bidder saw the notices up to one.
async fn seen(house: House<0>, SubmittedForm(form): SubmittedForm) -> Result<Response, PageError> {
    let path = house.path();
    let Some(bidder) = &house.bidder else { return Ok(sign_in_first(&path, &format!("{path}/notices"))) };
    if let Ok(through) = Uuid::try_parse(form.text("through")) {
        house.platform().see_notices(bidder, through).await?;
    }
    Ok(Redirect::to(&format!("{path}/notices")).into_response())
}
