//! The message to all visitors of the saleroom: the desk writes it, shows what visitors see, and clears it.

use axum::body::Bytes;
use axum::extract::{FromRequest, Request};
use axum::response::Response;
use kit_runtime::clock::rfc3339_ms;
use platform_core::PlatformError;
use platform_core::port::VisitorMessage;
use platform_rules::{Auction, Rejection};
use serde::{Deserialize, Serialize};

use super::problem::DeskProblem;
use super::state;
use crate::admin::Admin;
use crate::session::{PathIds, Session};

/// What the desk sends.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct MessageIn {
    /// The text; null takes the message off the stage.
    text: Option<String>,
}

impl FromRequest<Admin> for MessageIn {
    type Rejection = DeskProblem;

    async fn from_request(request: Request, _: &Admin) -> Result<Self, DeskProblem> {
        let (parts, body) = request.into_parts();
        kit_http::json::check_content_type(&parts.headers)?;
        let bytes: Bytes = kit_http::json::read(body).await?;
        serde_json::from_slice(&bytes)
            .map_err(|error| DeskProblem::malformed(format!("The message can't be read: {error}.")))
    }
}

/// The message on the stage.
#[derive(Debug, Serialize)]
pub(super) struct MessageView {
    text: String,
    at: String,
}

/// The message that visitors see now.
pub(super) async fn on_stage(session: &Session, webcast: &Auction) -> Result<Option<MessageView>, PlatformError> {
    let view = |message: VisitorMessage| MessageView { at: rfc3339_ms(message.at), text: message.text };
    Ok(session.platform().message_on_stage(webcast).await?.map(view))
}

/// `POST /webcasts/{webcast}/desk/message`: 200 with the present state. A message that is sent twice is shown once.
pub(super) async fn write(
    session: Session,
    PathIds([webcast]): PathIds<1>,
    message: MessageIn,
) -> Result<Response, DeskProblem> {
    let platform = session.platform();
    match &message.text {
        Some(text) => drop(platform.write_to_visitors(&session.caller, webcast, text).await.map_err(in_words)?),
        None => platform.clear_message_to_visitors(&session.caller, webcast).await?,
    }
    Ok(state::respond(&state::read(&session, webcast).await?))
}

/// The fault of a text, without the name of its field: the desk shows it below the only one.
fn in_words(error: PlatformError) -> DeskProblem {
    let problem = match &error {
        PlatformError::Invalid(problems) => problems.first().map(|problem| format!("The message {}.", problem.message)),
        PlatformError::Rejected(Rejection::AuctionNotLive { .. }) => {
            Some("Visitors see messages while the sale is live. Write it then.".to_owned())
        }
        _ => None,
    };
    let answer = DeskProblem::from(error);
    match problem {
        Some(message) => answer.saying(message),
        None => answer,
    }
}
