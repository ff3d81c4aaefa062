//! The catalogue: the event types that an endpoint can receive, with their schemas and examples.

use askama::Template;
use axum::response::Response;
use provider_core::model::Endpoint;
use provider_core::page::{CursorKey, LIMIT_MAX, PageQuery, PageRequest};
use provider_core::{Archived, ProviderError};

use super::event_type_choices::{self, Group};
use super::labels::StatusBadge;
use super::session::{PathParams, Permissions, Section, Session};
use crate::page_error::PageError;
use crate::portal::pager::pager;
use kit_design::code_block::CodeBlock;
use kit_design::fields::QueryFields;
use kit_design::frame::{Frame, render_page};
use kit_design::pager::Pager;

#[derive(Template)]
#[template(path = "portal/event_types.html")]
struct ListPage {
    frame: Frame,
    groups: Vec<Group>,
    list_path: &'static str,
    filter: &'static str,
    pager: Pager,
}

/// The list of event types by group, ordered by name. The pager's `older` therefore links the later names.
pub(super) async fn list(session: Session, QueryFields(query): QueryFields) -> Result<Response, PageError> {
    let requested = query.non_empty("iterator");
    let limit = LIMIT_MAX.to_string();
    let request = PageQuery { limit: Some(&limit), iterator: requested, order: None };
    let request = PageRequest::parse(request, CursorKey::Name)?;
    let found = session.provider().list_event_types(&session.caller, &request, Archived::Hidden).await?;
    render_page(&ListPage {
        frame: session.frame("Event types", Section::EventTypes),
        groups: event_type_choices::groups(&found.data, &Default::default()),
        list_path: "/event-types",
        filter: "",
        pager: pager(&found, requested),
    })
}

#[derive(Template)]
#[template(path = "portal/event_type.html")]
struct EventTypePage {
    frame: Frame,
    may: Permissions,
    name: String,
    description: String,
    is_deprecated: bool,
    is_archived: bool,
    example: Option<CodeBlock>,
    /// The schemas with their versions, newest first.
    schemas: Vec<(String, CodeBlock)>,
    endpoints: Vec<Receiver>,
}

/// An endpoint, and whether it receives the event type.
struct Receiver {
    id: String,
    url: String,
    status: StatusBadge,
    may_send: bool,
}

impl Receiver {
    fn new(endpoint: Endpoint, event_type: &str) -> Self {
        let filter = endpoint.filter_types.as_deref();
        let is_listed = filter.is_none_or(|names| names.iter().any(|name| name == event_type));
        Self {
            status: match (endpoint.disabled, is_listed) {
                (true, _) => StatusBadge::DISABLED,
                (false, true) => StatusBadge::RECEIVES,
                (false, false) => StatusBadge::FILTERED_OUT,
            },
            may_send: !endpoint.disabled,
            id: endpoint.id.to_string(),
            url: endpoint.url,
        }
    }
}

/// The page of one event type, with an example and its schemas.
pub(super) async fn detail(session: Session, PathParams([name]): PathParams<1>) -> Result<Response, PageError> {
    let provider = session.provider();
    let event_type = provider.event_type(&session.caller, &name).await?;
    let example = match provider.event_example(&session.caller, &name).await {
        Ok(example) => Some(CodeBlock::json(&String::from_utf8_lossy(&example))),
        Err(ProviderError::BadRequest { .. }) => None,
        Err(error) => return Err(error.into()),
    };
    let versions = event_type.schemas.as_ref().and_then(|schemas| schemas.as_object()).into_iter().flatten();
    let mut schemas: Vec<(String, CodeBlock)> =
        versions.map(|(version, schema)| (version.clone(), CodeBlock::json(&schema.to_string()))).collect();
    schemas.sort_by_key(|(version, _)| std::cmp::Reverse((version.parse::<u64>().ok(), version.clone())));
    let may = session.permissions();
    let endpoints = provider.list_endpoints(&session.caller, session.app(), &PageRequest::first(LIMIT_MAX)).await?.data;
    render_page(&EventTypePage {
        frame: session.frame(&event_type.name, Section::EventTypes),
        may,
        description: event_type.description,
        is_deprecated: event_type.deprecated,
        is_archived: event_type.archived,
        example,
        schemas,
        endpoints: endpoints.into_iter().map(|endpoint| Receiver::new(endpoint, &event_type.name)).collect(),
        name: event_type.name,
    })
}
