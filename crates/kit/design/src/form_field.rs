//! A field of a form with its label, hint and error: the same HTML on every page.

use std::borrow::Cow;

use askama::Template;
use askama::filters::HtmlSafe;

/// A field of a form. Write it with `{{ field }}` in a template.
#[derive(Debug, Clone, Template)]
#[template(path = "form_field.html")]
pub struct FormField {
    name: Cow<'static, str>,
    label: Cow<'static, str>,
    hint: Cow<'static, str>,
    fault: String,
    is_required: bool,
    control: Control,
}

impl HtmlSafe for FormField {}

#[derive(Debug, Clone)]
enum Control {
    /// One line; the type of the input.
    Line { kind: &'static str, value: String, autocomplete: &'static str, chars_max: usize },
    /// Several lines.
    Area { value: String, chars_max: usize },
    /// A list of which one is chosen.
    Select { choices: Vec<Choice> },
    /// Buttons of which one is chosen.
    Radios { choices: Vec<Choice> },
    /// Boxes of which any number is ticked.
    Boxes { choices: Vec<Choice> },
}

/// A choice of a field.
#[derive(Debug, Clone)]
pub struct Choice {
    /// What the form sends.
    pub value: String,
    /// Text beside it.
    pub label: Cow<'static, str>,
    /// A sentence below it; may be empty.
    pub hint: Cow<'static, str>,
    /// It is chosen when the page opens.
    pub is_chosen: bool,
}

impl Choice {
    /// A choice without a hint.
    pub fn new(value: impl Into<String>, label: impl Into<Cow<'static, str>>, is_chosen: bool) -> Self {
        Self { value: value.into(), label: label.into(), hint: Cow::Borrowed(""), is_chosen }
    }

    /// The same with a sentence below it.
    pub fn hint(mut self, hint: impl Into<Cow<'static, str>>) -> Self {
        self.hint = hint.into();
        self
    }
}

impl FormField {
    fn new(name: impl Into<Cow<'static, str>>, label: impl Into<Cow<'static, str>>, control: Control) -> Self {
        let hint = Cow::Borrowed("");
        Self { name: name.into(), label: label.into(), hint, fault: String::new(), is_required: true, control }
    }

    /// A line of text of at most `chars_max` characters.
    pub fn text(name: &'static str, label: &'static str, value: &str, chars_max: usize) -> Self {
        let (value, kind, autocomplete) = (value.to_owned(), "text", "off");
        Self::new(name, label, Control::Line { kind, value, autocomplete, chars_max })
    }

    /// A secret, which a page never shows again. `autocomplete` says whose: `current-password`, `new-password`, `off`.
    pub fn secret(name: &'static str, label: &'static str, autocomplete: &'static str) -> Self {
        let (kind, value, chars_max) = ("password", String::new(), 1_024);
        Self::new(name, label, Control::Line { kind, value, autocomplete, chars_max })
    }

    /// A text of several lines.
    pub fn area(name: &'static str, label: &'static str, value: &str, chars_max: usize) -> Self {
        Self::new(name, label, Control::Area { value: value.to_owned(), chars_max })
    }

    /// A list of which one is chosen.
    pub fn select(name: &'static str, label: &'static str, choices: Vec<Choice>) -> Self {
        Self::new(name, label, Control::Select { choices })
    }

    /// Buttons of which one is chosen.
    pub fn radios(name: &'static str, label: &'static str, choices: Vec<Choice>) -> Self {
        Self::new(name, label, Control::Radios { choices })
    }

    /// Boxes of which any number is ticked.
    pub fn boxes(name: &'static str, label: &'static str, choices: Vec<Choice>) -> Self {
        Self { is_required: false, ..Self::new(name, label, Control::Boxes { choices }) }
    }

    /// The same with another type of input, such as `email`, `url` or `datetime-local`.
    pub fn kind(mut self, new_kind: &'static str, new_autocomplete: &'static str) -> Self {
        if let Control::Line { kind, autocomplete, .. } = &mut self.control {
            (*kind, *autocomplete) = (new_kind, new_autocomplete);
        }
        self
    }

    /// The same with a sentence above the input.
    pub fn hint(mut self, hint: impl Into<Cow<'static, str>>) -> Self {
        self.hint = hint.into();
        self
    }

    /// The same with what is wrong; an empty text is no fault.
    pub fn fault(mut self, fault: impl Into<String>) -> Self {
        self.fault = fault.into();
        self
    }

    /// The same, which may stay empty.
    pub fn optional(mut self) -> Self {
        self.is_required = false;
        self
    }

    /// Name of the field.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Text of the label.
    pub fn label(&self) -> &str {
        &self.label
    }

    fn describes(&self) -> String {
        let parts = [(!self.hint.is_empty()).then_some("hint"), (!self.fault.is_empty()).then_some("fault")];
        let ids: Vec<String> = parts.into_iter().flatten().map(|part| format!("{}-{part}", self.name)).collect();
        ids.join(" ")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_field_is_described_by_its_hint_and_its_fault_and_escapes_its_value() {
        let field = FormField::text("name", "Name", "\"><script>", 200).hint("As printed.").fault("is taken");
        let html = field.to_string();
        assert!(html.contains("aria-describedby=\"name-hint name-fault\""), "{html}");
        assert!(html.contains("aria-invalid=\"true\"") && !html.contains("<script>"), "{html}");
        let plain = FormField::text("name", "Name", "", 200).optional().to_string();
        assert!(!plain.contains("aria-describedby") && !plain.contains(" required"), "{plain}");
        assert!(plain.contains("(optional)"), "{plain}");
    }

    #[test]
    fn a_secret_is_never_filled_in() {
        let html = FormField::secret("key", "API key", "off").to_string();
        assert!(html.contains("type=\"password\"") && html.contains("value=\"\""), "{html}");
    }

    #[test]
    fn choices_are_a_group_with_a_legend() {
        let choices = vec![Choice::new("a", "First", true).hint("The usual."), Choice::new("b", "Second", false)];
        let html = FormField::radios("which", "Which", choices).to_string();
        assert!(html.contains("<legend>Which</legend>") && html.matches("type=\"radio\"").count() == 2, "{html}");
        assert_eq!(html.matches(" checked").count(), 1, "{html}");
    }
}
