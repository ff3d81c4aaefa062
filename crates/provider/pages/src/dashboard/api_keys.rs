//! API access: the server's address, the account's API keys, and samples that use them.

mod first_message;

use std::collections::BTreeSet;
use std::time::Duration;

use askama::Template;
use axum::Router;
use axum::response::{IntoResponse as _, Redirect, Response};
use http::StatusCode;
use jiff::Timestamp;
use kit_design::error_summary::ErrorSummary;
use kit_design::fields::{FieldErrors, FormFields, QueryFields, SubmittedForm};
use kit_design::form_field::{Choice, FormField};
use kit_design::frame::{Frame, render_page, render_page_as};
use kit_design::pager::{PagePosition, Pager};
use kit_design::relative_time::RelativeTime;
use kit_http::page_routes::{form, get};
use provider_core::model::Role;
use provider_core::model::{ApiKey, KeyScope};
use provider_core::page::{CursorKey, PageQuery};
use provider_core::uid::NAME_CHARS_MAX;
use provider_core::{PageRequest, ids};

use self::first_message::FirstMessage;
use super::Dashboard;
use super::access::Page;
use super::form_errors::{form_errors, notice};
use super::session::{DashboardSession, PathParams, Section};
use crate::page_error::PageError;

pub(super) const PAGES: &[Page] = &[
    ("GET", "/api-access", Role::Viewer),
    ("GET", "/api-access/new", Role::Admin),
    ("POST", "/api-access/new", Role::Admin),
    ("GET", "/api-access/{key}/expiry", Role::Admin),
    ("POST", "/api-access/{key}/expiry", Role::Admin),
    ("GET", "/api-access/{key}/revoke", Role::Admin),
    ("POST", "/api-access/{key}/revoke", Role::Admin),
];

pub(super) fn router() -> Router<Dashboard> {
    Router::new()
        .route("/api-access", get(page))
        .route("/api-access/new", form(new_page, create))
        .route("/api-access/{key}/expiry", form(expiry_page, change_expiry))
        .route("/api-access/{key}/revoke", form(revoke_page, revoke))
}

const NOTICES: &[(&str, &str)] = &[
    ("expiry", "The key's expiry was changed."),
    ("revoked", "The key was revoked. Requests with it are refused from now on."),
];

/// Choices of a key's expiry: name, words, and seconds from now; none is never.
const EXPIRIES: &[(&str, &str, Option<u64>)] = &[
    ("never", "Never", None),
    ("hour", "In one hour", Some(3_600)),
    ("day", "In 24 hours", Some(24 * 3_600)),
    ("week", "In 7 days", Some(7 * 24 * 3_600)),
    ("month", "In 30 days", Some(30 * 24 * 3_600)),
    ("quarter", "In 90 days", Some(90 * 24 * 3_600)),
    ("year", "In 365 days", Some(365 * 24 * 3_600)),
];

/// The time of a choice; the outer none for a choice that does not exist.
fn expiry(name: &str, now: Timestamp) -> Option<Option<Timestamp>> {
    let (.., seconds) = EXPIRIES.iter().find(|(own, ..)| *own == name)?;
    Some(seconds.map(|seconds| now + Duration::from_secs(seconds)))
}

/// The choices of a key's expiry.
fn expiry_field(chosen: &str) -> FormField {
    let choices = EXPIRIES.iter().map(|(value, words, _)| Choice::of(*value, *words, chosen));
    FormField::select("expiry", "Expires", choices.collect())
}

#[derive(Template)]
#[template(path = "dashboard/api_keys/list.html")]
struct ListPage {
    frame: Frame,
    rows: Vec<Row>,
    server_url: String,
    first_message: FirstMessage,
    may_manage: bool,
    pager: Pager,
}

struct Row {
    id: String,
    name: String,
    created: RelativeTime,
    used: Option<RelativeTime>,
    used_from: Option<String>,
    expires: Option<RelativeTime>,
    is_expired: bool,
    /// What the key may do.
    scopes: String,
}

impl Row {
    fn new(key: &ApiKey, now: Timestamp) -> Self {
        Self {
            id: key.id.to_string(),
            name: key.name.clone(),
            created: RelativeTime::new(key.created_at, now),
            used: key.last_used_at.map(|at| RelativeTime::new(at, now)),
            used_from: key.last_used_from.clone(),
            expires: key.expires_at.map(|at| RelativeTime::new(at, now)),
            is_expired: key.expires_at.is_some_and(|at| at <= now),
            scopes: scope_titles(key.scopes.as_ref()),
        }
    }
}

