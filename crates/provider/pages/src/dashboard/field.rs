//! A field of a form with its label, hint and error.

use askama::Template;
use askama::filters::HtmlSafe;

/// A text field.
#[derive(Debug, Clone, Template)]
#[template(path = "dashboard/field.html")]
pub(super) struct Field {
    name: &'static str,
    label: &'static str,
    hint: &'static str,
    value: String,
    fault: String,
    is_optional: bool,
    is_short: bool,
    is_code: bool,
    /// Lines of a field of several lines; 0 for a field of one line.
    lines: usize,
}

impl HtmlSafe for Field {}

impl Field {
    /// A required field of one line.
    pub(super) fn new(name: &'static str, label: &'static str) -> Self {
        Self {
            name,
            label,
            hint: "",
            value: String::new(),
            fault: String::new(),
            is_optional: false,
            is_short: false,
            is_code: false,
            lines: 0,
        }
    }

    /// The same field, which may stay empty.
    pub(super) fn optional(self) -> Self {
        Self { is_optional: true, ..self }
    }

    /// The same field with a sentence about what to enter.
    pub(super) fn hint(self, hint: &'static str) -> Self {
        Self { hint, ..self }
    }

    /// The same field with what was entered and what is wrong with it; `fault` is empty when it is accepted.
    pub(super) fn filled(self, value: &str, fault: impl Into<String>) -> Self {
        Self { value: value.to_owned(), fault: fault.into(), ..self }
    }

    /// The same field for a number of a few digits.
    pub(super) fn short(self) -> Self {
        Self { is_short: true, ..self }
    }

    /// The same field with this many lines.
    pub(super) fn lines(self, lines: usize) -> Self {
        Self { lines, ..self }
    }

    /// The same field for code: monospace, without spelling corrections.
    pub(super) fn code(self) -> Self {
        Self { is_code: true, ..self }
    }

    pub(super) fn name_and_label(&self) -> (&str, &str) {
        (self.name, self.label)
    }

    /// Ids of the texts that describe the field.
    fn described_by(&self) -> String {
        let parts = [(!self.hint.is_empty(), "hint"), (!self.fault.is_empty(), "fault")];
        let ids = parts.iter().filter(|(shown, _)| *shown).map(|(_, part)| format!("{}-{part}", self.name));
        ids.collect::<Vec<_>>().join(" ")
    }
}
