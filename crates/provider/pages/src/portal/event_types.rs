//! The catalogue: what can be received, and what it looks like.

use askama::Template;
use axum::response::Response;
use provider_core::page::{LIMIT_MAX, ListKey, PageQuery, PageRequest};
use provider_core::{Archived, ProviderError};

use super::catalogue::{self, Group};
use super::session::{At, May, Section, Session};
use crate::shared::code::Shown;
use crate::shared::fields::Asked;
use crate::shared::frame::{Frame, page};
use crate::shared::pager::Pager;
use crate::shared::refusal::Refusal;

#[derive(Template)]
#[template(path = "portal/event_types.html")]
struct ListPage {
    frame: Frame,
    groups: Vec<Group>,
    here: &'static str,
    filter: &'static str,
    pager: Pager,
}

/// Event types by group. They go by name, so what the pager calls older comes later.
pub(super) async fn list(session: Session, Asked(query): Asked) -> Result<Response, Refusal> {
    let asked = query.given("iterator");
    let limit = LIMIT_MAX.to_string();
    let request = PageQuery { limit: Some(&limit), iterator: asked, order: None };
    let request = PageRequest::parse(request, ListKey::Name)?;
    let slice = session.provider().list_event_types(&session.caller, &request, Archived::Hidden).await?;
    page(&ListPage {
        frame: session.frame("Event types", Section::EventTypes),
        groups: catalogue::groups(&slice.data, &Default::default()),
        here: "/event-types",
        filter: "",
        pager: Pager::new(&slice, asked),
    })
}

#[derive(Template)]
#[template(path = "portal/event_type.html")]
struct OnePage {
    frame: Frame,
    may: May,
    name: String,
    description: String,
    is_deprecated: bool,
    is_archived: bool,
    example: Option<Shown>,
    /// Versions, the newest first.
    schemas: Vec<(String, Shown)>,
    endpoints: Vec<(String, String)>,
}

/// One event type, with an example and its schemas.
pub(super) async fn one(session: Session, At([name]): At<1>) -> Result<Response, Refusal> {
    let provider = session.provider();
    let event_type = provider.event_type(&session.caller, &name).await?;
    let example = match provider.event_example(&session.caller, &name).await {
        Ok(example) => Some(Shown::json(&String::from_utf8_lossy(&example))),
        Err(ProviderError::BadRequest { .. }) => None,
        Err(error) => return Err(error.into()),
    };
    let versions = event_type.schemas.as_ref().and_then(|schemas| schemas.as_object()).into_iter().flatten();
    let mut schemas: Vec<(String, Shown)> =
        versions.map(|(version, schema)| (version.clone(), Shown::json(&schema.to_string()))).collect();
    schemas.sort_by_key(|(version, _)| std::cmp::Reverse((version.parse::<u64>().ok(), version.clone())));
    let may = session.may();
    let endpoints = if may.send && example.is_some() {
        provider.list_endpoints(&session.caller, session.app(), &PageRequest::default()).await?.data
    } else {
        Vec::new()
    };
    let enabled = endpoints.into_iter().filter(|endpoint| !endpoint.disabled);
    page(&OnePage {
        frame: session.frame(&event_type.name, Section::EventTypes),
        may,
        description: event_type.description,
        is_deprecated: event_type.deprecated,
        is_archived: event_type.archived,
        example,
        schemas,
        endpoints: enabled.map(|endpoint| (endpoint.id.to_string(), endpoint.url)).collect(),
        name: event_type.name,
    })
}
