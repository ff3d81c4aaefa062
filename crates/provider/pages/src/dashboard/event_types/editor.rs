//! The editor of an event type: its page, its check with an example, and saving a change.

use askama::Template;
use axum::response::{IntoResponse as _, Response};
use http::StatusCode;
use kit_design::code_block::CodeBlock;
use kit_design::error_summary::ErrorSummary;
use kit_design::fields::{FieldErrors, FormFields, LongForm, SubmittedForm};
use kit_design::form_field::FormField;
use kit_design::frame::{Frame, render_page_as};
use provider_core::model::EventType;
use provider_core::{CheckedSchemas, EventTypeInput, EventTypePatch, PatchField};

use super::schema_form::{SchemaForm, SchemaSource, TYPES};
use crate::dashboard::form_errors::form_errors;
use crate::dashboard::session::{DashboardSession, PathParams, Section};
use crate::page_error::PageError;

/// The values that the visitor entered.
#[derive(Debug, Clone, Default)]
pub(super) struct EventTypeForm {
    pub(super) name: String,
    description: String,
    group: String,
    is_deprecated: bool,
    schema: SchemaForm,
}

/// What the visitor wants of the form.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Intent {
    /// Save the event type.
    Save,
    /// Check the schema and show an example.
    Check,
    /// Show more rows.
    AddRows,
}

#[derive(Template)]
#[template(path = "dashboard/event_types/editor.html")]
struct EditorPage {
    frame: Frame,
    /// The event type that is changed; none for a new one.
    changed: Option<String>,
    errors: ErrorSummary,
    fields: Vec<FormField>,
    version: FormField,
    title: FormField,
    json: FormField,
    schema: SchemaForm,
    types: [&'static str; 6],
    is_table: bool,
    is_json: bool,
    is_checked: bool,
    example: Option<CodeBlock>,
}

impl EventTypeForm {
    /// The form of a new event type.
    pub(super) fn empty() -> Self {
        Self { schema: SchemaForm::empty(), ..Self::default() }
    }

    fn of(event_type: &EventType) -> Self {
        Self {
            name: event_type.name.clone(),
            description: event_type.description.clone(),
            group: event_type.group_name.clone().unwrap_or_default(),
            is_deprecated: event_type.deprecated,
            schema: SchemaForm::of(event_type.schemas.as_ref()),
        }
    }

    pub(super) fn read(form: &FormFields) -> (Self, Intent) {
        let intent = match form.text("action") {
            "check" => Intent::Check,
            "rows" => Intent::AddRows,
            _ => Intent::Save,
        };
        let typed = Self {
            name: form.text("name").to_owned(),
            description: form.text("description").replace("\r\n", "\n"),
            group: form.text("groupName").to_owned(),
            is_deprecated: form.text("deprecated") == "yes",
            schema: SchemaForm::read(form),
        };
        (typed, intent)
    }

    fn group_name(&self) -> Option<String> {
        Some(self.group.clone()).filter(|group| !group.is_empty())
    }

    pub(super) fn input(&self, checked: Option<CheckedSchemas>) -> EventTypeInput {
        EventTypeInput {
            description: self.description.clone(),
            deprecated: self.is_deprecated,
            schemas: checked.map(|checked| checked.schemas),
            group_name: self.group_name(),
            ..EventTypeInput::default()
        }
    }

    /// The schemas that the form describes, checked. `before` are those that are saved. If they are refused, the errors of
    /// the other fields are beside theirs.
    pub(super) fn check(
        &self,
        name: &str,
        before: Option<&serde_json::Value>,
        faults: &mut FieldErrors,
    ) -> Result<Option<Option<CheckedSchemas>>, PageError> {
        match self.schema.check(before, &self.description) {
            Ok(checked) => Ok(Some(checked)),
            Err(text) => {
                if let Err(error) = self.input(None).check(name) {
                    *faults = form_errors(error)?.1;
                }
                faults.add("schema", text);
                Ok(None)
            }
        }
    }

