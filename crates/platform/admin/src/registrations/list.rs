//! The registrations of an auction, those that wait first.

use askama::Template;
use axum::response::Response;
use kit_design::fields::QueryFields;
use kit_design::form_field::FormField;
use kit_design::frame::{Frame, render_page};
use kit_design::relative_time::RelativeTime;
use platform_core::Scope;
use platform_core::bidders::{ApprovalHindrance, next_statuses};
use platform_core::mails::Reminder;
use platform_core::port::{Page, Registration, RegistrationStatus};
use platform_core::sales::lists::RegistrationQuery;
use uuid::Uuid;

use super::limit::{self, RequestRow};
use super::place::{self, Place};
use crate::mails::{ForecastWords, LastReminder};
use crate::page_error::PageError;
use crate::sale::labels::Badge;
use crate::sale::{Head, Sale, Tab};
use crate::session::{PathIds, Session};

const ROWS_MAX: usize = 100;
/// The notice after a reminder was sent.
const REMINDED: &str = "reminded";
/// How long a reminder is new.
const NEW_SECONDS: i64 = 120;

#[derive(Template)]
#[template(path = "registrations/list.html")]
struct ListPage {
    frame: Frame,
    head: Head,
    /// Requests for a higher limit that wait.
    requests: Vec<RequestRow>,
    chips: Vec<Chip>,
    paddle: String,
    /// The query of this page, and the parameter that carries it to a form.
    list: String,
    list_parameter: String,
    rows: Vec<Row>,
    /// Queries of the first page and of the next one.
    first: String,
    next: Option<String>,
    is_first: bool,
    is_filtered: bool,
    may_write: bool,
    may_read_people: bool,
    has_waiting: bool,
    last_reminder: Option<LastReminder>,
    /// After a reminder was sent: when its mails can be sent.
    queued: Option<ForecastWords>,
}

struct Chip {
    words: &'static str,
    query: String,
    is_current: bool,
}

struct Row {
    id: Uuid,
    version: i64,
    /// The record in the register, if the user may read it.
    party: Option<Uuid>,
    paddle: String,
    name: String,
    email: String,
    limit: String,
    note: String,
    badge: Badge,
    reason: String,
    at: RelativeTime,
    is_waiting: bool,
    /// Statuses other than approval that the registration can get, with the words of their links.
    others: Vec<(&'static str, &'static str)>,
    can_approve: bool,
    can_edit: bool,
    /// Why it can't be approved; empty if it can, or needs no approval.
    hindrance: &'static str,
}

/// The list. Without a filter it shows those that wait, if any do.
pub(super) async fn page(
    session: Session,
    PathIds([uuid]): PathIds<1>,
    QueryFields(query): QueryFields,
) -> Result<Response, PageError> {
    let sale = Sale::load(&session, uuid).await?;
    let place = Place::of_query(&query);
    let wanted = RegistrationQuery { statuses: place.status.into_iter().collect(), paddle: place.paddle.clone() };
    let page = Page { after: place.after, limit: ROWS_MAX + 1 };
    let mut found = session.platform().list_registrations(&session.caller, uuid, &wanted, page).await?;
    let has_more = found.len() > ROWS_MAX;
    found.truncate(ROWS_MAX);
    let last = found.last().filter(|_| has_more);
    let next = last.map(|last| Place { after: Some(last.uuid), ..place.clone() }.query());
    let may_write = sale.may_change(&session, Scope::BiddersWrite);
    let parties: Vec<Uuid> = found.iter().filter_map(|registration| registration.party).collect();
    let known = session.platform().known_parties(&session.caller, sale.auction.customer, &parties).await?;
    let hindrances = session.platform().approval_hindrances(&session.caller, &found).await?;
    let rows: Vec<Row> = found
        .iter()
        .map(|registration| {
            let party = registration.party.filter(|party| known.contains(party));
            Row { party, ..row(&session, &sale, registration, hindrances.get(&registration.uuid).copied()) }
        })
        .collect();
    let requests = session.platform().limit_requests(&session.caller, uuid, limit::LISTED_MAX).await?;
    let requests = requests.into_iter().map(|found| RequestRow::of(&session, &sale, found)).collect();
    let last_reminder = session.platform().latest_reminder(&session.caller, uuid).await?;
    let frame = sale.frame(&session, "Registrations", &query);
    let queued =
        match may_write && query.text("done") == REMINDED && last_reminder.as_ref().is_some_and(is_new(&session)) {
            true => session.platform().reminder_forecast(&session.caller, uuid).await?,
            false => None,
        };
    let mut page = ListPage {
        queued: queued.map(|forecast| ForecastWords::of_queued(&session, &sale.zone, &forecast)),
        last_reminder: last_reminder.map(|last| LastReminder::new(&session, &last)),
        frame: match place::notice(&session, &sale, &query).await? {
            Some(notice) => frame.with_notice(Some(notice)),
            None => frame,
        },
        head: sale.head(&session, Tab::Registrations),
        requests,
        chips: chips(place.status),
        first: Place { after: None, ..place.clone() }.query(),
        is_first: place.after.is_none(),
        list: place.query(),
        list_parameter: place.parameter(),
        paddle: place.paddle.unwrap_or_default(),
        has_waiting: rows.iter().any(|row| row.is_waiting),
        rows,
        next,
        is_filtered: wanted != RegistrationQuery::default(),
        may_write,
        may_read_people: session.may(Scope::BiddersWrite),
    };
    if page.queued.is_some() {
        // It says more than the notice that the query names.
        page.frame.notice = None;
    }
    render_page(&page)
}

