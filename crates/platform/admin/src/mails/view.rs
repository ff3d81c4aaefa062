//! One mail with its text, and "Send again".

use askama::Template;
use axum::response::{IntoResponse as _, Response};
use http::StatusCode;
use kit_design::error_page::sentence;
use kit_design::error_summary::ErrorSummary;
use kit_design::frame::{Frame, render_page_as};
use kit_design::relative_time::RelativeTime;
use platform_core::PlatformError;
use platform_core::Scope::{CustomersWrite, PartiesWrite};
use platform_core::mails::{MailState, StoredMail};
use uuid::Uuid;

use super::kind_words;
use crate::form_page::Refused;
use crate::page_error::PageError;
use crate::sale;
use crate::sale::labels::Badge;
use crate::session::{PathIds, Section, Session};

#[derive(Template)]
#[template(path = "mails/view.html")]
struct ViewPage {
    frame: Frame,
    path: String,
    customer: String,
    errors: ErrorSummary,
    badge: Badge,
    about: &'static str,
    auction: Uuid,
    sale: String,
    facts: Vec<(&'static str, String)>,
    times: Vec<(&'static str, RelativeTime)>,
    fault: String,
    subject: String,
    text: String,
    /// The record of the bidder in the register.
    party: Option<Uuid>,
    /// Address of the form "Send again"; none for a mail that was not given up.
    again: Option<String>,
}

/// `GET /customers/{customer}/mails/{mail}`
pub(super) async fn page(session: Session, PathIds([customer, mail]): PathIds<2>) -> Result<Response, PageError> {
    show(&session, (customer, mail), &Refused::default()).await
}

/// `POST /customers/{customer}/mails/{mail}/again`
pub(super) async fn send_again(session: Session, PathIds([customer, mail]): PathIds<2>) -> Result<Response, PageError> {
    match session.platform().send_mail_again(&session.caller, customer, mail).await {
        Ok(()) => {
            let path = format!("/customers/{customer}/mails?state=waiting&done=mail-again");
            Ok(session.admin.redirect(&path).into_response())
        }
        Err(error @ PlatformError::Invalid(_)) => show(&session, (customer, mail), &Refused::from(error, &[])?).await,
        Err(error) => Err(error.into()),
    }
}

async fn show(session: &Session, (customer, uuid): (Uuid, Uuid), refused: &Refused) -> Result<Response, PageError> {
    let (platform, caller, now) = (session.platform(), &session.caller, session.now());
    let name = platform.customer(caller, customer).await?.name;
    let StoredMail { mail, state, tries, next_at, fault, failing_since, ended_at } =
        platform.mail(caller, customer, uuid).await?;
    let path = format!("{}/customers/{customer}", session.admin.site().base);
    let time = |at| RelativeTime::new(at, now);
    let mut times = vec![("Queued", time(mail.queued_at))];
    times.extend(failing_since.map(|at| ("Failing since", time(at))));
    times.extend((state == MailState::Waiting).then(|| ("Next try", time(next_at))));
    times.extend(ended_at.map(|at| (if state == MailState::Sent { "Sent" } else { "Given up" }, time(at))));
    let may_send = session.may(PartiesWrite) || session.may(CustomersWrite);
    let page = ViewPage {
        frame: session.frame(format!("Mail · {name}"), Section::Customers),
        customer: name,
        errors: ErrorSummary::of_fields(&refused.errors, []).heading("The mail was not sent again"),
        badge: match state {
            MailState::Waiting => Badge::new("wait", "Waiting"),
            MailState::Sent => Badge::new("good", "Sent"),
            MailState::Failed => Badge::new("bad", "Failed"),
        },
        about: kind_words(mail.kind),
        party: mail.party,
        auction: mail.auction,
        sale: sale::title(&platform.auction(caller, mail.auction).await?),
        facts: vec![("To", mail.recipient), ("Tries", tries.to_string())],
        times,
        fault: fault.as_deref().map(sentence).unwrap_or_default(),
        subject: mail.subject,
        text: mail.text,
        again: (state == MailState::Failed && may_send && platform.sends_mail())
            .then(|| format!("{path}/mails/{uuid}/again")),
        path,
    };
    let status = if refused.errors.is_empty() { StatusCode::OK } else { refused.status };
    render_page_as(status, &page)
}
