//! A bidder registers for a sale, and reads where the registration stands.

use askama::Template;
use axum::response::{IntoResponse as _, Redirect, Response};
use contract::AuctionStatus;
use http::StatusCode;
use kit_design::error_summary::ErrorSummary;
use kit_design::fields::{QueryFields, SubmittedForm};
use kit_design::form_field::FormField;
use kit_design::frame::{Frame, render_page, render_page_as};
use platform_core::PlatformError;
use platform_core::port::{Registration, RegistrationStatus};
use platform_core::saleroom::{RegistrationRule, SaleroomRefusal, SaleroomSale};
use platform_rules::Rejection;
use platform_words::Currency;
use uuid::Uuid;

use crate::account::sign_in_first;
use crate::house::{House, HouseFrame};
use crate::page_error::PageError;

#[derive(Template)]
#[template(path = "register.html")]
struct RegisterPage {
    frame: Frame,
    around: HouseFrame,
    sale_title: String,
    path: String,
    name: String,
    email: String,
    /// Version and tick of the conditions; none for a sale without them.
    conditions: Option<(u32, FormField)>,
    errors: ErrorSummary,
    fault: String,
    /// What happens after the button.
    then: &'static str,
    /// Where a registration stands; none before there is one.
    standing: Option<Standing>,
    /// The sale takes registrations.
    is_open: bool,
    /// The lot from which the bidder came.
    lot: Option<Uuid>,
}

/// A registration in words.
pub(crate) struct Standing {
    pub(crate) words: String,
    /// The class of its colour.
    pub(crate) kind: &'static str,
    /// What happens next.
    pub(crate) next: String,
}

impl Standing {
    pub(crate) fn of(registration: &Registration, currency: &Currency) -> Self {
        let limit = registration.limit.map(|limit| format!(" Your limit in this sale is {}.", currency.show(limit)));
        let (words, kind, next) = match registration.status {
            RegistrationStatus::Approved => (
                format!("You are registered. Your paddle is {}.", registration.paddle),
                "good",
                format!("Other bidders see this number and never your name.{}", limit.unwrap_or_default()),
            ),
            RegistrationStatus::Pending => (
                "The house is checking your registration.".to_owned(),
                "wait",
                "You can bid as soon as the house approves it. Then this page has your paddle number.".to_owned(),
            ),
            RegistrationStatus::Refused => (
                "The house declined your registration.".to_owned(),
                "bad",
                "Contact the house if you have questions.".to_owned(),
            ),
            RegistrationStatus::Suspended => (
                format!("The house has suspended your paddle {}.", registration.paddle),
                "bad",
                "Contact the house. Bids that you placed stand.".to_owned(),
            ),
        };
        Self { words, kind, next }
    }
}

pub(crate) async fn page(house: House<1>, QueryFields(query): QueryFields) -> Result<Response, PageError> {
    let [auction] = house.ids;
    let sale = house.platform().saleroom_sale(&house.saleroom, auction).await?;
    let lot = Uuid::try_parse(query.text("lot")).ok();
    let own = own_path(&house, lot);
    let Some(bidder) = &house.bidder else { return Ok(sign_in_first(&house.path(), &own)) };
    let registration = house.platform().own_registration(bidder, auction).await?;
    render_page(&form(&house, &sale, registration.as_ref(), lot, ("", "")))
}

pub(crate) async fn register(house: House<1>, SubmittedForm(typed): SubmittedForm) -> Result<Response, PageError> {
    let [auction] = house.ids;
    let lot = Uuid::try_parse(typed.text("lot")).ok();
    let path = own_path(&house, lot);
    let Some(bidder) = &house.bidder else { return Ok(sign_in_first(&house.path(), &path)) };
    let accepted = typed.text("accepted").parse().ok();
    let registered = house.platform().register_for_sale(&house.saleroom, bidder, auction, accepted).await;
    let (missing, fault) = match registered {
        Ok(_) => return Ok(Redirect::to(&path).into_response()),
        Err(PlatformError::Saleroom(SaleroomRefusal::ConditionsChanged { .. })) if accepted.is_none() => {
            ("read the conditions and accept them", "")
        }
        Err(PlatformError::Saleroom(SaleroomRefusal::ConditionsChanged { .. })) => {
            ("the house changed the conditions: read and accept the version of now", "")
        }
        Err(PlatformError::Rejected(Rejection::BidderBlocked | Rejection::PersonErased)) => {
            ("", "The house does not take your registration. Contact the house.")
        }
        Err(PlatformError::Saleroom(SaleroomRefusal::SaleOver)) => ("", "The sale is over."),
        Err(error) => return Err(error.into()),
    };
    let sale = house.platform().saleroom_sale(&house.saleroom, auction).await?;
    render_page_as(StatusCode::UNPROCESSABLE_ENTITY, &form(&house, &sale, None, lot, (missing, fault)))
}

/// The path of the page, which leads back to a lot.
fn own_path(house: &House<1>, lot: Option<Uuid>) -> String {
    let query = lot.map(|lot| format!("?lot={lot}")).unwrap_or_default();
    format!("{}/sales/{}/register{query}", house.path(), house.ids[0])
}

fn form(
    house: &House<1>,
    sale: &SaleroomSale,
    registration: Option<&Registration>,
    lot: Option<Uuid>,
    (missing, fault): (&'static str, &'static str),
) -> RegisterPage {
    let sale_title = sale.auction.shown_title().to_owned();
    let below = format!("/sales/{}", sale.auction.uuid);
    let around = house.frame("Register to bid", &format!("{below}/register"), format!("Register for {sale_title}."));
    let conditions = sale.facts.as_ref().and_then(|facts| facts.conditions).map(|number| {
        let tick =
            FormField::tick("accepted", "I have read the conditions of sale and accept them", number.to_string());
        (number, tick.fault(missing).required())
    });
    let errors = ErrorSummary::beside(conditions.iter().map(|(_, tick)| tick)).heading("You are not registered yet");
    let account = house.bidder.as_ref().map(|bidder| &bidder.account);
    RegisterPage {
        frame: around.frame.clone(),
        path: format!("{}{below}", around.path),
        name: account.map(|account| account.profile.details.name.clone()).unwrap_or_default(),
        email: account.map(|account| account.email.clone()).unwrap_or_default(),
        then: match house.saleroom.house.saleroom.registration {
            RegistrationRule::AtOnce => "You get a paddle at once and can bid.",
            RegistrationRule::ByStaff | RegistrationRule::Closed => {
                "The house looks at your registration before you can bid."
            }
        },
        standing: registration.map(|registration| Standing::of(registration, &Currency::of(&sale.auction))),
        is_open: matches!(sale.auction.status, AuctionStatus::Preview | AuctionStatus::Live),
        sale_title,
        lot,
        conditions,
        errors,
        fault: fault.to_owned(),
        around,
    }
}
