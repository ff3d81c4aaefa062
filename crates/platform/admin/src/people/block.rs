//! Blocks a person or firm from bidding, and ends a block.

use axum::response::{IntoResponse as _, Response};
use kit_design::fields::SubmittedForm;
use platform_core::PlatformError;
use platform_core::port::Party;
use uuid::Uuid;

use crate::form_page::{FormPage, Refused, reason_field};
use crate::page_error::PageError;
use crate::session::{PathIds, Section, Session};

fn form(session: &Session, party: &Party, reason: &str, refused: &Refused) -> FormPage {
    let (path, name) = (format!("/people/{}", party.uuid), &party.details.name);
    let frame = session.frame(format!("Block {name} from bidding"), Section::People);
    FormPage::new(frame, (path.clone(), name.clone()), format!("{path}/block"))
        .causes("Each registration in a sale that is not over is suspended now; one that waits is declined.")
        .causes("The platform refuses every new bid and every new registration of this bidder.")
        .causes("Standing bids are not cancelled. The next page lists the lots on which the bidder leads, so that you can cancel them.")
        .causes("The house is not notified.")
        .hidden("version", party.version.to_string())
        .fields(vec![reason_field(reason).fault(refused.of("reason"))])
        .destroys("Block bidder")
}

pub(super) async fn page(session: Session, PathIds([uuid]): PathIds<1>) -> Result<Response, PageError> {
    let party = session.platform().party(&session.caller, uuid).await?;
    if party.erasure.is_some() || party.merged.is_some() {
        return Ok(session.admin.redirect(&format!("/people/{uuid}")).into_response());
    }
    form(&session, &party, "", &Refused::default()).open()
}

pub(super) async fn block(
    session: Session,
    PathIds([uuid]): PathIds<1>,
    SubmittedForm(typed): SubmittedForm,
) -> Result<Response, PageError> {
    let (reason, version) = (typed.text("reason"), typed.text("version").parse().ok());
    let refused = match session.platform().block_party(&session.caller, uuid, reason, version).await {
        Ok(_) => return back(&session, uuid, "party-blocked"),
        Err(PlatformError::Rejected(platform_rules::Rejection::ReasonRequired)) => {
            Refused::by_page("reason", "Give a reason. Only staff see it.")
        }
        Err(error) => Refused::from(error, &[])?,
    };
    let party = session.platform().party(&session.caller, uuid).await?;
    form(&session, &party, reason, &refused).refuse(&refused)
}

pub(super) async fn unblock(
    session: Session,
    PathIds([uuid]): PathIds<1>,
    SubmittedForm(typed): SubmittedForm,
) -> Result<Response, PageError> {
    session.platform().unblock_party(&session.caller, uuid, typed.text("version").parse().ok()).await?;
    back(&session, uuid, "party-unblocked")
}

fn back(session: &Session, uuid: Uuid, done: &str) -> Result<Response, PageError> {
    Ok(session.admin.redirect(&format!("/people/{uuid}?done={done}")).into_response())
}
