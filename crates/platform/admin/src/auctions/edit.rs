//! Edits an auction's fields.

use askama::Template;
use axum::extract::State;
use axum::response::{IntoResponse as _, Response};
use http::StatusCode;
use kit_design::error_summary::ErrorSummary;
use kit_design::field_group::FieldGroup;
use kit_design::fields::{FieldErrors, QueryFields, SubmittedForm};
use kit_design::frame::{Frame, render_page_as};
use platform_core::PlatformError;
use platform_core::port::SaleFacts;
use platform_core::sales::auctions::edit::{AuctionPatch, problems};

use super::facts_form::{self, EnteredFacts};
use super::form::Entered;
use crate::admin::Admin;
use crate::notice;
use crate::page_error::PageError;
use crate::sale::Sale;
use crate::sale::refusal;
use crate::sale::writable;
use crate::session::{PathIds, Section, Session};

#[derive(Template)]
#[template(path = "auctions/edit.html")]
struct EditPage {
    frame: Frame,
    title: String,
    path: String,
    version: i64,
    /// Version of the facts that the person saw.
    facts_version: i64,
    groups: Vec<FieldGroup>,
    errors: ErrorSummary,
}

/// The form.
pub(super) async fn page(
    session: Session,
    PathIds([uuid]): PathIds<1>,
    QueryFields(query): QueryFields,
) -> Result<Response, PageError> {
    let sale = writable(&session, uuid).await?;
    let facts = session.platform().sale_facts(&session.caller, uuid).await?;
    let venue = facts_form::venue(&session, &sale.auction).await?;
    let entered = (Entered::of_auction(&sale.auction), EnteredFacts::of(&facts, venue.as_ref()));
    let mut page = EditPage::new(&session, &sale, &facts, &entered, &FieldErrors::default()).await?;
    page.frame = page.frame.with_notice(notice::from_query(&query));
    render_page_as(StatusCode::OK, &page)
}

/// Saves the auction's fields and then its facts, or shows the form again with its errors.
pub(super) async fn save(
    session: Session,
    State(admin): State<Admin>,
    PathIds([uuid]): PathIds<1>,
    SubmittedForm(form): SubmittedForm,
) -> Result<Response, PageError> {
    let (platform, caller) = (session.platform(), &session.caller);
    let mut sale = writable(&session, uuid).await?;
    let facts = platform.sale_facts(caller, uuid).await?;
    let (entered, entered_facts) = (Entered::of_form(&form), EnteredFacts::read(&form));
    let (mut errors, mut is_stale) = (FieldErrors::default(), false);
    let edit = entered.edit(&sale.auction, &mut errors);
    refusal::add_problems(&mut errors, problems(&sale.auction, &edit));
    let venue = facts_form::venue(&session, &sale.auction).await?;
    let address = entered_facts.venue_change(venue.as_ref(), &mut errors);
    entered_facts.check(&mut errors);
    // The versions that the person saw. After the first of the two steps, the form is shown again with the new one.
    sale.auction.version = form.text("version").parse().unwrap_or(sale.auction.version);
    let mut seen_facts = SaleFacts { version: form.text("factsVersion").parse().unwrap_or(facts.version), ..facts };
    if errors.is_empty() {
        let patch = AuctionPatch { edit, address };
        match platform.change_auction(caller, uuid, &patch, Some(sale.auction.version)).await {
            Ok(auction) => {
                let input = entered_facts.input(&session, auction.customer).await?;
                sale.auction = auction;
                match platform.change_sale_facts(caller, uuid, &input, Some(seen_facts.version)).await {
                    Ok(_) => return Ok(admin.redirect(&sale.path("?done=saved")).into_response()),
                    Err(error) => is_stale = add_refusal(&mut errors, error)?,
                }
            }
            Err(error) => is_stale = add_refusal(&mut errors, error)?,
        }
    }
    if is_stale {
        // The page tells of the other change, so the same form may be sent again.
        sale.auction.version = platform.auction(caller, uuid).await?.version;
        seen_facts.version = platform.sale_facts(caller, uuid).await?.version;
    }
    let page = EditPage::new(&session, &sale, &seen_facts, &(entered, entered_facts), &errors).await?;
    render_page_as(StatusCode::UNPROCESSABLE_ENTITY, &page)
}

/// Adds a refusal. Returns true for a form that is older than the last change; its text says what saving again does.
fn add_refusal(errors: &mut FieldErrors, error: PlatformError) -> Result<bool, PageError> {
    match error {
        PlatformError::PreconditionFailed { .. } => {
            errors.add(
                "",
                "Someone else changed the auction since you opened this page. Open the auction in another tab to see the \
                 changed values. If you save again, the values of this page replace the changed values.",
            );
            Ok(true)
        }
        error => refusal::add_to(errors, error).map(|()| false),
    }
}

impl EditPage {
    async fn new(
        session: &Session,
        sale: &Sale,
        facts: &SaleFacts,
        (entered, entered_facts): &(Entered, EnteredFacts),
        errors: &FieldErrors,
    ) -> Result<Self, PageError> {
        let versions = facts_form::versions(session, &sale.auction, facts).await?;
        let mut groups = vec![entered.sale_group(None, errors), entered.date_group(errors)];
        groups.extend(entered.term_groups(errors));
        groups.extend(entered_facts.groups(session, Some(&versions), errors));
        Ok(Self {
            frame: session.frame(format!("Edit · {}", sale.title()), Section::Auctions),
            title: sale.title(),
            path: sale.path(""),
            version: sale.auction.version,
            facts_version: facts.version,
            errors: ErrorSummary::of_groups(errors, &groups),
            groups,
        })
    }
}
