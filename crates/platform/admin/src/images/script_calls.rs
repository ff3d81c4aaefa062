//! What the script of the upload page calls: the lots of file names, and one image a request. Answers are JSON.

use axum::body::Body;
use axum::response::{IntoResponse as _, Response};
use http::StatusCode;
use kit_design::error_page::ErrorPage;
use kit_design::fields::{QueryFields, SubmittedForm};
use platform_core::images::{MATCHED_FILES_MAX, SameName};
use serde::Serialize;
use uuid::Uuid;

use super::files::{self, ChosenFile, Refusal};
use crate::lots::lot;
use crate::page_error::PageError;
use crate::session::{PathIds, Session};

#[derive(Serialize)]
struct Matches {
    files: Vec<MatchView>,
}

/// A lot, or why there is none.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct MatchView {
    #[serde(skip_serializing_if = "Option::is_none")]
    item: Option<Uuid>,
    #[serde(skip_serializing_if = "Option::is_none")]
    lot_number: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    why: Option<String>,
}

/// `POST /auctions/{auction}/images/match`: the lots of the file names in `name`, in their order.
pub(super) async fn match_names(
    session: Session,
    PathIds([auction]): PathIds<1>,
    SubmittedForm(form): SubmittedForm,
) -> Result<Response, PageError> {
    let names: Vec<&str> = form.all("name").collect();
    if names.len() > MATCHED_FILES_MAX {
        return Err(ErrorPage::bad_request(format!("Match at most {MATCHED_FILES_MAX} names at once.")).into());
    }
    let lots = session.platform().lots_for_images(&session.caller, auction).await?;
    let view = |name: &&str| match lots.matched(name) {
        Ok(lot) => MatchView { item: Some(lot.item), lot_number: Some(lot.lot_number), why: None },
        Err(why) => MatchView { item: None, lot_number: None, why: Some(why.to_string()) },
    };
    Ok(respond(StatusCode::OK, &Matches { files: names.iter().map(view).collect() }))
}

/// What became of an image.
#[derive(Serialize)]
struct OneView {
    #[serde(skip_serializing_if = "Option::is_none")]
    state: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    why: Option<String>,
}

/// `POST /auctions/{auction}/images/one?item=&name=`: the body is the image.
pub(super) async fn upload_one(
    session: Session,
    PathIds([auction]): PathIds<1>,
    QueryFields(query): QueryFields,
    body: Body,
) -> Result<Response, PageError> {
    let item = Uuid::try_parse(query.text("item")).map_err(|_| ErrorPage::not_found())?;
    let (_, item) = lot::load(&session, auction, item).await?;
    let name = query.text("name").to_owned();
    let content = files::read(session.caller.id, body.into_data_stream()).await;
    let content = content.map_err(|error| ErrorPage::bad_request(format!("The upload broke off: {error}.")))?;
    let stored = files::store(&session, item.uuid, ChosenFile { name, content }, SameName::Replace).await?;
    Ok(match stored {
        Ok(outcome) => respond(StatusCode::OK, &OneView { state: Some(files::words(outcome)), why: None }),
        Err(Refusal { why, is_busy }) => {
            let status = if is_busy { StatusCode::SERVICE_UNAVAILABLE } else { StatusCode::UNPROCESSABLE_ENTITY };
            respond(status, &OneView { state: None, why: Some(why) })
        }
    })
}

fn respond(status: StatusCode, view: &impl Serialize) -> Response {
    kit_http::json::response(status, kit_http::json::text(view)).into_response()
}
