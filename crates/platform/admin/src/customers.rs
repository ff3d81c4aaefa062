//! Customers: the list with the state of each connection, and what support does for one of them.

mod conditions;
mod connection;
mod connection_form;
mod detail;
pub(crate) mod domain;
pub(crate) mod house;
mod portal;
mod quarantine;
mod saleroom;
mod set_up;
mod sites;
pub(crate) mod state;

use askama::Template;
use axum::Router;
use axum::response::{IntoResponse as _, Response};
use futures_util::future::join_all;
use kit_design::fields::{QueryFields, SubmittedForm};
use kit_design::form_field::FormField;
use kit_design::frame::{Frame, render_page};
use kit_http::page_routes::{form, get, post};
use platform_core::Scope::{AuctionsRead, CustomersRead, CustomersWrite};
use platform_core::port::{Customer, Page as ListPage};
use platform_core::{PlatformError, PlatformResult};
use uuid::Uuid;

use self::state::ConnectionLine;
use crate::access::{Need, Page};
use crate::admin::Admin;
use crate::form_page::{FormPage, Refused};
use crate::page_error::PageError;
use crate::session::{PathIds, Section, Session};

/// Customers on one page of the list.
const LISTED: usize = 50;

pub(crate) const PAGES: &[Page] = &[
    ("GET", "/customers", Need::Has(CustomersRead)),
    ("GET", "/customers/new", Need::Has(CustomersWrite)),
    ("POST", "/customers/new", Need::Has(CustomersWrite)),
    ("GET", "/customers/{customer}", Need::Has(CustomersRead)),
    ("GET", "/customers/{customer}/rename", Need::Has(CustomersWrite)),
    ("POST", "/customers/{customer}/rename", Need::Has(CustomersWrite)),
    ("GET", "/customers/{customer}/connection", Need::Has(CustomersWrite)),
    ("POST", "/customers/{customer}/connection", Need::Has(CustomersWrite)),
    ("GET", "/customers/{customer}/house", Need::Has(CustomersWrite)),
    ("POST", "/customers/{customer}/house", Need::Has(CustomersWrite)),
    ("GET", "/customers/{customer}/saleroom", Need::Has(CustomersWrite)),
    ("POST", "/customers/{customer}/saleroom", Need::Has(CustomersWrite)),
    ("GET", "/customers/{customer}/domain", Need::Has(CustomersWrite)),
    ("POST", "/customers/{customer}/domain", Need::Has(CustomersWrite)),
    ("POST", "/customers/{customer}/domain/check", Need::Has(CustomersWrite)),
    ("GET", "/customers/{customer}/sites", Need::Has(CustomersWrite)),
    ("POST", "/customers/{customer}/sites", Need::Has(CustomersWrite)),
    ("GET", "/customers/{customer}/logo/{logo}", Need::HasOneOf(&[CustomersRead, AuctionsRead])),
    ("GET", "/customers/{customer}/conditions", Need::Has(CustomersRead)),
    ("POST", "/customers/{customer}/conditions", Need::Has(CustomersWrite)),
    ("GET", "/customers/{customer}/conditions/{number}", Need::HasOneOf(&[CustomersRead, AuctionsRead])),
    ("POST", "/customers/{customer}/connect", Need::Has(CustomersWrite)),
    ("POST", "/customers/{customer}/test", Need::Has(CustomersWrite)),
    ("POST", "/customers/{customer}/event-types", Need::Has(CustomersWrite)),
    ("POST", "/customers/{customer}/portal-link", Need::Has(CustomersWrite)),
    ("GET", "/customers/{customer}/disconnect", Need::Has(CustomersWrite)),
    ("POST", "/customers/{customer}/disconnect", Need::Has(CustomersWrite)),
    ("POST", "/customers/{customer}/quarantine/send", Need::Has(CustomersWrite)),
    ("GET", "/customers/{customer}/quarantine/drop", Need::Has(CustomersWrite)),
    ("POST", "/customers/{customer}/quarantine/drop", Need::Has(CustomersWrite)),
    ("GET", "/customers/{customer}/quarantine/out-of-order", Need::Has(CustomersWrite)),
];

pub(crate) fn router() -> Router<Admin> {
    Router::new()
        .route("/customers", get(list))
        .route("/customers/new", form(new_page, create))
        .route("/customers/{customer}", get(detail::page))
        .route("/customers/{customer}/rename", form(rename_page, rename))
        .route("/customers/{customer}/connection", form(connection_form::page, connection_form::save))
        .route("/customers/{customer}/house", form(house::page, house::save))
        .route("/customers/{customer}/saleroom", form(saleroom::page, saleroom::save))
        .route("/customers/{customer}/domain", form(domain::page, domain::save))
        .route("/customers/{customer}/domain/check", post(domain::check))
        .route("/customers/{customer}/sites", form(sites::page, sites::save))
        .route("/customers/{customer}/logo/{logo}", get(house::logo))
        .route("/customers/{customer}/conditions", form(conditions::list, conditions::add))
        .route("/customers/{customer}/conditions/{number}", get(conditions::version))
        .route("/customers/{customer}/connect", post(set_up::run))
        .route("/customers/{customer}/test", post(connection::test))
        .route("/customers/{customer}/event-types", post(connection::register_event_types))
        .route("/customers/{customer}/portal-link", post(portal::link))
        .route("/customers/{customer}/disconnect", form(connection::disconnect_page, connection::disconnect))
        .route("/customers/{customer}/quarantine/send", post(quarantine::send))
        .route("/customers/{customer}/quarantine/drop", form(quarantine::drop_page, quarantine::drop_event))
        .route("/customers/{customer}/quarantine/out-of-order", get(quarantine::out_of_order_page))
}

