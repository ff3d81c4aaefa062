//! One mail with its text, and "Send again".

use askama::Template;
use axum::response::{IntoResponse as _, Response};
use http::StatusCode;
use kit_design::error_page::sentence;
use kit_design::error_summary::ErrorSummary;
use kit_design::fields::{FormFields, QueryFields, SubmittedForm};
use kit_design::frame::{Frame, render_page_as};
use kit_design::relative_time::RelativeTime;
use platform_core::PlatformError;
use platform_core::Scope::{CustomersWrite, PartiesWrite};
use platform_core::mails::{MailState, StoredMail};
use uuid::Uuid;

use super::{can_go_now, kind_words, zone_of};
use crate::form_page::Refused;
use crate::notice;
use crate::page_error::PageError;
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
    /// Address of the form "Send now"; none for a mail that is not waiting for its next try.
    now: Option<String>,
    tries: u32,
    /// Address of the form "Send again"; none for a mail that was not given up.
    again: Option<String>,
}

/// `GET /customers/{customer}/mails/{mail}`
pub(super) async fn page(
    session: Session,
    PathIds([customer, mail]): PathIds<2>,
    QueryFields(query): QueryFields,
) -> Result<Response, PageError> {
    show(&session, (customer, mail), &query, &Refused::default()).await
}

/// `POST /customers/{customer}/mails/{mail}/again`
pub(super) async fn send_again(session: Session, PathIds([customer, mail]): PathIds<2>) -> Result<Response, PageError> {
    match session.platform().send_mail_again(&session.caller, customer, mail).await {
        Ok(()) => {
            let path = format!("/customers/{customer}/mails?state=waiting&done=mail-again");
            Ok(session.admin.redirect(&path).into_response())
        }
        Err(error @ PlatformError::Invalid(_)) => {
            show(&session, (customer, mail), &FormFields::default(), &Refused::from(error, &[])?).await
        }
        Err(error) => Err(error.into()),
    }
}

/// `POST /customers/{customer}/mails/{mail}/now`
pub(super) async fn send_now(
    session: Session,
    PathIds([customer, mail]): PathIds<2>,
    SubmittedForm(form): SubmittedForm,
) -> Result<Response, PageError> {
    // A form without the number of tries sends nothing.
    let tries = form.text("tries").parse().unwrap_or_default();
    match session.platform().send_mail_now(&session.caller, customer, mail, tries).await {
        Ok(is_due) => {
            let done = if is_due { "mail-now" } else { "mail-not-now" };
            let path = format!("/customers/{customer}/mails/{mail}?done={done}");
            Ok(session.admin.redirect(&path).into_response())
        }
        Err(error @ PlatformError::Invalid(_)) => {
            show(&session, (customer, mail), &FormFields::default(), &Refused::from(error, &[])?).await
        }
        Err(error) => Err(error.into()),
    }
}

async fn show(
    session: &Session,
    (customer, uuid): (Uuid, Uuid),
    query: &FormFields,
    refused: &Refused,
) -> Result<Response, PageError> {
    let (platform, caller, now) = (session.platform(), &session.caller, session.now());
    let name = platform.customer(caller, customer).await?.name;
    let zone = zone_of(session, customer).await?;
    let stored = platform.mail(caller, customer, uuid).await?;
    let can_go_now = can_go_now(&stored, now);
    let bidders = platform.mail_bidders(caller, std::slice::from_ref(&stored)).await?;
    let StoredMail { mail, state, tries, next_at, fault, failing_since, ended_at, held_since } = stored;
    let mut facts = vec![("To", mail.recipient)];
    if let Some(bidder) = bidders.get(&mail.registration) {
        facts.extend(bidder.name.clone().map(|name| ("Bidder", name)));
        facts.push(("Paddle", bidder.paddle.clone()));
    }
    facts.push(("Tries", tries.to_string()));
    let path = format!("{}/customers/{customer}", session.admin.site().base);
    let time = |at| zone.relative(at, now);
    let mut times = vec![("Queued", time(mail.queued_at))];
    times.extend(failing_since.map(|at| ("Failing since", time(at))));
    times.extend(held_since.map(|at| ("Waits for a limit since", time(at))));
    times.extend((state == MailState::Waiting).then(|| ("Earliest next try", time(next_at))));
    times.extend(ended_at.map(|at| (if state == MailState::Sent { "Sent" } else { "Given up" }, time(at))));
    let may_send = session.may(PartiesWrite) || session.may(CustomersWrite);
    let page = ViewPage {
        frame: session.frame(format!("Mail · {name}"), Section::Customers).with_notice(notice::from_query(query)),
        customer: name,
        errors: ErrorSummary::of_fields(&refused.errors, []).heading("The mail was not sent"),
        badge: match state {
            MailState::Waiting => Badge::new("wait", "Waiting"),
            MailState::Sent => Badge::new("good", "Sent"),
            MailState::Failed => Badge::new("bad", "Failed"),
        },
        about: kind_words(mail.kind),
        party: mail.party,
        auction: mail.auction,
        sale: platform.auction(caller, mail.auction).await?.shown_title().to_owned(),
        facts,
        times,
        fault: fault.as_deref().map(sentence).unwrap_or_default(),
        subject: mail.subject,
        text: mail.text,
        now: (can_go_now && may_send && platform.sends_mail()).then(|| format!("{path}/mails/{uuid}/now")),
        tries,
        again: (state == MailState::Failed && may_send && platform.sends_mail())
            .then(|| format!("{path}/mails/{uuid}/again")),
        path,
    };
    let status = if refused.errors.is_empty() { StatusCode::OK } else { refused.status };
    render_page_as(status, &page)
}
