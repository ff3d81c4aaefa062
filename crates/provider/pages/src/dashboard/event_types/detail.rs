//! One event type: its schemas, an example, and the endpoints that choose it.

use askama::Template;
use axum::response::Response;
use kit_design::code_block::CodeBlock;
use kit_design::fields::QueryFields;
use kit_design::frame::{Frame, render_page};
use kit_design::relative_time::RelativeTime;
use provider_core::ProviderError;
use serde_json::Value;

use super::schema_form;
use crate::dashboard::outcomes;
use crate::dashboard::rights::Rights;
use crate::dashboard::session::{DashboardSession, PathParams, Section};
use crate::page_error::PageError;

/// Endpoints that the page names.
const SUBSCRIBERS_MAX: usize = 50;

#[derive(Template)]
#[template(path = "dashboard/event_types/detail.html")]
struct EventTypePage {
    frame: Frame,
    may: Rights,
    name: String,
    description: String,
    group: Option<String>,
    is_archived: bool,
    is_deprecated: bool,
    created: RelativeTime,
    changed: RelativeTime,
    example: Option<CodeBlock>,
    schemas: Vec<SchemaVersion>,
    subscribers: Vec<Subscriber>,
    has_more_subscribers: bool,
}

struct SchemaVersion {
    version: String,
    properties: Vec<schema_form::Property>,
    code: CodeBlock,
}

/// An endpoint that chooses the event type.
pub(super) struct Subscriber {
    pub(super) application: String,
    pub(super) application_name: String,
    pub(super) url: String,
}

/// The endpoints that choose the event type by name, and whether there are more.
pub(super) async fn subscribers(
    session: &DashboardSession,
    name: &str,
) -> Result<(Vec<Subscriber>, bool), ProviderError> {
    let found = session.provider().subscribed_endpoints(&session.caller, name, SUBSCRIBERS_MAX + 1).await?;
    let has_more = found.len() > SUBSCRIBERS_MAX;
    let found = found.into_iter().take(SUBSCRIBERS_MAX).map(|(application, endpoint)| Subscriber {
        application: application.id.to_string(),
        application_name: application.name,
        url: endpoint.url,
    });
    Ok((found.collect(), has_more))
}

/// The page.
pub(super) async fn page(
    session: DashboardSession,
    PathParams([name]): PathParams<1>,
    QueryFields(query): QueryFields,
) -> Result<Response, PageError> {
    let provider = session.provider();
    let event_type = provider.event_type(&session.caller, &name).await?;
    let example = match provider.event_example(&session.caller, &name).await {
        Ok(example) => Some(CodeBlock::json(&String::from_utf8_lossy(&example))),
        Err(ProviderError::BadRequest { .. }) => None,
        Err(error) => return Err(error.into()),
    };
    let (subscribers, has_more_subscribers) = subscribers(&session, &name).await?;
    render_page(&EventTypePage {
        frame: session.frame(&event_type.name, Section::EventTypes).with_notice(outcomes::from_query(&query)),
        may: Rights::of(&session),
        schemas: versions(event_type.schemas.as_ref()),
        group: event_type.group_name,
        is_archived: event_type.archived,
        is_deprecated: event_type.deprecated,
        created: RelativeTime::new(event_type.created_at, session.now()),
        changed: RelativeTime::new(event_type.updated_at, session.now()),
        description: event_type.description,
        name: event_type.name,
        example,
        subscribers,
        has_more_subscribers,
    })
}

/// The schemas, the newest version first.
fn versions(schemas: Option<&Value>) -> Vec<SchemaVersion> {
    schema_form::versions_newest_first(schemas)
        .into_iter()
        .map(|(version, schema)| SchemaVersion {
            version: version.to_owned(),
            properties: schema_form::properties(schema),
            code: CodeBlock::json(&schema.to_string()),
        })
        .collect()
}
