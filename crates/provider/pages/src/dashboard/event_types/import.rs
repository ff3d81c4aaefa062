//! Importing event types from the webhooks of an OpenAPI document: a preview, then one save.

use std::collections::BTreeSet;

use askama::Template;
use axum::response::{IntoResponse as _, Response};
use http::StatusCode;
use kit_design::code_block::CodeBlock;
use kit_design::error_summary::ErrorSummary;
use kit_design::fields::{FormFields, LongForm, SubmittedForm};
use kit_design::form_field::FormField;
use kit_design::frame::{Frame, render_page_as};
use provider_core::model::EventType;
use provider_core::{ImportPreview, OpenApiImport, ProviderError, UnlistedEventTypes};

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

/// Event types whose schemas the preview shows.
const SCHEMAS_SHOWN_MAX: usize = 100;
/// Names of unlisted event types that the preview shows.
const KEPT_SHOWN_MAX: usize = 500;

#[derive(Default)]
struct Preview {
    rows: Vec<Row>,
    added: usize,
    changed: usize,
    same: usize,
    archived: usize,
    /// Number of event types that the document does not have and the import leaves alone, and their first names.
    kept: usize,
    kept_names: Vec<String>,
}

struct Row {
    name: String,
    change: Change,
    /// Values that are set or replaced.
    values: Vec<Value>,
    schema: Option<SchemaChange>,
}

/// A value before and after the import; empty where the event type has none.
struct Value {
    name: &'static str,
    before: String,
    after: String,
}

/// The schemas before and after the import.
#[derive(Default)]
struct SchemaChange {
    before: Option<CodeBlock>,
    after: Option<CodeBlock>,
    /// The page leaves the schemas out, because it shows enough of them.
    is_left_out: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Change {
    Changed,
    Archived,
    Added,
    Same,
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
                if place.is_empty() { fault.msg.clone() } else { format!("“{place}”: {}", fault.msg) }
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
    let preview = provider.preview_event_types(&session.caller, &import).await?;
    Ok(Some(Preview::new(&import.names(), &preview)))
}

impl Preview {
    fn new(names: &BTreeSet<String>, import: &ImportPreview) -> Self {
        let (changes, present) = (&import.changes, &import.present);
        let mut preview = Self::default();
        let written = changes.changed.iter().map(|new| Row::written(present.get(&new.name), new));
        let archived = changes.archived.iter().map(|old| Row::unchanged(&old.name, Change::Archived));
        let is_written = |name: &&String| changes.changed.iter().all(|new| new.name != **name);
        let same = names.iter().filter(is_written).map(|name| Row::unchanged(name, Change::Same));
        preview.rows = written.chain(archived).chain(same).collect();
        preview.rows.sort_by(|left, right| (left.change, &left.name).cmp(&(right.change, &right.name)));
        let count = |change| preview.rows.iter().filter(|row| row.change == change).count();
        (preview.added, preview.changed) = (count(Change::Added), count(Change::Changed));
        (preview.same, preview.archived) = (count(Change::Same), count(Change::Archived));
        for schema in preview.rows.iter_mut().filter_map(|row| row.schema.as_mut()).skip(SCHEMAS_SHOWN_MAX) {
            *schema = SchemaChange { is_left_out: true, ..SchemaChange::default() };
        }
        let is_archived = |name: &String| changes.archived.iter().any(|old| old.name == *name);
        let kept = || present.keys().filter(|name| !names.contains(*name) && !is_archived(name));
        preview.kept = kept().count();
        preview.kept_names = kept().take(KEPT_SHOWN_MAX).cloned().collect();
        preview
    }
}

impl Row {
    fn unchanged(name: &str, change: Change) -> Self {
        Self { name: name.to_owned(), change, values: Vec::new(), schema: None }
    }

    /// The row of an event type that the import creates or overwrites.
    fn written(old: Option<&EventType>, new: &EventType) -> Self {
        let state = |is_set: bool, word: &str| if is_set { word.to_owned() } else { String::new() };
        let values = |of: &EventType| {
            [
                ("Description", of.description.clone()),
                ("Group", of.group_name.clone().unwrap_or_default()),
                ("Feature flags", of.feature_flags.iter().map(String::as_str).collect::<Vec<_>>().join(", ")),
                ("Deprecated", state(of.deprecated, "yes")),
                ("Archived", state(of.archived, "yes")),
            ]
        };
        let before = old.map(values).unwrap_or_default();
        let pairs = before.into_iter().zip(values(new));
        let values = pairs.filter(|((_, before), (_, after))| before != after);
        let values = values.map(|((_, before), (name, after))| Value { name, before, after }).collect();
        let old_schemas = old.and_then(|old| old.schemas.as_ref());
        let shown = |schemas: &serde_json::Value| CodeBlock::json(&schemas.to_string());
        let schema = (old_schemas != new.schemas.as_ref()).then(|| SchemaChange {
            before: old_schemas.map(shown),
            after: new.schemas.as_ref().map(shown),
            is_left_out: false,
        });
        let change = if old.is_some() { Change::Changed } else { Change::Added };
        Self { name: new.name.clone(), change, values, schema }
    }
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
