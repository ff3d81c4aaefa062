//! The mails to the bidders of a house: those that wait, failed and were sent; and the test mail.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

use askama::Template;
use axum::response::Response;
use http::StatusCode;
use jiff::Timestamp;
use kit_design::error_page::sentence;
use kit_design::error_summary::ErrorSummary;
use kit_design::fields::{FormFields, QueryFields, SubmittedForm};
use kit_design::form_field::FormField;
use kit_design::frame::{Frame, render_page_as};
use kit_design::relative_time::RelativeTime;
use platform_core::PlatformError;
use platform_core::Scope::{CustomersWrite, PartiesWrite};
use platform_core::mails::{MailBidder, MailCounts, MailState, StoredMail, TestMail};
use platform_core::port::Page as ListPage;
use uuid::Uuid;

use super::{can_go_now, kind_words};
use crate::form_page::Refused;
use crate::notice;
use crate::page_error::PageError;
use crate::sale::labels;
use crate::session::{PathIds, Section, Session};
use platform_words::SaleZone;

/// Mails on one page.
const LISTED: usize = 50;

#[derive(Template)]
#[template(path = "mails/list.html")]
struct ListTemplate {
    frame: Frame,
    path: String,
    customer: String,
    sends_mail: bool,
    sends_decisions: bool,
    /// Mails that the house sends in an hour and in a day at most.
    limits: [String; 2],
    may_write: bool,
    may_send: bool,
    chips: Vec<Chip>,
    state: &'static str,
    empty: &'static str,
    rows: Vec<Row>,
    /// The last mail of the page, if there are more.
    next: Option<Uuid>,
    is_first: bool,
    errors: ErrorSummary,
    address: FormField,
    /// Class and text of what the mail server answered to a test mail.
    tested: Option<(&'static str, String)>,
}

struct Chip {
    words: String,
    state: &'static str,
    is_current: bool,
}

struct Row {
    uuid: Uuid,
    recipient: String,
    bidder: String,
    paddle: String,
    about: &'static str,
    auction: Uuid,
    sale: String,
    tries: u32,
    fault: String,
    since: Option<RelativeTime>,
    next: Option<RelativeTime>,
    /// The last try failed, and the next one can be made now.
    can_go_now: bool,
    at: RelativeTime,
}

impl Row {
    fn new(
        (now, zone): (Timestamp, &SaleZone),
        stored: &StoredMail,
        sales: &BTreeMap<Uuid, String>,
        bidders: &BTreeMap<Uuid, MailBidder>,
    ) -> Self {
        let mail = &stored.mail;
        let time = |at| zone.relative(at, now);
        let bidder = bidders.get(&mail.registration);
        Self {
            uuid: mail.uuid,
            recipient: mail.recipient.clone(),
            bidder: bidder.and_then(|bidder| bidder.name.clone()).unwrap_or_default(),
            paddle: bidder.map(|bidder| bidder.paddle.clone()).unwrap_or_default(),
            about: kind_words(mail.kind),
            auction: mail.auction,
            sale: sales.get(&mail.auction).cloned().unwrap_or_default(),
            tries: stored.tries,
            fault: stored.fault.as_deref().map(sentence).unwrap_or_default(),
            since: stored.failing_since.map(time),
            next: (stored.state == MailState::Waiting && stored.next_at > now).then(|| time(stored.next_at)),
            can_go_now: can_go_now(stored, now),
            at: time(stored.ended_at.unwrap_or(mail.queued_at)),
        }
    }
}

/// `GET /customers/{customer}/mails`
pub(super) async fn page(
    session: Session,
    PathIds([customer]): PathIds<1>,
    QueryFields(query): QueryFields,
) -> Result<Response, PageError> {
    show(&session, customer, &query, (None, None), &Refused::default()).await
}

/// `POST /customers/{customer}/mails/test`
pub(super) async fn test(
    session: Session,
    PathIds([customer]): PathIds<1>,
    SubmittedForm(form): SubmittedForm,
) -> Result<Response, PageError> {
    let address = form.text("address").trim().to_owned();
    let (tested, refused) = match session.platform().send_test_mail(&session.caller, customer, &address).await {
        Ok(tested) => (Some(in_words(&address, tested)), Refused::default()),
        Err(error @ PlatformError::Invalid(_)) => (None, Refused::from(error, &[])?),
        Err(error) => return Err(error.into()),
    };
    show(&session, customer, &FormFields::default(), (Some(address), tested), &refused).await
}

fn in_words(address: &str, tested: TestMail) -> (&'static str, String) {
    match tested {
        TestMail::Taken(answer) => {
            ("good", format!("The mail server has taken the mail to {address}. It answered: {answer}"))
        }
        TestMail::Refused(answer) => {
            ("bad", format!("The mail server refused the mail to {address}. It answered: {answer}"))
        }
        TestMail::Unavailable(reason) => {
            ("bad", format!("The mail server could not take the mail to {address}: {reason}"))
        }
    }
}

async fn show(
    session: &Session,
    customer: Uuid,
    query: &FormFields,
    (typed, tested): (Option<String>, Option<(&'static str, String)>),
    refused: &Refused,
) -> Result<Response, PageError> {
    let (platform, caller) = (session.platform(), &session.caller);
    let name = platform.customer(caller, customer).await?.name;
    let house = platform.house(caller, customer).await?;
    let zone = SaleZone::named(house.profile.time_zone.as_deref().unwrap_or("UTC"));
    let (counts, limits) = (platform.mail_counts(caller, customer).await?, platform.mail_limits());
    let state = chosen(query, counts);
    let after = Uuid::try_parse(query.text("before")).ok();
    let mut mails = platform.mails(caller, customer, state, ListPage { after, limit: LISTED + 1 }).await?;
    let has_more = mails.len() > LISTED;
    mails.truncate(LISTED);
    let bidders = platform.mail_bidders(caller, &mails).await?;
    let mut sales = BTreeMap::new();
    for stored in &mails {
        let auction = stored.mail.auction;
        if let Entry::Vacant(entry) = sales.entry(auction) {
            entry.insert(platform.auction(caller, auction).await?.shown_title().to_owned());
        }
    }
    let address = FormField::text("address", "Address", typed.unwrap_or_else(|| session.email.clone()))
        .kind("email", "email")
        .chars_max(254)
        .required()
        .fault(refused.of("address"));
    let chip = |own: MailState| Chip {
        words: match own {
            MailState::Waiting => format!("Waiting {}", labels::number(counts.waiting)),
            MailState::Failed => format!("Failed {}", labels::number(counts.failed)),
            MailState::Sent => format!("Sent {}", labels::number(counts.sent)),
        },
        state: own.name(),
        is_current: own == state,
    };
    let page = ListTemplate {
        frame: session.frame(format!("Mails · {name}"), Section::Customers).with_notice(notice::from_query(query)),
        path: format!("{}/customers/{customer}", session.admin.site().base),
        customer: name,
        sends_mail: platform.sends_mail(),
        sends_decisions: house.mails.sends_decisions,
        limits: [limits.house_mails_per_hour, limits.house_mails_per_day].map(|max| labels::number(max.into())),
        may_write: session.may(CustomersWrite),
        may_send: session.may(PartiesWrite) || session.may(CustomersWrite),
        chips: MailState::ALL.map(chip).into(),
        state: state.name(),
        empty: match state {
            MailState::Waiting if !platform.sends_mail() => "Mails are off",
            MailState::Waiting => "No mail waits",
            MailState::Failed => "No mail failed",
            MailState::Sent => "No mail was sent",
        },
        rows: mails.iter().map(|stored| Row::new((session.now(), &zone), stored, &sales, &bidders)).collect(),
        next: mails.last().map(|stored| stored.mail.uuid).filter(|_| has_more),
        is_first: after.is_none(),
        errors: ErrorSummary::of_fields(&refused.errors, [&address]).heading("No test mail was sent"),
        address,
        tested,
    };
    let status = if refused.errors.is_empty() { StatusCode::OK } else { refused.status };
    render_page_as(status, &page)
}

/// The state that the query names; otherwise failed mails if there are some, those that wait, or those that were sent.
fn chosen(query: &FormFields, counts: MailCounts) -> MailState {
    let named = MailState::ALL.into_iter().find(|state| state.name() == query.text("state"));
    named.unwrap_or(match counts {
        MailCounts { failed: 1.., .. } => MailState::Failed,
        MailCounts { waiting: 1.., .. } => MailState::Waiting,
        _ => MailState::Sent,
    })
}
