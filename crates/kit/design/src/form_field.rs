//! A field of a form with its label, hint and error: the same HTML on every page of both wings.

use std::borrow::Cow;

use askama::Template;
use askama::filters::HtmlSafe;

use super::fields::FieldErrors;

/// A text that is part of a page.
type Text = Cow<'static, str>;

/// A field of a form. Write it with `{{ field }}` in a template. Its id is its name, unless a page has the name twice.
#[derive(Debug, Clone, Template)]
#[template(path = "form_field.html")]
pub struct FormField {
    name: Text,
    id: Text,
    label: Text,
    hint: Text,
    fault: String,
    /// The label says that the field may stay empty.
    is_optional: bool,
    /// In a group, the field takes the whole width.
    is_whole_row: bool,
    /// Attributes of the control; one without a value is only named.
    attributes: Vec<(&'static str, Text)>,
    control: Control,
    check: Option<Check>,
}

impl HtmlSafe for FormField {}

#[derive(Debug, Clone)]
enum Control {
    /// One line; the type of the input.
    Line { kind: &'static str, value: String, suggestions: Vec<Text> },
    /// Several lines.
    Area { value: String },
    /// A list of which one is chosen, in groups; a group without a name has no heading.
    Select { groups: Vec<(String, Vec<Choice>)> },
    /// Buttons of which one is chosen, or boxes of which any number is ticked: the type of the inputs.
    Group { kind: &'static str, choices: Vec<Choice> },
    /// One box.
    Tick { value: String, is_ticked: bool },
}

/// A button beside the field that checks the typed value.
#[derive(Debug, Clone)]
struct Check {
    path: String,
    /// HTML of a template that says what the check found; may be empty.
    verdict: String,
}

/// A choice of a field.
#[derive(Debug, Clone)]
pub struct Choice {
    /// What the form sends.
    pub value: String,
    /// Text beside it.
    pub label: Text,
    /// A sentence below it; may be empty.
    pub hint: Text,
    /// It is chosen when the page opens.
    pub is_chosen: bool,
}

impl Choice {
    /// A choice without a hint.
    pub fn new(value: impl Into<String>, label: impl Into<Text>, is_chosen: bool) -> Self {
        Self { value: value.into(), label: label.into(), hint: Cow::Borrowed(""), is_chosen }
    }

    /// A choice of a list in which the one with the value `chosen` is chosen.
    pub fn of(value: impl Into<String>, label: impl Into<Text>, chosen: &str) -> Self {
        let value = value.into();
        let is_chosen = value == chosen;
        Self::new(value, label, is_chosen)
    }

    /// The same with a sentence below it.
    pub fn hint(mut self, hint: impl Into<Text>) -> Self {
        self.hint = hint.into();
        self
    }
}

impl FormField {
    fn new(name: impl Into<Text>, label: impl Into<Text>, control: Control) -> Self {
        let name = name.into();
        Self {
            id: name.clone(),
            name,
            label: label.into(),
            hint: Cow::Borrowed(""),
            fault: String::new(),
            is_optional: false,
            is_whole_row: false,
            attributes: Vec::new(),
            control,
            check: None,
        }
    }

    fn line(
        kind: &'static str,
        (name, label): (impl Into<Text>, impl Into<Text>),
        value: impl Into<String>,
        autocomplete: &'static str,
    ) -> Self {
        let control = Control::Line { kind, value: value.into(), suggestions: Vec::new() };
        Self::new(name, label, control).attribute("autocomplete", autocomplete)
    }

    /// A line of text.
    pub fn text(name: impl Into<Text>, label: impl Into<Text>, value: impl Into<String>) -> Self {
        Self::line("text", (name, label), value, "off")
    }

    /// A text to search for.
    pub fn search(name: impl Into<Text>, label: impl Into<Text>, value: impl Into<String>) -> Self {
        Self::line("search", (name, label), value, "off").chars_max(200)
    }

    /// A file of the media types and endings that `accept` lists.
    pub fn file(name: impl Into<Text>, label: impl Into<Text>, accept: &'static str) -> Self {
        let control = Control::Line { kind: "file", value: String::new(), suggestions: Vec::new() };
        Self::new(name, label, control).attribute("accept", accept).required()
    }

    /// A date and time, to the second.
    pub fn time(name: impl Into<Text>, label: impl Into<Text>, value: impl Into<String>) -> Self {
        Self::line("datetime-local", (name, label), value, "off").attribute("step", "1")
    }

    /// A secret line into which a link is pasted that the browser did not open by itself.
    pub fn link(label: impl Into<Text>, fault: impl Into<String>) -> Self {
        Self::secret("key", label, "off").chars_max(4_096).fault(fault)
    }

    /// A required secret, which a page never shows again. `autocomplete` says whose: `current-password`, `new-password`,
    /// `off`.
    pub fn secret(name: impl Into<Text>, label: impl Into<Text>, autocomplete: &'static str) -> Self {
        Self::line("password", (name, label), "", autocomplete).chars_max(1_024).required()
    }

    /// A text of several lines.
    pub fn area(name: impl Into<Text>, label: impl Into<Text>, value: impl Into<String>) -> Self {
        Self::new(name, label, Control::Area { value: value.into() }).lines(5)
    }

    /// A list of which one is chosen.
    pub fn select(name: impl Into<Text>, label: impl Into<Text>, choices: Vec<Choice>) -> Self {
        Self::grouped(name, label, vec![(String::new(), choices)])
    }

    /// A list in groups, of which one is chosen.
    pub fn grouped(name: impl Into<Text>, label: impl Into<Text>, groups: Vec<(String, Vec<Choice>)>) -> Self {
        Self::new(name, label, Control::Select { groups })
    }

    /// Buttons of which one is chosen.
    pub fn radios(name: impl Into<Text>, label: impl Into<Text>, choices: Vec<Choice>) -> Self {
        Self::new(name, label, Control::Group { kind: "radio", choices })
    }

    /// Boxes of which any number is ticked.
    pub fn boxes(name: impl Into<Text>, label: impl Into<Text>, choices: Vec<Choice>) -> Self {
        Self::new(name, label, Control::Group { kind: "checkbox", choices })
    }

    /// One box that sends this value when it is ticked.
    pub fn tick(name: impl Into<Text>, label: impl Into<Text>, value: impl Into<String>) -> Self {
        Self::new(name, label, Control::Tick { value: value.into(), is_ticked: false })
    }

    /// The same box, ticked when the page opens.
    pub fn ticked(mut self, is_set: bool) -> Self {
        if let Control::Tick { is_ticked, .. } = &mut self.control {
            *is_ticked = is_set;
        }
        self
    }

    /// The same line or area with this value.
    pub fn value(mut self, new_value: impl Into<String>) -> Self {
        if let Control::Line { value, .. } | Control::Area { value } = &mut self.control {
            *value = new_value.into();
        }
        self
    }

    /// The same with another type of input, such as `email` or `url`.
    pub fn kind(mut self, new_kind: &'static str, autocomplete: &'static str) -> Self {
        if let Control::Line { kind, .. } = &mut self.control {
            *kind = new_kind;
        }
        self.attribute("autocomplete", autocomplete)
    }

    /// The same with an attribute of its control; without a value, the attribute is only named.
    pub fn attribute(mut self, name: &'static str, value: impl Into<Text>) -> Self {
        self.attributes.retain(|(own, _)| *own != name);
        self.attributes.push((name, value.into()));
        self
    }

    /// The same with at most this many characters.
    pub fn chars_max(self, chars_max: usize) -> Self {
        self.attribute("maxlength", chars_max.to_string())
    }

    /// The same area with this many lines.
    pub fn lines(self, lines: usize) -> Self {
        self.attribute("rows", lines.to_string())
    }

    /// The same for a number of a few digits.
    pub fn short(self) -> Self {
        self.attribute("class", "short").attribute("inputmode", "numeric")
    }

    /// The same in the whole width of a group of fields, for a title or another long line.
    pub fn whole_row(self) -> Self {
        Self { is_whole_row: true, ..self }
    }

    /// The same for code and identifiers: monospace, without spelling corrections.
    pub fn code(self) -> Self {
        self.attribute("class", "code").attribute("spellcheck", "false").attribute("autocapitalize", "off")
    }

    /// The same line with values that it suggests.
    pub fn suggesting(mut self, values: impl IntoIterator<Item = impl Into<Text>>) -> Self {
        if let Control::Line { suggestions, .. } = &mut self.control {
            *suggestions = values.into_iter().map(Into::into).collect();
        }
        let list = format!("{}-list", self.id);
        self.attribute("list", list)
    }

    /// The same line with a button that sends the form to `path`, which checks the typed value. `verdict` is the HTML of
    /// a template.
    pub fn checked_at(self, path: &str, verdict: String) -> Self {
        let check = Some(Check { path: path.to_owned(), verdict });
        Self { check, ..self.attribute("data-check", path.to_owned()) }
    }

    /// With another id, for a page that has a field of this name already.
    pub fn id(self, id: impl Into<Text>) -> Self {
        Self { id: id.into(), ..self }
    }

    /// The same with a sentence above the control; of a box, below its label.
    pub fn hint(self, hint: impl Into<Text>) -> Self {
        Self { hint: hint.into(), ..self }
    }

    /// The same with the error text; an empty text is no error.
    pub fn fault(self, fault: impl Into<String>) -> Self {
        Self { fault: fault.into(), ..self }
    }

    /// The same with its errors among those of a form.
    pub fn with(self, errors: &FieldErrors) -> Self {
        let fault = errors.of(&self.name);
        self.fault(fault)
    }

    /// The same, which a browser does not send while it is empty.
    pub fn required(self) -> Self {
        self.attribute("required", "")
    }

    /// The same, which may stay empty: its label says so.
    pub fn optional(mut self) -> Self {
        self.attributes.retain(|(name, _)| *name != "required");
        Self { is_optional: true, ..self }
    }

    /// Name of the field.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Id of the control, for links to it.
    pub fn control_id(&self) -> &str {
        &self.id
    }

    /// The error text; empty if there is none.
    pub fn fault_text(&self) -> &str {
        &self.fault
    }

    /// Text of the label.
    pub fn label(&self) -> &str {
        &self.label
    }

    /// The hint is below the label of a box.
    fn has_hint_beside(&self) -> bool {
        matches!(self.control, Control::Tick { .. })
    }

    /// Ids of the texts that describe the field.
    fn describes(&self) -> String {
        let parts = [(!self.hint.is_empty()).then_some("hint"), (!self.fault.is_empty()).then_some("fault")];
        let ids: Vec<String> = parts.into_iter().flatten().map(|part| format!("{}-{part}", self.id)).collect();
        ids.join(" ")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_field_is_described_by_its_hint_and_its_fault_and_escapes_its_value() {
        let field = FormField::text("name", "Name", "\"><script>").hint("As printed.").fault("is taken");
        let html = field.to_string();
        assert!(html.contains("aria-describedby=\"name-hint name-fault\""), "{html}");
        assert!(html.contains("aria-invalid=\"true\"") && !html.contains("<script>"), "{html}");
        let plain = FormField::text("name", "Name", "").required().optional().to_string();
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

    #[test]
    fn a_refused_group_is_marked_where_its_role_allows_it() {
        let choices = || vec![Choice::new("a", "First", false), Choice::new("b", "Second", false)];
        let radios = FormField::radios("which", "Which", choices()).fault("is missing").to_string();
        assert!(
            radios.contains("role=\"radiogroup\" aria-invalid=\"true\" aria-describedby=\"which-fault\""),
            "{radios}"
        );
        assert_eq!(radios.matches("aria-invalid").count(), 1, "{radios}");
        let boxes = FormField::boxes("which", "Which", choices()).fault("is missing").to_string();
        assert_eq!(boxes.matches("aria-invalid=\"true\" aria-describedby=\"which-fault\"").count(), 2, "{boxes}");
        assert_eq!(boxes.matches("aria-describedby").count(), 3, "{boxes}");
    }

    #[test]
    fn attributes_belong_to_the_control_once() {
        let html = FormField::text("code", "Code", "").code().kind("text", "one-time-code").required().to_string();
        assert!(html.contains(" autocomplete=\"one-time-code\"") && !html.contains("autocomplete=\"off\""), "{html}");
        assert!(html.contains(" class=\"code\"") && html.contains(" required>"), "{html}");
    }

    #[test]
    fn a_field_with_another_id_is_described_by_texts_of_that_id() {
        let field = FormField::text("range", "Lots", "").id("shift-range").hint("All.");
        let html = field.suggesting(["1-20"]).to_string();
        assert!(html.contains("<label for=\"shift-range\">") && html.contains("name=\"range\""), "{html}");
        assert!(html.contains("aria-describedby=\"shift-range-hint\""), "{html}");
        assert!(html.contains("list=\"shift-range-list\"") && html.contains("<option value=\"1-20\">"), "{html}");
    }

    #[test]
    fn an_area_keeps_a_line_break_at_its_start() {
        let html = FormField::area("json", "Schema", "\n{}").to_string();
        assert!(html.contains(">\n\n{}</textarea>"), "{html}");
    }

    #[test]
    fn a_checked_line_has_its_button_and_verdict() {
        let html = FormField::text("url", "Address", "").checked_at("/check", "<b>reached</b>".into()).to_string();
        assert!(html.contains("data-check=\"/check\"") && html.contains("formaction=\"/check#url\""), "{html}");
        assert!(html.contains("<div id=\"url-verdict\" aria-live=\"polite\"><b>reached</b></div>"), "{html}");
    }

    #[test]
    fn a_box_has_its_hint_below_its_label() {
        let html = FormField::tick("disabled", "Disabled", "yes").ticked(true).hint("It receives nothing.").to_string();
        assert!(html.contains("value=\"yes\" checked aria-describedby=\"disabled-hint\""), "{html}");
        assert!(html.contains("<small id=\"disabled-hint\">It receives nothing.</small>"), "{html}");
    }
}
