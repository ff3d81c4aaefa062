//! Sending a message by hand: any event type, with a payload that begins as the example of its schema.

use askama::Template;
use axum::response::{IntoResponse as _, Response};
use http::StatusCode;
use kit_design::error_summary::ErrorSummary;
use kit_design::fields::{FieldErrors, FormFields, LongForm, QueryFields, SubmittedForm};
use kit_design::form_field::{Choice, FormField};
use kit_design::frame::{Frame, render_page_as};
use provider_core::model::Application;
use provider_core::uid::NAME_CHARS_MAX;
use provider_core::{PrecheckResult, ProviderError, TypedMessage};

use crate::dashboard::form_errors::form_errors;
use crate::dashboard::session::{DashboardSession, PathParams, Section};
use crate::page_error::PageError;
use crate::portal::event_type_choices;

#[derive(Template)]
#[template(path = "dashboard/messages/send.html")]
struct SendPage {
    frame: Frame,
    application: Application,
    errors: ErrorSummary,
    /// The user is asked to look at the form before it is sent.
    note: String,
    /// The event type that the form shows.
    shown: String,
    /// No enabled endpoint subscribes to that event type.
    is_unwanted: bool,
    /// The account has no event type.
    has_no_types: bool,
    key: String,
    fields: [FormField; 4],
}

/// The values that the user entered.
#[derive(Debug, Clone, Default)]
struct Typed {
    event_type: String,
    /// None for the example of the event type.
    payload: Option<String>,
    event_id: String,
    channels: String,
    /// Key of the form, so that it is sent once.
    key: String,
}

impl Typed {
    fn read(form: &FormFields) -> Self {
        Self {
            event_type: form.text("eventType").to_owned(),
            // A browser sends a line break as CR LF.
            payload: form.all("payload").next().map(|payload| payload.replace("\r\n", "\n")),
            event_id: form.text("eventId").to_owned(),
            channels: form.text("channels").to_owned(),
            key: form.text("key").to_owned(),
        }
    }

    fn message(&self) -> TypedMessage {
        let names = self.channels.split([',', ' ']).map(str::trim).filter(|name| !name.is_empty());
        TypedMessage {
            event_type: self.event_type.clone(),
            payload: self.payload.clone().unwrap_or_default(),
            event_id: Some(self.event_id.clone()).filter(|id| !id.is_empty()),
            channels: Some(names.map(str::to_owned).collect::<Vec<_>>()).filter(|channels| !channels.is_empty()),
        }
    }
}

impl SendPage {
    async fn new(
        session: &DashboardSession,
        application: Application,
        typed: Typed,
        errors: &FieldErrors,
    ) -> Result<Self, PageError> {
        let (provider, caller) = (session.provider(), &session.caller);
        let (event_types, _) = event_type_choices::all_of(provider, caller).await?;
        let mut names: Vec<String> = event_types.into_iter().map(|event_type| event_type.name).collect();
        // The form offers the event type of the link even if it is unknown: the response then explains the error.
        if !typed.event_type.is_empty() && !names.contains(&typed.event_type) {
            names.push(typed.event_type.clone());
        }
        let chosen = match typed.event_type.is_empty() {
            true => names.first().cloned().unwrap_or_default(),
            false => typed.event_type,
        };
        let example = event_type_choices::example_text(provider, caller, &chosen).await?;
        let hint = match (&example, names.is_empty()) {
            (_, true) => String::new(),
            (Some(_), _) => format!("It begins as the example of {chosen}. Change it as you need."),
            (None, _) => format!("{chosen} has no example. Write the JSON object that is sent."),
        };
        let has_no_types = names.is_empty();
        let choices = names.into_iter().map(|name| Choice::of(name.clone(), name, &chosen));
        let payload = typed.payload.or(example).unwrap_or_else(|| "{}".to_owned());
        let fields = [
            FormField::select("eventType", "Event type", choices.collect()).id("event-type"),
            FormField::area("payload", "Payload", payload)
                .lines(14)
                .attribute("class", "mono")
                .attribute("spellcheck", "false")
                .hint(hint),
            FormField::text("eventId", "Event id", typed.event_id)
                .optional()
                .hint("Your own id for the message. The application accepts each id once.")
                .chars_max(NAME_CHARS_MAX)
                .code(),
            FormField::text("channels", "Channels", typed.channels)
                .optional()
                .hint("At most 5 names, separated by commas. An endpoint with channels receives the message if they share one.")
                .attribute("spellcheck", "false"),
        ]
        .map(|field| field.with(errors));
        let is_unwanted = match provider.precheck_message(caller, &application.id, &chosen, None).await {
            Ok(found) => found == PrecheckResult::Unwanted,
            // The error is beside the field.
            Err(ProviderError::Validation(_)) => false,
            Err(error) => return Err(error.into()),
        };
        Ok(Self {
            frame: session.frame("Send message", Section::Applications),
            application,
            errors: ErrorSummary::of_fields(errors, &fields).heading("Nothing was sent"),
            note: String::new(),
            shown: chosen,
            is_unwanted,
            has_no_types,
            key: if typed.key.is_empty() { provider.new_form_key() } else { typed.key },
            fields,
        })
    }
}

