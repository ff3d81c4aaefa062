//! Links to the App Portal of an application: who made each and until when it works, making one, and revoking one.

use std::collections::BTreeSet;

use askama::Template;
use askama::filters::HtmlSafe;
use axum::response::{Redirect, Response};
use http::StatusCode;
use jiff::Timestamp;
use kit_design::error_summary::ErrorSummary;
use kit_design::fields::{FieldErrors, FormFields, QueryFields, SubmittedForm};
use kit_design::form_field::{Choice, FormField};
use kit_design::frame::{Frame, render_page, render_page_as};
use kit_design::pager::{PagePosition, Pager};
use kit_design::relative_time::RelativeTime;
use provider_core::model::{ActorKind, AppToken, Application, Capability, Role};
use provider_core::page::{CursorKey, PageQuery};
use provider_core::{PageRequest, PortalAccessInput, ids};

use crate::dashboard::form_errors::form_errors;
use crate::dashboard::outcomes;
use crate::dashboard::session::{DashboardSession, PathParams, Section};
use crate::page_error::PageError;

/// Links that the page of an application shows.
const NEWEST_MAX: usize = 10;

/// Choices of a link's life: seconds and words.
const LIVES: &[(i64, &str)] =
    &[(3_600, "One hour"), (4 * 3_600, "4 hours"), (24 * 3_600, "24 hours"), (7 * 24 * 3_600, "7 days")];

/// A capability with a name and a description for people.
const CAPABILITIES: &[(Capability, &str, &str)] = &[
    (Capability::ViewEndpointSecret, "See signing secrets", "Show the signing secret of each endpoint."),
    (Capability::ManageEndpointSecret, "Rotate signing secrets", "Also see them."),
    (Capability::CreateAttempts, "Send messages again", "Also send examples, recover and replay."),
    (
        Capability::ManageEndpoint,
        "Manage endpoints",
        "Add, change and delete endpoints with their secrets and headers; manage alert contacts; sign requests.",
    ),
];

/// The newest links, as part of the page of an application.
#[derive(Template)]
#[template(path = "dashboard/applications/portal_links/part.html")]
pub(super) struct PortalLinks {
    /// Path of the page with all links.
    path: String,
    links: LinkTable,
    may_make: bool,
    has_more: bool,
}

impl HtmlSafe for PortalLinks {}

/// A table of links.
#[derive(Template)]
#[template(path = "dashboard/applications/portal_links/table.html")]
struct LinkTable {
    path: String,
    rows: Vec<Row>,
    may_revoke: bool,
}

impl HtmlSafe for LinkTable {}

struct Row {
    id: String,
    /// Who made it.
    maker: String,
    /// Kind of a maker who is no user; empty for a user.
    maker_kind: &'static str,
    created: RelativeTime,
    capabilities: String,
    expires: RelativeTime,
    is_expired: bool,
    used: Option<RelativeTime>,
}

impl Row {
    fn new(link: &AppToken, now: Timestamp) -> Self {
        Self {
            id: link.id.to_string(),
            maker: link.maker.name.clone(),
            maker_kind: match link.maker.kind {
                ActorKind::User | ActorKind::PortalLink => "",
                ActorKind::ApiKey => "API key",
                ActorKind::Operator => "command line",
            },
            created: RelativeTime::new(link.created_at, now),
            capabilities: names(&link.capabilities),
            expires: RelativeTime::new(link.expires_at, now),
            is_expired: link.expires_at <= now,
            used: link.last_used_at.map(|at| RelativeTime::new(at, now)),
        }
    }
}

/// Names of capabilities in one line, as the API and the documentation name them.
fn names(capabilities: &BTreeSet<Capability>) -> String {
    if Capability::ALL.iter().all(|capability| capabilities.contains(capability)) {
        return "All capabilities".to_owned();
    }
    let names: Vec<&str> = capabilities.iter().map(|capability| capability.name()).collect();
    names.join(", ")
}

fn path_of(session: &DashboardSession, application: &str) -> String {
    format!("{}/applications/{application}/portal-links", session.dashboard.site().base)
}

fn table(session: &DashboardSession, application: &str, links: &[AppToken]) -> LinkTable {
    LinkTable {
        path: path_of(session, application),
        rows: links.iter().map(|link| Row::new(link, session.now())).collect(),
        may_revoke: session.may(Role::Support),
    }
}

/// The newest links of an application.
pub(super) async fn newest(session: &DashboardSession, application: &str) -> Result<PortalLinks, PageError> {
    let request = PageRequest::first(NEWEST_MAX);
    let links = session.provider().portal_links(&session.caller, application, &request).await?;
    Ok(PortalLinks {
        path: path_of(session, application),
        links: table(session, application, &links.data),
        may_make: session.may(Role::Support),
        has_more: !links.done,
    })
}

#[derive(Template)]
#[template(path = "dashboard/applications/portal_links/list.html")]
struct ListPage {
    frame: Frame,
    application: Application,
    links: LinkTable,
    may_make: bool,
    list_path: String,
    pager: Pager,
}

/// All links of an application, newest first.
pub(super) async fn page(
    session: DashboardSession,
    PathParams([id]): PathParams<1>,
    QueryFields(query): QueryFields,
) -> Result<Response, PageError> {
    let application = session.provider().application(&session.caller, &id).await?;
    let requested = query.non_empty("iterator");
    let request = PageQuery { iterator: requested, ..PageQuery::default() };
    let request = PageRequest::parse(request, CursorKey::Id(ids::APP_TOKEN))?;
    let found = session.provider().portal_links(&session.caller, &application.id, &request).await?;
    let pager = Pager::new(PagePosition {
        requested,
        next: found.iterator.as_deref(),
        previous: found.prev_iterator.as_deref(),
        is_last: found.done,
    });
    render_page(&ListPage {
        frame: session.frame("Portal links", Section::Applications).with_notice(outcomes::from_query(&query)),
        links: table(&session, &application.id, &found.data),
        may_make: session.may(Role::Support),
        list_path: format!("/applications/{}/portal-links", application.id),
        pager,
        application,
    })
}

