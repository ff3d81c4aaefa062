//! What holds back the deliveries of an endpoint now, as a notice on the pages of both sites.

use askama::Template;
use askama::filters::HtmlSafe;
use provider_core::HeldDeliveries;
use provider_core::model::Endpoint;

use crate::messages::Place;
use crate::page_error::PageError;
use crate::portal::labels::number;

/// Why deliveries do not go out at once, and how many wait, as a part of a page.
#[derive(Template)]
#[template(path = "endpoints/hold.html")]
pub(crate) struct HoldNotice {
    sentence: String,
    waiting: String,
}

impl HtmlSafe for HoldNotice {}

/// The notice; none when nothing holds deliveries back.
pub(crate) async fn notice(place: &Place<'_>, endpoint: &Endpoint) -> Result<Option<HoldNotice>, PageError> {
    let held = place.provider.held_deliveries(endpoint).await?;
    Ok(held.map(|HeldDeliveries { hold, waiting }| HoldNotice {
        sentence: hold.sentence(place.now),
        waiting: match waiting {
            0 => "No message waits.".to_owned(),
            1 => "1 message waits.".to_owned(),
            waiting => format!("{} messages wait.", number(waiting)),
        },
    }))
}
