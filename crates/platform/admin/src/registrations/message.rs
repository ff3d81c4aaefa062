//! Staff write to the bidders of a sale, or to one of them: the text, who receives it, and one button.

use askama::Template;
use axum::extract::State;
use axum::response::{IntoResponse as _, Response};
use http::StatusCode;
use kit_design::error_summary::ErrorSummary;
use kit_design::fields::{FieldErrors, FormFields, QueryFields, SubmittedForm};
use kit_design::form_field::FormField;
use kit_design::frame::{Frame, render_page_as};
use kit_design::relative_time::RelativeTime;
use platform_core::mails::MessageRecipients;
use platform_core::mails::template::MAIL_SUBJECT_CHARS_MAX;
use platform_core::notices::{MESSAGE_CHARS_MAX, NewMessage};
use uuid::Uuid;

use crate::admin::Admin;
use crate::form_page::{Refused, at_fields};
use crate::page_error::PageError;
use crate::sale::labels;
use crate::sale::{Head, Sale, Tab};
use crate::session::{PathIds, Section, Session};

#[derive(Template)]
#[template(path = "registrations/message.html")]
struct MessagePage {
    frame: Frame,
    head: Head,
    /// The bidder; empty for a message to all.
    to: String,
    registration: Option<Uuid>,
    /// Whom the message reaches, in words.
    reaches: String,
    has_recipients: bool,
    errors: ErrorSummary,
    fields: Vec<FormField>,
    /// Subject and text that are to be sent; none before they are looked at.
    preview: Option<(String, String)>,
    id: Uuid,
    was_sent: bool,
    earlier: Vec<EarlierMessage>,
}

/// A message that was sent.
struct EarlierMessage {
    subject: String,
    text: String,
    to: &'static str,
    by: String,
    at: RelativeTime,
}

/// `GET /auctions/{auction}/message`
pub(super) async fn page(
    session: Session,
    PathIds([auction]): PathIds<1>,
    QueryFields(query): QueryFields,
) -> Result<Response, PageError> {
    let shown = Shown { was_sent: query.text("done") == "sent", ..Shown::default() };
    show(&session, (auction, addressed(&query)), &shown, StatusCode::OK).await
}

/// `POST /auctions/{auction}/message`: the preview, and the message when it is confirmed.
pub(super) async fn send(
    session: Session,
    State(admin): State<Admin>,
    PathIds([auction]): PathIds<1>,
    SubmittedForm(form): SubmittedForm,
) -> Result<Response, PageError> {
    let to = (auction, addressed(&form));
    let id = Uuid::try_parse(form.text("id")).ok();
    let message = NewMessage {
        id: id.unwrap_or_default(),
        subject: form.text("subject").to_owned(),
        text: crate::customers::lines(form.text("text")),
    };
    let mut errors = FieldErrors::default();
    errors.add_found(at_fields(message.problems(), &[]));
    let is_preview = form.text("step") == "preview";
    if errors.is_empty() && form.text("step") == "send" && id.is_some() {
        match session.platform().write_to_bidders(&session.caller, to, &message).await {
            Ok(()) => {
                let query = to.1.map(|one| format!("&registration={one}")).unwrap_or_default();
                return Ok(admin.redirect(&format!("/auctions/{auction}/message?done=sent{query}")).into_response());
            }
            Err(error) => errors = Refused::from(error, &[])?.errors,
        }
    }
    let status = if errors.is_empty() { StatusCode::OK } else { StatusCode::UNPROCESSABLE_ENTITY };
    let (subject, text) = (message.subject.clone(), message.text.clone());
    let preview = (is_preview && errors.is_empty()).then(|| (subject.clone(), text.clone()));
    show(&session, to, &Shown { subject, text, errors, preview, was_sent: false }, status).await
}

/// The bidder that a form or a query names; none for all of the sale.
fn addressed(fields: &FormFields) -> Option<Uuid> {
    Uuid::try_parse(fields.text("registration")).ok()
}

#[derive(Default)]
struct Shown {
    subject: String,
    text: String,
    errors: FieldErrors,
    preview: Option<(String, String)>,
    was_sent: bool,
}

async fn show(
    session: &Session,
    (auction, registration): (Uuid, Option<Uuid>),
    shown: &Shown,
    status: StatusCode,
) -> Result<Response, PageError> {
    let sale = Sale::load(session, auction).await?;
    let (platform, caller) = (session.platform(), &session.caller);
    let (recipients, one) = platform.recipients_of_message(caller, (auction, registration)).await?;
    let earlier = platform.messages_to_bidders(caller, auction).await?;
    let names = session.names(earlier.iter().map(|message| message.actor.as_str())).await?;
    let earlier = earlier.into_iter().map(|message| EarlierMessage {
        to: if message.registration.is_some() { "one bidder" } else { "all approved bidders" },
        by: labels::actor(session, &names, &message.actor),
        at: RelativeTime::new(message.at, session.now()),
        subject: message.subject,
        text: message.text,
    });
    let fields = vec![
        FormField::text("subject", "Subject", shown.subject.as_str())
            .chars_max(MAIL_SUBJECT_CHARS_MAX)
            .with(&shown.errors)
            .required(),
        FormField::area("text", "Text", shown.text.as_str())
            .lines(8)
            .chars_max(MESSAGE_CHARS_MAX)
            .hint("Plain text. The greeting and the name of the house are added to mails.")
            .with(&shown.errors)
            .required(),
    ];
    let to = one.map(|one| match one.name {
        Some(name) => format!("paddle {}, {name}", one.paddle),
        None => format!("paddle {}", one.paddle),
    });
    let page = MessagePage {
        frame: session.frame(format!("Write to bidders · {}", sale.title()), Section::Auctions),
        head: sale.head(session, Tab::Registrations),
        to: to.unwrap_or_default(),
        registration,
        reaches: reaches(&recipients, registration.is_some()),
        has_recipients: recipients.bidders > 0,
        errors: ErrorSummary::of_fields(&shown.errors, &fields).heading("Nothing was sent"),
        fields,
        preview: shown.preview.clone(),
        id: platform.new_message_id(),
        was_sent: shown.was_sent,
        earlier: earlier.collect(),
    };
    render_page_as(status, &page)
}

fn reaches(recipients: &MessageRecipients, is_one: bool) -> String {
    let MessageRecipients { bidders, with_account, with_mail } = recipients;
    format!(
        "{}: {} on the pages of the saleroom, {} by mail.",
        if is_one { "1 bidder".to_owned() } else { labels::count(*bidders, "approved bidder", "approved bidders") },
        labels::number(*with_account),
        labels::number(*with_mail)
    )
}