/// What the form of a new link has, as the person chose it.
struct NewLink {
    capabilities: BTreeSet<Capability>,
    life_seconds: i64,
}

impl NewLink {
    fn read(form: &FormFields) -> (Self, FieldErrors) {
        let mut errors = FieldErrors::default();
        let ticked: Vec<Option<Capability>> = form.all("capabilities").map(Capability::parse).collect();
        if ticked.contains(&None) {
            errors.add("capabilities", "choose only capabilities that are listed");
        }
        // Each link can read.
        let capabilities = ticked.into_iter().flatten().chain([Capability::ViewBase]).collect();
        let life = LIVES.iter().find(|(seconds, _)| seconds.to_string() == form.text("life"));
        if life.is_none() {
            errors.add("life", "choose how long the link works");
        }
        (Self { capabilities, life_seconds: life.map_or(LIVES[0].0, |(seconds, _)| *seconds) }, errors)
    }

    fn input(&self) -> PortalAccessInput {
        PortalAccessInput {
            capabilities: Some(self.capabilities.clone()),
            expiry_seconds: Some(self.life_seconds),
            ..PortalAccessInput::default()
        }
    }
}

#[derive(Template)]
#[template(path = "dashboard/applications/portal_links/new.html")]
struct NewPage {
    frame: Frame,
    application: Application,
    errors: ErrorSummary,
    /// None for a user who may make links for reading only.
    capabilities: Option<FormField>,
    life: FormField,
}

impl NewPage {
    fn new(session: &DashboardSession, application: Application, new: &NewLink, errors: &FieldErrors) -> Self {
        let choice = |(capability, title, hint): &(Capability, &'static str, &'static str)| {
            Choice::new(capability.name(), *title, new.capabilities.contains(capability)).hint(*hint)
        };
        let capabilities = FormField::boxes("capabilities", "What else may its holder do?", {
            CAPABILITIES.iter().map(choice).collect()
        });
        let capabilities = capabilities.optional().with(errors);
        let chosen = new.life_seconds.to_string();
        let lives = LIVES.iter().map(|(seconds, words)| Choice::of(seconds.to_string(), *words, &chosen));
        let life = FormField::select("life", "It works for", lives.collect()).with(errors);
        Self {
            frame: session.frame("Create portal link", Section::Applications),
            application,
            errors: ErrorSummary::of_fields(errors, [&capabilities, &life]),
            capabilities: session.may(Role::Member).then_some(capabilities),
            life,
        }
    }
}

#[derive(Template)]
#[template(path = "dashboard/applications/portal_links/created.html")]
struct CreatedPage {
    frame: Frame,
    application: Application,
    url: String,
    capabilities: String,
    expires: RelativeTime,
}

/// The form.
pub(super) async fn new_page(
    session: DashboardSession,
    PathParams([id]): PathParams<1>,
) -> Result<Response, PageError> {
    let application = session.provider().application(&session.caller, &id).await?;
    let new = NewLink { capabilities: BTreeSet::new(), life_seconds: LIVES[0].0 };
    render_page(&NewPage::new(&session, application, &new, &FieldErrors::default()))
}

/// Makes the link and shows it this once.
pub(super) async fn create(
    session: DashboardSession,
    PathParams([id]): PathParams<1>,
    SubmittedForm(form): SubmittedForm,
) -> Result<Response, PageError> {
    let application = session.provider().application(&session.caller, &id).await?;
    let (new, errors) = NewLink::read(&form);
    if !errors.is_empty() {
        let page = NewPage::new(&session, application, &new, &errors);
        return render_page_as(StatusCode::UNPROCESSABLE_ENTITY, &page);
    }
    match session.provider().create_portal_access(&session.caller, &application.id, new.input()).await {
        Ok(access) => render_page(&CreatedPage {
            frame: session.frame("Portal link created", Section::Applications),
            application,
            url: access.url,
            capabilities: names(&new.capabilities),
            expires: RelativeTime::new(access.expires_at, session.now()),
        }),
        Err(error) => {
            let (status, errors) = form_errors(error)?;
            render_page_as(status, &NewPage::new(&session, application, &new, &errors))
        }
    }
}

#[derive(Template)]
#[template(path = "dashboard/applications/portal_links/revoke.html")]
struct RevokePage {
    frame: Frame,
    application: Application,
    path: String,
    row: Row,
}

/// The confirmation.
pub(super) async fn revoke_page(
    session: DashboardSession,
    PathParams([id, link]): PathParams<2>,
) -> Result<Response, PageError> {
    let application = session.provider().application(&session.caller, &id).await?;
    let link = session.provider().portal_link(&session.caller, &application.id, &link).await?;
    render_page(&RevokePage {
        frame: session.frame("Revoke portal link", Section::Applications),
        path: path_of(&session, &application.id),
        row: Row::new(&link, session.now()),
        application,
    })
}

/// Revokes the link.
pub(super) async fn revoke(
    session: DashboardSession,
    PathParams([id, link]): PathParams<2>,
) -> Result<Redirect, PageError> {
    session.provider().revoke_portal_link(&session.caller, &id, &link).await?;
    Ok(session.dashboard.redirect(&format!("/applications/{id}/portal-links?done=portal-link-revoked")))
}
