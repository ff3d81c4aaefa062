//! Messages of the clerk to all visitors of a webcast's pages in the saleroom.

use axum::extract::{Path, State};
use axum::response::{IntoResponse as _, Response};
use http::StatusCode;
use platform_core::Platform;
use platform_core::port::VisitorMessage;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;
use uuid::Uuid;

use crate::errors::{ApiError, Problem};
use crate::extract::{PutRequest, QueryRequest};
use crate::models::time;
use crate::response;

/// A message to all visitors.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct VisitorMessageIn {
    /// One line of text, 1 to 200 characters. Every visitor of the sale's pages reads it.
    text: String,
}

/// A message to all visitors of a webcast.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = VisitorMessage)]
pub(crate) struct VisitorMessageView {
    /// Its number in the sale, from 1.
    number: i64,
    /// The text.
    text: String,
    /// When it was written.
    #[schema(format = DateTime)]
    at: String,
    /// Who wrote it: `user:<uuid>`, `key:<uuid>` or `command-line`.
    written_by: String,
    /// UUID of the item that was in the ring.
    item: Option<Uuid>,
    /// The message is on the stage: it is the last one, and was not cleared.
    on_stage: bool,
    /// When it was taken off the stage, if it was.
    #[schema(format = DateTime)]
    cleared_at: Option<String>,
    /// Who did that.
    cleared_by: Option<String>,
}

/// Messages to all visitors of a webcast.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = VisitorMessages)]
pub(crate) struct VisitorMessagesView {
    /// The latest 20 messages, the newest first.
    data: Vec<VisitorMessageView>,
}

impl VisitorMessageView {
    fn of(message: &VisitorMessage, on_stage: bool) -> Self {
        Self {
            number: message.number,
            text: message.text.clone(),
            at: time(message.at),
            written_by: message.actor.clone(),
            item: message.item,
            on_stage,
            cleared_at: message.cleared.as_ref().map(|(_, at)| time(*at)),
            cleared_by: message.cleared.as_ref().map(|(actor, _)| actor.clone()),
        }
    }
}

/// List messages to visitors
///
/// The latest 20 messages of a webcast, the newest first, with who wrote them. Scope `ring:write` (403 `clerk_not_assigned`). Errors:
/// 409 `wrong_auction_kind`.
#[utoipa::path(
    get, path = "/auctions/{uuid}/ring/messages", operation_id = "visitor_messages", tag = "ring",
    params(("uuid" = Uuid, Path)),
    responses(
        (status = 200, description = "The messages, the newest first.", body = VisitorMessagesView),
        (status = 404, body = Problem), (status = 409, body = Problem),
    ),
)]
pub(crate) async fn list(
    State(platform): State<Platform>,
    Path(uuid): Path<Uuid>,
    request: QueryRequest<()>,
) -> Result<Response, ApiError> {
    let messages = platform.visitor_messages(&request.caller, uuid).await?;
    let on_stage = VisitorMessage::on_stage(&messages).map(|message| message.number);
    let data =
        messages.iter().map(|message| VisitorMessageView::of(message, on_stage == Some(message.number))).collect();
    Ok(response::ok(&VisitorMessagesView { data }))
}

/// Write to all visitors
///
/// Puts a message on the stage of a LIVE webcast, in place of the one before: every visitor of the sale's pages reads it at once. A
/// repeated call changes nothing while the message is on the stage. A sale has at most 500 messages. No event is sent to customers.
/// Scope `ring:write` (403 `clerk_not_assigned`). Errors: 409 `wrong_auction_kind`, `auction_not_live`.
#[utoipa::path(
    put, path = "/auctions/{uuid}/ring/message", operation_id = "write_to_visitors", tag = "ring",
    request_body = VisitorMessageIn, params(("uuid" = Uuid, Path)),
    responses(
        (status = 200, description = "The message on the stage.", body = VisitorMessageView),
        (status = 404, body = Problem), (status = 409, body = Problem), (status = 422, body = Problem),
    ),
)]
pub(crate) async fn put(
    State(platform): State<Platform>,
    Path(uuid): Path<Uuid>,
    PutRequest { caller, body }: PutRequest<VisitorMessageIn>,
) -> Result<Response, ApiError> {
    let message = platform.write_to_visitors(&caller, uuid, &body.text).await?;
    Ok(response::ok(&VisitorMessageView::of(&message, true)))
}

/// Clear the message to visitors
///
/// Takes the message off the stage; the list of messages keeps it. Without one, nothing changes. Scope `ring:write` (403
/// `clerk_not_assigned`). Errors: 409 `wrong_auction_kind`.
#[utoipa::path(
    delete, path = "/auctions/{uuid}/ring/message", operation_id = "clear_message_to_visitors", tag = "ring",
    params(("uuid" = Uuid, Path)),
    responses(
        (status = 204, description = "No content. No message is on the stage."),
        (status = 404, body = Problem), (status = 409, body = Problem),
    ),
)]
pub(crate) async fn clear(
    State(platform): State<Platform>,
    Path(uuid): Path<Uuid>,
    request: QueryRequest<()>,
) -> Result<Response, ApiError> {
    platform.clear_message_to_visitors(&request.caller, uuid).await?;
    Ok(StatusCode::NO_CONTENT.into_response())
}
