//! The web sites of a house that show its sales in pages of their own, and act for bidders who allow it.

use axum::response::{IntoResponse as _, Response};
use kit_design::fields::SubmittedForm;
use kit_design::form_field::FormField;
use platform_core::PlatformError;
use platform_core::port::House;
use platform_core::saleroom::SITE_ADDRESSES_MAX;
use uuid::Uuid;

use super::lines;
use crate::form_page::{FormPage, Refused};
use crate::page_error::PageError;
use crate::session::{PathIds, Section, Session};

/// Lines of the field.
const LINES: usize = 6;

pub(super) async fn page(session: Session, PathIds([uuid]): PathIds<1>) -> Result<Response, PageError> {
    let house = session.platform().house(&session.caller, uuid).await?;
    form(&session, &house, (&addresses(&house), house.version), &Refused::default()).await?.open()
}

pub(super) async fn save(
    session: Session,
    PathIds([uuid]): PathIds<1>,
    SubmittedForm(form_fields): SubmittedForm,
) -> Result<Response, PageError> {
    let typed = lines(form_fields.text("sites"));
    let version = form_fields.text("version").parse().unwrap_or_default();
    let (platform, caller) = (session.platform(), &session.caller);
    let refused = match platform.change_saleroom_sites(caller, uuid, &typed, Some(version)).await {
        Ok(_) => {
            let path = format!("/customers/{uuid}?done=sites#house");
            return Ok(session.admin.redirect(&path).into_response());
        }
        Err(PlatformError::PreconditionFailed { .. }) => {
            Refused::by_page("", "Someone else changed the house since you opened this page. Open the page again.")
        }
        Err(error) => Refused::from(error, &[])?,
    };
    let house = platform.house(caller, uuid).await?;
    form(&session, &house, (&typed, version), &refused).await?.refuse(&refused)
}

async fn form(
    session: &Session,
    house: &House,
    (typed, version): (&str, i64),
    refused: &Refused,
) -> Result<FormPage, PageError> {
    let customer = session.platform().customer(&session.caller, house.customer).await?;
    let path = format!("/customers/{}", house.customer);
    let field = FormField::area("sites", "Addresses, one a line", typed)
        .optional()
        .lines(LINES)
        .code()
        .attribute("spellcheck", "false")
        .attribute("placeholder", "https://www.example.com")
        .hint(format!(
            "At most {SITE_ADDRESSES_MAX}, with https://. An address without a path, such as https://www.example.com: its pages show \
             sales, lots and prices. One with a path, such as https://www.example.com/bids: bidders come back to exactly this address \
             after they have allowed the site to bid for them."
        ))
        .fault(refused.of("sites"));
    let page = FormPage::new(
        session.frame("Web sites", Section::Customers),
        (path.as_str(), customer.name),
        format!("{path}/sites"),
    );
    Ok(page
        .intro("Web sites of the house can show its sales in pages of their own. A bidder whom such a page asks may allow it to register and bid for them, and can end that at any time.")
        .causes("List only sites that the house runs: they can bid for bidders who allow it. A site that is not listed any more loses its access at once.")
        .hidden("version", version.to_string())
        .fields(vec![field])
        .button("Save web sites"))
}

/// The text of the form's field: one listed address in each line. A line with an origin alone names a site that only reads sales.
fn addresses(house: &House) -> String {
    let mut lines = Vec::new();
    for site in &house.saleroom.sites {
        if site.redirects.is_empty() {
            lines.push(site.origin.clone());
        }
        lines.extend(site.redirects.iter().cloned());
    }
    lines.join("\n")
}

/// What the page of the customer says of them.
pub(super) fn state(house: &House) -> String {
    match house.saleroom.sites.len() {
        0 => "none yet".to_owned(),
        1 => "1 listed".to_owned(),
        several => format!("{several} listed"),
    }
}

/// The path of the form.
pub(super) fn path(customer: Uuid) -> String {
    format!("/customers/{customer}/sites")
}
