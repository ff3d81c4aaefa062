//! Consignors in the pages of lots: their names beside lots, and the consignor that a person types. Those who edit lots see
//! them, and no other user.

use std::collections::BTreeMap;

use askama::Template;
use askama::filters::HtmlSafe;
use axum::response::{Html, IntoResponse as _, Response};
use kit_design::error_page::{ErrorPage, sentence};
use kit_design::fields::{FieldErrors, FormFields, QueryFields};
use kit_design::form_field::{Choice, FormField};
use platform_core::bidders::{FoundParties, PartyKind};
use platform_core::port::Page;
use platform_core::{PlatformError, Scope};
use platform_rules::Item;
use uuid::Uuid;

use super::columns::Column;
use crate::page_error::PageError;
use crate::sale::{Sale, writable};
use crate::session::{PathIds, Session};

/// Consignors that a field suggests before anything is typed. A house with more of them suggests by what is typed.
const SUGGESTED_MAX: usize = 200;
/// Consignors that match what was typed.
const MATCHES_MAX: usize = 20;
/// The field that chooses among consignors that match.
const MATCH: &str = "vendorMatch";

/// The labels of the consignors of some lots.
#[derive(Default)]
pub(crate) struct Consignors(BTreeMap<Uuid, String>);

impl Consignors {
    /// The consignors of these lots; none for a user who may not edit lots.
    pub(crate) async fn of<'a>(
        session: &Session,
        sale: &Sale,
        items: impl IntoIterator<Item = &'a Item>,
    ) -> Result<Self, PlatformError> {
        if !session.may(Scope::AuctionsWrite) {
            return Ok(Self::default());
        }
        let vendors = items.into_iter().filter_map(|item| item.vendor).collect();
        let labels = session.platform().party_labels(&session.caller, sale.auction.customer, &vendors).await?;
        Ok(Self(labels))
    }

    /// The label of a lot's consignor: name and reference, or the identifier if the register has no record; empty without one.
    pub(crate) fn label(&self, item: &Item) -> String {
        item.vendor.map(|vendor| self.known(item).unwrap_or_else(|| vendor.to_string())).unwrap_or_default()
    }

    /// The label of a lot's consignor, if the register has a record.
    pub(crate) fn known(&self, item: &Item) -> Option<String> {
        self.0.get(&item.vendor?).cloned()
    }
}

/// What a form says about the consignor of a lot.
pub(super) struct TypedConsignor {
    /// The vendor's UUID as [`Column::set`] reads it; empty for none.
    pub(super) value: String,
    /// What the form shows again.
    pub(super) shown: String,
    /// What is wrong; empty if nothing is.
    pub(super) fault: String,
}

impl TypedConsignor {
    /// Reads a form. `before` is the lot that it edits.
    pub(super) async fn read(
        session: &Session,
        sale: &Sale,
        form: &FormFields,
        before: Option<&Item>,
    ) -> Result<Self, PageError> {
        let text = form.non_empty(MATCH).unwrap_or_else(|| form.text(Column::Vendor.name()));
        Self::of(session, sale, text, before).await
    }

    /// Finds the consignor that a text names. A text that the lot shows already is the consignor of the lot.
    pub(super) async fn of(
        session: &Session,
        sale: &Sale,
        text: &str,
        before: Option<&Item>,
    ) -> Result<Self, PageError> {
        let text = text.trim();
        let chosen = |value: Uuid, shown: String| Self { value: value.to_string(), shown, fault: String::new() };
        if text.is_empty() {
            return Ok(Self { value: String::new(), shown: String::new(), fault: String::new() });
        }
        if let Some((item, vendor)) = before.and_then(|item| Some((item, item.vendor?)))
            && Consignors::of(session, sale, [item]).await?.label(item) == text
        {
            return Ok(chosen(vendor, text.to_owned()));
        }
        let (platform, house) = (session.platform(), sale.auction.customer);
        match platform.consignor_called(&session.caller, house, text).await? {
            Ok(vendor) => {
                let present = before.and_then(|item| item.vendor);
                let vendor = platform.present_consignor(present, vendor).await?.unwrap_or(vendor);
                let labels = platform.party_labels(&session.caller, house, &[vendor].into()).await?;
                let label = labels.into_values().next();
                Ok(chosen(vendor, label.unwrap_or_else(|| vendor.to_string())))
            }
            Err(fault) => {
                let fault = sentence(&fault.to_string());
                Ok(Self { value: String::new(), shown: text.to_owned(), fault })
            }
        }
    }

