//! API keys: the list, creation with the key shown once, and revocation.

use askama::Template;
use axum::Router;
use axum::response::{IntoResponse as _, Response};
use jiff::Timestamp;
use jiff::civil::Date;
use jiff::tz::TimeZone;
use kit_design::field_group::FieldGroup;
use kit_design::fields::{FieldErrors, FormFields, QueryFields, SubmittedForm};
use kit_design::form_field::{Choice, FormField};
use kit_design::frame::{Frame, render_page};
use kit_design::relative_time::RelativeTime;
use kit_http::page_routes::{form, get};
use platform_core::Scope::{self, KeysRead, KeysWrite};
use platform_core::Scopes;
use platform_core::access::NewApiKey;
use platform_core::port::{ApiKey, Customer, Page as ListPage};
use uuid::Uuid;

use crate::access::{Need, Page};
use crate::admin::Admin;
use crate::form_page::{FormPage, Refused, at_fields};
use crate::page_error::PageError;
use crate::session::{PathIds, Section, Session};
use crate::shown_once::{ShownOnce, ShownSecret};
use crate::{labels, notice};

/// Keys on one page of the list.
const LISTED: usize = 100;
/// Customers that the form offers.
const CUSTOMERS_MAX: usize = 250;
/// Pointers of the use case with their fields.
const FIELDS: &[(&str, &str)] = &[("/expiresAt", "expires")];
/// The choice of a key that belongs to no customer.
const STAFF: &str = "staff";

pub(crate) const PAGES: &[Page] = &[
    ("GET", "/api-keys", Need::Has(KeysRead)),
    ("GET", "/api-keys/new", Need::Has(KeysWrite)),
    ("POST", "/api-keys/new", Need::Has(KeysWrite)),
    ("GET", "/api-keys/{key}/revoke", Need::Has(KeysWrite)),
    ("POST", "/api-keys/{key}/revoke", Need::Has(KeysWrite)),
];

pub(crate) fn router() -> Router<Admin> {
    Router::new()
        .route("/api-keys", get(list))
        .route("/api-keys/new", form(new_page, create))
        .route("/api-keys/{key}/revoke", form(revoke_page, revoke))
}

/// A key in the list.
struct KeyRow {
    uuid: Uuid,
    name: String,
    customer: String,
    scopes: String,
    /// Class and word of the state.
    state: (&'static str, &'static str),
    expires: Option<RelativeTime>,
    used: Option<RelativeTime>,
    is_in_force: bool,
}

#[derive(Template)]
#[template(path = "api_keys.html")]
struct ListTemplate {
    frame: Frame,
    rows: Vec<KeyRow>,
    next: Option<Uuid>,
    may_write: bool,
}

async fn customers(session: &Session) -> Result<Vec<Customer>, PageError> {
    let page = ListPage { after: None, limit: CUSTOMERS_MAX };
    Ok(session.platform().customers(&session.caller, page).await?)
}

fn row(key: ApiKey, customers: &[Customer], now: Timestamp) -> KeyRow {
    let is_expired = key.expires_at.is_some_and(|at| at <= now);
    let state = match (key.revoked_at, is_expired) {
        (Some(_), _) => ("bad", "Revoked"),
        (None, true) => ("bad", "Expired"),
        (None, false) => ("good", "In force"),
    };
    let name_of = |uuid: Uuid| {
        let found = customers.iter().find(|customer| customer.uuid == uuid);
        found.map_or_else(|| uuid.to_string(), |customer| customer.name.clone())
    };
    KeyRow {
        uuid: key.uuid,
        name: key.name,
        customer: key.customer.map_or_else(|| "The platform's own staff".to_owned(), name_of),
        scopes: labels::scopes(&key.scopes),
        state,
        expires: key.expires_at.map(|at| RelativeTime::new(at, now)),
        used: key.last_used_at.map(|at| RelativeTime::new(at, now)),
        is_in_force: key.revoked_at.is_none() && !is_expired,
    }
}

async fn list(session: Session, QueryFields(query): QueryFields) -> Result<Response, PageError> {
    let page = ListPage { after: Uuid::try_parse(query.text("after")).ok(), limit: LISTED + 1 };
    let mut keys = session.platform().api_keys(&session.caller, None, page).await?;
    let has_more = keys.len() > LISTED;
    keys.truncate(LISTED);
    let customers = customers(&session).await?;
    render_page(&ListTemplate {
        frame: session.frame("API keys", Section::ApiKeys).with_notice(notice::from_query(&query)),
        next: keys.last().map(|key| key.uuid).filter(|_| has_more),
        rows: keys.into_iter().map(|key| row(key, &customers, session.now())).collect(),
        may_write: session.may(KeysWrite),
    })
}

