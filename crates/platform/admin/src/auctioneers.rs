//! Auctioneers: the firms that hold auctions, with their addresses.

mod form;

use askama::Template;
use axum::Router;
use axum::response::{IntoResponse as _, Response};
use contract::models::AddressModel;
use kit_design::fields::{FormFields, QueryFields, SubmittedForm};
use kit_design::frame::{Frame, render_page};
use kit_http::page_routes::{form, get};
use platform_core::PlatformError;
use platform_core::Scope::{CustomersRead, CustomersWrite};
use platform_core::port::{Auctioneer, Customer, Page as ListPage};
use uuid::Uuid;

use self::form::Typed;
use crate::access::{Need, Page};
use crate::admin::Admin;
use crate::form_page::{FormPage, Refused};
use crate::notice;
use crate::page_error::PageError;
use crate::session::{PathIds, Section, Session};
use platform_words::address_fields;

/// Auctioneers on one page of the list.
const LISTED: usize = 100;
/// Customers that the form offers.
const CUSTOMERS_MAX: usize = 250;

pub(crate) const PAGES: &[Page] = &[
    ("GET", "/auctioneers", Need::Has(CustomersRead)),
    ("GET", "/auctioneers/new", Need::Has(CustomersWrite)),
    ("POST", "/auctioneers/new", Need::Has(CustomersWrite)),
    ("GET", "/auctioneers/{auctioneer}", Need::Has(CustomersWrite)),
    ("POST", "/auctioneers/{auctioneer}", Need::Has(CustomersWrite)),
];

pub(crate) fn router() -> Router<Admin> {
    Router::new()
        .route("/auctioneers", get(list))
        .route("/auctioneers/new", form(new_page, create))
        .route("/auctioneers/{auctioneer}", form(edit_page, edit))
}

/// An auctioneer in the list.
struct AuctioneerRow {
    uuid: Uuid,
    id: i64,
    name: String,
    customer: Uuid,
    customer_name: String,
    currency: &'static str,
    has_address: bool,
}

#[derive(Template)]
#[template(path = "auctioneers/list.html")]
struct ListTemplate {
    frame: Frame,
    rows: Vec<AuctioneerRow>,
    next: Option<Uuid>,
    may_write: bool,
}

async fn customers(session: &Session) -> Result<Vec<Customer>, PageError> {
    let page = ListPage { after: None, limit: CUSTOMERS_MAX };
    Ok(session.platform().customers(&session.caller, page).await?)
}

async fn list(session: Session, QueryFields(query): QueryFields) -> Result<Response, PageError> {
    let page = ListPage { after: Uuid::try_parse(query.text("after")).ok(), limit: LISTED + 1 };
    let mut auctioneers = session.platform().auctioneers(&session.caller, None, page).await?;
    let has_more = auctioneers.len() > LISTED;
    auctioneers.truncate(LISTED);
    let customers = customers(&session).await?;
    let name_of = |uuid: Uuid| {
        let found = customers.iter().find(|customer| customer.uuid == uuid);
        found.map_or_else(|| uuid.to_string(), |customer| customer.name.clone())
    };
    let row = |auctioneer: Auctioneer| AuctioneerRow {
        uuid: auctioneer.uuid,
        id: auctioneer.id,
        customer: auctioneer.customer,
        customer_name: name_of(auctioneer.customer),
        currency: auctioneer.profile.currency.as_ref().map_or("–", |currency| currency.as_str()),
        has_address: auctioneer.profile.address_id.is_some(),
        name: auctioneer.name,
    };
    render_page(&ListTemplate {
        frame: session.frame("Auctioneers", Section::Auctioneers).with_notice(notice::from_query(&query)),
        next: auctioneers.last().map(|auctioneer| auctioneer.uuid).filter(|_| has_more),
        rows: auctioneers.into_iter().map(row).collect(),
        may_write: session.may(CustomersWrite),
    })
}

fn new_form(session: &Session, customers: &[Customer], typed: &Typed, refused: &Refused) -> FormPage {
    let frame = session.frame("Create auctioneer", Section::Auctioneers);
    FormPage::new(frame, ("/auctioneers", "Auctioneers"), "/auctioneers/new")
        .groups(typed.groups(Some(customers), refused))
        .button("Create auctioneer")
}

async fn new_page(session: Session, QueryFields(query): QueryFields) -> Result<Response, PageError> {
    let typed = Typed::read(&query);
    new_form(&session, &customers(&session).await?, &typed, &Refused::default()).open()
}

async fn create(session: Session, SubmittedForm(form): SubmittedForm) -> Result<Response, PageError> {
    let typed = Typed::read(&form);
    let refused = match typed.input() {
        Ok((customer, input)) => {
            match session.platform().create_auctioneer(&session.caller, customer, input, None).await {
                Ok(_) => return Ok(session.admin.redirect("/auctioneers?done=auctioneer-created").into_response()),
                Err(error) => Refused::from(error, &address_fields::POINTERS)?,
            }
        }
        Err(refused) => refused,
    };
    new_form(&session, &customers(&session).await?, &typed, &refused).refuse(&refused)
}

/// The auctioneer with its address.
async fn load(session: &Session, uuid: Uuid) -> Result<(Auctioneer, Option<AddressModel>), PageError> {
    let (platform, caller) = (session.platform(), &session.caller);
    let auctioneer = platform.auctioneer(caller, uuid).await?;
    let address = match auctioneer.profile.address_id {
        None => None,
        Some(id) => match platform.address_by_id(caller, id).await {
            Err(PlatformError::NotFound(_)) => None,
            address => Some(address?.model),
        },
    };
    Ok((auctioneer, address))
}

fn edit_form(session: &Session, auctioneer: &Auctioneer, typed: &Typed, refused: &Refused) -> FormPage {
    let frame = session.frame(auctioneer.name.clone(), Section::Auctioneers);
    let action = format!("/auctioneers/{}", auctioneer.uuid);
    FormPage::new(frame, ("/auctioneers", "Auctioneers"), action)
        .hidden("version", typed.version.clone())
        .groups(typed.groups(None, refused))
        .button("Save auctioneer")
}

async fn edit_page(session: Session, PathIds([uuid]): PathIds<1>) -> Result<Response, PageError> {
    let (auctioneer, address) = load(&session, uuid).await?;
    edit_form(&session, &auctioneer, &Typed::of(&auctioneer, address.as_ref()), &Refused::default()).open()
}

async fn edit(
    session: Session,
    PathIds([uuid]): PathIds<1>,
    SubmittedForm(form): SubmittedForm,
) -> Result<Response, PageError> {
    let (auctioneer, address) = load(&session, uuid).await?;
    let typed = Typed::read(&form);
    let refused = match typed.patch(&auctioneer, address.as_ref()) {
        Ok(patch) => {
            let seen = seen_version(&form);
            match session.platform().change_auctioneer(&session.caller, uuid, &patch, seen).await {
                Ok(_) => return Ok(session.admin.redirect("/auctioneers?done=auctioneer-saved").into_response()),
                Err(error) => Refused::from(error, &address_fields::POINTERS)?,
            }
        }
        Err(refused) => refused,
    };
    edit_form(&session, &auctioneer, &typed, &refused).refuse(&refused)
}

/// The version that the form was opened with.
fn seen_version(form: &FormFields) -> Option<i64> {
    form.text("version").parse().ok()
}
