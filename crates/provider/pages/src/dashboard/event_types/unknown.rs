//! Event types that messages had, but that the account has not registered: the setting, the list, and the button that
//! creates one.

use axum::response::{IntoResponse as _, Response};
use kit_design::error_page::ErrorPage;
use kit_design::fields::SubmittedForm;
use kit_design::form_field::{self, FormField};
use kit_design::relative_time::RelativeTime;
use provider_core::model::{UnknownEventType, UnknownEventTypes};
use provider_core::{EventTypeInput, ProviderError};

use crate::dashboard::session::DashboardSession;
use crate::page_error::PageError;
use crate::portal::labels::number;

/// The part of the list's page about event types that are not registered.
pub(super) struct Unknown {
    pub(super) handling: UnknownEventTypes,
    pub(super) rows: Vec<Row>,
}

/// An event type and a key that sent it.
pub(super) struct Row {
    pub(super) name: String,
    pub(super) key: String,
    pub(super) key_name: String,
    pub(super) messages: String,
    pub(super) last: RelativeTime,
    /// Whether the row above is of the same event type.
    pub(super) is_repeated: bool,
}

impl Unknown {
    pub(super) async fn read(session: &DashboardSession) -> Result<Self, PageError> {
        let mut listed = session.provider().unknown_event_types(&session.caller).await?;
        // The latest event type first, and all its keys below it.
        let latest: Vec<String> = listed.iter().map(|row| row.name.clone()).collect();
        listed.sort_by_key(|row| latest.iter().position(|name| *name == row.name));
        let mut previous = String::new();
        let row = |UnknownEventType { name, key, key_name, messages, last_at, .. }: UnknownEventType| {
            let is_repeated = std::mem::replace(&mut previous, name.clone()) == name;
            let (messages, last) = (number(messages), RelativeTime::new(last_at, session.now()));
            Row { name, key: key.to_string(), key_name, messages, last, is_repeated }
        };
        let rows = listed.into_iter().map(row).collect();
        Ok(Self { handling: session.account.settings.unknown_event_types, rows })
    }

    /// The choice of the setting.
    pub(super) fn field(&self) -> FormField {
        let choice = |handling: UnknownEventTypes| {
            let (title, text) = words(handling);
            form_field::Choice::new(handling.name(), title, handling == self.handling).hint(text)
        };
        let choices = UnknownEventTypes::ALL.into_iter().map(choice).collect();
        FormField::radios("handling", "A message of an event type that is not registered", choices)
    }

    /// The setting, for those who can't change it.
    pub(super) fn setting(&self) -> String {
        let (title, text) = words(self.handling);
        format!("{title}: {}", text.to_lowercase())
    }
}

fn words(handling: UnknownEventTypes) -> (&'static str, &'static str) {
    match handling {
        UnknownEventTypes::Accept => ("Accept", "It is delivered, and its event type is not listed."),
        UnknownEventTypes::Warn => ("Warn", "It is delivered, and its event type is listed with the key that sent it."),
        UnknownEventTypes::Reject => ("Reject", "It is refused with 400 (unknown_event_type), and not delivered."),
    }
}

/// Saves the setting.
pub(super) async fn save(session: DashboardSession, SubmittedForm(form): SubmittedForm) -> Result<Response, PageError> {
    let Some(handling) = UnknownEventTypes::parse(form.text("handling")) else {
        return Err(ErrorPage::bad_request("The choice must be accept, warn or reject.").into());
    };
    let mut account = session.account.clone();
    account.settings.unknown_event_types = handling;
    session.provider().change_account(&session.caller, account).await?;
    Ok(session.dashboard.redirect("/event-types?done=unknown-event-types-saved#unknown").into_response())
}

/// Creates an event type without a description and a schema, and opens its editor.
pub(super) async fn create(
    session: DashboardSession,
    SubmittedForm(form): SubmittedForm,
) -> Result<Response, PageError> {
    let name = form.text("name");
    let input = EventTypeInput::default();
    let created = session.provider().create_event_type(&session.caller, name, input, None, |_| String::new());
    match created.await {
        // Another user was faster.
        Ok(_) | Err(ProviderError::Conflict { .. }) => {
            let path = format!("/event-types/{name}?done=event-type-created");
            Ok(session.dashboard.redirect(&path).into_response())
        }
        Err(error) => Err(error.into()),
    }
}
