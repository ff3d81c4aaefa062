//! A bidder registers for a sale, and reads where the registration stands.

use std::borrow::Cow;

use askama::Template;
use axum::response::{IntoResponse as _, Redirect, Response};
use contract::AuctionStatus;
use http::StatusCode;
use kit_design::error_summary::ErrorSummary;
use kit_design::fields::{FieldErrors, FormFields, QueryFields, SubmittedForm};
use kit_design::form_field::FormField;
use kit_design::frame::{Frame, render_page, render_page_as};
use platform_core::PlatformError;
use platform_core::port::{BidderAccount, Registration, RegistrationStatus};
use platform_core::saleroom::{OwnLimit, RegistrationRule, SaleroomRefusal, SaleroomSale};
use platform_rules::Rejection;
use platform_words::{Words, key};
use uuid::Uuid;

use crate::account::sign_in_first;
use crate::house::{House, HouseFrame};
use crate::limit::LimitBox;
use crate::page_error::PageError;

#[derive(Template)]
#[template(path = "register.html")]
struct RegisterPage {
    frame: Frame,
    around: HouseFrame,
    sale_title: String,
    path: String,
    /// Name and address under which the bidder registers.
    as_whom: String,
    /// Version and tick of the conditions; none for a sale without them.
    conditions: Option<(u32, FormField)>,
    errors: ErrorSummary,
    fault: Cow<'static, str>,
    /// What happens after the button.
    then: Cow<'static, str>,
    /// Where a registration stands; none before there is one.
    standing: Option<Standing>,
    /// The limit of an approved bidder who has one.
    limit: Option<LimitBox>,
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
    pub(crate) fn of(words: Words, registration: &Registration) -> Self {
        let paddle = registration.paddle.as_str();
        let text = |message: &str| words.of(message).into_owned();
        let (words, kind, next) = match registration.status {
            RegistrationStatus::Approved => {
                let next = text(key("register-approved-next"));
                (words.fill("register-approved", "paddle", paddle), "good", next)
            }
            RegistrationStatus::Pending => (text(key("register-pending")), "wait", text(key("register-pending-next"))),
            RegistrationStatus::Refused => (text(key("register-declined")), "bad", text(key("register-declined-next"))),
            RegistrationStatus::Suspended => {
                (words.fill("register-suspended", "paddle", paddle), "bad", text(key("register-suspended-next")))
            }
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
    let page = form(&house, &sale, registration.as_ref(), lot, ("", ""));
    let untouched = (&FormFields::default(), &FieldErrors::default());
    let limit = limit_box(&house, &sale, registration.as_ref(), untouched).await?;
    render_page(&RegisterPage { limit, ..page })
}

/// The page after a request for a higher limit was refused.
pub(crate) async fn refused_limit(
    house: &House<1>,
    sale: &SaleroomSale,
    registration: Option<&Registration>,
    tried: (&FormFields, &FieldErrors),
    status: StatusCode,
) -> Result<Response, PageError> {
    let page = form(house, sale, registration, None, ("", ""));
    let limit = limit_box(house, sale, registration, tried).await?;
    render_page_as(status, &RegisterPage { limit, ..page })
}

/// The limit of the bidder with this registration, and the form that asks for a higher one.
async fn limit_box(
    house: &House<1>,
    sale: &SaleroomSale,
    registration: Option<&Registration>,
    tried: (&FormFields, &FieldErrors),
) -> Result<Option<LimitBox>, PageError> {
    let Some(registration) = registration else { return Ok(None) };
    let limit = house.platform().own_limit(registration).await?;
    let currency = house.words.currency(&sale.auction);
    let is_open = matches!(sale.auction.status, AuctionStatus::Preview | AuctionStatus::Live);
    Ok(limit.map(|limit| {
        let shown = OwnLimit { can_ask: limit.can_ask && is_open, ..limit };
        LimitBox::of(house.words, &shown, &currency, tried)
    }))
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
            (key("register-missing"), "")
        }
        Err(PlatformError::Saleroom(SaleroomRefusal::ConditionsChanged { .. })) => (key("register-changed"), ""),
        Err(PlatformError::Rejected(Rejection::BidderBlocked | Rejection::PersonErased)) => {
            ("", key("register-refused"))
        }
        Err(PlatformError::Saleroom(SaleroomRefusal::SaleOver)) => ("", key("register-over")),
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
    let words = house.words;
    let shown = |message: &str| if message.is_empty() { Cow::Borrowed("") } else { words.of(message) };
    let sale_title = sale.auction.shown_title().to_owned();
    let below = format!("/sales/{}", sale.auction.uuid);
    let around = house.frame(
        words.of("register"),
        &format!("{below}/register"),
        words.fill("register-description", "sale", &sale_title),
    );
    let conditions = sale.facts.as_ref().and_then(|facts| facts.conditions).map(|number| {
        let tick = FormField::tick("accepted", words.of("register-accept"), number.to_string());
        (number, tick.fault(shown(missing)).required())
    });
    let errors = ErrorSummary::beside(conditions.iter().map(|(_, tick)| tick)).heading(words.of("register-not-yet"));
    let account = house.bidder.as_ref().map(|bidder| &bidder.account);
    RegisterPage {
        frame: around.frame.clone(),
        path: format!("{}{below}", around.path),
        as_whom: account.map(|account| as_whom(words, account)).unwrap_or_default(),
        then: match house.saleroom.house.saleroom.registration {
            RegistrationRule::AtOnce => words.of("register-at-once"),
            RegistrationRule::ByStaff | RegistrationRule::Closed => words.of("register-by-staff"),
        },
        limit: None,
        standing: registration.map(|registration| Standing::of(words, registration)),
        is_open: matches!(sale.auction.status, AuctionStatus::Preview | AuctionStatus::Live),
        sale_title,
        lot,
        conditions,
        errors,
        fault: shown(fault),
        around,
    }
}

fn as_whom(words: Words, account: &BidderAccount) -> String {
    let name = account.profile.details.name.as_str().into();
    words.with("register-as", [("name", name), ("email", account.email.as_str().into())])
}
