//! Sending an example of an event type to an endpoint, with a payload that can be edited; the answer is shown in place.

use askama::Template;
use axum::response::{IntoResponse as _, Response};
use http::StatusCode;
use provider_core::model::{AttemptStatus, Endpoint};
use provider_core::payload::PAYLOAD_BYTES_MAX;
use provider_core::port::AttemptFilter;
use provider_core::{HistoryQuery, HistoryRequest, Payload, ProviderError, ids};

use super::form;
use super::head::{Head, Tab};
use crate::page_error::PageError;
use crate::portal::labels::{self, StatusBadge};
use crate::portal::session::{PathParams, Section, Session};
use crate::portal::{causes, event_type_choices};
use kit_design::code_block::CodeBlock;
use kit_design::error_summary::ErrorSummary;
use kit_design::fields::{FieldErrors, LongForm, QueryFields, SubmittedForm};
use kit_design::form_field::{Choice, FormField};
use kit_design::frame::{Frame, render_page_as};

/// The event type that always has an example.
const PING: &str = "svix.ping";
/// Bytes of a response that the page shows.
const RESPONSE_BYTES_MAX: usize = 4 * 1_024;

#[derive(Template)]
#[template(path = "portal/endpoints/example.html")]
struct ExamplePage {
    frame: Frame,
    head: Head,
    is_disabled: bool,
    event_type: FormField,
    chosen: String,
    payload: FormField,
    errors: ErrorSummary,
    answer: Option<Answer>,
}

/// What the receiver answered to the example that was sent last.
struct Answer {
    message: String,
    /// None while the attempt is under way.
    attempt: Option<AnsweredAttempt>,
}

struct AnsweredAttempt {
    status: StatusBadge,
    code: String,
    duration: String,
    cause: String,
    step: String,
    /// Path of the signature check, after a 400.
    verify: Option<String>,
    response: CodeBlock,
}

impl ExamplePage {
    async fn new(session: &Session, endpoint: &Endpoint, chosen: &str) -> Result<Self, PageError> {
        let (event_types, _) = event_type_choices::all(session).await?;
        let names = event_types.into_iter().map(|event_type| event_type.name).filter(|name| name != PING);
        let mut names: Vec<String> = names.collect();
        names.push(PING.to_owned());
        // The form offers the event type of the link even if it is unknown: the response then explains the error.
        if !chosen.is_empty() && !names.iter().any(|name| name == chosen) {
            names.push(chosen.to_owned());
        }
        let chosen = if chosen.is_empty() { names[0].clone() } else { chosen.to_owned() };
        let example = event_type_choices::example_text(session.provider(), &session.caller, &chosen).await?;
        let names = names.into_iter().map(|name| Choice::of(name.clone(), name, &chosen));
        let hint = match example {
            Some(_) => format!("The example of {chosen}. You can change it before it is sent."),
            None => format!("{chosen} has no example. Write the JSON object that is sent."),
        };
        Ok(Self {
            frame: session.frame("Send example", Section::Endpoints),
            head: Head::new(session, endpoint, Tab::Example),
            is_disabled: endpoint.disabled,
            event_type: FormField::select("eventType", "Event type", names.collect()).id("event-type"),
            payload: FormField::area("payload", "Payload", example.unwrap_or_else(|| "{}".to_owned()))
                .lines(10)
                .attribute("class", "mono")
                .attribute("spellcheck", "false")
                .hint(hint),
            chosen,
            errors: ErrorSummary::default(),
            answer: None,
        })
    }
}

/// The form, and with `message` the payload that was sent and the answer to it.
pub(in crate::portal) async fn page(
    session: Session,
    PathParams([endpoint]): PathParams<1>,
    QueryFields(query): QueryFields,
) -> Result<Response, PageError> {
    let endpoint = session.endpoint(&endpoint).await?;
    let mut page = ExamplePage::new(&session, &endpoint, query.text("eventType")).await?;
    if let Some(message) = query.non_empty("message") {
        page.answer = Some(answer(&session, &endpoint, message).await?);
        let sent = session.provider().message(&session.caller, session.app(), message).await?;
        if let Some(payload) = sent.payload {
            let sent = String::from_utf8_lossy(payload.text()).into_owned();
            page.payload = page.payload.value(if sent.contains('\n') { sent } else { CodeBlock::json(&sent).text });
        }
    }
    render_page_as(StatusCode::OK, &page)
}

