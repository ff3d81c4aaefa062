//! Conditions of sale of a house: their versions, and the form for another one.

use askama::Template;
use axum::extract::Path;
use axum::response::{IntoResponse as _, Response};
use http::StatusCode;
use kit_design::error_page::ErrorPage;
use kit_design::error_summary::ErrorSummary;
use kit_design::fields::{LongForm, QueryFields, SubmittedForm};
use kit_design::form_field::FormField;
use kit_design::frame::{Frame, render_page, render_page_as};
use kit_design::relative_time::RelativeTime;
use platform_core::PlatformError;
use platform_core::Scope::{CustomersRead, CustomersWrite};
use platform_core::customers::house_input::CONDITIONS_CHARS_MAX;
use platform_core::port::{Conditions, Page as ListPage};
use platform_core::users::UserNames;
use uuid::Uuid;

use crate::form_page::Refused;
use crate::notice;
use crate::page_error::PageError;
use crate::sale::labels;
use crate::session::{PathIds, Section, Session};

/// Versions on one page.
const LISTED: usize = 20;
/// Lines of the text that the form shows at once.
const LINES: usize = 18;

#[derive(Template)]
#[template(path = "customers/conditions.html")]
struct ConditionsPage {
    frame: Frame,
    path: String,
    customer: String,
    rows: Vec<Row>,
    /// The last version of the page, if there are more.
    next: Option<u32>,
    errors: ErrorSummary,
    /// The form; none for a user who may only read.
    field: Option<FormField>,
}

struct Row {
    number: u32,
    at: RelativeTime,
    by: String,
}

impl Row {
    fn new(session: &Session, names: &UserNames, conditions: &Conditions) -> Self {
        Self {
            number: conditions.number,
            at: RelativeTime::new(conditions.created_at, session.now()),
            by: labels::actor(session, names, &conditions.actor),
        }
    }
}

/// `GET /customers/{customer}/conditions`
pub(super) async fn list(
    session: Session,
    PathIds([customer]): PathIds<1>,
    QueryFields(query): QueryFields,
) -> Result<Response, PageError> {
    let before = query.text("before").parse().ok();
    let mut page = ConditionsPage::new(&session, customer, before, None, &Refused::default()).await?;
    page.frame = page.frame.with_notice(notice::from_query(&query));
    render_page(&page)
}

/// `POST /customers/{customer}/conditions`
pub(super) async fn add(
    session: Session,
    PathIds([customer]): PathIds<1>,
    SubmittedForm(form): LongForm,
) -> Result<Response, PageError> {
    let text = super::lines(form.text("text"));
    let refused = match session.platform().add_conditions(&session.caller, customer, &text).await {
        Ok(_) => {
            let path = format!("/customers/{customer}/conditions?done=conditions-added");
            return Ok(session.admin.redirect(&path).into_response());
        }
        Err(PlatformError::Busy) => {
            Refused::by_page("", "Someone else added a version at the same time. Open this page again to see it.")
        }
        Err(error) => Refused::from(error, &[])?,
    };
    let page = ConditionsPage::new(&session, customer, None, Some(text), &refused).await?;
    render_page_as(refused.status, &page)
}

impl ConditionsPage {
    async fn new(
        session: &Session,
        customer: Uuid,
        before: Option<u32>,
        typed: Option<String>,
        refused: &Refused,
    ) -> Result<Self, PageError> {
        let (platform, caller) = (session.platform(), &session.caller);
        let name = platform.customer(caller, customer).await?.name;
        let page = ListPage { after: before, limit: LISTED + 1 };
        let mut versions = platform.conditions_list(caller, customer, page).await?;
        let has_more = versions.len() > LISTED;
        versions.truncate(LISTED);
        let latest = versions.first().filter(|_| before.is_none());
        let field = session.may(CustomersWrite).then(|| {
            let text = typed.unwrap_or_else(|| latest.map_or_else(String::new, |latest| latest.text.clone()));
            FormField::area("text", "Text of the next version", text)
                .lines(LINES)
                .chars_max(CONDITIONS_CHARS_MAX)
                .required()
                .hint("Sales keep the version that they were given. A version never changes.")
                .fault(refused.of("text"))
        });
        let names = session.names(versions.iter().map(|version| version.actor.as_str())).await?;
        Ok(Self {
            frame: session.frame(format!("Conditions of sale · {name}"), Section::Customers),
            path: format!("{}/customers/{customer}", session.admin.site().base),
            customer: name,
            next: versions.last().map(|version| version.number).filter(|_| has_more),
            rows: versions.iter().map(|version| Row::new(session, &names, version)).collect(),
            errors: ErrorSummary::of_fields(&refused.errors, &field),
            field,
        })
    }
}

#[derive(Template)]
#[template(path = "customers/conditions_version.html")]
struct VersionPage {
    frame: Frame,
    /// Path of the page that lists the versions; none for a user who may not open it.
    above: Option<String>,
    row: Row,
    text: String,
}

/// `GET /customers/{customer}/conditions/{number}`
pub(super) async fn version(
    session: Session,
    PathIds([customer]): PathIds<1>,
    Path((_, number)): Path<(String, String)>,
) -> Result<Response, PageError> {
    let number = number.parse().map_err(|_| ErrorPage::not_found())?;
    let found = session.platform().conditions(&session.caller, customer, number).await?;
    let above =
        session.may(CustomersRead).then(|| format!("{}/customers/{customer}/conditions", session.admin.site().base));
    let names = session.names([found.actor.as_str()]).await?;
    let page = VersionPage {
        frame: session.frame(format!("Conditions of sale, version {number}"), Section::Customers),
        above,
        row: Row::new(&session, &names, &found),
        text: found.text,
    };
    render_page_as(StatusCode::OK, &page)
}
