//! The catalogue: what can be received, and what it looks like.

use askama::Template;
use axum::response::Response;
use provider_core::page::{CursorKey, LIMIT_MAX, PageQuery, PageRequest};
use provider_core::{Archived, ProviderError};

use super::event_type_choices::{self, Group};
use super::session::{PathParams, Permissions, Section, Session};
use crate::shared::code_block::CodeBlock;
use crate::shared::error_page::ErrorPage;
use crate::shared::fields::QueryFields;
use crate::shared::frame::{Frame, render_page};
use crate::shared::pager::Pager;

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
pub(super) async fn list(session: Session, QueryFields(query): QueryFields) -> Result<Response, ErrorPage> {
    let asked = query.non_empty("iterator");
    let limit = LIMIT_MAX.to_string();
    let request = PageQuery { limit: Some(&limit), iterator: asked, order: None };
    let request = PageRequest::parse(request, CursorKey::Name)?;
    let slice = session.provider().list_event_types(&session.caller, &request, Archived::Hidden).await?;
    render_page(&ListPage {
        frame: session.frame("Event types", Section::EventTypes),
        groups: event_type_choices::groups(&slice.data, &Default::default()),
        here: "/event-types",
        filter: "",
        pager: Pager::new(&slice, asked),
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
    /// Versions, the newest first.
    schemas: Vec<(String, CodeBlock)>,
    endpoints: Vec<(String, String)>,
}

/// One event type, with an example and its schemas.
pub(super) async fn detail(session: Session, PathParams([name]): PathParams<1>) -> Result<Response, ErrorPage> {
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
    let endpoints = if may.send && example.is_some() {
        provider.list_endpoints(&session.caller, session.app(), &PageRequest::default()).await?.data
    } else {
        Vec::new()
    };
    let enabled = endpoints.into_iter().filter(|endpoint| !endpoint.disabled);
    render_page(&EventTypePage {
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