    /// The page. `checked` is the outcome of a check.
    pub(super) fn render(
        &self,
        session: &DashboardSession,
        changed: Option<&EventType>,
        status: StatusCode,
        faults: &FieldErrors,
        checked: Option<&Option<CheckedSchemas>>,
    ) -> Result<Response, PageError> {
        let schemas = checked.and_then(|checked| checked.as_ref());
        let shown = schemas.and_then(|checked| checked.schemas.get(&self.schema.version));
        let schema = shown.map_or_else(|| self.schema.clone(), |schema| self.schema.showing(schema)).with_rows();
        // The errors of the schema are beside the JSON, or link to the choice of the table.
        let is_json = schema.source == SchemaSource::Json;
        let place = if is_json { "json" } else { "schema-table" };
        let faults = faults.clone().renamed("schema", place).renamed("schemas", place);
        let fields = self.fields(changed.is_none(), &faults);
        let json = FormField::area("json", "JSON Schema of this version", &schema.json).code().lines(16).with(&faults);
        let labels = fields.iter().chain([&json]).map(|field| (field.name(), field.label()));
        let title = if changed.is_some() { "Edit event type" } else { "Create event type" };
        let page = EditorPage {
            frame: session.frame(title, Section::EventTypes),
            changed: changed.map(|event_type| event_type.name.clone()),
            errors: ErrorSummary::new(&faults, labels.chain([("schema-table", "Schema")])),
            fields,
            version: FormField::text("version", "Schema version", &schema.version)
                .hint("The key of an existing version replaces it. A new key, such as 2, adds a version and keeps the others.")
                .short(),
            title: FormField::text("title", "Schema title", &schema.title).optional(),
            json,
            is_table: schema.source == SchemaSource::Table,
            is_json,
            schema,
            types: TYPES,
            is_checked: checked.is_some(),
            example: schemas
                .and_then(|checked| checked.example.as_ref())
                .map(|example| CodeBlock::json(&example.to_string())),
        };
        render_page_as(status, &page)
    }

    fn fields(&self, is_new: bool, faults: &FieldErrors) -> Vec<FormField> {
        let name = FormField::text("name", "Name", &self.name)
            .hint(
                "Letters, digits, \"-\", \"_\" and \".\", such as ITEM_STATUS_CHANGE. The name can't be changed later.",
            )
            .code();
        let fields = [
            FormField::area("description", "Description", &self.description)
                .optional()
                .lines(2)
                .hint("For the person who chooses the event types of an endpoint."),
            FormField::text("groupName", "Group", &self.group)
                .optional()
                .hint("Event types of one group are listed together."),
            FormField::tick("deprecated", "Deprecated", "yes")
                .ticked(self.is_deprecated)
                .hint("Shown to people who choose event types. It changes nothing else."),
        ];
        is_new.then_some(name).into_iter().chain(fields).map(|field| field.with(faults)).collect()
    }
}

/// The editor with the event type's values.
pub(super) async fn page(session: DashboardSession, PathParams([name]): PathParams<1>) -> Result<Response, PageError> {
    let event_type = session.provider().event_type(&session.caller, &name).await?;
    let faults = FieldErrors::default();
    EventTypeForm::of(&event_type).render(&session, Some(&event_type), StatusCode::OK, &faults, None)
}

/// Saves the event type, or checks its schema.
pub(super) async fn save(
    session: DashboardSession,
    PathParams([name]): PathParams<1>,
    SubmittedForm(form): LongForm,
) -> Result<Response, PageError> {
    let event_type = session.provider().event_type(&session.caller, &name).await?;
    let (typed, intent) = EventTypeForm::read(&form);
    let mut faults = FieldErrors::default();
    if intent == Intent::AddRows {
        return typed.render(&session, Some(&event_type), StatusCode::OK, &faults, None);
    }
    let checked = typed.check(&name, event_type.schemas.as_ref(), &mut faults)?;
    let Some(schemas) = checked.clone().filter(|_| intent == Intent::Save) else {
        let status = if checked.is_some() { StatusCode::OK } else { StatusCode::UNPROCESSABLE_ENTITY };
        return typed.render(&session, Some(&event_type), status, &faults, checked.as_ref());
    };
    let patch = EventTypePatch {
        description: PatchField::Set(typed.description.clone()),
        deprecated: PatchField::Set(typed.is_deprecated),
        schemas: PatchField::Set(schemas.map(|schemas| schemas.schemas)),
        group_name: PatchField::Set(typed.group_name()),
        ..EventTypePatch::default()
    };
    match session.provider().patch_event_type(&session.caller, &name, patch).await {
        Ok(_) => Ok(session.dashboard.redirect(&format!("/event-types/{name}?done=event-type-saved")).into_response()),
        Err(error) => {
            let (status, faults) = form_errors(error)?;
            typed.render(&session, Some(&event_type), status, &faults, None)
        }
    }
}
