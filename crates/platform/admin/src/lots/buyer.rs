//! Names the buyer of a lot that was sold in the room, or changes the buyer with the price kept.

use axum::extract::State;
use axum::response::{IntoResponse as _, Response};
use http::StatusCode;
use kit_design::error_summary::ErrorSummary;
use kit_design::fields::{FieldErrors, FormFields, QueryFields, SubmittedForm};
use kit_design::form_field::FormField;
use kit_design::frame::render_page_as;
use platform_core::PlatformError;
use platform_core::sales::items::buyer::NamedBuyer;
use platform_rules::item::ConfirmedBuyer;
use platform_rules::{Item, Rejection};

use super::lot;
use super::sold_form::SoldForm;
use crate::admin::Admin;
use crate::form_page::reason_field;
use crate::page_error::PageError;
use crate::results::WayBack;
use crate::sale::Sale;
use crate::sale::{labels, refusal};
use crate::session::{PathIds, Session};
use crate::{buyer_words, paddles};

/// Ticks that confirm a buyer without an approved registration, and a price above the buyer's limit.
const NOT_APPROVED: &str = "notApproved";
const OVER_LIMIT: &str = "overLimit";

/// The ticks that the form shows.
#[derive(Default)]
struct Asked {
    /// What confirms a buyer without an approved registration.
    not_approved: Option<String>,
    over_limit: Option<String>,
}

/// The form.
pub(super) async fn page(
    session: Session,
    PathIds([auction, item]): PathIds<2>,
    QueryFields(query): QueryFields,
) -> Result<Response, PageError> {
    let (sale, item) = lot::load(&session, auction, item).await?;
    show(
        &session,
        &sale,
        &item,
        (&WayBack::of(&query).fields(), &FieldErrors::default()),
        (Asked::default(), StatusCode::OK),
    )
}

/// Changes the buyer, or shows the form again with what is wrong.
pub(super) async fn change(
    session: Session,
    State(admin): State<Admin>,
    PathIds([auction, item]): PathIds<2>,
    SubmittedForm(form): SubmittedForm,
) -> Result<Response, PageError> {
    let (sale, item) = lot::load(&session, auction, item).await?;
    let (version, reason) = (form.text("version").parse().ok(), form.non_empty("reason").map(str::to_owned));
    let is_ticked = |name: &str| !form.text(name).is_empty();
    let confirmed = ConfirmedBuyer { not_approved: is_ticked(NOT_APPROVED), over_limit: is_ticked(OVER_LIMIT) };
    let buyer = NamedBuyer { paddle: form.text("buyer").to_owned(), reason, confirmed };
    match session.platform().change_buyer(&session.caller, item.uuid, &buyer, version, None).await {
        Ok(_) => Ok(admin.redirect(&WayBack::of(&form).path_after(&sale, &item, "buyer")).into_response()),
        Err(error) => {
            let (sale, item) = lot::load(&session, auction, item.uuid).await?;
            let mut errors = FieldErrors::default();
            let found = buyer_words::registration(&session, auction, &buyer.paddle).await?;
            let asked = Asked::of(&error, (&buyer, found.is_some()), &item.lot_number);
            let lot = format!("lot {}", item.lot_number);
            let words = match &error {
                PlatformError::Rejected(rejection) => {
                    let (paddle, money) = (&*buyer.paddle, |minor| sale.currency.exact(minor));
                    buyer_words::of(rejection, (paddle, found.as_ref()), &lot, &money)
                }
                _ => None,
            };
            match words {
                Some(words) => {
                    errors.add("buyer", words);
                    let proposal = match error {
                        PlatformError::Rejected(
                            Rejection::BidderNotApproved | Rejection::SpendingLimitReached { .. },
                        ) => paddles::proposal(&session, auction, &buyer.paddle).await?,
                        _ => None,
                    };
                    proposal.into_iter().for_each(|proposal| errors.add("buyer", proposal));
                }
                None => refusal::add_to(&mut errors, error)?,
            }
            show(&session, &sale, &item, (&form, &errors), (asked, StatusCode::UNPROCESSABLE_ENTITY))
        }
    }
}

impl Asked {
    /// The questions of the refusal, with those that were confirmed already.
    fn of(error: &PlatformError, (buyer, is_registered): (&NamedBuyer, bool), lot: &str) -> Self {
        let is_not_approved = matches!(error, PlatformError::Rejected(Rejection::BidderNotApproved));
        let is_above_limit = matches!(error, PlatformError::Rejected(Rejection::SpendingLimitReached { .. }));
        let (paddle, confirmed) = (&buyer.paddle, buyer.confirmed);
        let not_approved = if is_registered {
            format!("Sell lot {lot} to paddle {paddle} all the same")
        } else {
            format!("Register paddle {paddle} now, and name it later under Registrations")
        };
        let over_limit = format!("Sell lot {lot} to paddle {paddle} above its limit");
        Self {
            not_approved: (confirmed.not_approved || is_not_approved).then_some(not_approved),
            over_limit: (confirmed.over_limit || is_above_limit).then_some(over_limit),
        }
    }
}

fn show(
    session: &Session,
    sale: &Sale,
    item: &Item,
    (values, errors): (&FormFields, &FieldErrors),
    (asked, status): (Asked, StatusCode),
) -> Result<Response, PageError> {
    let mut fields = vec![FormField::text("buyer", "Paddle of the buyer", values.text("buyer")).required()];
    if !item.is_buyer_open() || asked.over_limit.is_some() {
        fields.push(reason_field(values.text("reason")).required());
    }
    let ticks = [(NOT_APPROVED, asked.not_approved), (OVER_LIMIT, asked.over_limit)];
    fields.extend(ticks.into_iter().filter_map(|(name, label)| Some(FormField::tick(name, label?, "yes"))));
    let now = item.standing.as_ref().map(|standing| {
        format!("Now: {} at {}. The price stays.", labels::bidder(standing), sale.currency.exact(standing.amount))
    });
    let no_event = "No event is sent: the lot stays sold. The log keeps both buyers.".to_owned();
    let mut page = SoldForm::new(session, (sale, item), &WayBack::of(values), ("buyer", "Record buyer"));
    page.consequences = now.into_iter().chain([no_event]).collect();
    page.fields = fields.into_iter().map(|field| field.with(errors)).collect();
    page.errors = ErrorSummary::of_fields(errors, &page.fields);
    render_page_as(status, &page)
}