    /// Adds what is wrong to the errors of the form.
    pub(super) fn check(&self, errors: &mut FieldErrors) {
        if !self.fault.is_empty() {
            errors.add(Column::Vendor.name(), self.fault.as_str());
        }
    }
}

/// The field of a form with its suggestions, and the consignors that match a text that names none.
pub(super) async fn fields(
    session: &Session,
    sale: &Sale,
    shown: &str,
    errors: &FieldErrors,
) -> Result<Vec<FormField>, PageError> {
    let suggested = Suggestions::load(session, sale).await?;
    let field = FormField::text(Column::Vendor.name(), Column::Vendor.label(), shown)
        .hint("Name or reference of a consignor of the house. Only staff who edit lots see it.")
        .attribute("autocomplete", "off")
        .optional()
        .suggesting(suggested.labels);
    let mut fields = vec![match suggested.path {
        Some(path) => field.attribute("data-suggest", path).attribute("list", "vendor-list"),
        None => field,
    }];
    if !errors.of(Column::Vendor.name()).is_empty() {
        let found = find(session, sale, shown, MATCHES_MAX).await?.parties;
        if !found.is_empty() {
            let none = std::iter::once(Choice::of("", "None of them", ""));
            let choices = none.chain(found.iter().map(|party| Choice::of(party.uuid.to_string(), party.label(), "")));
            fields.push(FormField::select(MATCH, "Consignors that match", choices.collect()));
        }
    }
    Ok(fields)
}

async fn find(session: &Session, sale: &Sale, text: &str, limit: usize) -> Result<FoundParties, PlatformError> {
    let page = Page { after: None, limit };
    let wanted = (PartyKind::Consignors, text);
    session.platform().find_parties(&session.caller, sale.auction.customer, wanted, page).await
}

/// Values that a field suggests.
pub(super) struct Suggestions {
    /// All consignors of the house, or the first of many.
    pub(super) labels: Vec<String>,
    /// Where the script asks for those that match what is typed; none when the labels are all of them.
    pub(super) path: Option<String>,
}

impl Suggestions {
    /// The suggestions of the house of a sale; none for a user who may not read the register.
    pub(super) async fn load(session: &Session, sale: &Sale) -> Result<Self, PlatformError> {
        if !session.may(Scope::PartiesRead) {
            return Ok(Self { labels: Vec::new(), path: None });
        }
        let FoundParties { parties, count } = find(session, sale, "", SUGGESTED_MAX).await?;
        let has_more = count > parties.len() as u64;
        let base = &session.admin.site().base;
        let path = has_more.then(|| format!("{base}{}", sale.path("/lots/consignors")));
        Ok(Self { labels: parties.iter().map(platform_core::port::Party::label).collect(), path })
    }
}

/// The options of a list of suggestions, which the script puts in place of the present ones.
#[derive(Template)]
#[template(source = "{% for label in labels %}<option value=\"{{ label }}\"></option>{% endfor %}", ext = "html")]
pub(super) struct Options {
    labels: Vec<String>,
}

impl HtmlSafe for Options {}

/// `GET /auctions/{auction}/lots/consignors`: the consignors that match what is typed.
pub(super) async fn options(
    session: Session,
    PathIds([uuid]): PathIds<1>,
    QueryFields(query): QueryFields,
) -> Result<Response, PageError> {
    let sale = writable(&session, uuid).await?;
    let found = find(&session, &sale, query.text("text"), MATCHES_MAX).await?;
    let labels = found.parties.iter().map(platform_core::port::Party::label).collect();
    let options = Options { labels }.render().map_err(|_| PageError::from(ErrorPage::internal()))?;
    Ok(Html(options).into_response())
}
