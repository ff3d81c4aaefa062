//! Adds a person or firm to the register, and edits it.

use askama::Template;
use axum::response::{IntoResponse as _, Response};
use kit_design::error_summary::ErrorSummary;
use kit_design::fields::{FormFields, QueryFields, SubmittedForm};
use kit_design::frame::{Frame, render_page_as};
use platform_core::PlatformError;
use platform_core::bidders::{LikelyDuplicate, PARTY_ADDRESSES_MAX};
use platform_core::port::{Page as ListPage, Party};
use uuid::Uuid;

use super::Houses;
use super::form::{self, ADDRESS_COUNT, Groups, Typed};
use super::likely::{LikelyRow, identified};
use crate::form_page::Refused;
use crate::page_error::PageError;
use crate::session::{PathIds, Section, Session};

/// Auctioneers that are read for the currency of a house.
const AUCTIONEERS_MAX: usize = 50;

/// The currency of a house's new sales, or the one that its first auctioneer names; empty for none.
pub(super) async fn currency_of(session: &Session, house: Uuid) -> Result<String, PageError> {
    if let Some(currency) = session.platform().house(&session.caller, house).await?.profile.currency {
        return Ok(currency.as_str().to_owned());
    }
    let page = ListPage { after: None, limit: AUCTIONEERS_MAX };
    let auctioneers = match session.platform().auctioneers(&session.caller, Some(house), page).await {
        Err(PlatformError::Forbidden(_)) => Vec::new(),
        auctioneers => auctioneers?,
    };
    let named = auctioneers.into_iter().find_map(|auctioneer| auctioneer.profile.currency);
    Ok(named.map_or(String::new(), |currency| currency.as_str().to_owned()))
}