async fn answer(session: &Session, endpoint: &Endpoint, message: &str) -> Result<Answer, PageError> {
    let part = HistoryRequest::parse(HistoryQuery { limit: Some("1"), ..HistoryQuery::default() }, ids::ATTEMPT)?;
    let (id, filter) = (Some(&*endpoint.id), AttemptFilter::default());
    let provider = session.provider();
    let found = provider.find_attempts_of_message(&session.caller, session.app(), message, id, filter, part).await?;
    let attempt = found.data.first().map(|attempt| {
        let is_failed = attempt.status == AttemptStatus::Fail;
        let (cause, step) = if is_failed { causes::of_attempt(attempt) } else { Default::default() };
        let shown = attempt.response.floor_char_boundary(RESPONSE_BYTES_MAX);
        AnsweredAttempt {
            status: attempt.status.into(),
            code: labels::status_code(attempt.response_status_code),
            duration: labels::duration(attempt.response_duration_ms),
            cause,
            step,
            verify: causes::verify_path(&session.portal.site().base, attempt),
            response: CodeBlock::json(&attempt.response[..shown]),
        }
    });
    Ok(Answer { message: message.to_owned(), attempt })
}

/// Sends the example and shows its answer.
pub(in crate::portal) async fn send(
    session: Session,
    PathParams([endpoint]): PathParams<1>,
    SubmittedForm(form): LongForm,
) -> Result<Response, PageError> {
    let (provider, event_type) = (session.provider(), form.text("eventType"));
    let name: String = form_urlencoded::byte_serialize(event_type.as_bytes()).collect();
    let path = format!("/endpoints/{endpoint}/example?eventType={name}");
    if form.text("action") == "show" {
        return Ok(session.portal.redirect(&path).into_response());
    }
    // A browser sends a line break as CR LF.
    let mut typed = form.all("payload").next().map(|payload| payload.replace("\r\n", "\n"));
    // Another event type was selected, and the payload is still the example of the one that the form showed.
    let shown = form.text("shown");
    if !shown.is_empty()
        && shown != event_type
        && typed == event_type_choices::example_text(provider, &session.caller, shown).await?
    {
        typed = None;
    }
    let sent = match typed.as_deref().map(Payload::parse).transpose() {
        Err(error) => Err(error),
        Ok(Some(payload)) => provider.send_test(&session.caller, session.app(), &endpoint, event_type, payload).await,
        Ok(None) => provider.send_example(&session.caller, session.app(), &endpoint, event_type, None, None).await,
    };
    match sent {
        Ok(message) => Ok(session.portal.redirect(&format!("{path}&message={}#answer", message.id)).into_response()),
        Err(ProviderError::NotFound) => {
            let endpoint = session.endpoint(&endpoint).await?;
            let page = ExamplePage::new(&session, &endpoint, event_type).await?;
            let mut errors = FieldErrors::default();
            errors.add("eventType", format!("there is no event type {event_type}"));
            render_page_as(StatusCode::UNPROCESSABLE_ENTITY, &refused(page, typed, &errors))
        }
        Err(error) => {
            let (status, errors) = match error {
                ProviderError::TooLarge => {
                    let mut errors = FieldErrors::default();
                    errors.add("payload", format!("has more than {} MiB: shorten it", PAYLOAD_BYTES_MAX >> 20));
                    (StatusCode::PAYLOAD_TOO_LARGE, errors)
                }
                error => form::errors(error)?,
            };
            let endpoint = session.endpoint(&endpoint).await?;
            let page = ExamplePage::new(&session, &endpoint, event_type).await?;
            render_page_as(status, &refused(page, typed, &errors))
        }
    }
}

/// The form again, with its errors and the typed payload.
fn refused(page: ExamplePage, typed: Option<String>, errors: &FieldErrors) -> ExamplePage {
    let payload = typed.into_iter().fold(page.payload, FormField::value);
    let [event_type, payload] = [page.event_type, payload].map(|field| field.with(errors));
    let errors = ErrorSummary::of_fields(errors, [&event_type, &payload]).heading("Nothing was sent");
    ExamplePage { event_type, payload, errors, ..page }
}
