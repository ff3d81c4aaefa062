//! The saleroom of a house: its address, and whether it is open.

use axum::response::{IntoResponse as _, Response};
use kit_design::fields::{FormFields, SubmittedForm};
use kit_design::form_field::{Choice, FormField};
use platform_core::PlatformError;
use platform_core::port::{House, HouseSaleroom, RegistrationRule};
use platform_core::saleroom::SALEROOM_ADDRESS_CHARS_MAX;
use uuid::Uuid;

use crate::form_page::{FormPage, Refused};
use crate::page_error::PageError;
use crate::session::{PathIds, Section, Session};

/// The value of a ticked box.
const YES: &str = "yes";

pub(super) async fn page(session: Session, PathIds([uuid]): PathIds<1>) -> Result<Response, PageError> {
    let house = session.platform().house(&session.caller, uuid).await?;
    form(&session, &house, (house.saleroom.clone(), house.version)).await?.open()
}

pub(super) async fn save(
    session: Session,
    PathIds([uuid]): PathIds<1>,
    SubmittedForm(typed): SubmittedForm,
) -> Result<Response, PageError> {
    let rule = RegistrationRule::ALL.into_iter().find(|rule| rule.as_str() == typed.text("registration"));
    let saleroom = HouseSaleroom {
        address: typed.non_empty("address").map(str::to_owned),
        is_open: is_ticked(&typed),
        registration: rule.unwrap_or_default(),
    };
    let version: i64 = typed.text("version").parse().unwrap_or_default();
    let error = match session.platform().change_saleroom(&session.caller, uuid, saleroom.clone(), Some(version)).await {
        Ok(_) => return Ok(session.admin.redirect(&format!("/customers/{uuid}?done=saleroom#house")).into_response()),
        Err(error) => error,
    };
    let refused = match error {
        PlatformError::PreconditionFailed { .. } => {
            Refused::by_page("", "Someone else changed the house since you opened this page. Open the page again.")
        }
        error => Refused::from(error, &[])?,
    };
    let house = session.platform().house(&session.caller, uuid).await?;
    form(&session, &house, (saleroom, version)).await?.refuse(&refused)
}

fn rule_words(rule: RegistrationRule) -> &'static str {
    match rule {
        RegistrationRule::Closed => "Bidders have no accounts: bids reach the house by other ways",
        RegistrationRule::ByStaff => "Bidders with an account, after staff approve their registration for the sale",
        RegistrationRule::AtOnce => "Bidders with an account get a paddle at once",
    }
}

fn is_ticked(form: &FormFields) -> bool {
    form.text("open") == YES
}

async fn form(
    session: &Session,
    house: &House,
    (saleroom, version): (HouseSaleroom, i64),
) -> Result<FormPage, PageError> {
    let customer = session.platform().customer(&session.caller, house.customer).await?;
    let path = format!("/customers/{}", house.customer);
    let base = &session.admin.config().saleroom_url;
    let page = FormPage::new(session.frame("Saleroom", Section::Customers), (path.as_str(), customer.name), format!("{path}/saleroom"))
        .intro("Everyone can read the pages of an open saleroom: announced sales, their lots on view, prices, and results. Drafts, reserves and names of bidders appear nowhere.")
        .hidden("version", version.to_string())
        .button("Save saleroom");
    if base.is_empty() {
        let text = "This server has no saleroom: the operator sets saleroom.public_url first.";
        return Ok(page.hindered_by(text));
    }
    let address = FormField::text("address", "Address", saleroom.address.unwrap_or_default())
        .hint(format!("Lower-case letters, digits and hyphens, at most {SALEROOM_ADDRESS_CHARS_MAX}. The pages are at {base}/ and this address. A link with an earlier address leads nowhere."));
    let rule = saleroom.registration.as_str();
    let choices = RegistrationRule::ALL.map(|other| Choice::of(other.as_str(), rule_words(other), rule));
    let rule = FormField::radios("registration", "Who may bid online", choices.into());
    let open = FormField::tick("open", "Open: everyone can read the pages", YES).ticked(saleroom.is_open);
    Ok(page.fields(vec![address.required(), rule, open]))
}

/// The saleroom on the page of the customer: its address for a link if it is open, and its state in words; none when the server
/// has no saleroom.
pub(super) fn state(session: &Session, house: &House) -> Option<(Option<String>, &'static str)> {
    let base = session.admin.config().saleroom_url.as_str();
    if base.is_empty() {
        return None;
    }
    let address = house.saleroom.address.as_ref().filter(|_| house.saleroom.is_open);
    let words = if address.is_some() { "open" } else { "closed" };
    Some((address.map(|address| format!("{base}/{address}")), words))
}

/// The path of the form.
pub(super) fn path(customer: Uuid) -> String {
    format!("/customers/{customer}/saleroom")
}