/// The form, for the event type of the link or the first one.
pub(super) async fn page(
    session: DashboardSession,
    PathParams([id]): PathParams<1>,
    QueryFields(query): QueryFields,
) -> Result<Response, PageError> {
    let application = session.provider().application(&session.caller, &id).await?;
    let typed = Typed { event_type: query.text("eventType").to_owned(), ..Typed::default() };
    let page = SendPage::new(&session, application, typed, &FieldErrors::default()).await?;
    render_page_as(StatusCode::OK, &page)
}

/// The form with the example of the event type that was typed.
async fn with_example(
    session: &DashboardSession,
    application: Application,
    typed: Typed,
    note: String,
) -> Result<SendPage, PageError> {
    let typed = Typed { payload: None, ..typed };
    let page = SendPage::new(session, application, typed, &FieldErrors::default()).await?;
    Ok(SendPage { note, ..page })
}

/// Sends the message and shows it, or fills in the example of the selected event type.
pub(super) async fn send(
    session: DashboardSession,
    PathParams([id]): PathParams<1>,
    SubmittedForm(form): LongForm,
) -> Result<Response, PageError> {
    let (provider, caller) = (session.provider(), &session.caller);
    let application = provider.application(caller, &id).await?;
    let typed = Typed::read(&form);
    if form.text("action") == "show" {
        let page = with_example(&session, application, typed, String::new()).await?;
        return render_page_as(StatusCode::OK, &page);
    }
    let shown = form.text("shown");
    if !shown.is_empty()
        && shown != typed.event_type
        && typed.payload == event_type_choices::example_text(provider, caller, shown).await?
    {
        let note = format!(
            "Nothing was sent yet: the payload was the example of {shown}, and the event type is {} now. The payload was \
             replaced. Check it, and send the message.",
            typed.event_type
        );
        let page = with_example(&session, application, typed, note).await?;
        return render_page_as(StatusCode::OK, &page);
    }
    match provider.send_by_hand(caller, &application.id, typed.message(), &typed.key).await {
        Ok(message) => {
            let path = format!("/applications/{}/messages/{}?done=message-sent", application.id, message.id);
            Ok(session.dashboard.redirect(&path).into_response())
        }
        Err(error) => {
            let is_taken = matches!(error, ProviderError::Conflict { .. });
            let (status, mut errors) = form_errors(error)?;
            if is_taken {
                errors = FieldErrors::default();
                errors.add("eventId", "a message with this id was accepted before; choose another id, or leave it out");
            }
            let page = SendPage::new(&session, application, typed, &errors).await?;
            render_page_as(status, &page)
        }
    }
}