/// Lines of a form's text: without carriage returns, which browsers send, and without blanks at both ends.
pub(crate) fn lines(text: &str) -> String {
    text.replace("\r\n", "\n").trim().to_owned()
}

/// A customer in the list.
pub(crate) struct CustomerRow {
    pub(crate) uuid: Uuid,
    pub(crate) name: String,
    pub(crate) line: ConnectionLine,
}

/// The customers with what their connections are worth.
pub(crate) async fn rows(session: &Session, customers: Vec<Customer>) -> PlatformResult<Vec<CustomerRow>> {
    let platform = session.platform();
    let states = join_all(customers.iter().map(|customer| platform.consumer(&session.caller, customer.uuid))).await;
    let uuids = customers.iter().map(|customer| customer.uuid).collect();
    let readings = platform.endpoint_readings(&session.caller, uuids).await?;
    let rows = customers.into_iter().zip(states).map(|(customer, state)| {
        let state = match state {
            Err(PlatformError::NotFound(_)) => None,
            state => Some(state?),
        };
        let reading = readings.iter().find(|reading| reading.customer == customer.uuid);
        let line = ConnectionLine::new(state.as_ref(), reading, session.now());
        Ok(CustomerRow { uuid: customer.uuid, name: customer.name, line })
    });
    rows.collect()
}

#[derive(Template)]
#[template(path = "customers/list.html")]
struct ListTemplate {
    frame: Frame,
    rows: Vec<CustomerRow>,
    /// The last customer of the page, if there are more.
    next: Option<Uuid>,
    may_write: bool,
}

/// Customers in order of creation.
async fn list(session: Session, QueryFields(query): QueryFields) -> Result<Response, PageError> {
    let page = ListPage { after: Uuid::try_parse(query.text("after")).ok(), limit: LISTED + 1 };
    let mut customers = session.platform().customers(&session.caller, page).await?;
    let has_more = customers.len() > LISTED;
    customers.truncate(LISTED);
    render_page(&ListTemplate {
        frame: session.frame("Customers", Section::Customers),
        next: customers.last().map(|customer| customer.uuid).filter(|_| has_more),
        rows: rows(&session, customers).await?,
        may_write: session.may(CustomersWrite),
    })
}

fn name_field(name: &str, refused: &Refused) -> FormField {
    FormField::text("name", "Name", name)
        .chars_max(200)
        .required()
        .hint("The organisation that runs auctions and receives events.")
        .fault(refused.of("name"))
}

fn new_form(session: &Session, name: &str, refused: &Refused) -> FormPage {
    let frame = session.frame("Create customer", Section::Customers);
    FormPage::new(frame, ("/customers", "Customers"), "/customers/new")
        .fields(vec![name_field(name, refused)])
        .button("Create customer")
}

async fn new_page(session: Session) -> Result<Response, PageError> {
    new_form(&session, "", &Refused::default()).open()
}

async fn create(session: Session, SubmittedForm(form): SubmittedForm) -> Result<Response, PageError> {
    match session.platform().create_customer(&session.caller, form.text("name"), None).await {
        Ok(created) => {
            let path = format!("/customers/{}?done=customer-created", created.fresh()?.uuid);
            Ok(session.admin.redirect(&path).into_response())
        }
        Err(error) => {
            let refused = Refused::from(error, &[])?;
            new_form(&session, form.text("name"), &refused).refuse(&refused)
        }
    }
}

fn rename_form(session: &Session, customer: &Customer, name: &str, refused: &Refused) -> FormPage {
    let path = format!("/customers/{}", customer.uuid);
    let action = format!("{path}/rename");
    FormPage::new(session.frame("Rename customer", Section::Customers), (path, customer.name.clone()), action)
        .fields(vec![name_field(name, refused)])
        .button("Rename customer")
}

async fn rename_page(session: Session, PathIds([uuid]): PathIds<1>) -> Result<Response, PageError> {
    let customer = session.platform().customer(&session.caller, uuid).await?;
    rename_form(&session, &customer, &customer.name, &Refused::default()).open()
}

async fn rename(
    session: Session,
    PathIds([uuid]): PathIds<1>,
    SubmittedForm(form): SubmittedForm,
) -> Result<Response, PageError> {
    let customer = session.platform().customer(&session.caller, uuid).await?;
    match session.platform().rename_customer(&session.caller, uuid, form.text("name")).await {
        Ok(_) => Ok(session.admin.redirect(&format!("/customers/{uuid}?done=customer-renamed")).into_response()),
        Err(error) => {
            let refused = Refused::from(error, &[])?;
            rename_form(&session, &customer, form.text("name"), &refused).refuse(&refused)
        }
    }
}
