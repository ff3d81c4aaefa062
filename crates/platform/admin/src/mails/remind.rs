//! Reminds the approved bidders of a sale: who receives a mail, the mail to the first of them, and one button.

use askama::Template;
use axum::response::{IntoResponse as _, Response};
use http::StatusCode;
use kit_design::error_summary::ErrorSummary;
use kit_design::fields::{QueryFields, SubmittedForm};
use kit_design::frame::{Frame, render_page_as};
use kit_design::relative_time::RelativeTime;
use platform_core::mails::{FirstMail, Reminder, ReminderConfirmation};
use platform_core::{PlatformError, Scope};
use uuid::Uuid;

use super::ForecastWords;
use crate::form_page::Refused;
use crate::page_error::PageError;
use crate::sale::labels;
use crate::sale::{Head, Sale, Tab};
use crate::session::{PathIds, Session};

#[derive(Template)]
#[template(path = "mails/remind.html")]
struct RemindPage {
    frame: Frame,
    head: Head,
    customer: Uuid,
    errors: ErrorSummary,
    hindrance: String,
    last: Option<LastReminder>,
    recipients: u64,
    mailboxes: u64,
    without_email: u64,
    first: Option<FirstMail>,
    forecast: ForecastWords,
    /// Mails of the house that wait and come first; empty without one.
    before: String,
    /// Mails that the house sends in an hour and in a day at most.
    limits: [String; 2],
    may_edit_text: bool,
    id: Uuid,
    seen: String,
    house_version: i64,
}

/// The latest reminder of a sale, in words.
pub(crate) struct LastReminder {
    pub(crate) at: RelativeTime,
    /// Such as `40 bidders`, or `more than 250 bidders` until all its mails are made; empty before the first is made.
    pub(crate) to: String,
}

impl LastReminder {
    pub(crate) fn new(session: &Session, reminder: &Reminder) -> Self {
        Self {
            at: RelativeTime::new(reminder.created_at, session.now()),
            to: match (reminder.ended_at, labels::count(reminder.recipients, "bidder", "bidders")) {
                (Some(_), bidders) => bidders,
                (None, _) if reminder.recipients == 0 => String::new(),
                (None, bidders) => format!("more than {bidders}"),
            },
        }
    }
}

/// `GET /auctions/{auction}/remind`
pub(super) async fn page(
    session: Session,
    PathIds([auction]): PathIds<1>,
    QueryFields(_): QueryFields,
) -> Result<Response, PageError> {
    show(&session, auction, &Refused::default()).await
}

/// `POST /auctions/{auction}/remind`
pub(super) async fn send(
    session: Session,
    PathIds([auction]): PathIds<1>,
    SubmittedForm(form): SubmittedForm,
) -> Result<Response, PageError> {
    let confirmed = Uuid::try_parse(form.text("id")).map(|id| ReminderConfirmation {
        id,
        seen: Uuid::try_parse(form.text("seen")).ok(),
        house_version: form.text("houseVersion").parse().unwrap_or(-1),
    });
    let Ok(confirmed) = confirmed else {
        return show(&session, auction, &Refused::by_page("", "The form is not complete. Send it again.")).await;
    };
    let refused = match session.platform().remind_bidders(&session.caller, auction, confirmed).await {
        Ok(()) => {
            let path = format!("/auctions/{auction}/registrations?done=reminded");
            return Ok(session.admin.redirect(&path).into_response());
        }
        Err(PlatformError::Busy) => {
            Refused::by_page("", "Another reminder was sent since you opened this page. Nothing was sent now.")
        }
        Err(PlatformError::PreconditionFailed { .. }) => {
            Refused::by_page("", "The house changed since you opened this page. Read the mail again. Nothing was sent.")
        }
        Err(error) => Refused::from(error, &[])?,
    };
    show(&session, auction, &refused).await
}

async fn show(session: &Session, auction: Uuid, refused: &Refused) -> Result<Response, PageError> {
    let sale = Sale::load(session, auction).await?;
    let plan = session.platform().reminder_plan(&session.caller, auction).await?;
    let limits = session.platform().mail_limits();
    let none = "No approved bidder of this sale has an e-mail address.";
    let hindrance = plan.hindrance.or((plan.recipients == 0).then_some(none)).unwrap_or_default();
    let page = RemindPage {
        frame: session.frame(format!("Remind bidders · {}", sale.title()), crate::session::Section::Auctions),
        head: sale.head(session, Tab::Registrations),
        customer: sale.auction.customer,
        errors: ErrorSummary::of_fields(&refused.errors, []).heading("No reminder was sent"),
        hindrance: hindrance.to_owned(),
        last: plan.last.as_ref().map(|last| LastReminder::new(session, last)),
        recipients: plan.recipients,
        mailboxes: plan.mailboxes,
        without_email: plan.without_email,
        forecast: ForecastWords::of(session, &sale.zone, &plan.forecast),
        before: match plan.forecast.before {
            0 => String::new(),
            before => labels::count(
                before,
                "mail of the house waits and comes first",
                "mails of the house wait and come first",
            ),
        },
        limits: [limits.house_mails_per_hour, limits.house_mails_per_day].map(|max| labels::number(max.into())),
        first: plan.first,
        may_edit_text: session.may(Scope::CustomersWrite),
        id: plan.id,
        seen: plan.last.map(|last| last.uuid.to_string()).unwrap_or_default(),
        house_version: plan.house_version,
    };
    let status = if refused.errors.is_empty() { StatusCode::OK } else { StatusCode::CONFLICT };
    render_page_as(status, &page)
}
