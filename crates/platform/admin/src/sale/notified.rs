//! Who is notified of a change: the customer's consumer application, if it is connected.

use platform_core::customers::connections::ConnectionState;
use platform_core::{PlatformError, Scope};

use super::Sale;
use crate::page_error::PageError;
use crate::session::Session;

/// One sentence that says who is notified with what.
pub(crate) async fn words(session: &Session, sale: &Sale, what: &str) -> Result<String, PageError> {
    if !session.may(Scope::CustomersRead) {
        return Ok(format!("The customer, if connected, is notified: {what}."));
    }
    let customer = session.platform().customer(&session.caller, sale.auction.customer).await?.name;
    let state = match session.platform().consumer(&session.caller, sale.auction.customer).await {
        Ok(consumer) if consumer.is_complete() => consumer.state().0,
        Ok(_) | Err(PlatformError::NotFound(_)) => {
            return Ok(format!("No event is sent: {customer} is not connected. The journal keeps the event."));
        }
        Err(error) => return Err(error.into()),
    };
    Ok(match state {
        ConnectionState::Working => format!("{customer} is notified: {what}."),
        ConnectionState::Parked => format!("{customer} is notified later: {what}. Its queue waits for support."),
        ConnectionState::Entered | ConnectionState::Refused | ConnectionState::Unreachable => {
            format!(
                "{customer} is notified: {what}. Its provider does not work at the moment; the event waits until it does."
            )
        }
    })
}
