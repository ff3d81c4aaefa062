//! Requests of bidders for a higher limit: staff grant one, or decline it with a reason that the bidder reads.

use axum::extract::State;
use axum::response::{IntoResponse as _, Response};
use jiff::Timestamp;
use kit_design::fields::{FieldErrors, SubmittedForm};
use kit_design::form_field::FormField;
use kit_design::relative_time::RelativeTime;
use platform_core::PlatformError;
use platform_core::bidders::{LimitAnswer, LimitRequest};
use platform_core::port::Registration;
use uuid::Uuid;

use super::place::{Done, Place};
use crate::admin::Admin;
use crate::form_page::{FormPage, Refused, not_found};
use crate::page_error::PageError;
use crate::sale::Sale;
use crate::sale::refusal;
use crate::session::{PathIds, Section, Session};

/// Requests that a page lists.
pub(super) const LISTED_MAX: usize = 100;
/// Reasons that the form suggests.
const REASONS: &[&str] = &[
    "We need a deposit first: contact us",
    "We need a reference of your bank first: contact us",
    "Pay for the lots of the earlier sale first",
];

/// A request that waits, in the list of registrations.
pub(super) struct RequestRow {
    pub(super) id: Uuid,
    pub(super) paddle: String,
    pub(super) name: String,
    pub(super) limit: String,
    pub(super) amount: String,
    pub(super) words: String,
    pub(super) at: RelativeTime,
}

impl RequestRow {
    pub(super) fn of(session: &Session, sale: &Sale, (request, registration): (LimitRequest, Registration)) -> Self {
        Self {
            id: registration.uuid,
            paddle: registration.paddle,
            name: registration.name.unwrap_or_default(),
            limit: registration.limit.map(|limit| sale.currency.show(limit)).unwrap_or_default(),
            amount: sale.currency.show(request.amount),
            words: request.words,
            at: sale.zone.relative(request.asked_at, session.now()),
        }
    }
}

/// A request that waits, with its registration. 404 when staff have decided it.
async fn waiting(session: &Session, key: (Uuid, Uuid)) -> Result<(LimitRequest, Registration), PageError> {
    let registration = session.platform().registration(&session.caller, key).await?;
    let request = session.platform().limit_request(&session.caller, key).await?;
    request.map(|request| (request, registration)).ok_or_else(not_found)
}

fn form(
    session: &Session,
    sale: &Sale,
    (request, registration): &(LimitRequest, Registration),
    title: &str,
) -> FormPage {
    let frame = session.frame(format!("{title} · {}", sale.title()), Section::Auctions);
    let list = sale.path("/registrations");
    let who = registration.name.clone().unwrap_or_else(|| "not named yet".to_owned());
    let limit = registration.limit.map_or_else(|| "none".to_owned(), |limit| sale.currency.show(limit));
    let page = FormPage::new(frame, (list.clone(), format!("{}, registrations", sale.title())), list)
        .intro(format!(
            "Paddle {}, {who}. Limit now: {limit}. Asked for: {}.",
            registration.paddle,
            sale.currency.show(request.amount)
        ))
        .hidden("asked", request.asked_at.as_millisecond().to_string());
    if request.words.is_empty() { page } else { page.intro(format!("“{}”", request.words)) }
}

fn grant_form(
    session: &Session,
    sale: &Sale,
    found: &(LimitRequest, Registration),
    limit: &str,
    refused: &Refused,
) -> FormPage {
    let field = FormField::text("limit", format!("New limit, {}", sale.currency.code()), limit)
        .hint("What the bidder may lead and buy in this auction.")
        .fault(refused.of("limit"))
        .required();
    let action = sale.path(&format!("/registrations/{}/limit", found.1.uuid));
    form(session, sale, found, "Raise limit")
        .causes("The bidder can bid up to this limit at once, and receives a notice.")
        .fields(vec![field])
        .action(action)
        .button("Raise limit")
}