/// The page with the form.
#[derive(Template)]
#[template(path = "people/form.html")]
struct PersonPage {
    frame: Frame,
    /// Path and text of the page above this one.
    above: (String, String),
    intro: String,
    errors: ErrorSummary,
    action: String,
    button: &'static str,
    /// Name and value of the field that says what the form is about.
    about: (&'static str, String),
    /// Records that are likely about the same person, before a new one is added.
    likely: Vec<LikelyRow>,
    /// The records in `likely`, so that the next form adds a new record all the same.
    sure: String,
    groups: Groups,
    address_count: usize,
    can_add: bool,
}

impl PersonPage {
    fn new(frame: Frame, groups: Groups, refused: &Refused) -> Self {
        let address_count = groups.addresses.len();
        Self {
            frame,
            above: (String::new(), String::new()),
            intro: String::new(),
            errors: ErrorSummary::of_fields(&refused.errors, groups.all()),
            action: String::new(),
            button: "",
            about: ("", String::new()),
            likely: Vec::new(),
            sure: String::new(),
            groups,
            address_count,
            can_add: address_count < PARTY_ADDRESSES_MAX,
        }
    }
}

fn new_form(
    session: &Session,
    (houses, house): (&Houses, Uuid),
    typed: &Typed,
    (refused, likely): (&Refused, Vec<LikelyRow>),
) -> Result<Response, PageError> {
    let frame = session.frame("Add person or firm", Section::People);
    let page = PersonPage {
        above: (format!("/people?house={house}"), "Bidders and consignors".to_owned()),
        intro: format!("One record for all sales of {}.", houses.name_of(house)),
        action: "/people/new".to_owned(),
        button: if likely.is_empty() { "Add person or firm" } else { "Add as a new record" },
        about: ("house", house.to_string()),
        sure: identified(&likely),
        likely,
        ..PersonPage::new(frame, typed.groups(refused), refused)
    };
    render_page_as(refused.status, &page)
}

/// The house that a form names.
async fn house(session: &Session, fields: &FormFields) -> Result<(Houses, Uuid), PageError> {
    let houses = Houses::load(session, fields).await?;
    let house = houses.chosen.ok_or(PlatformError::NotFound("customer"))?;
    Ok((houses, house))
}

pub(super) async fn new_page(session: Session, QueryFields(query): QueryFields) -> Result<Response, PageError> {
    let (houses, house) = house(&session, &query).await?;
    let currency = currency_of(&session, house).await?;
    let typed = Typed::new(&currency, query.text("kind") == "consignors");
    new_form(&session, (&houses, house), &typed, (&Refused::default(), Vec::new()))
}

pub(super) async fn create(session: Session, SubmittedForm(form): SubmittedForm) -> Result<Response, PageError> {
    let (houses, house) = house(&session, &form).await?;
    let mut typed = Typed::read(&form);
    if typed.changes_addresses(&form) {
        return new_form(&session, (&houses, house), &typed, (&Refused::default(), Vec::new()));
    }
    let refused = match typed.input(None) {
        Ok(input) => {
            let found = session.platform().likely_duplicates_of(&session.caller, house, &input.details).await?;
            let likely: Vec<LikelyRow> = found.iter().map(LikelyRow::of).collect();
            // A reference that another record has is an error, not a question.
            let is_taken = |found: &LikelyDuplicate| {
                found.party.details.reference.is_some() && found.party.details.reference == input.details.reference
            };
            if !likely.is_empty() && form.text("sure") != identified(&likely) && !found.iter().any(is_taken) {
                return new_form(&session, (&houses, house), &typed, (&Refused::default(), likely));
            }
            match session.platform().create_party(&session.caller, house, &input).await {
                Ok(party) => {
                    let path = format!("/people/{}?done=party-created", party.uuid);
                    return Ok(session.admin.redirect(&path).into_response());
                }
                Err(error) => form::refused(error)?,
            }
        }
        Err(refused) => refused,
    };
    new_form(&session, (&houses, house), &typed, (&refused, Vec::new()))
}

fn edit_form(
    session: &Session,
    party: &Party,
    version: &str,
    typed: &Typed,
    refused: &Refused,
) -> Result<Response, PageError> {
    let path = format!("/people/{}", party.uuid);
    let frame = session.frame(format!("Edit {}", party.details.name), Section::People);
    let page = PersonPage {
        above: (path.clone(), party.details.name.clone()),
        action: format!("{path}/edit"),
        button: "Save record",
        about: ("version", version.to_owned()),
        ..PersonPage::new(frame, typed.groups(refused), refused)
    };
    render_page_as(refused.status, &page)
}

pub(super) async fn page(session: Session, PathIds([uuid]): PathIds<1>) -> Result<Response, PageError> {
    let party = session.platform().party(&session.caller, uuid).await?;
    if party.erasure.is_some() || party.merged.is_some() {
        return Ok(session.admin.redirect(&format!("/people/{uuid}")).into_response());
    }
    let typed = Typed::of(&party, &currency_of(&session, party.customer).await?);
    edit_form(&session, &party, &party.version.to_string(), &typed, &Refused::default())
}

pub(super) async fn save(
    session: Session,
    PathIds([uuid]): PathIds<1>,
    SubmittedForm(form): SubmittedForm,
) -> Result<Response, PageError> {
    let party = session.platform().party(&session.caller, uuid).await?;
    let (mut typed, version) = (Typed::read(&form), form.text("version"));
    if typed.changes_addresses(&form) {
        return edit_form(&session, &party, version, &typed, &Refused::default());
    }
    let refused = match typed.input(Some(&party.details)) {
        Ok(input) => {
            let changed = session.platform().change_party(&session.caller, uuid, &input, version.parse().ok()).await;
            match changed {
                Ok(_) => {
                    return Ok(session.admin.redirect(&format!("/people/{uuid}?done=party-saved")).into_response());
                }
                Err(PlatformError::PreconditionFailed { .. }) => Refused::by_page(
                    "",
                    "Someone else changed the record since you opened this page. Open it again to see the change.",
                ),
                Err(error) => form::refused(error)?,
            }
        }
        Err(refused) => refused,
    };
    edit_form(&session, &party, version, &typed, &refused)
}