/// True for a reminder that was sent just now. The figures of an earlier one would be wrong by the mails sent since.
fn is_new(session: &Session) -> impl Fn(&Reminder) -> bool {
    let now = session.now();
    move |reminder| now.duration_since(reminder.created_at).as_secs() < NEW_SECONDS
}

fn chips(current: Option<RegistrationStatus>) -> Vec<Chip> {
    let words = |status| match status {
        RegistrationStatus::Pending => "Waiting",
        RegistrationStatus::Approved => "Approved",
        RegistrationStatus::Refused => "Declined",
        RegistrationStatus::Suspended => "Suspended",
    };
    let all = Chip { words: "All", query: String::new(), is_current: current.is_none() };
    let chip = |status: RegistrationStatus| Chip {
        words: words(status),
        query: format!("status={}", status.as_str()),
        is_current: current == Some(status),
    };
    std::iter::once(all).chain(RegistrationStatus::ALL.into_iter().map(chip)).collect()
}

fn row(session: &Session, sale: &Sale, registration: &Registration, hindrance: Option<ApprovalHindrance>) -> Row {
    let next = next_statuses(registration.status);
    let others = next.iter().filter(|to| **to != RegistrationStatus::Approved);
    let words = |to: &RegistrationStatus| match to {
        RegistrationStatus::Refused => "Decline",
        RegistrationStatus::Suspended => "Suspend",
        other => other.as_str(),
    };
    Row {
        id: registration.uuid,
        version: registration.version,
        party: None,
        paddle: registration.paddle.clone(),
        name: registration.name.clone().unwrap_or_default(),
        email: registration.email.clone().unwrap_or_default(),
        limit: registration.limit.map(|limit| sale.currency.show(limit)).unwrap_or_default(),
        note: registration.note.clone().unwrap_or_default(),
        badge: registration.status.into(),
        reason: registration.reason.clone().unwrap_or_default(),
        at: sale.zone.relative(registration.created_at, session.now()),
        is_waiting: registration.status == RegistrationStatus::Pending && hindrance.is_none(),
        others: others.map(|to| (to.as_str(), words(to))).collect(),
        can_approve: next.contains(&RegistrationStatus::Approved) && hindrance.is_none(),
        can_edit: hindrance != Some(ApprovalHindrance::Erased),
        hindrance: match hindrance {
            Some(ApprovalHindrance::Erased) => "The person was erased: nothing can be approved or edited.",
            Some(ApprovalHindrance::Blocked) => "Blocked in the register: end the block there first.",
            None => "",
        },
    }
}
