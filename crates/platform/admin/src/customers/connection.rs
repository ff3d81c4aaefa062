//! What support does with a connection: test and resume, register event types, disconnect.

use axum::response::{IntoResponse as _, Redirect, Response};
use contract::AuctionStatus;
use platform_core::customers::connections::ExistingTexts;
use platform_core::port::Page;
use platform_core::sales::lists::AuctionQuery;
use platform_rules::SaleMode;
use uuid::Uuid;

use crate::form_page::FormPage;
use crate::page_error::PageError;
use crate::session::{PathIds, Section, Session};

/// Live sales that the page of a disconnection names.
const LIVE_NAMED_MAX: usize = 5;

/// Asks the provider for the application; if it answers, the queue runs again.
pub(super) async fn test(session: Session, PathIds([uuid]): PathIds<1>) -> Result<Redirect, PageError> {
    session.platform().test_and_resume(&session.caller, uuid).await?;
    Ok(session.admin.redirect(&format!("/customers/{uuid}?done=resumed")))
}

/// Creates or updates both event types in the customer's account.
pub(super) async fn register_event_types(session: Session, PathIds([uuid]): PathIds<1>) -> Result<Redirect, PageError> {
    session.platform().register_event_types(&session.caller, uuid, ExistingTexts::Keep).await?;
    Ok(session.admin.redirect(&format!("/customers/{uuid}?done=event-types")))
}

/// Says what a disconnection causes.
pub(super) async fn disconnect_page(session: Session, PathIds([uuid]): PathIds<1>) -> Result<Response, PageError> {
    let (platform, caller) = (session.platform(), &session.caller);
    let customer = platform.customer(caller, uuid).await?;
    let state = platform.consumer(caller, uuid).await?;
    let waiting = state.backlog.pending;
    let again = match (state.has_made_key, platform.opens_accounts()) {
        (true, true) => {
            "The API key is revoked and deleted. To connect again, one button makes another key for the same account."
        }
        (true, false) => {
            "The platform deletes the API key. The provider accepts it until you revoke it in the provider's dashboard."
        }
        (false, _) => {
            "The platform deletes the API key. The provider still accepts it. To connect again, you need to enter it again."
        }
    };
    let path = format!("/customers/{uuid}");
    let action = format!("{path}/disconnect");
    let page = FormPage::new(session.frame("Disconnect customer", Section::Customers), (path, customer.name), action);
    let live = live_sales(&session, uuid).await?;
    let page = if live.is_empty() { page } else { page.causes(live) };
    page.causes(again)
        .causes(format!("Events that wait are not published: {waiting} now. The event feed keeps them."))
        .causes("The customer's endpoints receive nothing until the customer is connected again. No event is sent.")
        .destroys("Disconnect customer")
        .open()
}

/// Names the live sales of a customer, whose events will not be sent; empty if no sale is live.
async fn live_sales(session: &Session, customer: Uuid) -> Result<String, PageError> {
    let wanted = AuctionQuery {
        customer: Some(customer),
        statuses: vec![AuctionStatus::Live],
        sale_mode: Some(SaleMode::Real),
        ..AuctionQuery::default()
    };
    let page = Page { after: None, limit: LIVE_NAMED_MAX + 1 };
    let found = session.platform().list_auctions(&session.caller, wanted, page).await?;
    let named: Vec<String> =
        found.iter().take(LIVE_NAMED_MAX).map(|auction| format!("“{}”", auction.shown_title())).collect();
    let more = if found.len() > LIVE_NAMED_MAX { " and others" } else { "" };
    let (are, their) = if found.len() == 1 { ("is", "its") } else { ("are", "their") };
    let text = format!("{}{more} {are} live now: what happens to {their} lots is not sent.", named.join(", "));
    Ok(if found.is_empty() { String::new() } else { text })
}

/// Deletes the connection.
pub(super) async fn disconnect(session: Session, PathIds([uuid]): PathIds<1>) -> Result<Response, PageError> {
    let ended = session.platform().disconnect_consumer(&session.caller, uuid).await?;
    let done = if ended.made_key_remains { "disconnected-key-remains" } else { "disconnected" };
    Ok(session.admin.redirect(&format!("/customers/{uuid}?done={done}")).into_response())
}
