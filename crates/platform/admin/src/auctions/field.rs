//! A field of a form: label, hint, control, and the error beside it.

use askama::Template;
use askama::filters::HtmlSafe;
use kit_design::fields::FieldErrors;

use super::list::Choice;

/// A labelled control. Its id is its name unless a page has the name twice.
#[derive(Template)]
#[template(path = "auctions/field.html")]
pub(crate) struct Field {
    name: String,
    id: String,
    label: String,
    hint: String,
    value: String,
    fault: String,
    kind: &'static str,
    is_required: bool,
    /// Options of a select, in groups; a group without a name has no heading.
    groups: Vec<(String, Vec<Choice>)>,
    /// Values that a text field suggests.
    suggestions: &'static [&'static str],
}

impl HtmlSafe for Field {}

impl Field {
    /// A line of text.
    pub(crate) fn text(name: impl Into<String>, label: impl Into<String>, value: impl Into<String>) -> Self {
        let name = name.into();
        Self {
            id: name.clone(),
            name,
            label: label.into(),
            hint: String::new(),
            value: value.into(),
            fault: String::new(),
            kind: "text",
            is_required: false,
            groups: Vec::new(),
            suggestions: &[],
        }
    }

    /// Several lines of text.
    pub(crate) fn area(name: impl Into<String>, label: impl Into<String>, value: impl Into<String>) -> Self {
        Self { kind: "area", ..Self::text(name, label, value) }
    }

    /// A date and time.
    pub(crate) fn time(name: impl Into<String>, label: impl Into<String>, value: impl Into<String>) -> Self {
        Self { kind: "datetime-local", ..Self::text(name, label, value) }
    }

    /// A choice among options.
    pub(crate) fn select(name: impl Into<String>, label: impl Into<String>, choices: Vec<Choice>) -> Self {
        Self::grouped(name, label, vec![(String::new(), choices)])
    }

    /// A choice among options in groups.
    pub(crate) fn grouped(
        name: impl Into<String>,
        label: impl Into<String>,
        groups: Vec<(String, Vec<Choice>)>,
    ) -> Self {
        Self { kind: "select", groups, ..Self::text(name, label, "") }
    }

    /// A tick, with this value when it is set. It is never set beforehand.
    pub(crate) fn tick(name: impl Into<String>, label: impl Into<String>, value: impl Into<String>) -> Self {
        Self { kind: "checkbox", ..Self::text(name, label, value) }
    }

    /// Why a person gives a reason: it is kept.
    pub(crate) fn reason(value: impl Into<String>) -> Self {
        Self::text("reason", "Reason", value).hint("Kept in the journal with your name. At most 500 characters.")
    }

    /// With another id, for a page that has a field of this name already.
    pub(crate) fn id(self, id: &str) -> Self {
        Self { id: id.to_owned(), ..self }
    }

    pub(crate) fn hint(self, hint: impl Into<String>) -> Self {
        Self { hint: hint.into(), ..self }
    }

    pub(crate) fn required(self) -> Self {
        Self { is_required: true, ..self }
    }

    pub(crate) fn suggesting(self, suggestions: &'static [&'static str]) -> Self {
        Self { suggestions, ..self }
    }

    /// With the errors of a form.
    pub(crate) fn with(self, errors: &FieldErrors) -> Self {
        Self { fault: errors.of(&self.name), ..self }
    }
}
