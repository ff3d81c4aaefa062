//! The access log with search, and the record of a lot's sale for a third party.

use std::collections::BTreeMap;

use askama::Template;
use axum::Json;
use axum::Router;
use axum::response::{IntoResponse as _, Response};
use http::StatusCode;
use http::header::CONTENT_DISPOSITION;
use kit_design::error_page::{ErrorPage, sentence};
use kit_design::error_summary::ErrorSummary;
use kit_design::fields::{FormFields, QueryFields};
use kit_design::form_field::FormField;
use kit_design::frame::{Frame, render_page_as};
use kit_design::relative_time::RelativeTime;
use kit_http::page_routes::get;
use platform_core::PlatformError;
use platform_core::Scope::{AuctionsRead, UsersRead};
use platform_core::access::access_log::AccessRow;
use platform_core::port::{Page as ListPage, User};
use serde_json::Value;
use uuid::Uuid;

use crate::access::{Need, Page};
use crate::admin::Admin;
use crate::page_error::PageError;
use crate::session::{Section, Session};

/// Entries on one page.
const LISTED: usize = 50;
/// Entries that one search looks through; the next page continues there.
const SEARCHED_MAX: usize = 2_000;
/// Users whose names and addresses are shown in place of their ids.
const USERS_MAX: usize = 250;

const NOT_AN_ID: &str = "is not the id of a lot: copy the id from the lot's page";

pub(crate) const PAGES: &[Page] =
    &[("GET", "/audit", Need::Has(UsersRead)), ("GET", "/audit/record", Need::Has(AuctionsRead))];

pub(crate) fn router() -> Router<Admin> {
    Router::new().route("/audit", get(page)).route("/audit/record", get(record))
}

/// An entry in the list.
struct EntryRow {
    number: i64,
    at: RelativeTime,
    actor: String,
    address: String,
    event: String,
    details: Vec<(String, String)>,
}

#[derive(Template)]
#[template(path = "audit.html")]
struct AuditPage {
    frame: Frame,
    search: String,
    rows: Vec<EntryRow>,
    /// Query of the page with older entries.
    older: Option<String>,
    has_searched_all: bool,
    /// The field of the record's lot.
    lot: FormField,
    errors: ErrorSummary,
}

/// Names of users by their id.
type Names = BTreeMap<Uuid, String>;

/// An id of a user as the user's name and address.
fn named(text: &str, names: &Names) -> String {
    let uuid = Uuid::try_parse(text.strip_prefix("user:").unwrap_or(text)).ok();
    uuid.and_then(|uuid| names.get(&uuid)).cloned().unwrap_or_else(|| text.to_owned())
}

/// `keyCreated` as `Key created`, and `signInsRefused` as `Sign-ins refused`.
fn in_words(name: &str) -> String {
    let mut words = String::new();
    for (index, char) in name.replace("signIn", "sign-in").replace("SignOn", " sign-on").chars().enumerate() {
        match (index, char.is_uppercase()) {
            (0, _) => words.extend(char.to_uppercase()),
            (_, true) => {
                words.push(' ');
                words.extend(char.to_lowercase());
            }
            _ => words.push(char),
        }
    }
    words
}

fn plain(value: &Value, names: &Names) -> String {
    match value {
        Value::String(text) => named(text, names),
        Value::Null => "none".to_owned(),
        Value::Bool(true) => "yes".to_owned(),
        Value::Bool(false) => "no".to_owned(),
        Value::Array(values) => values.iter().map(|value| plain(value, names)).collect::<Vec<_>>().join(", "),
        other => other.to_string(),
    }
}

fn row(entry: &AccessRow, names: &Names, session: &Session) -> EntryRow {
    // An event serialises to an object with the members `event` and `details`.
    let event = serde_json::to_value(&entry.content.event).unwrap_or_default();
    let details = event.get("details").and_then(Value::as_object).cloned().unwrap_or_default();
    EntryRow {
        number: entry.number,
        at: RelativeTime::new(entry.content.at, session.now()),
        actor: named(&entry.content.actor, names),
        address: entry.content.address.clone().unwrap_or_default(),
        event: in_words(event.get("event").and_then(Value::as_str).unwrap_or_default()),
        details: details.iter().map(|(key, value)| (in_words(key), plain(value, names))).collect(),
    }
}

