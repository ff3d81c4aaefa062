//! A registration with what the bidder sent, and what others share with them.

use askama::Template;
use axum::response::Response;
use kit_design::fields::QueryFields;
use kit_design::frame::{Frame, render_page};
use kit_design::relative_time::RelativeTime;
use platform_core::Scope;
use platform_core::bidders::{RegistrationView, SharedContact, SharedContacts};
use platform_core::port::{ContactKind, RegistrationStatus};
use platform_words::address_fields::one_line;
use platform_words::own_name;
use uuid::Uuid;

use super::limit::RequestRow;
use crate::page_error::PageError;
use crate::sale::labels::Badge;
use crate::sale::{Sale, Tab};
use crate::session::{PathIds, Section, Session};

#[derive(Template)]
#[template(path = "registrations/view.html")]
struct ViewPage {
    frame: Frame,
    sale_title: String,
    path: String,
    auction: Uuid,
    id: Uuid,
    title: String,
    badge: Badge,
    reason: String,
    party: Option<Uuid>,
    registered: RelativeTime,
    /// What the registration has.
    facts: Vec<(&'static str, String)>,
    /// What the bidder entered with the account; empty without one.
    sent: Vec<(&'static str, String)>,
    opened: Option<RelativeTime>,
    accepted: Option<(u32, RelativeTime)>,
    shared: Vec<SharedRow>,
    request: Option<RequestRow>,
    may_write: bool,
    is_pending: bool,
    version: i64,
}

/// A contact detail that persons share.
pub(super) struct SharedRow {
    pub(super) what: &'static str,
    pub(super) has_consignor: bool,
    pub(super) people: Vec<PersonRow>,
}

pub(super) struct PersonRow {
    pub(super) party: Uuid,
    pub(super) name: String,
    /// The registration and the paddle of a bidder of the sale.
    pub(super) bidder: Option<(Uuid, String)>,
    pub(super) is_consignor: bool,
}

impl SharedRow {
    fn of(shared: &SharedContact) -> Self {
        let person = |person: &platform_core::bidders::SharingPerson| PersonRow {
            party: person.party.uuid,
            name: person.party.details.name.clone(),
            bidder: person.registration.as_ref().map(|own| (own.uuid, own.paddle.clone())),
            is_consignor: person.party.details.is_consignor,
        };
        Self {
            what: match shared.kind {
                ContactKind::Email => "E-mail address",
                ContactKind::Phone => "Telephone number",
                ContactKind::Address => "Postal address",
            },
            has_consignor: shared.has_consignor(),
            people: shared.people.iter().map(person).collect(),
        }
    }
}

pub(super) async fn page(session: Session, PathIds([auction, id]): PathIds<2>) -> Result<Response, PageError> {
    let sale = Sale::load(&session, auction).await?;
    let found = session.platform().registration_view(&session.caller, (auction, id)).await?;
    let RegistrationView { registration, account, party, .. } = &found;
    let time = |at| sale.zone.relative(at, session.now());
    let name = registration.name.clone().unwrap_or_else(|| "not named yet".to_owned());
    let title = format!("Paddle {}, {name}", registration.paddle);
    let sent = account.as_ref().map(|account| {
        let details = &account.profile.details;
        let facts = [
            ("Name", Some(details.name.clone())),
            ("E-mail", Some(account.email.clone())),
            ("Telephone", details.phone.clone()),
            ("Address", details.address.as_ref().map(one_line)),
            ("Language", details.language.map(own_name).map(str::to_owned)),
            ("Time zone", details.time_zone.clone()),
        ];
        facts.into_iter().filter_map(|(words, value)| Some((words, value?))).collect::<Vec<_>>()
    });
    let limit = registration.limit.map(|limit| sale.currency.show(limit));
    let facts = [
        ("E-mail", registration.email.clone()),
        ("Limit", limit),
        ("Used of the limit", found.used.map(|used| sale.currency.show(used))),
        ("Note", registration.note.clone()),
    ];
    render_page(&ViewPage {
        frame: session.frame(format!("{title} · {}", sale.title()), Section::Auctions),
        sale_title: sale.title(),
        path: sale.path("/registrations"),
        auction,
        id,
        title,
        badge: registration.status.into(),
        reason: registration.reason.clone().unwrap_or_default(),
        party: party.as_ref().map(|party| party.uuid),
        registered: time(registration.created_at),
        facts: facts.into_iter().filter_map(|(words, value)| Some((words, value?))).collect(),
        sent: sent.unwrap_or_default(),
        opened: account.as_ref().map(|account| time(account.created_at)),
        accepted: found.accepted.map(|accepted| (accepted.number, time(accepted.at))),
        shared: found.shared.iter().map(SharedRow::of).collect(),
        request: found.request.clone().map(|request| RequestRow::of(&session, &sale, (request, registration.clone()))),
        may_write: sale.may_change(&session, Scope::BiddersWrite),
        is_pending: registration.status == RegistrationStatus::Pending,
        version: registration.version,
    })
}

#[derive(Template)]
#[template(path = "registrations/shared.html")]
struct SharedPage {
    frame: Frame,
    head: crate::sale::Head,
    rows: Vec<SharedRow>,
    is_complete: bool,
}

/// Bidders of the sale who share a contact detail with a consignor or with each other.
pub(super) async fn shared(
    session: Session,
    PathIds([auction]): PathIds<1>,
    QueryFields(query): QueryFields,
) -> Result<Response, PageError> {
    let sale = Sale::load(&session, auction).await?;
    let SharedContacts { shared, is_complete } = session.platform().shared_contacts(&session.caller, auction).await?;
    render_page(&SharedPage {
        frame: sale.frame(&session, "Shared addresses", &query),
        head: sale.head(&session, Tab::Registrations),
        rows: shared.iter().map(SharedRow::of).collect(),
        is_complete,
    })
}
