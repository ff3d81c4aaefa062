//! Creates an auction as a draft.

use askama::Template;
use axum::extract::State;
use axum::response::{IntoResponse as _, Response};
use http::StatusCode;
use kit_design::error_summary::ErrorSummary;
use kit_design::field_group::FieldGroup;
use kit_design::fields::{FieldErrors, QueryFields, SubmittedForm};
use kit_design::form_field::FormField;
use kit_design::frame::{Frame, render_page_as};
use platform_core::Scope;
use platform_core::sales::auctions::NewAuction;
use platform_core::sales::facts::SaleFactsInput;
use uuid::Uuid;

use super::facts_form::EnteredFacts;
use super::form::{CURRENCY_DEFAULT, Entered, TIME_ZONE_DEFAULT};
use super::owners::{HouseDefaults, OwnerGroup, owner_choices};
use crate::admin::Admin;
use crate::page_error::PageError;
use crate::sale::refusal;
use crate::session::{Section, Session};

#[derive(Template)]
#[template(path = "auctions/new.html")]
struct NewPage {
    frame: Frame,
    has_owners: bool,
    may_add_owners: bool,
    main: [FieldGroup; 2],
    /// What bidders read about the sale.
    facts: [FieldGroup; 2],
    terms: [FieldGroup; 3],
    is_sandbox: bool,
    errors: ErrorSummary,
    are_facts_open: bool,
    are_terms_open: bool,
}

/// The form.
pub(super) async fn page(session: Session, QueryFields(query): QueryFields) -> Result<Response, PageError> {
    let mut entered = Entered::empty();
    entered.auctioneer = query.text("auctioneer").to_owned();
    let owners = owner_choices(&session, &entered.auctioneer).await?;
    // With one house to choose from, its currency and time zone are shown; otherwise they follow the choice.
    if let [group] = owners.as_slice()
        && let Some(auctioneer) = group.auctioneers.first().and_then(|choice| Uuid::try_parse(&choice.value).ok())
    {
        let auctioneer = session.platform().auctioneer(&session.caller, auctioneer).await?;
        entered = entered.filled_from(&HouseDefaults::of(&session, &auctioneer).await?).filled_from(&usual());
    }
    show(&session, owners, &entered, &EnteredFacts::empty(), &FieldErrors::default(), StatusCode::OK)
}

/// What a house begins with that has named neither.
fn usual() -> HouseDefaults {
    HouseDefaults { currency: Some(CURRENCY_DEFAULT.to_owned()), time_zone: Some(TIME_ZONE_DEFAULT.to_owned()) }
}

/// Creates the auction and then its facts, or shows the form again with its errors.
pub(super) async fn create(
    session: Session,
    State(admin): State<Admin>,
    SubmittedForm(form): SubmittedForm,
) -> Result<Response, PageError> {
    let (mut entered, facts) = (Entered::of_form(&form), EnteredFacts::read(&form));
    let mut errors = FieldErrors::default();
    let auctioneer = match Uuid::try_parse(&entered.auctioneer) {
        Ok(auctioneer) => Some(session.platform().auctioneer(&session.caller, auctioneer).await?),
        Err(_) => None,
    };
    if let Some(auctioneer) = &auctioneer {
        entered = entered.filled_from(&HouseDefaults::of(&session, auctioneer).await?);
    }
    let new = NewAuction { address: facts.venue(&mut errors), ..entered.new_auction(&mut errors) };
    facts.check(&mut errors);
    facts.check_film(&session, new.kind, &mut errors).await?;
    refusal::add_problems(&mut errors, session.platform().problems_of_new_auction(&new));
    for (field, value) in [("currency", &new.currency), ("timeZone", &new.time_zone)] {
        if value.is_empty() {
            errors.replace(field, "Fill it in: the house has named none for its new sales.");
        }
    }
    if let Some(auctioneer) = auctioneer.filter(|_| errors.is_empty()) {
        let input = facts.input(&session, auctioneer.customer).await?;
        match session.platform().create_auction(&session.caller, &new, None).await {
            Ok(outcome) => {
                let uuid = outcome.fresh()?.auction.uuid;
                let path = if input == SaleFactsInput::default() {
                    format!("/auctions/{uuid}?done=created")
                } else {
                    match session.platform().change_sale_facts(&session.caller, uuid, &input, None).await {
                        Ok(_) => format!("/auctions/{uuid}?done=created"),
                        Err(_) => format!("/auctions/{uuid}/edit?done=facts-missing"),
                    }
                };
                return Ok(admin.redirect(&path).into_response());
            }
            Err(error) => refusal::add_to(&mut errors, error)?,
        }
    }
    let owners = owner_choices(&session, &entered.auctioneer).await?;
    show(&session, owners, &entered, &facts, &errors, StatusCode::UNPROCESSABLE_ENTITY)
}

fn show(
    session: &Session,
    owners: Vec<OwnerGroup>,
    entered: &Entered,
    facts: &EnteredFacts,
    errors: &FieldErrors,
    status: StatusCode,
) -> Result<Response, PageError> {
    let has_owners = !owners.is_empty();
    let main = [entered.sale_group(Some(owners), errors), entered.date_group(errors)];
    let facts = facts.groups(session, None, errors);
    let terms = entered.term_groups(errors);
    let page = NewPage {
        frame: session.frame("Create auction", Section::Auctions),
        has_owners,
        may_add_owners: session.may(Scope::CustomersWrite),
        errors: ErrorSummary::of_groups(errors, main.iter().chain(&facts).chain(&terms)),
        are_facts_open: facts.iter().any(FieldGroup::has_fault),
        are_terms_open: terms.iter().any(FieldGroup::has_fault),
        main,
        facts,
        terms,
        is_sandbox: entered.is_sandbox(),
    };
    render_page_as(status, &page)
}