/// Titles of a key's scopes, in one line.
fn scope_titles(scopes: Option<&BTreeSet<KeyScope>>) -> String {
    let Some(scopes) = scopes else { return "Full access".to_owned() };
    let titles: Vec<&str> = scopes.iter().map(|scope| scope.title()).collect();
    titles.join(", ")
}

/// What the form of a new key has, as the person chose it.
struct NewKey {
    name: String,
    expiry: String,
    /// The chosen scopes; none for full access.
    scopes: Option<BTreeSet<KeyScope>>,
}

impl NewKey {
    fn empty() -> Self {
        Self { name: String::new(), expiry: "never".to_owned(), scopes: None }
    }

    /// What the form says, and what is wrong with it. A choice that is missing, unknown or contradicts another one is refused,
    /// so that no key may do more than its maker saw.
    fn of_form(form: &FormFields) -> (Self, FieldErrors) {
        let mut errors = FieldErrors::default();
        let ticked: Vec<Option<KeyScope>> = form.all("scope").map(KeyScope::parse).collect();
        if ticked.contains(&None) {
            errors.add("access", "Choose only scopes that are listed.");
        }
        let chosen: BTreeSet<KeyScope> = ticked.into_iter().flatten().collect();
        let access: Vec<&str> = form.all("access").collect();
        let scopes = match access[..] {
            ["limited"] => Some(chosen),
            ["full"] if chosen.is_empty() => None,
            ["full"] => {
                errors.add("access", "You chose full access and also scopes. Choose one of the two.");
                Some(chosen)
            }
            _ => {
                errors.add("access", "Choose full access, or only some scopes.");
                Some(chosen)
            }
        };
        let mut expiry = form.text("expiry").to_owned();
        if !EXPIRIES.iter().any(|(name, ..)| *name == expiry) {
            errors.add("expiry", "Choose when the key expires.");
            "never".clone_into(&mut expiry);
        }
        (Self { name: form.text("name").to_owned(), expiry, scopes }, errors)
    }
}

#[derive(Template)]
#[template(path = "dashboard/api_keys/new.html")]
struct NewPage {
    frame: Frame,
    scopes: Option<BTreeSet<KeyScope>>,
    name: FormField,
    expiry: FormField,
    access_fault: String,
    errors: ErrorSummary,
}

impl NewPage {
    fn has(&self, scope: &KeyScope) -> bool {
        self.scopes.as_ref().is_some_and(|scopes| scopes.contains(scope))
    }
}

#[derive(Template)]
#[template(path = "dashboard/api_keys/created.html")]
struct CreatedPage {
    frame: Frame,
    scopes: String,
    name: String,
    key: String,
    /// None if the key may not send messages.
    first_message: Option<FirstMessage>,
    expires: Option<RelativeTime>,
}

#[derive(Template)]
#[template(path = "dashboard/api_keys/expiry.html")]
struct ExpiryPage {
    frame: Frame,
    row: Row,
    expiry: FormField,
}

#[derive(Template)]
#[template(path = "dashboard/api_keys/revoke.html")]
struct RevokePage {
    frame: Frame,
    row: Row,
}

/// The address that clients call, as the platform's settings and the official clients take it.
fn server_url(session: &DashboardSession) -> String {
    session.provider().config().public_url.trim_end_matches('/').to_owned()
}

/// The keys.
async fn page(session: DashboardSession, QueryFields(query): QueryFields) -> Result<Response, PageError> {
    let iterator = query.non_empty("iterator");
    let asked = PageQuery { iterator, ..PageQuery::default() };
    let request = PageRequest::parse(asked, CursorKey::Id(ids::API_KEY))?;
    let keys = session.provider().list_api_keys(&session.account.id, &request).await?;
    let (now, server_url) = (session.now(), server_url(&session));
    let pager = Pager::new(PagePosition {
        requested: iterator,
        next: keys.iterator.as_deref(),
        previous: keys.prev_iterator.as_deref(),
        is_last: keys.done,
    });
    render_page(&ListPage {
        frame: session.frame("API access", Section::ApiAccess).with_notice(notice(&query, NOTICES)),
        rows: keys.data.iter().map(|key| Row::new(key, now)).collect(),
        first_message: FirstMessage::load(&session, &server_url).await?,
        server_url,
        may_manage: session.may(Role::Admin),
        pager,
    })
}

