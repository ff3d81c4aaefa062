//! The domain of a house's own: the form, the record that proves it, and what the last look-up found.

use askama::Template;
use axum::response::{IntoResponse as _, Response};
use http::StatusCode;
use jiff::Timestamp;
use kit_design::error_summary::ErrorSummary;
use kit_design::fields::{QueryFields, SubmittedForm};
use kit_design::form_field::FormField;
use kit_design::frame::{Frame, render_page_as};
use kit_design::relative_time::RelativeTime;
use platform_core::PlatformError;
use platform_core::customers::domain_name::DOMAIN_CHARS_MAX;
use platform_core::port::{DomainFinding, DomainTrouble, HouseDomain};
use uuid::Uuid;

use crate::form_page::Refused;
use crate::notice;
use crate::page_error::PageError;
use crate::session::{PathIds, Section, Session};

#[derive(Template)]
#[template(path = "customers/domain.html")]
struct DomainPage {
    frame: Frame,
    path: String,
    customer: String,
    /// Why there is no form; empty when there is one.
    hindrance: &'static str,
    entered: Option<Entered>,
    errors: ErrorSummary,
    field: FormField,
    version: i64,
}

/// The domain that the house entered.
struct Entered {
    domain: String,
    /// Class and words of its state.
    state: (&'static str, &'static str),
    record_name: String,
    record_value: String,
    /// What the last look-up found, and when.
    found: Option<(String, RelativeTime)>,
    /// Until when the domain is served though its record is missing, or its name server silent.
    served_until: Option<RelativeTime>,
    /// Address of the saleroom, while the domain is served.
    address: Option<String>,
}

impl Entered {
    fn of(domain: &HouseDomain, address: Option<String>, now: Timestamp) -> Self {
        Self {
            domain: domain.domain.clone(),
            state: state_words(domain),
            record_name: domain.record_name(),
            record_value: domain.record_value(),
            found: domain.last_check.as_ref().map(|check| (words(&check.finding), RelativeTime::new(check.at, now))),
            served_until: domain.served_until().map(|until| RelativeTime::new(until, now)),
            address: address.filter(|_| domain.proven_at.is_some()),
        }
    }

    fn is_proven(&self) -> bool {
        self.address.is_some()
    }
}

fn state_words(domain: &HouseDomain) -> (&'static str, &'static str) {
    match domain.trouble() {
        Some(DomainTrouble::RecordMissing(_)) => ("bad", "Record missing"),
        Some(DomainTrouble::Unanswered(_)) => ("bad", "Name server silent"),
        Some(DomainTrouble::Lost(_)) => ("bad", "Not served any more"),
        None if domain.proven_at.is_some() => ("good", "Proven"),
        None => ("wait", "Not proven yet"),
    }
}

/// What a look-up found, and what to do.
fn words(finding: &DomainFinding) -> String {
    match finding {
        DomainFinding::Proof => "The record was found.".to_owned(),
        DomainFinding::HeldByOther => {
            "The record was found, but the domain is that of another house on this server, whose record still exists. Remove that record first."
                .to_owned()
        }
        DomainFinding::NoRecord => {
            "There is no text record of this name. Add it where the domain is managed. A new record can take some minutes to appear."
                .to_owned()
        }
        DomainFinding::OtherValues(values) => {
            let shown: Vec<String> = values.iter().map(|value| format!("\u{201c}{value}\u{201d}")).collect();
            format!("Text records of this name have other values: {}. Enter exactly the value above.", shown.join(", "))
        }
        DomainFinding::Unanswered(why) => format!("The record could not be looked up: {why}. Try again in some minutes."),
    }
}

async fn load(
    session: &Session,
    customer: Uuid,
    typed: Option<(&str, i64)>,
    refused: &Refused,
) -> Result<DomainPage, PageError> {
    let (platform, caller) = (session.platform(), &session.caller);
    let name = platform.customer(caller, customer).await?.name;
    let domain = platform.house_domain(caller, customer).await?;
    let house = platform.house(caller, customer).await?;
    let base = platform.saleroom_base(customer).await?;
    let hindrance = match (&base, &house.saleroom.address) {
        (None, _) => "This server has no saleroom: the operator sets saleroom.public_url first.",
        (Some(_), None) => "Give the saleroom of this house an address first.",
        (Some(_), Some(_)) => "",
    };
    let address = base.zip(house.saleroom.address).map(|(base, address)| format!("{base}/{address}"));
    let stored = domain.as_ref().map_or(("", 0), |domain| (domain.domain.as_str(), domain.version));
    let (text, version) = typed.unwrap_or(stored);
    let field = FormField::text("domain", "Domain", text)
        .optional()
        .chars_max(DOMAIN_CHARS_MAX)
        .attribute("spellcheck", "false")
        .attribute("autocapitalize", "none")
        .attribute("placeholder", "bid.example.com")
        .hint("Only the name, without https://. Leave it empty for the shared address.")
        .fault(refused.of("domain"));
    Ok(DomainPage {
        frame: session.frame("Own domain", Section::Customers),
        path: format!("{}/customers/{customer}", session.admin.site().base),
        customer: name,
        hindrance,
        entered: domain.as_ref().map(|domain| Entered::of(domain, address, session.now())),
        errors: ErrorSummary::of_fields(&refused.errors, std::iter::once(&field)),
        field,
        version,
    })
}

pub(super) async fn page(
    session: Session,
    PathIds([uuid]): PathIds<1>,
    QueryFields(query): QueryFields,
) -> Result<Response, PageError> {
    let page = load(&session, uuid, None, &Refused::default()).await?;
    let frame = page.frame.clone().with_notice(notice::from_query(&query));
    render_page_as(StatusCode::OK, &DomainPage { frame, ..page })
}

pub(super) async fn save(
    session: Session,
    PathIds([uuid]): PathIds<1>,
    SubmittedForm(form): SubmittedForm,
) -> Result<Response, PageError> {
    let typed = form.text("domain");
    let version = form.text("version").parse().unwrap_or_default();
    let refused = match session.platform().enter_house_domain(&session.caller, uuid, typed, Some(version)).await {
        Ok(entered) => {
            let done = if entered.is_some() { "domain" } else { "domain-removed" };
            return Ok(session.admin.redirect(&format!("{}?done={done}", path(uuid))).into_response());
        }
        Err(PlatformError::PreconditionFailed { .. }) => {
            Refused::by_page("", "Someone else changed the domain since you opened this page. Open the page again.")
        }
        Err(error) => Refused::from(error, &[])?,
    };
    let page = load(&session, uuid, Some((typed, version)), &refused).await?;
    render_page_as(refused.status, &page)
}

/// Looks up the record. The page shows the result.
pub(super) async fn check(
    session: Session,
    PathIds([uuid]): PathIds<1>,
    _form: SubmittedForm,
) -> Result<Response, PageError> {
    session.platform().check_house_domain(&session.caller, uuid).await?;
    Ok(session.admin.redirect(&format!("{}#record", path(uuid))).into_response())
}

/// What the page of the customer says of it.
pub(super) async fn state(session: &Session, customer: Uuid) -> Result<String, PageError> {
    let domain = session.platform().house_domain(&session.caller, customer).await?;
    Ok(match domain {
        None => "none".to_owned(),
        Some(domain) => format!("{}, {}", domain.domain, state_words(&domain).1.to_lowercase()),
    })
}

/// The path of the page.
pub(crate) fn path(customer: Uuid) -> String {
    format!("/customers/{customer}/domain")
}
