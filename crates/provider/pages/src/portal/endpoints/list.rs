//! The list of the application's endpoints: see [`crate::endpoints`].

use askama::Template;
use axum::response::Response;
use provider_core::EndpointHealth;
use provider_core::model::Endpoint;
use provider_core::model::counts::CountSpan;

use crate::endpoints::failures::FailureClasses;
use crate::endpoints::list::{self, EndpointList, ListPlace};
use crate::page_error::PageError;
use crate::portal::labels::{DeliveryFigures, number};
use crate::portal::notice;
use crate::portal::session::{Permissions, Section, Session};
use kit_design::fields::QueryFields;
use kit_design::frame::{Frame, render_page};

#[derive(Template)]
#[template(path = "portal/endpoints/list.html")]
struct ListPage {
    frame: Frame,
    may: Permissions,
    list: EndpointList,
}

/// The list.
pub(in crate::portal) async fn page(session: Session, QueryFields(query): QueryFields) -> Result<Response, PageError> {
    let place = session.place();
    let of = ListPlace { place, application: Some(&session.application.id), path: "/endpoints".to_owned(), anchor: "" };
    let list = list::list(of, &query).await?;
    render_page(&ListPage {
        frame: session.frame("Endpoints", Section::Endpoints).with_notice(notice::from_query(&query)),
        may: session.permissions(),
        list,
    })
}

/// The last 24 hours of an endpoint.
pub(super) struct EndpointDay {
    pub(super) failures: Option<FailureClasses>,
    pub(super) figures: DeliveryFigures,
    pub(super) waiting: String,
    pub(super) is_any_waiting: bool,
}

/// The last 24 hours of an endpoint.
pub(super) async fn endpoint_day(session: &Session, endpoint: &Endpoint) -> Result<Option<EndpointDay>, PageError> {
    let health = session.provider().endpoint_health(std::slice::from_ref(endpoint), CountSpan::DAY).await?;
    let place = session.place();
    let failures = |health: &EndpointHealth| {
        FailureClasses::new(&place, &health.total(), CountSpan::DAY, &[("endpoint", &endpoint.id)])
    };
    Ok(health.first().map(|health| EndpointDay {
        failures: failures(health),
        figures: health.total().into(),
        waiting: number(health.waiting.deliveries()),
        is_any_waiting: health.waiting.deliveries() > 0,
    }))
}