fn decline_form(
    session: &Session,
    sale: &Sale,
    found: &(LimitRequest, Registration),
    reason: &str,
    refused: &Refused,
) -> FormPage {
    let field = FormField::text("reason", "Reason", reason)
        .hint("The bidder reads it. At most 500 characters.")
        .suggesting(REASONS.iter().copied())
        .fault(refused.of("reason"))
        .required();
    let action = sale.path(&format!("/registrations/{}/limit/decline", found.1.uuid));
    form(session, sale, found, "Decline higher limit")
        .causes("The limit stays the same. The bidder receives a notice that names the reason, and can ask again.")
        .fields(vec![field])
        .action(action)
        .button("Decline higher limit")
}

pub(super) async fn page(session: Session, PathIds([auction, id]): PathIds<2>) -> Result<Response, PageError> {
    let sale = Sale::load(&session, auction).await?;
    let found = waiting(&session, (auction, id)).await?;
    let amount = sale.currency.plain(found.0.amount);
    grant_form(&session, &sale, &found, &amount, &Refused::default()).open()
}

pub(super) async fn grant(
    session: Session,
    State(admin): State<Admin>,
    PathIds([auction, id]): PathIds<2>,
    SubmittedForm(typed): SubmittedForm,
) -> Result<Response, PageError> {
    let sale = Sale::load(&session, auction).await?;
    let found = waiting(&session, (auction, id)).await?;
    let refused = match sale.currency.parse(typed.text("limit")) {
        Err(fault) => Refused::by_page("limit", &fault),
        Ok(limit) => {
            match answer(&session, (auction, id), &found.0, typed.text("asked"), LimitAnswer::Grant(limit)).await? {
                None => return Ok(back(&admin, &sale, Done::LimitRaised, id)),
                Some(refused) => refused,
            }
        }
    };
    grant_form(&session, &sale, &found, typed.text("limit"), &refused).refuse(&refused)
}

pub(super) async fn decline_page(session: Session, PathIds([auction, id]): PathIds<2>) -> Result<Response, PageError> {
    let sale = Sale::load(&session, auction).await?;
    let found = waiting(&session, (auction, id)).await?;
    decline_form(&session, &sale, &found, "", &Refused::default()).open()
}

pub(super) async fn decline(
    session: Session,
    State(admin): State<Admin>,
    PathIds([auction, id]): PathIds<2>,
    SubmittedForm(typed): SubmittedForm,
) -> Result<Response, PageError> {
    let sale = Sale::load(&session, auction).await?;
    let found = waiting(&session, (auction, id)).await?;
    let reason = typed.text("reason");
    let declined = LimitAnswer::Decline(reason.to_owned());
    match answer(&session, (auction, id), &found.0, typed.text("asked"), declined).await? {
        None => Ok(back(&admin, &sale, Done::LimitDeclined, id)),
        Some(refused) => decline_form(&session, &sale, &found, reason, &refused).refuse(&refused),
    }
}

/// Answers the request that the form showed; a refusal if the answer was refused.
async fn answer(
    session: &Session,
    key: (Uuid, Uuid),
    request: &LimitRequest,
    asked: &str,
    answer: LimitAnswer,
) -> Result<Option<Refused>, PageError> {
    let asked_at = asked.parse().ok().and_then(|ms| Timestamp::from_millisecond(ms).ok());
    let seen = LimitRequest { asked_at: asked_at.unwrap_or_default(), ..request.clone() };
    match session.platform().answer_limit_request(&session.caller, key, &seen, &answer).await {
        Ok(()) => Ok(None),
        Err(error @ PlatformError::NotFound(_)) => Err(error.into()),
        Err(error) => {
            let mut errors = FieldErrors::default();
            refusal::add_to(&mut errors, error)?;
            Ok(Some(Refused::of_errors(errors)))
        }
    }
}

fn back(admin: &Admin, sale: &Sale, done: Done, id: Uuid) -> Response {
    admin.redirect(&Place::default().path(sale, done, &[id])).into_response()
}
