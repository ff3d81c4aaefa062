//! The application's endpoints, with how each fared in the last day.

use askama::Template;
use axum::response::Response;
use jiff::SignedDuration;
use provider_core::model::Endpoint;
use provider_core::page::{CursorKey, PageQuery, PageRequest};
use provider_core::{ProviderError, ids};

use crate::portal::labels::{DayStats, StatusBadge};
use crate::portal::notice;
use crate::portal::session::{Permissions, Section, Session};
use crate::shared::error_page::ErrorPage;
use crate::shared::fields::QueryFields;
use crate::shared::frame::{Frame, render_page};
use crate::shared::pager::Pager;

/// Endpoints of a page: each costs a count of its attempts.
const LIMIT: &str = "20";
/// Event types of an endpoint that are named.
const TYPES_NAMED_MAX: usize = 3;
const DAY: SignedDuration = SignedDuration::from_hours(24);

#[derive(Template)]
#[template(path = "portal/endpoints/list.html")]
struct ListPage {
    frame: Frame,
    may: Permissions,
    rows: Vec<Row>,
    pager: Pager,
}

struct Row {
    id: String,
    url: String,
    description: String,
    status: StatusBadge,
    types: String,
    day: Option<DayStats>,
}

/// The list.
pub(in crate::portal) async fn page(session: Session, QueryFields(query): QueryFields) -> Result<Response, ErrorPage> {
    let asked = query.non_empty("iterator");
    let request = PageQuery { limit: Some(LIMIT), iterator: asked, order: None };
    let request = PageRequest::parse(request, CursorKey::Id(ids::ENDPOINT))?;
    let slice = session.provider().list_endpoints(&session.caller, session.app(), &request).await?;
    let mut rows = Vec::with_capacity(slice.data.len());
    for endpoint in &slice.data {
        rows.push(Row {
            id: endpoint.id.to_string(),
            url: endpoint.url.clone(),
            description: endpoint.description.clone(),
            status: status(endpoint),
            types: types(endpoint.filter_types.as_deref()),
            day: day_stats(&session, &endpoint.id).await?,
        });
    }
    render_page(&ListPage {
        frame: session.frame("Endpoints", Section::Endpoints).with_notice(notice::from_query(&query)),
        may: session.permissions(),
        rows,
        pager: Pager::new(&slice, asked),
    })
}

/// How an endpoint fared in the last day; none when it has more attempts than are counted, or went just now.
pub(super) async fn day_stats(session: &Session, endpoint: &str) -> Result<Option<DayStats>, ErrorPage> {
    let since = Some(session.portal.now() - DAY);
    match session.provider().endpoint_stats(&session.caller, session.app(), endpoint, since, None).await {
        Ok(counts) => Ok(Some(counts.into())),
        Err(ProviderError::BadRequest { .. } | ProviderError::NotFound) => Ok(None),
        Err(error) => Err(error.into()),
    }
}

fn status(endpoint: &Endpoint) -> StatusBadge {
    match (endpoint.disabled, endpoint.failing_since) {
        (true, _) => StatusBadge::DISABLED,
        (false, Some(_)) => StatusBadge::FAILING,
        (false, None) => StatusBadge::ENABLED,
    }
}

/// What it listens to, in a line.
fn types(names: Option<&[String]>) -> String {
    let Some(names) = names else { return "All event types".to_owned() };
    let named = names.iter().take(TYPES_NAMED_MAX).cloned().collect::<Vec<_>>().join(", ");
    match names.len().saturating_sub(TYPES_NAMED_MAX) {
        0 => named,
        more => format!("{named} and {more} more"),
    }
}
