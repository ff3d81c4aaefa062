//! Importing event types from the webhooks of an OpenAPI document: a preview, then one save.

use std::collections::{BTreeMap, BTreeSet};

use askama::Template;
use axum::response::{IntoResponse as _, Response};
use http::StatusCode;
use kit_design::error_summary::ErrorSummary;
use kit_design::fields::{FormFields, LongForm, SubmittedForm};
use kit_design::form_field::FormField;
use kit_design::frame::{Frame, render_page_as};
use provider_core::model::EventType;
use provider_core::{ImportedEventTypes, OpenApiImport, ProviderError, UnlistedEventTypes};

use crate::dashboard::session::{DashboardSession, Section};
use crate::page_error::PageError;
use kit_design::error_page::sentence;

#[derive(Template)]
#[template(path = "dashboard/event_types/import.html")]
struct ImportPage {
    frame: Frame,
    document: FormField,
    errors: ErrorSummary,
    archives: bool,
    text: String,
    preview: Option<Preview>,
}

#[derive(Default)]
struct Preview {
    rows: Vec<Row>,
    added: usize,
    changed: usize,
    same: usize,
    archived: usize,
}

struct Row {
    name: String,
    change: Change,
    /// What differs, in words.
    details: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Change {
    Added,
    Changed,
    Same,
    Archived,
}

/// The empty form.
pub(super) async fn page(session: DashboardSession) -> Result<Response, PageError> {
    render(&session, StatusCode::OK, "", false, String::new(), None)
}

/// Shows what the import would change, or saves it.
pub(super) async fn submit(session: DashboardSession, SubmittedForm(form): LongForm) -> Result<Response, PageError> {
    let (text, archives) = (form.text("document"), form.text("unlisted") == "archive");
    match import(&session, &form, text, archives).await {
        Ok(None) => Ok(session.dashboard.redirect("/event-types?done=event-types-imported").into_response()),
        Ok(Some(preview)) => render(&session, StatusCode::OK, text, archives, String::new(), Some(preview)),
        Err(ProviderError::Validation(faults)) => {
            let fault = |fault: &provider_core::FieldError| {
                let place = fault.loc.iter().skip_while(|part| matches!(&***part, "body" | "spec" | "specRaw"));
                let place = place.map(|part| &**part).collect::<Vec<_>>().join(", ");
                if place.is_empty() { fault.msg.clone() } else { format!("{place}: {}", fault.msg) }
            };
            let faults = faults.iter().map(fault).collect::<Vec<_>>().join("; ");
            render(&session, StatusCode::UNPROCESSABLE_ENTITY, text, archives, sentence(&faults), None)
        }
        Err(error) => Err(error.into()),
    }
}

/// The preview; none when the import was saved.
async fn import(
    session: &DashboardSession,
    form: &FormFields,
    text: &str,
    archives: bool,
) -> Result<Option<Preview>, ProviderError> {
    let unlisted = if archives { UnlistedEventTypes::Archive } else { UnlistedEventTypes::Keep };
    let import = OpenApiImport { document: OpenApiImport::read_document(text.to_owned()).await?, unlisted };
    let provider = session.provider();
    if form.text("action") == "save" {
        provider.import_event_types(&session.caller, &import, None, |_| String::new()).await?;
        return Ok(None);
    }
    let result = provider.preview_event_types(&session.caller, &import).await?;
    let mut before = BTreeMap::new();
    for event_type in &result.changed {
        match provider.event_type(&session.caller, &event_type.name).await {
            Ok(found) => drop(before.insert(found.name.clone(), found)),
            Err(ProviderError::NotFound) => {}
            Err(error) => return Err(error),
        }
    }
    Ok(Some(preview(import.names(), &before, &result)))
}

fn preview(names: BTreeSet<String>, before: &BTreeMap<String, EventType>, result: &ImportedEventTypes) -> Preview {
    let mut preview = Preview::default();
    for name in names {
        let (change, details) = match result.changed.iter().find(|event_type| event_type.name == name) {
            None => (Change::Same, String::new()),
            Some(new) => match before.get(&name) {
                None => (Change::Added, new.description.clone()),
                Some(old) => (Change::Changed, differences(old, new)),
            },
        };
        preview.push(Row { name, change, details });
    }
    for event_type in &result.archived {
        preview.push(Row { name: event_type.name.clone(), change: Change::Archived, details: String::new() });
    }
    preview.rows.sort_by_key(|row| row.change == Change::Same);
    preview
}

impl Preview {
    fn push(&mut self, row: Row) {
        match row.change {
            Change::Added => self.added += 1,
            Change::Changed => self.changed += 1,
            Change::Same => self.same += 1,
            Change::Archived => self.archived += 1,
        }
        self.rows.push(row);
    }
}

/// What differs between two versions of an event type.
fn differences(old: &EventType, new: &EventType) -> String {
    let parts = [
        (old.description != new.description, "description"),
        (old.schemas != new.schemas, "schema"),
        (old.group_name != new.group_name, "group"),
        (old.deprecated != new.deprecated, "deprecated"),
        (old.feature_flags != new.feature_flags, "feature flags"),
        (old.archived && !new.archived, "restored from the archive"),
    ];
    parts.iter().filter(|(differs, _)| *differs).map(|(_, part)| *part).collect::<Vec<_>>().join(", ")
}

fn render(
    session: &DashboardSession,
    status: StatusCode,
    text: &str,
    archives: bool,
    fault: String,
    preview: Option<Preview>,
) -> Result<Response, PageError> {
    let document = FormField::area("document", "OpenAPI document, JSON or YAML", text)
        .hint("Each entry of webhooks (or x-webhooks) becomes an event type. Nothing is fetched: references must be within the document.")
        .code()
        .lines(18)
        .fault(fault);
    render_page_as(
        status,
        &ImportPage {
            frame: session.frame("Import event types", Section::EventTypes),
            errors: ErrorSummary::beside([&document]).heading("Nothing was imported"),
            document,
            archives,
            text: text.to_owned(),
            preview,
        },
    )
}
