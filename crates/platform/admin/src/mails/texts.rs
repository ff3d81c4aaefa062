//! How a house writes to its bidders: language, own texts, and a preview of each mail as typed.

use askama::Template;
use axum::response::{IntoResponse as _, Response};
use http::StatusCode;
use kit_design::error_summary::ErrorSummary;
use kit_design::fields::{FieldErrors, FormFields, LongForm, SubmittedForm};
use kit_design::form_field::{Choice, FormField};
use kit_design::frame::{Frame, render_page_as};
use platform_core::PlatformError;
use platform_core::mails::template::{MAIL_SUBJECT_CHARS_MAX, MAIL_TEXT_CHARS_MAX, Placeholder};
use platform_core::mails::{HouseMails, Language, MailKind, MailText};
use uuid::Uuid;

use super::kind_words;
use crate::customers::lines;
use crate::form_page::{Refused, at_fields};
use crate::page_error::PageError;
use crate::session::{PathIds, Section, Session};

/// Lines of a text that the form shows at once.
const LINES: usize = 14;
/// Where the form has the texts of each kind.
const POINTERS: &[(&str, &str)] = &[
    ("/approved/subject", "approvedSubject"),
    ("/approved/text", "approvedText"),
    ("/declined/subject", "declinedSubject"),
    ("/declined/text", "declinedText"),
    ("/suspended/subject", "suspendedSubject"),
    ("/suspended/text", "suspendedText"),
    ("/reminder/subject", "reminderSubject"),
    ("/reminder/text", "reminderText"),
];

#[derive(Template)]
#[template(path = "mails/texts.html")]
struct TextsPage {
    frame: Frame,
    path: String,
    customer: String,
    version: i64,
    sends_mail: bool,
    errors: ErrorSummary,
    language: FormField,
    decisions: FormField,
    placeholders: Vec<(String, &'static str)>,
    kinds: Vec<KindForm>,
}

/// The text of a kind of mail, and what a bidder receives.
struct KindForm {
    id: &'static str,
    words: &'static str,
    subject: FormField,
    text: FormField,
    shown_subject: String,
    shown_text: String,
}

/// Names of the fields of a kind: its subject and its text.
fn fields_of(kind: MailKind) -> (String, String) {
    (format!("{}Subject", kind.name()), format!("{}Text", kind.name()))
}

fn language_words(language: Language) -> &'static str {
    match language {
        Language::English => "English",
        Language::German => "German",
        Language::French => "French",
        Language::Spanish => "Spanish",
        Language::Italian => "Italian",
    }
}

/// What the user typed. A text that is left empty is the default one.
fn read(form: &FormFields) -> HouseMails {
    let texts = MailKind::OF_HOUSE.into_iter().filter_map(|kind| {
        let (subject, text) = fields_of(kind);
        let typed = MailText { subject: form.text(&subject).trim().to_owned(), text: lines(form.text(&text)) };
        let is_empty = typed.subject.is_empty() && typed.text.is_empty();
        (!is_empty).then_some((kind, typed))
    });
    HouseMails {
        language: Language::parse(form.text("language")).unwrap_or_default(),
        sends_decisions: form.text("decisions") == "yes",
        texts: texts.collect(),
    }
}

/// `GET /customers/{customer}/mails/texts`
pub(super) async fn page(session: Session, PathIds([customer]): PathIds<1>) -> Result<Response, PageError> {
    let house = session.platform().house(&session.caller, customer).await?;
    show(&session, customer, (house.version, &house.mails), &Refused::default()).await
}

/// `POST /customers/{customer}/mails/texts`: saves the texts, or shows what they look like.
pub(super) async fn save(
    session: Session,
    PathIds([customer]): PathIds<1>,
    SubmittedForm(form): LongForm,
) -> Result<Response, PageError> {
    let (version, typed) = (form.text("version").parse().unwrap_or_default(), read(&form));
    if form.text("do") == "preview" {
        let mut errors = FieldErrors::default();
        errors.add_found(at_fields(typed.problems(), POINTERS));
        let refused = if errors.is_empty() { Refused::default() } else { Refused::of_errors(errors) };
        // The default texts follow the chosen language.
        return show(&session, customer, (version, &typed.without_defaults()), &refused).await;
    }
    let refused =
        match session.platform().change_house_mails(&session.caller, customer, typed.clone(), Some(version)).await {
            Ok(_) => {
                let path = format!("/customers/{customer}/mails?done=mail-texts-saved");
                return Ok(session.admin.redirect(&path).into_response());
            }
            Err(PlatformError::PreconditionFailed { .. } | PlatformError::Busy) => Refused::by_page(
                "",
                "Someone else changed the house since you opened this page. Open it again to see the change.",
            ),
            Err(error) => Refused::from(error, POINTERS)?,
        };
    show(&session, customer, (version, &typed), &refused).await
}

async fn show(
    session: &Session,
    customer: Uuid,
    (version, mails): (i64, &HouseMails),
    refused: &Refused,
) -> Result<Response, PageError> {
    let (platform, caller) = (session.platform(), &session.caller);
    let name = platform.customer(caller, customer).await?.name;
    let samples = platform.sample_mails(caller, customer, mails).await?;
    let kinds: Vec<KindForm> = samples
        .into_iter()
        .map(|sample| {
            let (text, (subject_name, text_name)) = (mails.text(sample.kind), fields_of(sample.kind));
            // The summary of errors names the mail by the label of its field.
            let about = kind_words(sample.kind).to_lowercase();
            KindForm {
                id: sample.kind.name(),
                words: kind_words(sample.kind),
                subject: FormField::text(subject_name.clone(), format!("Subject: {about}"), text.subject)
                    .chars_max(MAIL_SUBJECT_CHARS_MAX)
                    .fault(refused.of(&subject_name)),
                text: FormField::area(text_name.clone(), format!("Text: {about}"), text.text)
                    .lines(LINES)
                    .chars_max(MAIL_TEXT_CHARS_MAX)
                    .fault(refused.of(&text_name)),
                shown_subject: sample.mail.subject,
                shown_text: sample.mail.text,
            }
        })
        .collect();
    let chosen = mails.language.name();
    let choices = Language::ALL.map(|language| Choice::of(language.name(), language_words(language), chosen));
    let language = FormField::select("language", "Language", choices.into())
        .hint("Of dates, and of texts that you do not replace.")
        .fault(refused.of("language"));
    let decisions = FormField::tick(
        "decisions",
        "Write to bidders when their registration is approved, declined or suspended",
        "yes",
    )
    .ticked(mails.sends_decisions);
    let fields = kinds.iter().flat_map(|kind| [&kind.subject, &kind.text]);
    let errors = ErrorSummary::of_fields(&refused.errors, [&language, &decisions].into_iter().chain(fields));
    let page = TextsPage {
        frame: session.frame(format!("Texts of mails · {name}"), Section::Customers),
        path: format!("{}/customers/{customer}", session.admin.site().base),
        customer: name,
        version,
        sends_mail: platform.sends_mail(),
        errors,
        language,
        decisions,
        placeholders: Placeholder::OF_HOUSE.map(|own| (format!("{{{}}}", own.name()), own.meaning())).into(),
        kinds,
    };
    let status = if refused.errors.is_empty() { StatusCode::OK } else { refused.status };
    render_page_as(status, &page)
}
