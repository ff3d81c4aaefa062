//! A page with one form: what it is about, its fields, and one button. Pages that confirm a change use it without
//! fields.

use askama::Template;
use axum::response::Response;
use http::StatusCode;
use kit_design::error_page::ErrorPage;
use kit_design::error_summary::ErrorSummary;
use kit_design::field_group::FieldGroup;
use kit_design::fields::FieldErrors;
use kit_design::form_field::FormField;
use kit_design::frame::{Frame, render_page_as};
use platform_core::users::Refusal;
use platform_core::{PlatformError, Problem};

use crate::page_error::PageError;

/// A page with one form.
#[derive(Template)]
#[template(path = "form_page.html")]
pub(crate) struct FormPage {
    frame: Frame,
    /// Path and text of the page above this one.
    above: (String, String),
    /// The page links to the one above. False for a form that has to be filled in first.
    may_leave: bool,
    /// Paragraphs before the form.
    intro: Vec<String>,
    /// What the change will cause, and who will be notified.
    consequences: Vec<String>,
    /// Path and words of a link to a further setting, after the form.
    further: Option<(String, &'static str)>,
    /// Why the form can't be sent now, in place of the form; empty when it can.
    hindrance: String,
    errors: ErrorSummary,
    fields: Vec<FormField>,
    /// Fields of a long form, in place of `fields`.
    groups: Vec<FieldGroup>,
    /// Names and values that the form carries unseen.
    hidden: Vec<(&'static str, String)>,
    action: String,
    button: &'static str,
    is_destructive: bool,
}

impl FormPage {
    /// A page whose form is sent to `action`, with `above` as the page that it leads back to.
    pub(crate) fn new(frame: Frame, above: (impl Into<String>, impl Into<String>), action: impl Into<String>) -> Self {
        Self {
            frame,
            above: (above.0.into(), above.1.into()),
            may_leave: true,
            intro: Vec::new(),
            consequences: Vec::new(),
            further: None,
            hindrance: String::new(),
            errors: ErrorSummary::default(),
            fields: Vec::new(),
            groups: Vec::new(),
            hidden: Vec::new(),
            action: action.into(),
            button: "Save",
            is_destructive: false,
        }
    }

    /// Without links to the page above: no other page opens until the form was accepted.
    pub(crate) fn comes_first(self) -> Self {
        Self { may_leave: false, ..self }
    }

    /// With a paragraph before the form.
    pub(crate) fn intro(mut self, text: impl Into<String>) -> Self {
        self.intro.push(text.into());
        self
    }

    /// With a sentence about what the change will cause.
    pub(crate) fn causes(mut self, text: impl Into<String>) -> Self {
        self.consequences.push(text.into());
        self
    }

    /// With a link to a further setting after the form.
    pub(crate) fn further(self, path: impl Into<String>, words: &'static str) -> Self {
        Self { further: Some((path.into(), words)), ..self }
    }

    /// Without the form, because of something that has to be done first.
    pub(crate) fn hindered_by(self, text: impl Into<String>) -> Self {
        Self { hindrance: text.into(), ..self }
    }

    pub(crate) fn fields(mut self, fields: Vec<FormField>) -> Self {
        self.fields = fields;
        self
    }

    /// With the fields of a long form.
    pub(crate) fn groups(self, groups: impl IntoIterator<Item = FieldGroup>) -> Self {
        Self { groups: groups.into_iter().collect(), ..self }
    }

    /// With another address that the form is sent to.
    pub(crate) fn action(self, path: impl Into<String>) -> Self {
        Self { action: path.into(), ..self }
    }

    /// With a value that the form carries unseen.
    pub(crate) fn hidden(mut self, name: &'static str, value: impl Into<String>) -> Self {
        self.hidden.push((name, value.into()));
        self
    }

    pub(crate) fn button(mut self, words: &'static str) -> Self {
        self.button = words;
        self
    }

    /// With a button that destroys something.
    pub(crate) fn destroys(self, words: &'static str) -> Self {
        Self { is_destructive: true, ..self.button(words) }
    }

    /// The page as it is opened.
    pub(crate) fn open(self) -> Result<Response, PageError> {
        render_page_as(StatusCode::OK, &self)
    }

    /// The page after the form was refused, with the errors of its fields, which the caller has put beside them.
    pub(crate) fn refuse(mut self, refused: &Refused) -> Result<Response, PageError> {
        let grouped = self.groups.iter().flat_map(FieldGroup::fields);
        self.errors = ErrorSummary::of_fields(&refused.errors, self.fields.iter().chain(grouped));
        render_page_as(refused.status, &self)
    }
}

/// Why a use case refused a form.
#[derive(Debug, Default)]
pub(crate) struct Refused {
    pub(crate) status: StatusCode,
    pub(crate) errors: FieldErrors,
}

impl Refused {
    /// A refusal by the page itself.
    pub(crate) fn by_page(field: &str, text: &str) -> Self {
        let mut errors = FieldErrors::default();
        errors.add(field, text);
        Self::of_errors(errors)
    }

    /// A refusal before the change is tried, with what the page and the checks of the use case found.
    pub(crate) fn of_errors(errors: FieldErrors) -> Self {
        Self { status: StatusCode::UNPROCESSABLE_ENTITY, errors }
    }

    /// The refusal that the form shows; an error of another kind is an error page. `fields` maps the pointers of the use
    /// case to the fields of the form, where they differ.
    pub(crate) fn from(error: PlatformError, fields: &[(&str, &str)]) -> Result<Self, PageError> {
        let mut errors = FieldErrors::default();
        let mut status = StatusCode::UNPROCESSABLE_ENTITY;
        match error {
            PlatformError::Invalid(problems) => errors.add_found(at_fields(problems, fields)),
            PlatformError::Taken(field) => {
                status = StatusCode::CONFLICT;
                errors.add(field, "is already taken: choose another one");
            }
            PlatformError::Identity(Refusal::TooManyAttempts { .. }) => return Err(error.into()),
            PlatformError::User(_)
            | PlatformError::Rejected(_)
            | PlatformError::ApiKeyRequired
            | PlatformError::NotConnected
            | PlatformError::LaterPublished(_)
            | PlatformError::CursorBeyondEnd(_)
            | PlatformError::Provider { .. } => errors.add("", error.to_string()),
            error => return Err(error.into()),
        }
        Ok(Self { status, errors })
    }

    /// The fault of a field; empty when it has none.
    pub(crate) fn of(&self, field: &str) -> String {
        self.errors.of(field)
    }
}

/// Problems of a use case at the fields of a form. `fields` maps pointers to fields, where they differ.
pub(crate) fn at_fields(problems: Vec<Problem>, fields: &[(&str, &str)]) -> impl Iterator<Item = (String, String)> {
    problems.into_iter().map(|problem| {
        let mapped = fields.iter().find(|(from, _)| *from == problem.pointer).map(|(_, to)| *to);
        (mapped.unwrap_or_else(|| problem.pointer.trim_start_matches('/')).to_owned(), problem.message)
    })
}

/// The reason that a user gives for a change.
pub(crate) fn reason_field(value: impl Into<String>) -> FormField {
    FormField::text("reason", "Reason", value).hint("Kept in the journal with your name. At most 500 characters.")
}

/// 404 for a form about something that does not exist.
pub(crate) fn not_found() -> PageError {
    ErrorPage::not_found().into()
}