fn new_form(session: &DashboardSession, key: NewKey, errors: &FieldErrors) -> NewPage {
    let name = FormField::text("name", "Name", key.name)
        .hint("The program that will use it, such as “Auction platform”.")
        .chars_max(NAME_CHARS_MAX)
        .required()
        .with(errors);
    let expiry = expiry_field(&key.expiry).with(errors);
    NewPage {
        frame: session.frame("Create key", Section::ApiAccess),
        scopes: key.scopes,
        access_fault: errors.of("access"),
        errors: ErrorSummary::new(
            errors,
            [(name.name(), name.label()), ("access", "Access"), (expiry.name(), expiry.label())],
        ),
        name,
        expiry,
    }
}

/// The form of a new key.
async fn new_page(session: DashboardSession) -> Result<Response, PageError> {
    render_page(&new_form(&session, NewKey::empty(), &FieldErrors::default()))
}

/// Creates the key and shows it this once.
async fn create(session: DashboardSession, SubmittedForm(form): SubmittedForm) -> Result<Response, PageError> {
    let (key, mut errors) = NewKey::of_form(&form);
    let expires_at = expiry(&key.expiry, session.now()).flatten();
    if let Err(error) = session.provider().check_new_key(&key.name, expires_at, key.scopes.as_ref()) {
        errors.add_found(form_errors(error)?.1.renamed("scopes", "access"));
    }
    if !errors.is_empty() {
        return render_page_as(StatusCode::UNPROCESSABLE_ENTITY, &new_form(&session, key, &errors));
    }
    match session.provider().create_key(&session.caller, &key.name, expires_at, key.scopes.clone()).await {
        Ok(created) => {
            let may_send = created.key.scopes.as_ref().is_none_or(|scopes| scopes.contains(&KeyScope::Send));
            let first_message = match may_send {
                true => Some(FirstMessage::load(&session, &server_url(&session)).await?),
                false => None,
            };
            render_page(&CreatedPage {
                frame: session.frame("Key created", Section::ApiAccess),
                scopes: scope_titles(created.key.scopes.as_ref()),
                name: created.key.name.clone(),
                key: created.text,
                first_message,
                expires: expires_at.map(|at| RelativeTime::new(at, session.now())),
            })
        }
        Err(error) => {
            let (status, errors) = form_errors(error)?;
            render_page_as(status, &new_form(&session, key, &errors))
        }
    }
}

async fn row(session: &DashboardSession, id: &str) -> Result<Row, PageError> {
    Ok(Row::new(&session.provider().api_key(&session.caller, id).await?, session.now()))
}

/// The form of a key's expiry.
async fn expiry_page(session: DashboardSession, PathParams([id]): PathParams<1>) -> Result<Response, PageError> {
    let frame = session.frame("Change expiry", Section::ApiAccess);
    render_page(&ExpiryPage { frame, row: row(&session, &id).await?, expiry: expiry_field("day") })
}

/// Changes when the key expires.
async fn change_expiry(
    session: DashboardSession,
    PathParams([id]): PathParams<1>,
    SubmittedForm(form): SubmittedForm,
) -> Result<Response, PageError> {
    let Some(expires_at) = expiry(form.text("expiry"), session.now()) else {
        return Ok(session.dashboard.redirect(&format!("/api-access/{id}/expiry")).into_response());
    };
    session.provider().expire_key(&session.caller, &id, expires_at).await?;
    Ok(session.dashboard.redirect("/api-access?done=expiry").into_response())
}

/// The confirmation.
async fn revoke_page(session: DashboardSession, PathParams([id]): PathParams<1>) -> Result<Response, PageError> {
    let frame = session.frame("Revoke key", Section::ApiAccess);
    render_page(&RevokePage { frame, row: row(&session, &id).await? })
}

/// Revokes the key.
async fn revoke(session: DashboardSession, PathParams([id]): PathParams<1>) -> Result<Redirect, PageError> {
    session.provider().revoke_key(&session.caller, &id).await?;
    Ok(session.dashboard.redirect("/api-access?done=revoked"))
}
