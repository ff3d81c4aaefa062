//! The register of a house: its bidders and consignors.

mod block;
mod consigned;
mod duplicates;
mod edit;
mod erase;
mod export;
mod form;
mod import;
mod import_check;
pub(crate) mod likely;
mod list;
mod merge;
mod merge_fields;
mod party;
mod person_export;

use axum::Router;
use axum::extract::DefaultBodyLimit;
use kit_design::fields::FormFields;
use kit_http::page_routes::{form, get, post};
use platform_core::Role;
use platform_core::Scope::{PartiesRead, PartiesWrite};
use platform_core::port::{Customer, Page as ListPage};
use uuid::Uuid;

use crate::access::{Need, Page};
use crate::admin::Admin;
use crate::file_upload;
use crate::page_error::PageError;
use crate::session::Session;

pub(crate) const PAGES: &[Page] = &[
    ("GET", "/people", Need::Has(PartiesRead)),
    ("GET", "/people/new", Need::Has(PartiesWrite)),
    ("POST", "/people/new", Need::Has(PartiesWrite)),
    ("GET", "/people/import", Need::Has(PartiesWrite)),
    ("POST", "/people/import", Need::Has(PartiesWrite)),
    ("GET", "/people/import/{upload}", Need::Has(PartiesWrite)),
    ("POST", "/people/import/{upload}", Need::Has(PartiesWrite)),
    ("GET", "/people/register.csv", Need::Has(PartiesWrite)),
    ("GET", "/people/duplicates", Need::Has(PartiesRead)),
    ("POST", "/people/apart", Need::Has(PartiesWrite)),
    ("GET", "/people/{party}", Need::Has(PartiesRead)),
    ("GET", "/people/{party}/edit", Need::Has(PartiesWrite)),
    ("POST", "/people/{party}/edit", Need::Has(PartiesWrite)),
    ("GET", "/people/{party}/block", Need::Has(PartiesWrite)),
    ("POST", "/people/{party}/block", Need::Has(PartiesWrite)),
    ("POST", "/people/{party}/unblock", Need::Has(PartiesWrite)),
    ("GET", "/people/{party}/merge", Need::Has(PartiesWrite)),
    ("POST", "/people/{party}/merge", Need::Has(PartiesWrite)),
    ("GET", "/people/{party}/export.json", Need::Has(PartiesWrite)),
    ("GET", "/people/{party}/erase", Need::Is(Role::Administrator)),
    ("POST", "/people/{party}/erase", Need::Is(Role::Administrator)),
];

pub(crate) fn router() -> Router<Admin> {
    Router::new()
        .route("/people", get(list::page))
        .route("/people/new", form(edit::new_page, edit::create))
        .route(
            "/people/import",
            form(import::page, import::upload).layer(DefaultBodyLimit::max(file_upload::BODY_BYTES_MAX)),
        )
        .route("/people/import/{upload}", form(import_check::page, import_check::import))
        .route("/people/register.csv", get(export::register))
        .route("/people/duplicates", get(duplicates::page))
        .route("/people/apart", post(duplicates::keep_apart))
        .route("/people/{party}", get(party::page))
        .route("/people/{party}/edit", form(edit::page, edit::save))
        .route("/people/{party}/block", form(block::page, block::block))
        .route("/people/{party}/unblock", post(block::unblock))
        .route("/people/{party}/merge", form(merge::page, merge::merge))
        .route("/people/{party}/export.json", get(person_export::file))
        .route("/people/{party}/erase", form(erase::page, erase::erase))
}

/// Houses that a page offers to choose from.
const HOUSES_MAX: usize = 250;

/// The houses that the user sees, and the one that the page is about: the one that the query names, or the first.
struct Houses {
    all: Vec<Customer>,
    chosen: Option<Uuid>,
}

impl Houses {
    async fn load(session: &Session, query: &FormFields) -> Result<Self, PageError> {
        let page = ListPage { after: None, limit: HOUSES_MAX };
        let all = session.platform().customers(&session.caller, page).await?;
        let named = Uuid::try_parse(query.text("house")).ok();
        let chosen = named.or_else(|| all.first().map(|customer| customer.uuid));
        Ok(Self { all, chosen })
    }

    fn name_of(&self, uuid: Uuid) -> String {
        let found = self.all.iter().find(|customer| customer.uuid == uuid);
        found.map_or_else(|| uuid.to_string(), |customer| customer.name.clone())
    }
}