fn new_form(session: &Session, customers: &[Customer], form: &FormFields, refused: &Refused) -> FormPage {
    let chosen = form.text("customer");
    let none = Choice::new("", "Choose one", chosen.is_empty());
    let staff = Choice::new(STAFF, "The platform's own staff", chosen == STAFF);
    let others = customers.iter().map(|customer| {
        let uuid = customer.uuid.to_string();
        let is_chosen = uuid == chosen;
        Choice::new(uuid, customer.name.clone(), is_chosen)
    });
    // A key can't have scopes that its creator does not have.
    let own = Scope::ALL.into_iter().filter(|scope| session.may(*scope));
    let is_ticked = |scope: Scope| form.all("scopes").any(|name| name == scope.name());
    let scopes =
        own.map(|scope| Choice::new(scope.name(), scope.name(), is_ticked(scope)).hint(labels::scope_meaning(scope)));
    let fields = [
        FormField::text("name", "Name", form.text("name"))
            .chars_max(100)
            .required()
            .hint("Who or what uses it, such as “Web site”.")
            .fault(refused.of("name")),
        FormField::select("customer", "Customer", [none, staff].into_iter().chain(others).collect())
            .hint("A key of a customer sees only what belongs to the customer.")
            .fault(refused.of("customer")),
        FormField::text("expires", "Last day (UTC)", form.text("expires"))
            .chars_max(10)
            .required()
            .kind("date", "off")
            .hint("Empty: the key works until it is revoked.")
            .optional()
            .fault(refused.of("expires")),
    ];
    FormPage::new(session.frame("Create API key", Section::ApiKeys), ("/api-keys", "API keys"), "/api-keys/new")
        .groups([
            FieldGroup::new("key", "Key", fields),
            FieldGroup::new(
                "rights",
                "What it may do",
                [FormField::boxes("scopes", "Scopes", scopes.collect()).fault(refused.of("scopes"))],
            ),
        ])
        .button("Create API key")
}

async fn new_page(session: Session) -> Result<Response, PageError> {
    new_form(&session, &customers(&session).await?, &FormFields::default(), &Refused::default()).open()
}

/// The end of this day in UTC.
fn end_of(day: &str) -> Option<Timestamp> {
    let day: Date = day.parse().ok()?;
    Some(day.at(23, 59, 59, 0).to_zoned(TimeZone::UTC).ok()?.timestamp())
}

/// What the form says, or all that is wrong with it.
fn read(form: &FormFields, now: Timestamp) -> Result<NewApiKey, Refused> {
    let mut errors = FieldErrors::default();
    // A key of the platform's own staff sees every customer, so a person chooses it.
    let customer = match form.text("customer") {
        STAFF => None,
        uuid => Uuid::try_parse(uuid).map(Some).unwrap_or_else(|_| {
            errors.add("customer", "is missing: choose one");
            None
        }),
    };
    let expires_at = form.non_empty("expires").map(end_of);
    if expires_at == Some(None) {
        errors.add("expires", "is not a day: write it as 2026-12-31");
    }
    let scopes: Option<Scopes> = form.all("scopes").map(Scope::parse).collect();
    if scopes.is_none() {
        errors.add("scopes", "has a scope that does not exist: choose listed ones");
    }
    let (scopes, expires_at) = (scopes.unwrap_or_default(), expires_at.flatten());
    let new = NewApiKey { name: form.text("name").to_owned(), customer, scopes, expires_at };
    errors.add_found(at_fields(new.problems(now), FIELDS));
    if errors.is_empty() { Ok(new) } else { Err(Refused::of_errors(errors)) }
}

async fn create(session: Session, SubmittedForm(form): SubmittedForm) -> Result<Response, PageError> {
    let refused = match read(&form, session.now()) {
        Ok(new) => match session.platform().create_api_key(&session.caller, &new).await {
            Ok(created) => {
                let page = ShownOnce {
                    frame: session.frame("API key created", Section::ApiKeys),
                    intro: format!("The key “{}” is sent as `Authorization: Bearer …`.", created.record.name),
                    secrets: vec![ShownSecret::new("API key", created.key.expose_str().unwrap_or_default())],
                    next: ("/api-keys".to_owned(), "Go to the API keys"),
                };
                return page.show();
            }
            Err(error) => Refused::from(error, FIELDS)?,
        },
        Err(refused) => refused,
    };
    new_form(&session, &customers(&session).await?, &form, &refused).refuse(&refused)
}

async fn revoke_page(session: Session, PathIds([uuid]): PathIds<1>) -> Result<Response, PageError> {
    let key = session.platform().api_key(&session.caller, uuid).await?;
    let action = format!("/api-keys/{uuid}/revoke");
    FormPage::new(session.frame("Revoke API key", Section::ApiKeys), ("/api-keys", "API keys"), action)
        .intro(format!("The key “{}”.", key.name))
        .causes("Whatever uses the key is refused from now on, on other nodes within 5 seconds.")
        .causes("A revoked key never works again. Logs keep its name. No event is sent.")
        .destroys("Revoke API key")
        .open()
}

async fn revoke(session: Session, PathIds([uuid]): PathIds<1>) -> Result<Response, PageError> {
    session.platform().revoke_api_key(&session.caller, uuid).await?;
    Ok(session.admin.redirect("/api-keys?done=key-revoked").into_response())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_works_until_the_end_of_its_last_day() {
        assert_eq!(end_of("2026-12-31").unwrap().to_string(), "2026-12-31T23:59:59Z");
        assert_eq!([end_of(""), end_of("31.12.2026"), end_of("2026-13-01")], [None, None, None]);
    }
}