impl EntryRow {
    /// True if a part of the entry contains the text, which is in lower case.
    fn contains(&self, text: &str) -> bool {
        let details = self.details.iter().map(|(_, value)| value.as_str());
        let mut parts = [self.actor.as_str(), &self.event, &self.address].into_iter().chain(details);
        text.is_empty() || parts.any(|part| part.to_lowercase().contains(text))
    }
}

/// Entries before a number, the latest first, that contain the searched text.
async fn page(session: Session, QueryFields(query): QueryFields) -> Result<Response, PageError> {
    show(&session, &query, StatusCode::OK, "").await
}

/// The page with this error of the record's lot; an empty text is no error.
async fn show(session: &Session, query: &FormFields, status: StatusCode, fault: &str) -> Result<Response, PageError> {
    let (platform, caller) = (session.platform(), &session.caller);
    let users = platform.users(caller, ListPage { after: None, limit: USERS_MAX }).await?;
    let shown = |user: &User| match &user.profile.name {
        // Two users may have one name; the address tells them apart.
        Some(name) => format!("{name} ({})", user.email),
        None => user.email.clone(),
    };
    let names: Names = users.iter().map(|user| (user.id, shown(user))).collect();
    let search = query.text("search").to_lowercase();
    let mut before = query.text("before").parse::<i64>().ok();
    let (mut rows, mut searched, mut has_searched_all) = (Vec::new(), 0, false);
    while rows.len() < LISTED && searched < SEARCHED_MAX && !has_searched_all {
        let entries = platform.access_log(caller, ListPage { after: before, limit: LISTED }).await?;
        has_searched_all = entries.len() < LISTED;
        searched += entries.len();
        for entry in &entries {
            before = Some(entry.number);
            let row = row(entry, &names, session);
            if row.contains(&search) {
                rows.push(row);
            }
            if rows.len() == LISTED {
                break;
            }
        }
    }
    has_searched_all &= before.is_none_or(|number| number <= 1);
    let older = before.filter(|_| !has_searched_all).map(|number| {
        let query = [("search", query.text("search").to_owned()), ("before", number.to_string())];
        form_urlencoded::Serializer::new(String::new()).extend_pairs(query).finish()
    });
    let lot = FormField::text("lot", "Id of the lot", query.text("lot"))
        .code()
        .required()
        .attribute("placeholder", "019…")
        .fault(fault);
    let page = AuditPage {
        frame: session.frame("Audit log", Section::AuditLog),
        search: query.text("search").to_owned(),
        rows,
        older,
        has_searched_all,
        errors: ErrorSummary::beside([&lot]).heading("Nothing was exported"),
        lot,
    };
    render_page_as(status, &page)
}

/// The record of a lot's sale as a file, in parts of at most 10,000 entries.
async fn record(session: Session, QueryFields(query): QueryFields) -> Result<Response, PageError> {
    // Who may export a record need not see the access log, which has the form.
    let has_form = session.may(UsersRead);
    let Ok(item) = Uuid::try_parse(query.text("lot")) else {
        return match has_form {
            true => show(&session, &query, StatusCode::BAD_REQUEST, NOT_AN_ID).await,
            false => Err(ErrorPage::bad_request(sentence(&format!("This {NOT_AN_ID}"))).into()),
        };
    };
    let after = query.text("after").parse().unwrap_or(0);
    let record = match session.platform().record(&session.caller, item, after).await {
        Err(PlatformError::NotFound(_)) if has_form => {
            let fault = "is the id of no lot: copy the id from the lot's page";
            return show(&session, &query, StatusCode::NOT_FOUND, fault).await;
        }
        record => record?,
    };
    let disposition = format!("attachment; filename=\"record-{item}-{after}.json\"");
    Ok(([(CONTENT_DISPOSITION, disposition)], Json(record)).into_response())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_events_are_words() {
        assert_eq!(in_words("keyCreated"), "Key created");
        assert_eq!(in_words("signInsRefused"), "Sign-ins refused");
        assert_eq!(in_words("singleSignOnLinked"), "Single sign-on linked");
        assert_eq!(in_words(""), "");
    }

    #[test]
    fn ids_of_users_are_shown_as_their_addresses() {
        let user = Uuid::from_u128(7);
        let names = Names::from([(user, "ann@example.com".to_owned())]);
        assert_eq!(named(&format!("user:{user}"), &names), "ann@example.com");
        assert_eq!(named("command-line", &names), "command-line");
        assert_eq!(plain(&serde_json::json!(["a:read", user]), &names), "a:read, ann@example.com");
    }
}
